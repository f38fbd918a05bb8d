// What checkpoints keep, drop and compute again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/memory.hpp>
#include <reprise/nn.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "support/devices.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using test::Bits;
using test::bits;

Program deep(std::size_t layers,
             const std::function<Tensor(const std::vector<std::function<Tensor(Tensor)>>&, Tensor)>& run,
             std::vector<Variable>& weights)
{
    constexpr std::int64_t width = 16;
    for (std::size_t i = 0; i < layers; ++i)
        weights.push_back(Variable(test::random_tensor({width, width}, i + 1, -0.3, 0.3)));
    std::vector<std::function<Tensor(Tensor)>> functions;
    for (const Variable& w : weights) functions.push_back([w](Tensor x) { return tanh(matmul(x, w)); });
    return record(
        [&](Tensor x) {
            const Tensor loss = sum(run(functions, x));
            std::vector<Tensor> out = grad({loss}, {weights.begin(), weights.end()});
            out.push_back(loss);
            return out;
        },
        {spec({symbol("batch"), width})});
}

TEST(CheckpointMemory, TakesLessMemory)
{
    std::vector<Variable> a, b, c;
    const Program without = deep(
        16,
        [](const auto& fs, Tensor x) {
            for (const auto& f : fs) x = f(x);
            return x;
        },
        a);
    const Program with = deep(
        16, [](const auto& fs, Tensor x) { return checkpoint_sequential(fs, 4, x); }, b);
    const std::uint64_t plain = without.arena_bytes({1024}), least = with.arena_bytes({1024});
    const std::uint64_t layer = 1024 * 16 * sizeof(float);
    EXPECT_GE(plain, 16 * layer);
    EXPECT_LE(least, 10 * layer); // 3 inputs of segments, 4 layers computed again, what their backward needs
    const Tensor x = test::random_tensor({8, 16}, 3);
    const auto got = with.call({x}), want = without.call({x});
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(bits(got[i]), bits(want[i])) << i;
}

// A checkpoint for each residual layer: what all of them save is most of the memory.
TEST(CheckpointMemory, SavesHalfOfItInSixteenBits)
{
    const auto peak = [](const CheckpointOptions& options) {
        std::vector<Variable> weights;
        const Program p = deep(
            32,
            [&](const auto& fs, Tensor x) {
                for (const auto& f : fs)
                    x = checkpoint(
                        options, [&](Tensor in) { return in + f(in); }, x);
                return x;
            },
            weights);
        return static_cast<double>(p.arena_bytes({1024}));
    };
    struct Residual : nn::Module {
        std::function<Tensor(Tensor)> f;
        Tensor forward(Tensor x) override { return x + f(x); }
    };
    const auto peak_of_modules = [](const CheckpointOptions& options) {
        std::vector<Variable> weights;
        const Program p = deep(
            32,
            [&](const auto& fs, Tensor x) {
                for (const auto& f : fs) {
                    Residual m;
                    m.f = f;
                    nn::checkpoint_module(m, "layer", options);
                    x = m(x);
                }
                return x;
            },
            weights);
        return static_cast<double>(p.arena_bytes({1024}));
    };
    // The gradient of each of these layers reads the layer's result.
    const auto peak_of_results = [](const CheckpointOptions& options) {
        std::vector<Variable> weights;
        const Program p = deep(
            32, [&](const auto& fs, Tensor x) { return checkpoint_sequential(fs, 32, x, options); }, weights);
        return static_cast<double>(p.arena_bytes({1024}));
    };
    EXPECT_LE(peak_of_results({.saved_dtype = bf16}), 0.65 * peak_of_results({}));
    const double wide = peak({});
    EXPECT_EQ(peak_of_modules({}), wide);
    EXPECT_LE(peak_of_modules({.saved_dtype = bf16}), 0.65 * wide);
    EXPECT_LE(peak({.saved_dtype = bf16}), 0.65 * wide);
    EXPECT_LE(peak({.saved_dtype = f16}), 0.65 * wide);
    EXPECT_EQ(peak({.saved_dtype = f32}), wide);
}

// With as many segments as a segment has layers the peak grows as the root of their number.
TEST(CheckpointMemory, TakesMemoryOfTheRootOfTheDepth)
{
    std::vector<double> peaks;
    for (const std::size_t root : {4, 8, 16}) {
        std::vector<Variable> weights;
        const Program p = deep(
            root * root, [&](const auto& fs, Tensor x) { return checkpoint_sequential(fs, root, x); },
            weights);
        peaks.push_back(static_cast<double>(p.arena_bytes({512})));
    }
    EXPECT_LE(std::log(peaks[2] / peaks[0]) / std::log(16.0), 0.6)
        << peaks[0] << ", " << peaks[1] << ", " << peaks[2];
    EXPECT_LE(std::log(peaks[1] / peaks[0]) / std::log(4.0), 0.6);
}

// So does a program that is called while another is recorded.
TEST(CheckpointMemory, TakesLessMemoryInAProgramWithin)
{
    std::vector<Variable> weights;
    const Program inner = deep(
        16, [](const auto& fs, Tensor x) { return checkpoint_sequential(fs, 4, x); }, weights);
    const Program outer =
        record_function([&](const std::vector<Tensor>& in) { return inner.call({in[0] * 2}); },
                        {spec({symbol("batch"), 16})});
    EXPECT_LE(outer.arena_bytes({1024}), inner.arena_bytes({1024}) + 1024 * 16 * sizeof(float));
    const Tensor x = test::random_tensor({8, 16}, 3);
    const auto got = outer.call({x}), want = inner.call({x * 2});
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(bits(got[i]), bits(want[i])) << i;
}

TEST(CheckpointMemory, KeepsLessInEagerCode)
{
    Variable w(test::random_tensor({64, 64}, 1, -0.2, 0.2));
    const Tensor x = test::random_tensor({256, 64}, 2);
    x.eval();
    const Device device = default_device();
    const auto kept = [&](bool on) {
        const std::uint64_t before = device.live_bytes();
        const Tensor loss = with_checkpoint_mode(on, [&] {
            return sum(checkpoint(
                [&](Tensor h) {
                    for (int i = 0; i < 8; ++i) h = tanh(matmul(h, w));
                    return h;
                },
                x));
        });
        loss.eval();
        const std::uint64_t after = device.live_bytes();
        loss.backward();
        const Bits gradient = bits(w.grad());
        w.zero_grad();
        return std::pair{after - before, gradient};
    };
    const auto [with, gradient] = kept(true);
    const auto [without, want] = kept(false);
    EXPECT_EQ(gradient, want);
    EXPECT_GE(without, 8u * 256 * 64 * 4);
    EXPECT_LE(with, 2u * 256 * 64 * 4); // the result and the loss
}

TEST(CheckpointMemory, SavesHalfOfItInSixteenBitsInEagerCode)
{
    Variable w(test::random_tensor({64, 64}, 1, -0.2, 0.2));
    const Device device = default_device();
    const auto kept = [&](const CheckpointOptions& options) {
        const std::uint64_t before = device.live_bytes();
        Tensor h = test::random_tensor({256, 64}, 2);
        for (int i = 0; i < 8; ++i)
            h = checkpoint(
                options, [&](Tensor in) { return in + tanh(matmul(in, w)); }, h);
        const Tensor loss = sum(h);
        loss.eval();
        h = Tensor();
        return device.live_bytes() - before;
    };
    constexpr std::uint64_t layer = 256 * 64 * 4;
    EXPECT_GE(kept({}), 8 * layer);
    EXPECT_LE(kept({.saved_dtype = bf16}), 5 * layer + 4096); // and the result
}

// A tensor that is given twice is saved once, and stays one tensor.
TEST(CheckpointMemory, KnowsATensorThatIsGivenTwice)
{
    const Tensor x = test::random_tensor({8, 8}, 1);
    bool is_same = false;
    const auto pair = checkpoint(
        {.saved_dtype = bf16},
        [&](Tensor a, Tensor b) {
            is_same = a.cell() == b.cell();
            const Tensor y = a * b;
            return std::pair{y, y};
        },
        x, x);
    EXPECT_TRUE(is_same);
    EXPECT_EQ(pair.first.cell(), pair.second.cell());
}

TEST(CheckpointMemory, TellsWhatItSaves)
{
    Variable w(test::random_tensor({16, 16}, 1, -0.2, 0.2));
    const MemoryTracker tracker;
    const Tensor x = test::random_tensor({32, 16}, 2);
    const auto tower = [&](int layers) {
        return [&w, layers](Tensor h) {
            for (int i = 0; i < layers; ++i) h = tanh(matmul(h, w));
            return h;
        };
    };
    const std::uint64_t before = tracker.saved();
    {
        const Tensor y = checkpoint({.layer = "first"}, tower(4), x),
                     loss = sum(checkpoint({.layer = "second"}, tower(3), y));
        EXPECT_EQ(tracker.saved(), before); // nothing was computed yet
        loss.eval();
        constexpr std::uint64_t value = 32 * 16 * 4;
        EXPECT_EQ(tracker.saved("first"), 3 * value); // results of tanh but the last
        EXPECT_EQ(tracker.saved("second"), 2 * value);
        EXPECT_EQ(tracker.saved(), before + 5 * value);
        EXPECT_THAT(tracker.layers(), testing::IsSupersetOf({"first", "second"}));
        const std::vector<std::string> layers = tracker.layers();
        EXPECT_TRUE(std::is_sorted(layers.begin(), layers.end()));
        EXPECT_EQ(MemoryTracker(default_device()).saved(), tracker.saved());
        EXPECT_EQ(MemoryTracker(Device("null")).saved(), 0u);
        loss.backward({}, {.retain_graph = true});
        w.grad().eval();
        EXPECT_EQ(tracker.saved(), before + 5 * value); // counted once
        loss.backward();
        EXPECT_EQ(tracker.saved(), before);
    }
    w.zero_grad();
    EXPECT_EQ(tracker.saved("first"), 0u); // its graph is gone, and its name
    EXPECT_EQ(tracker.saved_by_layer().count("first"), 0u);
    EXPECT_EQ(tracker.saved("third"), 0u);
    tracker.reset_peak();
    EXPECT_EQ(tracker.peak(), tracker.current());
    {
        const Tensor big = zeros({1 << 16});
        big.eval();
    }
    EXPECT_GE(tracker.peak(), tracker.current() + (std::uint64_t{1} << 18));
}

// Running statistics are computed with the forward pass, and no step holds on to those before.
TEST(CheckpointMemory, DoesNotComputeEffectsAgain)
{
    nn::BatchNorm2d norm(4);
    nn::Conv2d conv(4, 4, {.kernel_size = 3, .padding = 1});
    const Tensor x = test::random_tensor({2, 4, 5, 5}, 1);
    const auto step = [&] {
        const Tensor loss = sum(checkpoint([&](Tensor in) { return relu(norm(conv(in))); }, x));
        loss.eval();
        const std::uint64_t before = stats().launches;
        for (const auto& [name, buffer] : norm.named_buffers()) static_cast<void>(to_bytes(buffer));
        EXPECT_EQ(stats().launches, before);
        loss.backward();
        for (const Variable& p : conv.parameters()) p.grad().eval();
        conv.zero_grad();
        norm.zero_grad();
        return default_device().live_bytes();
    };
    step();
    const std::uint64_t after_two = step();
    for (int i = 0; i < 5; ++i) EXPECT_EQ(step(), after_two);
}

// What comes from another device is kept: it can't be computed again here.
TEST(CheckpointMemory, KeepsWhatComesFromAnotherDevice)
{
    const Device other = default_device().name() == "reference" ? Device("null") : Device("reference");
    if (other.name() == "null") return; // which computes nothing
    Variable w(from_vector({1, 2, 3}));
    const auto f = [&](const Tensor& t) { return exp((t * 2).to(other)) * 2; };
    const Tensor y = checkpoint(f, w);
    EXPECT_EQ(bits(y), bits(f(w)));
    sum(y).backward();
    const test::Bits got = bits(w.grad());
    w.zero_grad();
    sum(f(w)).backward();
    EXPECT_EQ(got, bits(w.grad()));
}

TEST(CheckpointMemory, MayRecordInside)
{
    Variable w(from_vector({1, 2, 3}));
    Program step;
    const auto f = [&](const Tensor& t) {
        if (!step.defined()) step = record([](Tensor x) { return exp(x) + rand({3}); }, {spec({3})});
        const Tensor noise = step(t.detach());
        return sin(t) * noise;
    };
    const Tensor y = checkpoint(f, w);
    EXPECT_EQ(y.to_vector<float>().size(), 3u);
    sum(y).backward();
    EXPECT_EQ(w.grad().to_vector<float>().size(), 3u);
}

// More ops than a queue holds: what lies inside is not stored when it is flushed.
TEST(CheckpointMemory, SurvivesAFlush)
{
    Variable w(test::random_tensor({64, 64}, 1, -0.1, 0.1));
    const Device device = default_device();
    w.eval();
    const std::uint64_t before = device.live_bytes();
    Tensor x = w;
    constexpr int blocks = 50, ops = 100;
    for (int b = 0; b < blocks; ++b)
        x = checkpoint(
            [](Tensor t) {
                for (int i = 0; i < ops / 2; ++i) t = transpose(sin(t), 0, 1);
                return t * 1.0;
            },
            x);
    const Tensor loss = sum(x);
    loss.eval();
    EXPECT_LE(device.live_bytes() - before, (blocks + 60) * 64 * 64 * 4u);
    loss.backward();
    EXPECT_EQ(w.grad().to_vector<float>().size(), 64u * 64);
}

// The gradients' evaluation computes each segment again once, and no segment before it.
TEST(CheckpointMemory, ComputesTheForwardPassTwiceAtMost)
{
    Variable w(test::random_tensor({8, 8}, 1));
    const test::PlansOfTheirOwn planned;
    const auto launches = [&](bool on, bool backward = true) {
        const std::uint64_t before = stats().launches;
        Tensor x = w;
        with_checkpoint_mode(on, [&] {
            for (int b = 0; b < 6; ++b)
                x = checkpoint([](Tensor t) { return (t + 1.0) * sin(t * 0.5 + 0.1); }, x);
        });
        const Tensor loss = sum(x);
        if (backward) loss.backward(); // lazy: the loss is computed first, the tape is released
        loss.eval();
        if (backward) w.grad().eval();
        w.zero_grad();
        return stats().launches - before;
    };
    const std::uint64_t plain = launches(false), forward = launches(false, false);
    EXPECT_EQ(launches(true, false), forward);
    EXPECT_GT(launches(true), plain);
    EXPECT_LE(launches(true), plain + forward);
}

} // namespace
} // namespace reprise
