// The README's training step in C++: writes the losses and the trained parameters, in the order of their names, as f32
// to standard output.  ../test_same_bits.py does the same in Python and compares the bytes.
#include <cstdio>
#include <vector>

#include <reprise/reprise.hpp>

namespace rp = reprise;
namespace nn = reprise::nn;

namespace {

struct Net : nn::Module {
    nn::Conv2d conv{1, 32, {.kernel_size = 3, .padding = 1}};
    nn::Linear fc{32 * 14 * 14, 10};
    Net()
    {
        register_module("conv", conv);
        register_module("fc", fc);
    }
    rp::Tensor forward(rp::Tensor x) override
    {
        x = rp::max_pool2d(rp::relu(conv(x)), 2);
        return fc(rp::flatten(x, 1));
    }
};

void write(const std::vector<float>& values)
{
    std::fwrite(values.data(), sizeof(float), values.size(), stdout);
}

} // namespace

int main()
{
    rp::manual_seed(1);
    Net net;
    rp::optim::Adam opt(net.parameters(), {.lr = 1e-3});
    const rp::Dim batch = rp::symbol("batch");
    const rp::Program step = rp::record(
        [&](rp::Tensor x, rp::Tensor y) {
            rp::Tensor loss = rp::cross_entropy(net(x), y);
            opt.zero_grad();
            loss.backward();
            opt.step();
            return loss;
        },
        {rp::spec({batch, 1, 28, 28}), rp::spec({batch}, rp::i32)});
    std::vector<float> losses;
    for (const int n : {8, 3, 5, 8, 3, 5}) {
        const rp::Tensor x = rp::rand({n, 1, 28, 28}), y = rp::randint(10, {n}, {.dtype = rp::i32});
        losses.push_back(step(x, y).item<float>());
    }
    write(losses);
    for (const auto& [name, value] : net.state_dict()) write(value.to_vector<float>());
}
