// DistributedDataParallel beside one device with the whole batch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include <reprise/distributed.hpp>
#include <reprise/reprise.hpp>

#include "support/data_parallel.hpp"
#include "support/ranks.hpp"

namespace reprise {
namespace {

using distributed::all_gather, distributed::World;
using test::batch, test::Batch, test::Begins, test::even, test::Net, test::Result, test::Setting, test::train;
using test::on_ranks;

void expect_as_one(int ranks, const Begins& begins, const Setting& s)
{
    Result one;
    on_ranks(1, [&](const World& w, const Device& d) { one = train(w, d, {0, begins.back()}, s); });
    std::vector<Result> all(static_cast<std::size_t>(ranks));
    on_ranks(ranks, [&](const World& w, const Device& d) {
        all[static_cast<std::size_t>(w.rank())] = train(w, d, begins, s);
    });
    for (std::size_t i = 0; i < one.losses.size(); ++i) {
        double loss = 0;
        for (const Result& r : all) loss += r.losses[i];
        EXPECT_NEAR(loss, one.losses[i], 2e-6 * one.losses[i]) << "step " << i;
    }
    EXPECT_LT(one.losses.back(), 0.9 * one.losses.front()) << "nothing was learned";
    for (const Result& r : all) {
        ASSERT_EQ(r.weights.size(), one.weights.size());
        EXPECT_EQ(r.weights, all[0].weights) << "ranks differ";
        for (std::size_t i = 0; i < r.weights.size(); ++i)
            EXPECT_NEAR(r.weights[i], one.weights[i], 2e-5) << "weight " << i;
    }
}

class DataParallel : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, DataParallel, testing::Values(2, 3));

TEST_P(DataParallel, FollowsOneDevice) { expect_as_one(GetParam(), even(GetParam(), 24), {}); }
TEST_P(DataParallel, FollowsOneDeviceInEagerCode)
{
    expect_as_one(GetParam(), even(GetParam(), 24), {.recorded = false});
}
TEST_P(DataParallel, FollowsOneDeviceWithManyBuckets)
{
    expect_as_one(GetParam(), even(GetParam(), 24), {.adam = true, .bucket_bytes = 64});
}
TEST_P(DataParallel, WeightsBySamples)
{
    Begins begins = even(GetParam(), 24);
    begins[1] += 3; // the first rank has more
    expect_as_one(GetParam(), begins, {});
}
TEST_P(DataParallel, Accumulates) { expect_as_one(GetParam(), even(GetParam(), 24), {.accumulate = 3}); }

// The same bits at each run, and with other buckets.
TEST_P(DataParallel, Repeats)
{
    std::vector<Result> runs;
    for (const std::int64_t bytes : {std::int64_t{25} << 20, std::int64_t{25} << 20, std::int64_t{512}})
        on_ranks(GetParam(), [&](const World& w, const Device& d) {
            Result r = train(w, d, even(w.size(), 24), {.bucket_bytes = bytes});
            if (w.rank() == 0) runs.push_back(std::move(r));
        });
    EXPECT_EQ(runs[0].weights, runs[1].weights);
    EXPECT_EQ(runs[0].weights, runs[2].weights);
    EXPECT_EQ(runs[0].losses, runs[2].losses);
}

TEST(DataParallelOf, BroadcastsBuffers)
{
    on_ranks(2, [](const World& w, const Device& d) {
        Net net(true);
        net.to(d);
        nn::DistributedDataParallel ddp(net, w);
        for (int i = 0; i < 3; ++i) {
            const Batch b = batch(i + 10 * w.rank(), 0, 8, d);
            ddp(b.x).sum().backward();
        }
        // The first call's statistics of rank 0 are those from which both ranks go on.
        const Tensor before = all_gather(net.norm.running_mean.reshape({1, 16}), w);
        EXPECT_FALSE(allclose(before[0], before[1])); // since the last call
        ddp(batch(0, 0, 8, d).x);
        const Tensor after = all_gather(net.norm.running_mean.reshape({1, 16}), w);
        EXPECT_TRUE(equal(after[0], after[1])) << "the same batch, from the same statistics";
    });
}

TEST(DataParallelOf, LeavesOutWhatHasNoGradient)
{
    on_ranks(2, [](const World& w, const Device& d) {
        Net net(false);
        net.to(d);
        net.b.weight.requires_grad_(false);
        nn::DistributedDataParallel ddp(net, w);
        ddp(batch(w.rank(), 0, 4, d).x).sum().backward();
        EXPECT_FALSE(net.b.weight.grad().defined());
        EXPECT_FALSE(net.norm.weight.grad().defined());
        const Tensor g = all_gather(net.a.weight.grad().reshape({1, -1}), w);
        EXPECT_TRUE(equal(g[0], g[1]));
    });
}

// grad() gives the gradients of this rank.
TEST(DataParallelOf, LeavesGradAlone)
{
    on_ranks(2, [](const World& w, const Device& d) {
        Net net(false);
        net.to(d);
        nn::DistributedDataParallel ddp(net, w);
        const Tensor g = grad(ddp(batch(w.rank(), 0, 4, d).x).square().sum(), net.a.weight);
        const Tensor both = all_gather(g.reshape({1, -1}), w);
        EXPECT_FALSE(equal(both[0], both[1]));
    });
}

// A backward pass that has thrown does not keep later ones from exchanging.
TEST(DataParallelOf, GoesOnAfterAnException)
{
    on_ranks(2, [](const World& w, const Device& d) {
        Net net(false);
        net.to(d);
        nn::DistributedDataParallel ddp(net, w);
        const HookHandle hook =
            net.a.bias.register_hook([](const Tensor&) { throw std::runtime_error("hook"); });
        EXPECT_THROW(ddp(batch(w.rank(), 0, 4, d).x).square().sum().backward(), std::runtime_error);
        hook.remove();
        for (const Variable& p : net.parameters()) Variable(p).zero_grad();
        ddp(batch(w.rank(), 0, 4, d).x).square().sum().backward();
        const Tensor both = all_gather(net.a.weight.grad().reshape({1, -1}), w);
        EXPECT_TRUE(equal(both[0], both[1]));
    });
}

// Shares of samples are f32: sums of f16 gradients times samples would be infinite.
TEST(DataParallelOf, TakesHalves)
{
    on_ranks(2, [](const World& w, const Device& d) {
        nn::Linear net(4, 4);
        net.to(d, f16);
        nn::DistributedDataParallel ddp(net, w);
        const std::int64_t rows = w.rank() == 0 ? 4096 : 2048;
        (ddp(ones({rows, 4}, {.dtype = f16, .device = d})).mean({0}) * (w.rank() == 0 ? 30.0 : 60.0))
            .sum()
            .backward();
        EXPECT_THAT(net.weight.grad().to(f32).to_vector<float>(),
                    testing::Each(testing::FloatNear(40, 0.1f)));
    });
}

// Hooks of a wrapper that is gone do nothing.
TEST(DataParallelOf, EndsWithItsWrapper)
{
    on_ranks(2, [](const World& w, const Device& d) {
        Net net(false);
        net.to(d);
        {
            const nn::DistributedDataParallel ddp(net, w);
        }
        test::inner(d).wait_idle(); // until the last broadcast has ended
        const std::uint64_t before = w.traffic().exchanges;
        net(batch(w.rank(), 0, 4, d).x).sum().backward();
        net.a.weight.grad().to_vector<float>();
        EXPECT_EQ(w.traffic().exchanges, before);
    });
}

TEST(DataParallelOf, WorldsOfOneExchangeNothing)
{
    const World w;
    Net net(false);
    nn::DistributedDataParallel ddp(net, w);
    ddp(batch(0, 0, 4, default_device()).x).sum().backward();
    EXPECT_TRUE(net.a.weight.grad().defined());
    EXPECT_EQ(w.traffic().exchanges, 0u);
}

} // namespace
} // namespace reprise
