// Threads that use the library at the same time, each with tensors of its own, on one device.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include <reprise/autograd.hpp>
#include <reprise/memory.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>
#include <reprise/random.hpp>

#include "ops/random.hpp"
#include "support/devices.hpp"
#include "support/training.hpp"

namespace reprise {
namespace {

TEST(Threads, DrawOrdinalsOfTheirOwn)
{
    manual_seed(0);
    std::vector<std::vector<std::uint64_t>> taken(4);
    std::vector<std::thread> threads;
    for (auto& list : taken)
        threads.emplace_back([&list] {
            for (int i = 0; i < 500; ++i) list.push_back(ops::take_ordinals(1).first.ordinal);
        });
    for (std::thread& t : threads) t.join();
    std::set<std::uint64_t> all;
    for (const auto& list : taken) all.insert(list.begin(), list.end());
    EXPECT_EQ(all.size(), 2000u);
    EXPECT_EQ(generator_state().ordinal, 2000u);
}

TEST(Threads, DifferentiateGraphsOfTheirOwn)
{
    const auto gradient = [](float seed) {
        const Variable x(from_vector({seed, 2 * seed, -seed}));
        Tensor y = x;
        for (int i = 0; i < 20; ++i) y = tanh(y * 1.1) + x * 0.1;
        sum(y * y).backward();
        return x.grad().to_vector<float>();
    };
    constexpr int threads = 4, rounds = 3;
    std::vector<std::vector<float>> want, got(threads * rounds);
    for (int i = 0; i < threads * rounds; ++i) want.push_back(gradient(0.1f * static_cast<float>(i + 1)));
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
        running.emplace_back([&, t] {
            for (int r = 0; r < rounds; ++r)
                got[static_cast<std::size_t>(t * rounds + r)] =
                    gradient(0.1f * static_cast<float>(t * rounds + r + 1));
        });
    for (std::thread& t : running) t.join();
    EXPECT_EQ(got, want);
}

TEST(Threads, ReplayProgramsOfTheirOwn)
{
    const auto run = [](std::uint64_t seed) {
        test::Training t(test::Net::mlp, seed);
        const Program p = t.recorded(symbol("batch"));
        for (std::uint64_t i = 0; i < 5; ++i) {
            const auto [x, target] = t.batch(4 + static_cast<std::int64_t>(i), seed);
            p(x, target);
        }
        return t.state();
    };
    std::vector<std::vector<test::Bits>> want, got(3);
    for (std::uint64_t i = 0; i < 3; ++i) want.push_back(run(i));
    // Initial values come from the one generator of the process: made before the threads start.
    std::vector<std::unique_ptr<test::Training>> nets;
    for (std::uint64_t i = 0; i < 3; ++i) nets.push_back(std::make_unique<test::Training>(test::Net::mlp, i));
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < 3; ++i)
        threads.emplace_back([&, i] {
            const Program p = nets[i]->recorded(symbol("batch"));
            for (std::uint64_t k = 0; k < 5; ++k) {
                const auto [x, target] = nets[i]->batch(4 + static_cast<std::int64_t>(k), i);
                p(x, target);
            }
            got[i] = nets[i]->state();
        });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(got, want);
}

// The plans of eager code: of loops of one structure and of others, while they are dropped and looked at.
std::vector<test::Bits> loop(std::int64_t who, bool values)
{
    std::vector<test::Bits> out;
    for (std::int64_t n = 1; n < 12; ++n) {
        const Variable x(test::random_tensor({n + who, 3}, static_cast<std::uint64_t>(n)));
        Tensor y = tanh(matmul(x, transpose(x, 0, 1)));
        for (std::int64_t i = 0; i < who % 3; ++i) y = exp(y * 0.5);
        y = grad(sum(y * y), x);
        y.eval();
        if (values) out.push_back(test::bits(y));
    }
    return out;
}

void share_plans(bool values)
{
    std::vector<std::vector<test::Bits>> want, got(4);
    {
        const test::PlansOfTheirOwn independent;
        for (std::int64_t i = 0; i < 4; ++i) want.push_back(loop(i, values));
    }
    std::vector<std::thread> threads;
    for (std::int64_t i = 0; i < 4; ++i)
        threads.emplace_back([&, i] { got[static_cast<std::size_t>(i)] = loop(i, values); });
    for (const std::size_t most : {1u, 0u, 2u, 256u}) {
        set_eager_plans(most);
        static_cast<void>(describe_eager_plans());
        EXPECT_LE(stats(default_device()).eager_plans, 256u);
        default_device().set_calls_in_flight(most == 256 ? 16 : 2);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(got, want);
}

TEST(Threads, ShareThePlansOfEagerCode) { share_plans(true); }

TEST(Threads, ShareThePlansOfEagerCodeOnTheNullDevice)
{
    const test::UseDevice use(test::imitation("gpu"));
    share_plans(false);
}

// Several segments, one of them around another; eager twice, then recorded within a budget.
std::vector<test::Bits> checkpointed(std::uint64_t seed)
{
    const Variable w(test::random_tensor({8, 8}, seed, -0.5, 0.5));
    const Tensor x = test::random_tensor({16, 8}, seed + 100);
    const MemoryTracker tracker;
    const auto layer = [&](Tensor h) { return tanh(matmul(tanh(matmul(h, w)), w)); };
    const auto step = [&](const Tensor& in) {
        Tensor h = checkpoint({.layer = "thread " + std::to_string(seed)}, layer, in);
        h = checkpoint([&](Tensor outer) { return layer(checkpoint(layer, outer)); }, h);
        return grad({sum(h * h)}, std::vector<Tensor>{w});
    };
    std::vector<test::Bits> out;
    for (int i = 0; i < 2; ++i) {
        out.push_back(test::bits(step(x)[0]));
        static_cast<void>(tracker.saved());
    }
    const Program p = record_function([&](const std::vector<Tensor>& in) { return step(in[0]); },
                                      {spec({symbol("n"), 8})}, {.memory_budget = 8192});
    for (int i = 0; i < 2; ++i) out.push_back(test::bits(p.call({x})[0]));
    return out;
}

TEST(Threads, RunCheckpointsOfTheirOwn)
{
    std::vector<std::vector<test::Bits>> want, got(4);
    for (std::uint64_t i = 0; i < 4; ++i) want.push_back(checkpointed(i + 1));
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < 4; ++i) threads.emplace_back([&, i] { got[i] = checkpointed(i + 1); });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(got, want);
}

TEST(Threads, RunCheckpointsOnTheNullDevice)
{
    const test::UseDevice use(test::imitation("gpu"));
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < 4; ++i) threads.emplace_back([i] { checkpointed(i + 1); });
    for (std::thread& t : threads) t.join();
}

TEST(Threads, ReplayOnTheNullDevice)
{
    const test::UseDevice use(test::imitation("gpu"));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([] {
            const Program p =
                record([](Tensor x) { return sum(matmul(x, x) * 2); }, {spec({symbol("n"), 8})});
            for (std::int64_t n = 8; n < 12; ++n) EXPECT_EQ(p(zeros({8, 8})).shape().size(), 0u);
        });
    for (std::thread& t : threads) t.join();
}

} // namespace
} // namespace reprise
