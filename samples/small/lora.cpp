// Fine-tuning with low-rank adapters (LoRA): a frozen network learns a new task with few new parameters.
#include <cmath>
#include <cstdio>

#include <reprise/reprise.hpp>

namespace rp = reprise;
namespace nn = reprise::nn;

// A linear layer to which a low-rank adapter can be added: y = x (W + B A)^T + b.
struct LoraLinear : nn::Module {
    nn::Linear base;
    rp::Variable a, b;
    LoraLinear(int in, int out) : base(in, out) { register_module("base", base); }
    void adapt(int in, int out, int rank)
    {
        base.weight.requires_grad_(false);
        base.bias.requires_grad_(false);
        a = register_parameter("lora_a", rp::Variable(rp::randn({rank, in}) / std::sqrt(in)));
        b = register_parameter("lora_b", rp::Variable(rp::zeros({out, rank}))); // B = 0: no change at first
    }
    rp::Tensor forward(rp::Tensor x) override
    {
        rp::Tensor y = base(x);
        return a.defined() ? y + rp::matmul(rp::matmul(x, a.t()), b.t()) : y;
    }
};

struct Net : nn::Module {
    LoraLinear first{1, 64}, second{64, 64}, last{64, 1};
    Net()
    {
        register_module("first", first);
        register_module("second", second);
        register_module("last", last);
    }
    rp::Tensor forward(rp::Tensor x) override { return last(rp::tanh(second(rp::tanh(first(x))))); }
};

// Fits the net to sin(3 x + phase) and returns the last loss.
float train(Net& net, const std::vector<rp::Variable>& parameters, double phase, const char* name)
{
    rp::optim::Adam optimizer(parameters, {.lr = 5e-3});
    rp::Dim n = rp::symbol("n");
    auto step = rp::record(
        [&](rp::Tensor x) {
            rp::Tensor loss = rp::mse_loss(net(x), rp::sin(x * 3 + phase));
            optimizer.zero_grad();
            loss.backward();
            optimizer.step();
            return loss;
        },
        {rp::spec({n, 1})});
    rp::Tensor loss = step(rp::rand({64, 1}) * 4 - 2);
    std::printf("%s: loss %.4f at first, ", name, loss.item<float>());
    for (int i = 0; i < 500; ++i) loss = step(rp::rand({64, 1}) * 4 - 2);
    std::printf("%.4f at the end\n", loss.item<float>());
    return loss.item<float>();
}

int main()
{
    Net net;
    const float before = train(net, net.parameters(), 0, "pre-training of 4,417 parameters");
    const rp::nn::StateDict frozen = net.state_dict();

    net.first.adapt(1, 64, 4);
    net.second.adapt(64, 64, 4);
    net.last.adapt(64, 1, 4);
    std::vector<rp::Variable> adapters;
    std::int64_t count = 0;
    for (const rp::Variable& p : net.parameters())
        if (p.requires_grad()) {
            adapters.push_back(p);
            count += p.numel().value();
        }
    const std::string name = "fine-tuning of " + std::to_string(count) + " parameters";
    const float after = train(net, adapters, 1, name.c_str());

    const float bound = 0.02f;
    for (const auto& [key, value] : frozen) // pre-trained weights are unchanged, bit for bit
        if (rp::any(net.state_dict().at(key) != value).item<bool>())
            return std::printf("%s has changed.\n", key.c_str()), 1;
    if (!(before < bound && after < bound)) {
        std::printf("The loss is not below %.2f: it has not learnt.\n", bound);
        return 1;
    }
}
