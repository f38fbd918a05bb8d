// A physics-informed neural network (PINN): solves u'' = -pi^2 sin(pi x), u(0) = u(1) = 0, by second derivatives.
// The solution is u = sin(pi x).
#include <cstdio>
#include <numbers>

#include <reprise/reprise.hpp>

namespace rp = reprise;
namespace nn = reprise::nn;

constexpr double pi = std::numbers::pi;

int main()
{
    nn::Sequential u(nn::make<nn::Linear>(1, 24), nn::make<nn::Tanh>(), nn::make<nn::Linear>(24, 24),
                     nn::make<nn::Tanh>(), nn::make<nn::Linear>(24, 1));
    rp::optim::Adam optimizer(u.parameters(), {.lr = 1e-2});

    rp::Dim n = rp::symbol("n");
    auto step = rp::record(
        [&](rp::Tensor points) { // [n, 1] in [0, 1]
            rp::Tensor x = points.detach().requires_grad_();
            rp::Tensor first = rp::grad(u(x).sum(), x, {.create_graph = true});
            rp::Tensor second = rp::grad(first.sum(), x, {.create_graph = true});
            rp::Tensor residual = second + rp::sin(x * pi) * (pi * pi);
            rp::Tensor ends = u(rp::arange(2).to(rp::f32).reshape({2, 1}));
            rp::Tensor loss = (residual * residual).mean() + (ends * ends).mean() * 100;
            optimizer.zero_grad();
            loss.backward();
            optimizer.step();
            return loss;
        },
        {rp::spec({n, 1})});
    rp::optim::CosineAnnealingLR schedule(optimizer, 300);

    const rp::Tensor grid = rp::arange(101).to(rp::f32).reshape({101, 1}) / 100;
    float error = 0;
    for (int i = 1; i <= 300; ++i) {
        rp::Tensor loss = step(rp::rand({i % 2 ? 64 : 48, 1}));
        schedule.step();
        if (i % 75) continue;
        error = rp::abs(u(grid) - rp::sin(grid * pi)).max().item<float>();
        std::printf("step %d: loss %.5f, largest error of u %.4f\n", i, loss.item<float>(), error);
    }
    const float bound = 0.02f;
    if (!(error < bound)) {
        std::printf("The error is not below %.2f: it has not learnt.\n", bound);
        return 1;
    }
}
