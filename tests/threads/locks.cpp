// Nothing of the library is locked while user code runs in a backward pass: hooks and custom functions may
// do anything there, on many threads at once.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "support/time_limit.hpp"

namespace reprise {
namespace {

using Tensors = std::vector<Tensor>;

// A backward pass that runs others inside: in a hook and in a custom function, which evaluate, read and
// record.
float nested(float start, int depth)
{
    const Variable x(from_vector({start, 2 * start}));
    const CustomFunction f(
        "nested",
        [](FunctionContext& c, const Tensors& in) {
            c.save_for_backward(in);
            static_cast<void>(in[0].to_vector<float>());
            return Tensors{in[0] * in[0]};
        },
        [depth](const FunctionContext& c, const Tensors& dy) {
            const enable_grad on;
            const Variable inner(c.saved(0).detach());
            sum(inner * inner).backward();
            const double twice = depth > 0 ? 0.0 * nested(1, depth - 1) : 0.0;
            return Tensors{dy[0] * (inner.grad() + twice)};
        });
    const Tensor y = f(x);
    y.register_hook([&](const Tensor& g) {
        const auto program = record([](Tensor t) { return t * 2; }, {spec({symbol("n")})});
        EXPECT_EQ(program(g).to_vector<float>().size(), 2u);
        return g * 1;
    });
    sum(y).backward();
    return x.grad().to_vector<float>()[1];
}

TEST(Locks, NoneIsHeldWhileUserCodeRuns)
{
    const test::TimeLimit limit(std::chrono::seconds(100));
    constexpr int threads = 4;
    std::atomic<int> right = 0;
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
        running.emplace_back([&, t] {
            const auto start = static_cast<float>(t + 1);
            right += nested(start, 1) == 4 * start;
        });
    for (std::thread& t : running) t.join();
    EXPECT_EQ(right, threads);
}

// Many threads add to the same leaf's graph, each by its own handle of the gradients.
TEST(Locks, ThreadsShareAForwardPass)
{
    const test::TimeLimit limit(std::chrono::seconds(100));
    const Variable w(from_vector({1, 2}));
    const Tensor y = sum(exp(w) * w);
    const auto want = y.gradients({.retain_graph = true}).get(w).to_vector<float>();
    std::atomic<int> right = 0;
    std::vector<std::thread> running;
    for (int t = 0; t < 4; ++t)
        running.emplace_back([&] {
            for (int i = 0; i < 5; ++i)
                right += y.gradients({.retain_graph = true}).get(w).to_vector<float>() == want;
        });
    for (std::thread& t : running) t.join();
    EXPECT_EQ(right, 20);
}

} // namespace
} // namespace reprise
