// Checkpoints as their users meet them: values and metadata as without, code that runs once, modes and mistakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using test::bits;
using testing::HasSubstr;

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

// Integers, numbers, undefined tensors, narrow ones, scalars and Variables stay as they are.
TEST(Checkpoint, RoundsArgumentsAndResults)
{
    const CheckpointOptions options{.saved_dtype = bf16};
    const Tensor x = from_vector({1.001f, 2.003f}), narrow = cast(x, f16);
    const auto rounded = [](const Tensor& t) { return bits(cast(cast(t, bf16), t.dtype())); };
    Variable w(x);
    const auto same = [](Tensor t) { return t * 1; };
    EXPECT_EQ(bits(checkpoint(options, same, x)), rounded(x));
    EXPECT_EQ(
        bits(checkpoint(
            options, [](std::vector<Tensor> all) { return all[1] * 1; }, std::vector<Tensor>{Tensor(), x})),
        rounded(x));
    EXPECT_EQ(bits(checkpoint(options, same, narrow)), bits(narrow));
    const Tensor integers = from_vector(std::vector<std::int32_t>{257, 65537}, {2});
    EXPECT_EQ(bits(checkpoint(options, same, integers)), bits(integers));
    EXPECT_EQ(bits(checkpoint(
                  options, [](const Variable& v, double factor) { return sum(v * factor); }, w, 1.0)),
              bits(sum(x)));
    const auto pair = checkpoint(
        options,
        [](Tensor t) {
            return std::pair{t, std::vector{t * 1.001, sum(t)}};
        },
        x);
    const Tensor low = cast(cast(x, bf16), f32);
    EXPECT_EQ(bits(pair.first), rounded(x));
    EXPECT_EQ(bits(pair.second[0]), rounded(low * 1.001));
    EXPECT_EQ(bits(pair.second[1]), bits(sum(low)));
    const no_grad guard;
    EXPECT_EQ(bits(checkpoint(options, same, x)), rounded(x));
    EXPECT_THAT(error_of([&] { checkpoint({.saved_dtype = i32}, same, x); }).text,
                HasSubstr("[checkpoint] saved_dtype (i32) is no floating-point dtype"));
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
    const std::function<Tensor(Tensor)> twice = [](Tensor x) { return x * 2; };
    EXPECT_THAT(error_of([&] { checkpoint_sequential({twice, twice}, 0, w); }).text, HasSubstr("(0)"));
    EXPECT_THAT(error_of([&] { checkpoint_sequential({twice, null}, 1, w); }).text, HasSubstr("is null"));
    EXPECT_EQ(checkpoint_sequential({twice, twice, twice}, 2, w).item<float>(), 8);
    EXPECT_EQ(checkpoint_sequential({twice, twice}, 3, w).item<float>(), 4)
        << "as many segments as functions";
    EXPECT_EQ(checkpoint_sequential({}, 1, w).item<float>(), 1);
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
