// Trains a small network by a step that is recorded once, with batches of several sizes.
#include <cstdio>

#include <reprise/reprise.hpp>

namespace rp = reprise;

int main()
{
    rp::manual_seed(1);
    rp::nn::Sequential net(rp::nn::Linear(2, 16), rp::nn::Tanh(), rp::nn::Linear(16, 1));
    rp::optim::Adam opt(net.parameters(), {.lr = 0.02});
    const rp::Program step = rp::record(
        [&](const rp::Tensor& x, const rp::Tensor& y) {
            const rp::Tensor loss = rp::mse_loss(net(x), y);
            opt.zero_grad();
            loss.backward();
            opt.step();
            return loss;
        },
        {rp::spec({rp::symbol("batch"), 2}), rp::spec({rp::symbol("batch"), 1})});
    float loss = 0;
    for (int i = 0; i < 300; ++i) {
        const rp::Tensor x = rp::randn({16 + i % 3 * 16, 2});
        loss = step(x, rp::sin(rp::sum(x, {1}, true))).item<float>();
    }
    std::printf("on %s: loss %.4f\n", rp::default_device().description().c_str(), static_cast<double>(loss));
    return loss < 0.05F ? 0 : 1;
}
