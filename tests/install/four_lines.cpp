#include <cstdio>

#include <reprise/reprise.hpp>

int main()
{
    const reprise::Tensor x = reprise::ones({2, 3});
    std::printf("%g\n", static_cast<double>((x * 2).sum().item<float>()));
}
