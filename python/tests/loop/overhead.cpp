// The time of a replayed call: prints the median of many rounds, in microseconds.  ../test_overhead.py compares it with
// the same call from Python.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <reprise/reprise.hpp>

namespace rp = reprise;

int main()
{
    const rp::Dim n = rp::symbol("n");
    const rp::Variable w(rp::rand({4, 4}));
    const rp::Program p =
        rp::record([&](rp::Tensor x, rp::Tensor y) { return rp::mean(rp::matmul(x, w) * y); },
                   {rp::spec({n, 4}), rp::spec({n, 4})});
    const rp::Tensor x = rp::rand({8, 4}), y = rp::rand({8, 4});
    rp::eval({x, y});
    std::vector<double> rounds;
    for (int round = 0; round < 50; ++round) {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < 200; ++i) p.call({x, y});
        rounds.push_back(
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() /
            200);
        rp::default_device().synchronize();
    }
    std::nth_element(rounds.begin(), rounds.begin() + 25, rounds.end());
    std::printf("%.3f\n", rounds[25]);
}
