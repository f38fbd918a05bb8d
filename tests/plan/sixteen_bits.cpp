// What 16 bits save: memory of whole training steps, and no further epochs.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <reprise/reprise.hpp>

#include "../../samples/common/gpt.hpp"
#include "program/program.hpp"
#include "support/devices.hpp"

namespace reprise {
namespace {

enum class Checkpoints { none, in_f32, in_bf16 };

// Eight layers of 128 features, 16 x 128 tokens; autocast to the dtype if there is one.
Program gpt_step(std::optional<DType> dtype, Checkpoints checkpoints, bool scales = false)
{
    const auto net =
        std::make_shared<gpt::Gpt>(gpt::Sizes{.symbols = 96, .longest = 128, .features = 128, .layers = 8});
    CheckpointOptions options;
    if (checkpoints == Checkpoints::in_bf16) options.saved_dtype = bf16;
    for (std::size_t i = 0; checkpoints != Checkpoints::none && i < net->blocks.size(); ++i)
        nn::checkpoint_module(net->blocks.at(i), "block", options);
    const auto optimizer = std::make_shared<optim::AdamW>(net->parameters());
    const auto scaler = std::make_shared<GradScaler>(GradScaler::Options{.enabled = scales});
    return record(
        [=](const Tensor& in, const Tensor& target) {
            Tensor loss;
            {
                const autocast guard(dtype.value_or(bf16), dtype.has_value());
                loss = cross_entropy((*net)(in).reshape({-1, 96}), target.reshape({-1}));
            }
            optimizer->zero_grad();
            scaler->scale(loss).backward();
            scaler->step(*optimizer);
            scaler->update();
            return loss;
        },
        {spec({16, 128}, i32), spec({16, 128}, i32)});
}

Program mlp_step(std::int64_t rows, DType dtype)
{
    const auto net = std::make_shared<nn::Sequential>(nn::Linear(784, 256), nn::ReLU(), nn::Linear(256, 256),
                                                      nn::ReLU(), nn::Linear(256, 10));
    (*net)->to(dtype);
    const auto optimizer = std::make_shared<optim::SGD>((*net)->parameters(), optim::SGD::Options{.lr = 0.1});
    return record(
        [=](const Tensor& in, const Tensor& target) {
            const Tensor loss = cross_entropy((*net)(in), target);
            optimizer->zero_grad();
            loss.backward();
            optimizer->step();
            return loss;
        },
        {spec({rows, 784}, dtype), spec({rows}, i32)});
}

// Convolutions of 32 channels with batch norms.
Program cnn_step(bool autocasts)
{
    const auto net = std::make_shared<nn::Sequential>();
    for (const std::int64_t channels : {3, 32, 32, 32, 32}) {
        net->push_back(nn::Conv2d(channels, 32, 3, {.padding = 1}));
        net->push_back(nn::BatchNorm2d(32));
        net->push_back(nn::ReLU());
    }
    net->push_back(nn::Flatten());
    net->push_back(nn::Linear(32 * 16 * 16, 10));
    const auto optimizer = std::make_shared<optim::SGD>((*net)->parameters(), optim::SGD::Options{.lr = 0.1});
    return record(
        [=](const Tensor& in, const Tensor& target) {
            Tensor loss;
            {
                const autocast guard(bf16, autocasts);
                loss = cross_entropy((*net)(in), target);
            }
            optimizer->zero_grad();
            loss.backward();
            optimizer->step();
            return loss;
        },
        {spec({64, 3, 16, 16}), spec({64}, i32)});
}

double peak(const Program& p) { return static_cast<double>(p.memory({}).peak); }

class SixteenBits : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Devices, SixteenBits, testing::Values("lavapipe", "swiftshader", "gpu"),
                         [](const auto& test) { return test.param; });

TEST_P(SixteenBits, TakeSixTenthsOfTheMemory)
{
    const Device device = test::imitation(GetParam());
    const test::UseDevice use(device);
    const bool is_gpu = std::string(GetParam()) == "gpu",
               is_swiftshader = std::string(GetParam()) == "swiftshader";
    const double plain = peak(gpt_step(std::nullopt, Checkpoints::none)),
                 kept = peak(gpt_step(std::nullopt, Checkpoints::in_f32));
    EXPECT_LE(peak(gpt_step(bf16, Checkpoints::none)), (is_gpu ? 0.62 : 0.60) * plain);
    EXPECT_LE(peak(gpt_step(bf16, Checkpoints::in_bf16)), 0.60 * kept);
    for (const std::int64_t rows : {64, 1024}) { // sums of weights' gradients in parts, on GPUs
        const double f32_peak = peak(mlp_step(rows, f32));
        EXPECT_LE(peak(mlp_step(rows, bf16)), (is_gpu ? 1.0 : 0.65) * f32_peak) << rows;
    }
    // SwiftShader reads patches of f32.
    EXPECT_LE(peak(cnn_step(true)), (is_swiftshader ? 0.75 : 0.65) * peak(cnn_step(false)));
}

TEST_P(SixteenBits, NeedNoMoreEpochs)
{
    const Device device = test::imitation(GetParam());
    const test::UseDevice use(device);
    const auto epochs = [](const Program& p) { return p.impl()->executable().compiled().plan.epochs; };
    EXPECT_LE(epochs(gpt_step(bf16, Checkpoints::none)), epochs(gpt_step(std::nullopt, Checkpoints::none)));
    // A scaler adds the pass that unscales gradients, and the largest of its flags.
    EXPECT_LE(epochs(gpt_step(f16, Checkpoints::none, true)), epochs(gpt_step(f16, Checkpoints::none)) + 2);
    // With checkpoints there are up to two more on GPUs.
    const std::uint32_t more = std::string(GetParam()) == "gpu" ? 2 : 0;
    EXPECT_LE(epochs(gpt_step(bf16, Checkpoints::in_bf16)),
              epochs(gpt_step(std::nullopt, Checkpoints::in_f32)) + more);
}

} // namespace
} // namespace reprise
