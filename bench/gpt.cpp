// GPT-mini: a training step at one size, and at sequence lengths that change from step to step.
#include <chrono>
#include <cmath>
#include <memory>

#include "../samples/common/gpt.hpp"
#include "pairs.hpp"
#include "workload.hpp"

namespace bench {

namespace rp = reprise;
namespace nn = reprise::nn;
using rp::Dim;
using rp::Tensor;

namespace {

constexpr std::int64_t classes = 96, longest = 128, whole_batch = 16;

std::int64_t batch() { return part_of(whole_batch); }

Tensor tokens(std::int64_t length, std::int64_t seed)
{
    std::vector<std::int32_t> v(static_cast<std::size_t>(batch() * length));
    for (std::size_t i = 0; i < v.size(); ++i) // pseudo-random, the same on every platform
        v[i] = static_cast<std::int32_t>((i + 1) * 2654435761u % 4294967291u /
                                         (7u + static_cast<unsigned>(seed)) % classes);
    return rp::from_vector(v, {batch(), length});
}

// A layer whose product is computed in f16 or bf16, from parameters in f32.
Tensor in_halves(const nn::Linear& layer, const Tensor& x, rp::DType dtype)
{
    const Tensor bias = layer.bias.defined() ? rp::cast(layer.bias, dtype) : Tensor();
    return rp::linear(rp::cast(x, dtype), rp::cast(layer.weight, dtype), bias);
}

// Gpt::forward() in mixed precision: products and attention in f16 or bf16, the rest in f32.
Tensor in_halves(gpt::Gpt& net, const Tensor& tokens, rp::DType dtype)
{
    Tensor x = net.tok(tokens) + net.pos.weight.narrow(0, 0, tokens.size(1));
    const Dim count = x.size(0), length = x.size(1);
    for (std::size_t i = 0; i < net.blocks.size(); ++i) {
        auto& b = dynamic_cast<gpt::Block&>(net.blocks.at(i));
        const auto in = rp::unbind(in_halves(b.qkv, b.ln1(x), dtype)
                                       .view({count, length, 3, b.heads, b.features / b.heads})
                                       .permute({2, 0, 3, 1, 4}));
        const Tensor a = rp::scaled_dot_product_attention(in[0], in[1], in[2], {.is_causal = true});
        x = x + rp::cast(in_halves(b.proj, a.transpose(1, 2).reshape({count, length, b.features}), dtype),
                         rp::f32);
        const Tensor wide = rp::gelu(in_halves(b.up, b.ln2(x), dtype), rp::GeluApproximation::tanh);
        x = x + rp::cast(in_halves(b.down, wide, dtype), rp::f32);
    }
    return rp::cast(in_halves(net.head, net.lnf(x), dtype), rp::f32);
}

struct Training {
    explicit Training(std::int64_t layers = 4, bool checkpoints = false, rp::DType products_dtype = rp::f32)
        : dtype(products_dtype),
          net({.symbols = classes, .longest = longest, .features = 128, .layers = layers})
    {
        for (std::size_t i = 0; checkpoints && i < net.blocks.size(); ++i)
            nn::checkpoint_module(net.blocks.at(i), "block " + std::to_string(i));
    }
    rp::DType dtype; // of products and attention
    gpt::Gpt net;
    std::shared_ptr<void> exchanges = data_parallel(net);
    rp::optim::AdamW optimizer{net.parameters(), {.lr = learning_rate(3e-4)}};
    rp::Program step{};
    Tensor loss(const std::vector<Tensor>& in)
    {
        const Tensor logits = dtype == rp::f32 ? net(in[0]) : in_halves(net, in[0], dtype);
        return rp::cross_entropy(logits.reshape({-1, classes}), in[1].reshape({-1}));
    }
    Tensor run(const std::vector<Tensor>& in)
    {
        const Tensor loss = this->loss(in);
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
        return loss;
    }
};

std::vector<rp::Spec> specs(const Dim& length)
{
    const rp::Shape sizes{batch(), length};
    return {rp::spec(sizes, rp::i32), rp::spec(sizes, rp::i32)};
}

std::shared_ptr<Training> recorded(const Dim& length, std::int64_t layers = 4, bool checkpoints = false,
                                   rp::DType dtype = rp::f32)
{
    auto training = std::make_shared<Training>(layers, checkpoints, dtype);
    training->step = rp::record_function(
        [&t = *training](const std::vector<Tensor>& in) { return std::vector<Tensor>{t.run(in)}; },
        specs(length), recording);
    return training;
}

Cycle lengths_in_turn()
{
    using Clock = std::chrono::steady_clock;
    Cycle cycle;
    for (int i = 0; i < 8; ++i) cycle.lengths.push_back(std::lround(96 + i * 32 / 7.0));
    const Clock::time_point start = Clock::now();
    auto training = recorded(rp::symbol("seq"));
    cycle.record_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    for (const std::int64_t length : cycle.lengths)
        cycle.steps.push_back([training, x = tokens(length, 0), y = tokens(length, 1)] {
            training->step.call({x, y});
        });
    return cycle;
}

Workload training_step(const std::string& name, rp::DType dtype)
{
    return {.name = name, .flops = 11.4e9, .make = [dtype] {
                auto training = recorded(longest, 4, false, dtype);
                return Run{training->step, {tokens(longest, 0), tokens(longest, 1)}, training};
            }};
}

} // namespace

std::vector<Workload> gpt_workloads()
{
    return {training_step("train_gptmini_b16_adamw", rp::f32),
            training_step("train_gptmini_b16_adamw_f16", rp::f16),
            training_step("train_gptmini_b16_adamw_bf16", rp::bf16),
            {.name = "train_gpt8_checkpoints",
             .make =
                 [] {
                     auto training = recorded(longest, 8, true);
                     return Run{training->step, {tokens(longest, 0), tokens(longest, 1)}, training};
                 }},
            {.name = "varshape_gptmini", .cycle = lengths_in_turn}};
}

// Returns the bytes that eager code holds between forward and backward pass, without parameters and inputs.
std::uint64_t held_after_forward(std::int64_t layers, bool checkpoints, const std::vector<Tensor>& in)
{
    Training training(layers, checkpoints);
    rp::eval(in);
    const auto parameters = training.net.parameters();
    rp::eval(std::vector<Tensor>(parameters.begin(), parameters.end()));
    const rp::MemoryTracker memory;
    const std::uint64_t before = memory.current();
    const Tensor loss = training.loss(in);
    loss.eval();
    return memory.current() - before;
}

// Compares a step with a checkpoint around each of eight blocks with the step without checkpoints.
std::vector<Report> checkpoint_reports()
{
    return {{"checkpoint_gpt8", [](const rp::Device& device, bool quick) {
                 const auto off = recorded(longest, 8), on = recorded(longest, 8, true);
                 const std::vector<Tensor> in = {tokens(longest, 0), tokens(longest, 1)};
                 const auto call = [&](const Training& t) {
                     return [&] {
                         t.step.call(in);
                         device.synchronize();
                     };
                 };
                 const Pairs p = in_turn(call(*on), call(*off), quick ? 3 : 15);
                 const rp::CallMemory with = on->step.memory({}), without = off->step.memory({});
                 const auto mib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
                 return Measurements{{"off_ms", p.b * 1e3},
                                     {"on_ms", p.a * 1e3},
                                     {"time_ratio", p.ratio},
                                     {"ratio_quartile_1", p.quartiles[0]},
                                     {"ratio_quartile_3", p.quartiles[1]},
                                     {"saved_after_fwd_mib_off", mib(held_after_forward(8, false, in))},
                                     {"saved_after_fwd_mib_on", mib(held_after_forward(8, true, in))},
                                     {"peak_mib_off", mib(without.peak)},
                                     {"peak_mib_on", mib(with.peak)},
                                     {"lower_bound_mib_off", mib(without.lower_bound)},
                                     {"lower_bound_mib_on", mib(with.lower_bound)}};
             }}};
}

OpenStep gpt8_step()
{
    return {"gpt8",
            [] {
                auto training = std::make_shared<Training>(8);
                return [training](const std::vector<Tensor>& in) {
                    return std::vector<Tensor>{training->run(in)};
                };
            },
            [](const Dim& rows) {
                const rp::Shape sizes{rows, longest};
                return std::vector<rp::Spec>{rp::spec(sizes, rp::i32), rp::spec(sizes, rp::i32)};
            },
            1, whole_batch};
}

OpenStep open_gpt_step()
{
    return {"gptmini",
            [] {
                auto training = std::make_shared<Training>();
                return [training](const std::vector<Tensor>& in) {
                    return std::vector<Tensor>{training->run(in)};
                };
            },
            specs, longest - 20, longest};
}

} // namespace bench
