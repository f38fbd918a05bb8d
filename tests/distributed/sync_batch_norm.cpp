// SyncBatchNorm beside BatchNorm of the whole batch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include <reprise/distributed.hpp>
#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"
#include "support/data_parallel.hpp"
#include "support/ranks.hpp"

namespace reprise {
namespace {

using distributed::all_reduce, distributed::World;
using nn::SyncBatchNorm;
using test::on_ranks;

Tensor waves(const Shape& shape, const Device& d, double offset = 0)
{
    std::int64_t n = 1;
    for (const Dim& s : shape) n *= s.value();
    std::vector<float> v;
    for (std::int64_t i = 0; i < n; ++i)
        v.push_back(static_cast<float>(std::sin(0.37 * static_cast<double>(i) + offset)));
    return from_vector(v, shape, {.device = d});
}

// The rows of each rank; one has none.
std::vector<std::int64_t> begins_of(int ranks)
{
    if (ranks == 2) return {0, 5, 8};
    return {0, 3, 3, 8};
}

class SyncBatchNormOn : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, SyncBatchNormOn, testing::Values(2, 3));

void expect_as_whole(int ranks, const Shape& shape, const nn::BatchNormSettings& settings)
{
    on_ranks(ranks, [&](const World& w, const Device& d) {
        SyncBatchNorm layer(4, w, settings);
        nn::BatchNorm2d whole(4, settings);
        layer.to(d);
        whole.to(d);
        const auto begins = begins_of(w.size());
        const auto rank = static_cast<std::size_t>(w.rank());
        for (int i = 0; i < 2; ++i) {
            Variable x(waves(shape, d, i)), all(waves(shape, d, i));
            const Tensor mine = x.narrow(0, begins[rank], begins[rank + 1] - begins[rank]);
            const Tensor weights = waves(shape, d, 7);
            const Tensor y = layer(mine), expected = whole(all);
            (expected * weights).sum().backward();
            (y * weights.narrow(0, begins[rank], begins[rank + 1] - begins[rank])).sum().backward();
            EXPECT_TRUE(
                allclose(y, expected.narrow(0, begins[rank], begins[rank + 1] - begins[rank]), 1e-5, 1e-5));
            EXPECT_TRUE(allclose(all_reduce(x.grad(), w), all.grad(), 1e-4, 1e-5));
            if (layer.weight.defined()) {
                EXPECT_TRUE(allclose(all_reduce(layer.weight.grad(), w), whole.weight.grad(), 1e-4, 1e-5));
                EXPECT_TRUE(allclose(all_reduce(layer.bias.grad(), w), whole.bias.grad(), 1e-4, 1e-5));
            }
            if (layer.running_mean.defined()) {
                EXPECT_TRUE(allclose(layer.running_mean, whole.running_mean, 1e-5, 1e-6));
                EXPECT_TRUE(allclose(layer.running_var, whole.running_var, 1e-5, 1e-6));
            }
        }
        layer.eval();
        whole.eval();
        const Tensor x = waves({3, 4, 2, 2}, d);
        EXPECT_TRUE(allclose(layer(x), whole(x), 1e-5, 1e-5));
    });
}

TEST_P(SyncBatchNormOn, IsThatOfTheWholeBatch) { expect_as_whole(GetParam(), {8, 4, 3, 5}, {}); }
TEST_P(SyncBatchNormOn, AveragesAllBatches)
{
    expect_as_whole(GetParam(), {8, 4, 1, 3}, {.momentum = std::nullopt, .affine = false});
}
TEST_P(SyncBatchNormOn, WorksWithoutRunningStatistics)
{
    expect_as_whole(GetParam(), {8, 4, 2, 2}, {.track_running_stats = false});
}

// A network trained on two ranks with converted layers, recorded, follows one device.
TEST(SyncBatchNormOf, TrainsAsOneDevice)
{
    std::vector<std::vector<float>> weights(2);
    for (const int ranks : {1, 2})
        on_ranks(ranks, [&](const World& w, const Device& d) {
            manual_seed(5);
            test::Net net(true);
            for (std::size_t p = 0; p < net.parameters().size(); ++p) {
                Variable v = net.parameters()[p];
                v.assign(waves(v.shape(), v.device(), static_cast<double>(p)) * 0.3);
            }
            net.to(d);
            SyncBatchNorm::convert_sync_batchnorm(net, w);
            nn::DistributedDataParallel ddp(net, w);
            optim::SGD optimizer(net.parameters(), {.lr = 0.1});
            const Dim n = symbol("n");
            const auto step = record(
                [&](Tensor x, Tensor y) {
                    const Tensor loss = cross_entropy(ddp(x), y);
                    loss.backward();
                    optimizer.step();
                    optimizer.zero_grad();
                    return loss;
                },
                {spec({n, 6}), spec({n}, i64)}, {.device = d});
            for (const std::int64_t rows : {16, 8, 12}) {
                const std::int64_t part = rows / w.size();
                const test::Batch b = test::batch(0, w.rank() * part, (w.rank() + 1) * part, d);
                step(b.x, b.y).item<float>();
            }
            if (w.rank() == 0)
                for (const Tensor& t : {Tensor(net.a.weight), Tensor(net.norm.running_mean),
                                        Tensor(net.norm.running_var), Tensor(net.c.bias)})
                    for (const float v : t.to_vector<float>())
                        weights[static_cast<std::size_t>(ranks - 1)].push_back(v);
        });
    EXPECT_THAT(weights[1], testing::Pointwise(testing::FloatNear(2e-5f), weights[0]));
}

// With batches of unequal size, the gradients of the mean of the ranks' losses.
TEST(SyncBatchNormOf, TakesUnequalBatches)
{
    on_ranks(2, [](const World& w, const Device& d) {
        test::Net net(true), whole(true);
        for (test::Net* n : {&net, &whole}) {
            test::set_parameters(*n, 0);
            n->to(d);
        }
        SyncBatchNorm::convert_sync_batchnorm(net, w);
        nn::DistributedDataParallel ddp(net, w, {.weight_by_samples = false});
        const test::Batch all = test::batch(0, 0, 12, d);
        const std::int64_t begin = w.rank() == 0 ? 0 : 8, rows = w.rank() == 0 ? 8 : 4;
        cross_entropy(ddp(all.x.narrow(0, begin, rows)), all.y.narrow(0, begin, rows)).backward();
        const Tensor y = whole(all.x);
        ((cross_entropy(y.narrow(0, 0, 8), all.y.narrow(0, 0, 8)) +
          cross_entropy(y.narrow(0, 8, 4), all.y.narrow(0, 8, 4))) /
         2)
            .backward();
        for (std::size_t i = 0; i < net.parameters().size(); ++i)
            EXPECT_TRUE(allclose(net.parameters()[i].grad(), whole.parameters()[i].grad(), 1e-4, 1e-6)) << i;
    });
}

TEST(SyncBatchNormOf, RefusesWhatDoesNotFit)
{
    on_ranks(2, [](const World& w, const Device& d) {
        SyncBatchNorm layer(3, w);
        layer.to(d);
        const auto kind = [&](const Tensor& x) { return error_of([&] { return layer(x); }).kind; };
        EXPECT_EQ(kind(zeros({2, 4}, {.device = d})), ErrorKind::shape);
        EXPECT_EQ(kind(zeros({4}, {.device = d})), ErrorKind::shape);
        EXPECT_EQ(kind(zeros({2, 3}, {.dtype = i32, .device = d})), ErrorKind::dtype);
        EXPECT_EQ(layer.num_batches_tracked.item<std::int32_t>(), 0);
    });
}

TEST(SyncBatchNormOf, TakesHalvesAndOneDimension)
{
    on_ranks(2, [](const World& w, const Device& d) {
        SyncBatchNorm layer(3, w);
        nn::BatchNorm1d whole(3);
        layer.to(d);
        whole.to(d);
        const Tensor x = waves({6, 3}, d) * 100 + 50;
        const Tensor y = layer(x.narrow(0, 3 * w.rank(), 3).to(f16));
        EXPECT_EQ(y.dtype(), f16);
        EXPECT_TRUE(allclose(y.to(f32), whole(x).narrow(0, 3 * w.rank(), 3), 1e-2, 1e-2));
    });
}

} // namespace
} // namespace reprise
