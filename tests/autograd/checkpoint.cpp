// Checkpoints: the gradients are those without them, bit for bit, eager and recorded; less memory is used; user code
// runs once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <reprise/autograd.hpp>
#include <reprise/memory.hpp>
#include <reprise/nn.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>
#include <reprise/random.hpp>

#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using nn::make;
using test::Bits;
using test::bits;
using testing::ElementsAre;
using testing::HasSubstr;
using Policy = CheckpointOptions::Policy;

// ---- networks as lists of blocks ----

struct Residual : nn::Module {
    nn::Conv2d first{4, 4, {.kernel_size = 3, .padding = 1, .bias = false}},
        second{4, 4, {.kernel_size = 3, .padding = 1, .bias = false}};
    nn::BatchNorm2d norm1{4}, norm2{4};
    Residual()
    {
        register_module("first", first);
        register_module("norm1", norm1);
        register_module("second", second);
        register_module("norm2", norm2);
    }
    Tensor forward(Tensor x) override { return relu(norm2(second(relu(norm1(first(x))))) + x); }
};

struct Transformer : nn::Module {
    nn::LayerNorm ln1{8}, ln2{8};
    nn::Linear qkv{8, 24}, proj{8, 8}, up{8, 32}, down{32, 8};
    nn::Dropout dropout{0.2};
    Transformer()
    {
        register_module("ln1", ln1);
        register_module("qkv", qkv);
        register_module("proj", proj);
        register_module("ln2", ln2);
        register_module("up", up);
        register_module("down", down);
        register_module("dropout", dropout);
    }
    Tensor forward(Tensor x) override
    {
        const Dim rows = x.size(0), length = x.size(1);
        const auto in = unbind(qkv(ln1(x)).view({rows, length, 3, 2, 4}).permute({2, 0, 3, 1, 4}));
        const Tensor a =
            scaled_dot_product_attention(in[0], in[1], in[2], {.dropout_p = 0.1, .is_causal = true});
        x = x + dropout(proj(a.transpose(1, 2).reshape({rows, length, 8})));
        return x + down(gelu(up(ln2(x)), GeluApproximation::tanh));
    }
};

struct Net {
    std::string name;
    Shape example; // without the batch
    std::function<std::vector<std::shared_ptr<nn::Module>>()> blocks;
};
std::shared_ptr<nn::Module> sequence(std::vector<std::shared_ptr<nn::Module>> modules)
{
    const auto s = make<nn::Sequential>();
    for (auto& m : modules) s->push_back(std::move(m));
    return s;
}
const std::vector<Net>& nets()
{
    static const std::vector<Net> all = {
        {"mlp",
         {6},
         [] {
             std::vector<std::shared_ptr<nn::Module>> blocks;
             for (const std::int64_t in : {6, 7, 7, 7})
                 blocks.push_back(sequence({make<nn::Linear>(in, 7), make<nn::Tanh>()}));
             return blocks;
         }},
        {"cnn_with_dropout",
         {2, 6, 6},
         [] {
             const auto convolution = [](std::int64_t in) {
                 return make<nn::Conv2d>(in, 3, nn::Conv2dOptions{.kernel_size = 3, .padding = 1});
             };
             return std::vector<std::shared_ptr<nn::Module>>{
                 sequence({convolution(2), make<nn::ReLU>(), make<nn::Dropout>(0.3)}),
                 sequence(
                     {convolution(3), make<nn::ReLU>(), make<nn::Dropout2d>(0.3), make<nn::MaxPool2d>(2)}),
                 sequence({make<nn::Flatten>(), make<nn::Linear>(27, 5)})};
         }},
        {"resnet_with_batch_norm",
         {4, 5, 5},
         [] {
             return std::vector<std::shared_ptr<nn::Module>>{make<Residual>(), make<Residual>(),
                                                             make<Residual>()};
         }},
        {"gpt",
         {5, 8},
         [] {
             std::vector<std::shared_ptr<nn::Module>> blocks;
             for (int i = 0; i < 8; ++i) blocks.push_back(make<Transformer>());
             return blocks;
         }},
    };
    return all;
}

// ---- ways to call them ----

using Forward = std::function<Tensor(const std::vector<std::shared_ptr<nn::Module>>&, Tensor)>;
struct Way {
    std::string name;
    Forward forward;
};
Tensor plain(const std::vector<std::shared_ptr<nn::Module>>& blocks, Tensor x)
{
    for (const auto& b : blocks) x = (*b)(x);
    return x;
}
Tensor each(const CheckpointOptions& options, const std::vector<std::shared_ptr<nn::Module>>& blocks,
            Tensor x)
{
    for (const auto& b : blocks) x = checkpoint(options, *b, x);
    return x;
}
const std::vector<Way>& ways()
{
    static const std::vector<Way> all = {
        {"each_block", [](const auto& blocks, Tensor x) { return each({}, blocks, x); }},
        {"selective",
         [](const auto& blocks, Tensor x) { return each({.policy = Policy::selective}, blocks, x); }},
        {"all_in_one", [](const auto& blocks,
                          Tensor x) { return checkpoint([&](Tensor in) { return plain(blocks, in); }, x); }},
        {"nested_two_deep",
         [](const auto& blocks, Tensor x) {
             return checkpoint(
                 [&](Tensor in) {
                     in = checkpoint(*blocks[0], in);
                     return checkpoint(
                         [&](Tensor rest) {
                             for (std::size_t i = 1; i < blocks.size(); ++i)
                                 rest = checkpoint(*blocks[i], rest);
                             return rest;
                         },
                         in);
                 },
                 x);
         }},
        {"sequential",
         [](const auto& blocks, Tensor x) {
             std::vector<std::function<Tensor(Tensor)>> functions;
             for (const auto& b : blocks) functions.push_back([&b](Tensor in) { return (*b)(in); });
             return checkpoint_sequential(functions, 2, x);
         }},
    };
    return all;
}

enum class How { eager, eager_in_steps, recorded, recorded_unfused };

// The loss, the gradients by the input and all parameters, the running statistics; twice, at two batch sizes.
std::vector<Bits> train(const Net& net, const Forward& forward, How how)
{
    manual_seed(5);
    const auto blocks = net.blocks();
    std::vector<Variable> parameters;
    for (const auto& b : blocks)
        for (const Variable& p : b->parameters()) parameters.push_back(p);
    const auto step = [&](Tensor in) {
        Tensor x = in.detach();
        x.requires_grad_();
        const Tensor y = forward(blocks, x);
        const Tensor loss = sum(y * y * 0.5);
        if (how == How::eager_in_steps) loss.eval();
        std::vector<Tensor> wanted(parameters.begin(), parameters.end());
        wanted.push_back(x);
        std::vector<Tensor> out = grad({loss}, wanted);
        out.push_back(loss);
        return out;
    };
    Shape shape = net.example;
    shape.insert(shape.begin(), symbol("batch"));
    Program program;
    if (how == How::recorded || how == How::recorded_unfused)
        program = record_function([&](const std::vector<Tensor>& in) { return step(in[0]); }, {spec(shape)},
                                  {.fuse = how == How::recorded});
    std::vector<Bits> found;
    for (const std::int64_t batch : {3, 1}) {
        shape[0] = batch;
        const Tensor x = test::random_tensor(shape, static_cast<std::uint64_t>(batch));
        const std::vector<Tensor> out = program.defined() ? program.call({x}) : step(x);
        for (const Tensor& t : out) found.push_back(bits(t));
        for (const auto& b : blocks)
            for (const auto& [name, buffer] : b->named_buffers()) found.push_back(bits(buffer));
    }
    return found;
}

struct SameBits : testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {};
INSTANTIATE_TEST_SUITE_P(
    Nets, SameBits, testing::Combine(testing::Range<std::size_t>(0, 4), testing::Range<std::size_t>(0, 5)),
    [](const auto& test) {
        return nets()[std::get<0>(test.param)].name + "_" + ways()[std::get<1>(test.param)].name;
    });

TEST_P(SameBits, AsWithoutCheckpoints)
{
    const Net& net = nets()[std::get<0>(GetParam())];
    const Way& way = ways()[std::get<1>(GetParam())];
    const auto want = train(net, plain, How::eager);
    EXPECT_EQ(train(net, way.forward, How::eager), want) << "eager";
    EXPECT_EQ(train(net, way.forward, How::eager_in_steps), want) << "eager, the loss first";
    EXPECT_EQ(train(net, way.forward, How::recorded), want) << "recorded";
    EXPECT_EQ(train(net, way.forward, How::recorded_unfused), want) << "recorded, not fused";
}

// ---- what is computed again ----

Tensor square_twice(const Tensor& x) { return exp(sin(x) * cos(x)); }

TEST(Checkpoint, KeepsMetadata)
{
    Variable w(from_vector({1, 2, 3}));
    const Tensor y = checkpoint([](Tensor t) { return square_twice(t); }, w), plain = square_twice(w);
    EXPECT_EQ(y.shape(), plain.shape());
    EXPECT_EQ(y.dtype(), plain.dtype());
    EXPECT_EQ(y.requires_grad(), plain.requires_grad());
    EXPECT_EQ(y.is_leaf(), plain.is_leaf());
    EXPECT_EQ(y.device(), plain.device());
    EXPECT_FALSE(checkpoint([](Tensor t) { return square_twice(t); }, w.detach()).requires_grad());
}

TEST(Checkpoint, TakesAndGivesStructures)
{
    Variable a(from_vector({1, 2})), b(from_vector({3, 4}));
    const auto f = [](const Tensor& x, const std::vector<Tensor>& more, double factor) {
        return std::pair{sin(x) * more[0], std::vector{exp(x * factor), more[0]}};
    };
    const auto out = checkpoint(f, a, std::vector<Tensor>{b}, 0.5), want = f(a, {b}, 0.5);
    const auto gradients = [&](const auto& o) {
        const auto g = grad({sum(o.first * o.second[0] + o.second[1])}, {a, b});
        return std::vector{bits(g[0]), bits(g[1])};
    };
    EXPECT_EQ(gradients(out), gradients(want));
}

TEST(Checkpoint, CallsTheFunctionOnce)
{
    int calls = 0;
    Variable w(from_vector({1, 2}));
    const auto f = [&](Tensor x) {
        ++calls;
        return square_twice(x);
    };
    sum(checkpoint(f, w)).backward();
    EXPECT_EQ(w.grad().to_vector<float>().size(), 2u);
    EXPECT_EQ(calls, 1);
    const Program p = record(
        [&](Tensor x) {
            const Tensor y = sum(checkpoint(f, x * w));
            return grad(y, w);
        },
        {spec({2})});
    for (int i = 0; i < 3; ++i) p(from_vector({1, 2})).to_vector<float>();
    EXPECT_EQ(calls, 2);
}

TEST(Checkpoint, GivesGradientsOfGradients)
{
    Variable w(from_vector({0.3F, -0.7F}));
    const auto third = [&](const auto& f) {
        const Tensor first = grad(sum(f(w)), w, {.create_graph = true}),
                     second = grad(sum(first * first), w, {.create_graph = true});
        return bits(grad(sum(second * second), w));
    };
    const auto f = [](const Tensor& x) { return square_twice(x); };
    EXPECT_EQ(third([&](const Tensor& x) { return checkpoint(f, x); }), third(f));
    const Program p = record(
        [&](Tensor x) {
            const Tensor g = grad(sum(checkpoint(f, x * w)), w, {.create_graph = true});
            return grad(sum(g * g), w);
        },
        {spec({2})});
    const Tensor x = from_vector({2, 3});
    const Tensor g = grad(sum(f(x * w)), w, {.create_graph = true});
    EXPECT_EQ(bits(p(x)), bits(grad(sum(g * g), w)));
}

TEST(Checkpoint, RunsHooksAndCustomFunctionsOnce)
{
    int forward = 0, backward = 0, hooked = 0;
    const CustomFunction cube(
        "cube",
        [&](FunctionContext& c, const std::vector<Tensor>& in) {
            ++forward;
            const Tensor squared = in[0] * in[0];
            c.save_for_backward({in[0], squared});
            return std::vector{squared * in[0]};
        },
        [&](const FunctionContext& c, const std::vector<Tensor>& dy) {
            ++backward;
            return std::vector{dy[0] * c.saved(1) * 3};
        });
    Variable w(from_vector({1, 2}));
    Tensor kept;
    const Tensor y = checkpoint(
        [&](Tensor x) {
            const Tensor inner = sin(x);
            inner.register_hook([&](const Tensor& g) {
                ++hooked;
                return g * 2;
            });
            inner.retain_grad();
            kept = inner;
            return cube(inner) * inner;
        },
        w);
    sum(y).eval();
    sum(y).backward();
    const auto got = w.grad().to_vector<float>();
    EXPECT_EQ(forward, 1);
    EXPECT_EQ(backward, 1);
    EXPECT_EQ(hooked, 1);
    for (std::size_t i = 0; i < 2; ++i) {
        const float s = std::sin(static_cast<float>(i + 1)), slope = 4 * s * s * s;
        EXPECT_NEAR(kept.grad().to_vector<float>()[i], 2 * slope, 1e-5);
        EXPECT_NEAR(got[i], 2 * slope * std::cos(static_cast<float>(i + 1)), 1e-5);
        EXPECT_NEAR(kept.to_vector<float>()[i], s, 1e-6);
    }
}

// ---- memory ----

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

TEST(Checkpoint, TakesLessMemory)
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

// With as many segments as a segment has layers the peak grows as the root of their number.
TEST(Checkpoint, TakesMemoryOfTheRootOfTheDepth)
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
TEST(Checkpoint, TakesLessMemoryInAProgramWithin)
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

TEST(Checkpoint, KeepsLessInEagerCode)
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

TEST(Checkpoint, TellsWhatItSaves)
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
        loss.backward({}, {.retain_graph = true});
        w.grad().eval();
        EXPECT_EQ(tracker.saved(), before + 5 * value); // counted once
        loss.backward();
        EXPECT_EQ(tracker.saved(), before);
    }
    w.zero_grad();
    const Caught error = error_of([&] { static_cast<void>(tracker.saved("third")); });
    EXPECT_EQ(error.kind, ErrorKind::argument);
    EXPECT_THAT(error.text, HasSubstr("had the layer (third): there are ("));
    tracker.reset_peak();
    EXPECT_EQ(tracker.peak(), tracker.current());
    {
        const Tensor big = zeros({1 << 16});
        big.eval();
    }
    EXPECT_GE(tracker.peak(), tracker.current() + (std::uint64_t{1} << 18));
}

// Running statistics are computed with the forward pass, and no step holds on to those before.
TEST(Checkpoint, DoesNotComputeEffectsAgain)
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
TEST(Checkpoint, KeepsWhatComesFromAnotherDevice)
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

TEST(Checkpoint, MayRecordInside)
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
TEST(Checkpoint, SurvivesAFlush)
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
TEST(Checkpoint, ComputesTheForwardPassTwiceAtMost)
{
    Variable w(test::random_tensor({8, 8}, 1));
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
    EXPECT_GT(launches(true), plain);
    EXPECT_LE(launches(true), plain + forward);
}

// ---- modes and mistakes ----

TEST(Checkpoint, TellsThatItRuns)
{
    Variable w(from_vector({1}));
    EXPECT_FALSE(is_checkpointing());
    checkpoint(
        [&](Tensor x) {
            EXPECT_TRUE(is_checkpointing());
            std::thread([] { EXPECT_FALSE(is_checkpointing()); }).join();
            checkpoint([](Tensor y) { return y * 2; }, x);
            EXPECT_TRUE(is_checkpointing());
            return x * 2;
        },
        w);
    EXPECT_FALSE(is_checkpointing());
    EXPECT_THROW(checkpoint(
                     [](Tensor x) -> Tensor {
                         throw std::runtime_error("of the user");
                         return x;
                     },
                     w),
                 std::runtime_error);
    EXPECT_FALSE(is_checkpointing());
    EXPECT_THROW(with_checkpoint_mode(false, []() -> int { throw std::runtime_error("of the user"); }),
                 std::runtime_error);
    EXPECT_EQ(with_checkpoint_mode(false, [] { return 3; }), 3);
}

TEST(Checkpoint, LeavesNothingBehindWhereItsFunctionThrows)
{
    Variable w(test::random_tensor({32, 32}, 1));
    const std::uint64_t before = default_device().live_bytes();
    EXPECT_THROW(checkpoint(
                     [](Tensor x) -> Tensor {
                         const Tensor y = exp(x);
                         y.eval();
                         throw std::runtime_error("of the user");
                         return y;
                     },
                     w),
                 std::runtime_error);
    EXPECT_EQ(default_device().live_bytes(), before);
    sum(checkpoint([](Tensor x) { return exp(x); }, w)).backward();
    EXPECT_EQ(bits(w.grad()), bits(exp(w)));
}

TEST(Checkpoint, NamesMistakes)
{
    Variable w(from_vector({1}));
    const std::function<Tensor(Tensor)> null;
    Caught error = error_of([&] { checkpoint(null, w); });
    EXPECT_EQ(error.kind, ErrorKind::argument);
    EXPECT_THAT(error.text, HasSubstr("[checkpoint] The function is null"));
    EXPECT_THAT(error_of([&] { checkpoint_sequential({}, 1, w); }).text,
                HasSubstr("[checkpoint_sequential] There is no function"));
    const std::function<Tensor(Tensor)> twice = [](Tensor x) { return x * 2; };
    for (const std::size_t segments : {0, 3})
        EXPECT_THAT(error_of([&] {
                        checkpoint_sequential({twice, twice}, segments, w);
                    }).text,
                    HasSubstr("(" + std::to_string(segments) + ")"));
    EXPECT_THAT(error_of([&] { checkpoint_sequential({twice, null}, 1, w); }).text, HasSubstr("is null"));
    EXPECT_EQ(checkpoint_sequential({twice, twice, twice}, 2, w).item<float>(), 8);
}

TEST(Checkpoint, ReachesTheInput)
{
    Variable x(from_vector({0.5F}));
    const std::function<Tensor(Tensor)> f = [](Tensor t) { return sin(t); };
    sum(checkpoint_sequential({f, f, f}, 3, x)).backward();
    const float a = std::sin(0.5F), b = std::sin(a);
    EXPECT_NEAR(x.grad().item<float>(), std::cos(0.5F) * std::cos(a) * std::cos(b), 1e-6);
}

// A tensor of the inside that the function hands out is kept.
TEST(Checkpoint, KeepsWhatSomebodyHolds)
{
    Variable w(from_vector({0.5F, 1}));
    Tensor inner;
    const auto f = [&](Tensor x) {
        inner = exp(x);
        return sin(inner);
    };
    const Tensor y = checkpoint(f, w);
    y.eval();
    const std::uint64_t before = stats().launches;
    EXPECT_EQ(inner.to_vector<float>().size(), 2u);
    EXPECT_EQ(stats().launches, before);
    const Tensor other = sum(y * inner * inner);
    const auto got = bits(grad(other, w));
    const Tensor want = f(w);
    EXPECT_EQ(got, bits(grad(sum(want * inner * inner), w)));
}

} // namespace
} // namespace reprise
