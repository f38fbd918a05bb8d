// Fine-tuning with low-rank adapters (LoRA): a frozen network learns a new task with few new parameters.
#include <cstdio>

#include <reprise/reprise.hpp>

namespace rp = reprise;
namespace nn = reprise::nn;

// Fits the net to sin(3 x + phase) and returns the last loss.
float train(nn::Module& net, const std::vector<rp::Variable>& parameters, double phase, const char* name)
{
    std::int64_t count = 0;
    for (const rp::Variable& p : parameters) count += p.numel().value();
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
    std::printf("%s of %d parameters: loss %.4f at first, ", name, static_cast<int>(count),
                loss.item<float>());
    for (int i = 0; i < 500; ++i) loss = step(rp::rand({64, 1}) * 4 - 2);
    std::printf("%.4f at the end\n", loss.item<float>());
    return loss.item<float>();
}

int main()
{
    nn::Sequential net(nn::Linear(1, 64), nn::Tanh(), nn::Linear(64, 64), nn::Tanh(), nn::Linear(64, 1));
    const float before = train(net, net.parameters(), 0, "pre-training");
    const nn::StateDict frozen = net.state_dict();

    nn::Lora lora(net, {.rank = 4, .alpha = 4, .target_modules = "all-linear"});
    const float after = train(net, lora.parameters(), 1, "fine-tuning");

    for (const auto& [key, value] : frozen) // pre-trained weights are unchanged, bit for bit
        if (rp::any(net.state_dict().at(key) != value).item<bool>())
            return std::printf("%s has changed.\n", key.c_str()), 1;
    const float bound = 0.02f;
    if (!(before < bound && after < bound)) {
        std::printf("The loss is not below %.2f: it has not learnt.\n", bound);
        return 1;
    }
}
