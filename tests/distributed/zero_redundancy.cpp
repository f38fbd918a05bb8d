// ZeroRedundancyOptimizer beside the same optimizer without shards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <reprise/distributed.hpp>
#include <reprise/reprise.hpp>

#include "support/data_parallel.hpp"
#include "support/ranks.hpp"

namespace reprise {
namespace {

using distributed::all_gather, distributed::World;
using optim::ZeroRedundancyOptimizer;
using test::batch, test::Batch, test::Begins, test::even, test::Net, test::Result, test::Setting, test::train;
using test::on_ranks;
using Zero = ZeroRedundancyOptimizer<optim::AdamW>;

std::vector<Result> trained(int ranks, const Begins& begins, const Setting& s)
{
    std::vector<Result> all(static_cast<std::size_t>(ranks));
    on_ranks(ranks, [&](const World& w, const Device& d) {
        all[static_cast<std::size_t>(w.rank())] = train(w, d, begins, s);
    });
    return all;
}

void expect_bits_of_ddp(const Begins& begins, Setting s)
{
    const int ranks = static_cast<int>(begins.size()) - 1;
    s.zero = true;
    const std::vector<Result> zero = trained(ranks, begins, s);
    s.zero = false;
    const std::vector<Result> ddp = trained(ranks, begins, s);
    for (std::size_t k = 0; k < zero.size(); ++k) {
        EXPECT_EQ(zero[k].weights, ddp[0].weights) << "rank " << k;
        EXPECT_EQ(zero[k].losses, ddp[k].losses) << "rank " << k;
    }
}

class ZeroRedundancy : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, ZeroRedundancy, testing::Values(1, 2, 3));

TEST_P(ZeroRedundancy, HasTheBitsOfSgd) { expect_bits_of_ddp(even(GetParam(), 24), {}); }
TEST_P(ZeroRedundancy, HasTheBitsOfAdamW)
{
    expect_bits_of_ddp(even(GetParam(), 24), {.adam = true, .bucket_bytes = 256});
}
TEST_P(ZeroRedundancy, HasTheBitsInEagerCode)
{
    expect_bits_of_ddp(even(GetParam(), 24), {.recorded = false, .adam = true});
}
TEST_P(ZeroRedundancy, HasTheBitsWithAccumulation)
{
    expect_bits_of_ddp(even(GetParam(), 24), {.accumulate = 3, .adam = true});
}
TEST_P(ZeroRedundancy, HasTheBitsWithUnequalBatches)
{
    Begins begins = even(GetParam(), 24);
    if (GetParam() > 1) begins[1] += 3;
    expect_bits_of_ddp(begins, {.adam = true});
}
TEST_P(ZeroRedundancy, HasTheBitsWithMasterWeights)
{
    expect_bits_of_ddp(even(GetParam(), 24), {.adam = true, .dtype = bf16});
}

// Each rank has the moments of its shard only, and sends no more than all-reduces do.
TEST(ZeroRedundancyOf, SharesTheStateOut)
{
    on_ranks(3, [](const World& w, const Device& d) {
        Net net(false);
        net.to(d);
        nn::DistributedDataParallel ddp(net, w, {.weight_by_samples = false, .broadcast_buffers = false});
        Zero optimizer(ddp, {.lr = 0.1});
        std::int64_t elements = 0, bytes = 0;
        for (const Variable& p : net.parameters()) {
            if (p.numel().value() == 16 && p.cell() == net.norm.weight.cell()) continue; // without a gradient
            if (p.cell() == net.norm.bias.cell()) continue;
            const std::int64_t size = (p.numel().value() + 2) / 3;
            elements += size;
            bytes += 4 * size * 3 * 4 / 3; // 2 (n - 1) / n of the padded parameters
        }
        w.barrier();
        const std::uint64_t before = w.traffic().bytes_sent;
        const Batch b = batch(0, 0, 8, d);
        cross_entropy(ddp(b.x), b.y).backward();
        for (const Variable& p : net.parameters()) EXPECT_FALSE(p.grad().defined());
        optimizer.step();
        net.a.weight.to_vector<float>();
        test::inner(d).wait_idle();
        EXPECT_EQ(w.traffic().bytes_sent - before, static_cast<std::uint64_t>(bytes));
        std::int64_t moments = 0;
        for (const auto& [name, value] : optimizer.state_dict())
            if (name.find(".exp_avg.part_") != std::string::npos) moments += value.numel().value();
        EXPECT_EQ(moments, elements);
    });
}

// The consolidated state is that of the optimizer without shards, and worlds of any size load it.
TEST(ZeroRedundancyOf, ConsolidatesItsState)
{
    const auto steps = [](const World& w, const Device& d, Net& net, auto& ddp, optim::Optimizer& o,
                          int from) {
        for (int i = from; i < from + 3; ++i) {
            o.zero_grad();
            const Begins begins = even(w.size(), 24);
            const auto r = static_cast<std::size_t>(w.rank());
            const Batch b = batch(i, begins[r], begins[r + 1], d);
            cross_entropy(ddp(b.x), b.y).backward();
            o.step();
        }
        return net.a.weight.to_vector<float>();
    };
    optim::StateDict state, plain;
    std::map<std::string, Tensor> weights;
    std::vector<float> after, after_plain;
    for (const bool zero : {true, false})
        on_ranks(2, [&](const World& w, const Device& d) {
            manual_seed(3);
            Net net(false);
            net.to(d);
            nn::DistributedDataParallel ddp(net, w);
            optim::StateDict mine;
            if (zero) {
                Zero optimizer(ddp, {.lr = 0.01});
                steps(w, d, net, ddp, optimizer, 0);
                mine = optimizer.consolidated_state_dict();
            } else {
                optim::AdamW optimizer(net.parameters(), {.lr = 0.01});
                steps(w, d, net, ddp, optimizer, 0);
                mine = optimizer.state_dict();
            }
            if (w.rank() != 0) return;
            for (const auto& [name, value] : mine)
                (zero ? state : plain).emplace(name, value.to(Device("reference")));
            if (zero)
                for (const auto& [name, value] : net.state_dict())
                    weights.emplace(name, value.to(Device("reference")));
        });
    ASSERT_EQ(state.size(), plain.size());
    for (const auto& [name, value] : plain) {
        ASSERT_TRUE(state.contains(name)) << name;
        EXPECT_EQ(to_bytes(state.at(name)), to_bytes(value)) << name;
    }
    // Three ranks go on with shards, and follow three without.
    for (const bool zero : {true, false})
        on_ranks(3, [&](const World& w, const Device& d) {
            Net net(false);
            net.load_state_dict(weights);
            net.to(d);
            nn::DistributedDataParallel ddp(net, w);
            std::vector<float> mine;
            if (zero) {
                Zero optimizer(ddp, {.lr = 0.01});
                optimizer.load_state_dict(state);
                mine = steps(w, d, net, ddp, optimizer, 3);
            } else {
                optim::AdamW optimizer(net.parameters(), {.lr = 0.01});
                optimizer.load_state_dict(state);
                mine = steps(w, d, net, ddp, optimizer, 3);
            }
            if (w.rank() == 0) (zero ? after : after_plain) = mine;
        });
    EXPECT_EQ(after, after_plain);
}

// An infinite gradient in the shard of one rank lets all skip.
TEST(ZeroRedundancyOf, SkipsOnAllRanks)
{
    on_ranks(2, [](const World& w, const Device& d) {
        nn::Linear net(4, 4, {.bias = false});
        net.to(d);
        nn::DistributedDataParallel ddp(net, w);
        ZeroRedundancyOptimizer<optim::SGD> optimizer(ddp, {.lr = 0.5});
        GradScaler scaler({.init_scale = 4});
        const auto step = [&](float last) {
            optimizer.zero_grad();
            std::vector<float> x(4, 1.0f);
            const Tensor y = ddp(from_vector(x, {1, 4}, {.device = d}));
            std::vector<float> weights{1, 1, 1, last}; // the last rows are those of rank 1
            scaler.scale((y * from_vector(weights, {1, 4}, {.device = d})).sum()).backward();
            scaler.step(optimizer);
            scaler.update();
            return net.weight.to_vector<float>();
        };
        const std::vector<float> before = net.weight.to_vector<float>();
        EXPECT_EQ(step(std::numeric_limits<float>::infinity()), before);
        EXPECT_EQ(scaler.get_scale(), 2);
        const std::vector<float> after = step(2);
        for (std::size_t i = 0; i < after.size(); ++i)
            EXPECT_FLOAT_EQ(after[i], before[i] - (i < 12 ? 0.5f : 1.0f)) << i;
    });
}

TEST(ZeroRedundancyOf, ClipsByTheNormOfAllRanks)
{
    on_ranks(3, [](const World& w, const Device& d) {
        for (const double p : {2.0, 1.0, std::numeric_limits<double>::infinity()}) {
            Net net(false);
            net.to(d);
            nn::DistributedDataParallel ddp(net, w);
            const Batch b = batch(0, 0, 8, d);
            cross_entropy(ddp(b.x), b.y).backward();
            const double norm = optim::clip_grad_norm_(net.parameters(), 0.01, {.norm_type = p});
            optim::SGD plain(net.parameters(), {.lr = 1});
            std::vector<std::vector<float>> expected;
            for (const Variable& v : net.parameters())
                expected.push_back(v.grad().defined() ? (v - v.grad()).to_vector<float>()
                                                      : v.to_vector<float>());
            plain.zero_grad();
            ZeroRedundancyOptimizer<optim::SGD> optimizer(ddp, {.lr = 1});
            cross_entropy(ddp(b.x), b.y).backward();
            EXPECT_NEAR(optimizer.clip_grad_norm_(0.01, {.norm_type = p}), norm, 1e-5 * norm);
            optimizer.step();
            for (std::size_t i = 0; i < expected.size(); ++i)
                EXPECT_THAT(net.parameters()[i].to_vector<float>(),
                            testing::Pointwise(testing::FloatNear(1e-6f), expected[i]));
            EXPECT_THROW(optimizer.clip_grad_norm_(1, {.norm_type = 0}), Error);
        }
    });
}

TEST(ZeroRedundancyOf, TakesGroupsAndSchedules)
{
    on_ranks(2, [](const World& w, const Device& d) {
        Net net(false);
        net.to(d);
        nn::DistributedDataParallel ddp(net, w);
        ZeroRedundancyOptimizer<optim::SGD> optimizer(
            ddp, {{net.a.parameters(), {.lr = 0.5}}, {net.b.parameters()}}, {.lr = 0.25});
        optimizer.add_param_group({net.c.parameters(), {.lr = 1}});
        optim::StepLR schedule(optimizer, 1, 0.5);
        const Batch b = batch(0, 0, 8, d);
        for (const double factor : {1.0, 0.5}) {
            cross_entropy(ddp(b.x), b.y).backward();
            std::vector<std::vector<float>> before;
            for (const nn::Linear* l : {&net.a, &net.b, &net.c})
                before.push_back(l->weight.to_vector<float>());
            std::vector<Tensor> gradients; // whole, in the order of the layers
            std::size_t at = 0;
            for (const nn::Linear* l : {&net.a, &net.b, &net.c}) {
                const Tensor g = all_gather(optimizer.parameters()[2 * at++].grad(), w);
                gradients.push_back(g.reshape(l->weight.shape()));
            }
            optimizer.step();
            const double rates[] = {0.5, 0.25, 1};
            at = 0;
            for (const nn::Linear* l : {&net.a, &net.b, &net.c}) {
                const std::vector<float> g = gradients[at].to_vector<float>(),
                                         now = l->weight.to_vector<float>();
                for (std::size_t i = 0; i < now.size(); ++i)
                    EXPECT_NEAR(now[i], before[at][i] - factor * rates[at] * g[i], 1e-6);
                ++at;
            }
            optimizer.zero_grad();
            schedule.step();
        }
    });
}

// Accumulated gradients that were never exchanged are cleared, too.
TEST(ZeroRedundancyOf, ClearsAllGradients)
{
    on_ranks(2, [](const World& w, const Device& d) {
        Net net(false);
        net.to(d);
        nn::DistributedDataParallel ddp(net, w);
        Zero optimizer(ddp);
        {
            const auto local = ddp.no_sync();
            ddp(batch(0, 0, 4, d).x).sum().backward();
        }
        EXPECT_TRUE(net.a.weight.grad().defined());
        optim::Optimizer& base = optimizer;
        base.zero_grad();
        EXPECT_FALSE(net.a.weight.grad().defined());
    });
}

TEST(ZeroRedundancyOf, RefusesOtherParameters)
{
    on_ranks(2, [](const World& w, const Device& d) {
        Net net(false), other(false);
        net.to(d);
        other.to(d);
        nn::DistributedDataParallel ddp(net, w);
        EXPECT_THROW(Zero(ddp, Parameters(other.parameters())), Error);
        EXPECT_THROW(Zero(ddp, Parameters{net.a.weight, net.a.weight}), Error);
        EXPECT_THROW(Zero(ddp, {.lr = -1}), Error);
        Zero optimizer(ddp, Parameters(net.a.parameters()), {.lr = 0.1});
        EXPECT_THROW(optimizer.add_param_group({net.b.parameters(), {.lr = -1}}), Error);
        EXPECT_THROW(optimizer.add_param_group({net.a.parameters()}), Error);
        // Nothing of these is left: the gradients of b are whole, those of a are in shards.
        const Batch b = batch(0, 0, 8, d);
        cross_entropy(ddp(b.x), b.y).backward();
        EXPECT_FALSE(net.a.weight.grad().defined());
        EXPECT_TRUE(net.b.weight.grad().defined());
        EXPECT_EQ(optimizer.parameters().size(), 2u);
        optimizer.add_param_group({net.b.parameters()});
        EXPECT_EQ(optimizer.parameters().size(), 4u);
    });
}

// A state that does not fit is refused by all ranks, and nothing changes.
TEST(ZeroRedundancyOf, RefusesOtherStates)
{
    on_ranks(2, [](const World& w, const Device& d) {
        nn::Linear net(4, 4), wider(4, 5);
        net.to(d);
        wider.to(d);
        optim::AdamW other(wider.parameters());
        wider(zeros({1, 4}, {.device = d})).sum().backward();
        other.step();
        nn::DistributedDataParallel ddp(net, w);
        Zero optimizer(ddp);
        EXPECT_THROW(optimizer.load_state_dict(other.state_dict()), Error);
        EXPECT_FALSE(optimizer.state_dict().contains("0.step"));
    });
}

} // namespace
} // namespace reprise
