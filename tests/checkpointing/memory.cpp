// Layers take the memory of checkpoints.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/checkpointing.hpp>
#include <reprise/memory.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "testing/values.hpp"

namespace reprise {
namespace {

using Strategy = CheckpointConfig::Strategy;
using Tensors = std::vector<Tensor>;

constexpr std::int64_t width = 32, depth = 4, inner = 4; // layers, each of so many products
constexpr std::uint64_t value = 64 * width * 4;          // bytes, of a batch of 64

struct Tower {
    Variable w{test::random_tensor({width, width}, 1, -0.2, 0.2)};
    std::shared_ptr<CheckpointManager> manager = std::make_shared<CheckpointManager>();
    std::shared_ptr<RecomputationEngine> engine = std::make_shared<RecomputationEngine>();
    std::vector<CheckpointFunction> layers;

    Tower()
    {
        const TracedFunction f = [w = w](const Tensors& in) {
            Tensor h = in[0];
            for (int i = 0; i < inner; ++i) h = tanh(matmul(h, w));
            return Tensors{h};
        };
        for (int i = 0; i < depth; ++i)
            layers.emplace_back(
                std::to_string(i), f, manager, engine, [](const Tensor&) { return Tensor(); }, true);
    }
    Tensor loss(Tensor x) const
    {
        for (const auto& layer : layers) x = layer(x);
        return sum(x);
    }
};

// What is held between the forward and the backward pass, and after it.
std::pair<std::uint64_t, std::uint64_t> held(const CheckpointConfig& config)
{
    Tower tower;
    tower.manager->set_config(config);
    const Tensor x = test::random_tensor({64, width}, 2);
    eval({tower.w, x});
    const MemoryTracker memory;
    const std::uint64_t before = memory.current();
    std::uint64_t between = 0;
    {
        const Tensor loss = tower.loss(x);
        loss.eval();
        between = memory.current() - before;
        loss.backward();
        tower.w.grad().eval();
        EXPECT_EQ(tower.manager->statistics().bytes_kept, 0u);
    }
    tower.w.zero_grad();
    return {between, memory.current() - before};
}

TEST(LayerMemory, IsThatOfCheckpoints)
{
    const auto [with, after_with] = held({});
    const auto [without, after_without] = held({.strategy = Strategy::none});
    const auto [second, after_second] = held({.strategy = Strategy::every_kth, .every = 2});
    EXPECT_GE(without, depth * inner * value);
    EXPECT_LE(with, (depth + 1) * value);
    EXPECT_LT(second, without);
    EXPECT_GT(second, with);
    EXPECT_EQ(after_with, 0u);
    EXPECT_EQ(after_without, 0u);
    EXPECT_EQ(after_second, 0u);
}

// No gradient reads the inputs of such layers, so nothing holds them.
TEST(LayerMemory, IsThatOfCheckpointsOfFunctionsWithoutValuesToKeep)
{
    const auto manager = std::make_shared<CheckpointManager>();
    const auto engine = std::make_shared<RecomputationEngine>();
    const TracedFunction twice = [](const Tensors& in) { return Tensors{in[0] * 2}; };
    std::vector<CheckpointFunction> layers;
    for (int i = 0; i < 8; ++i) layers.emplace_back(std::to_string(i), twice, manager, engine);
    const Variable w(test::random_tensor({64, width}, 1));
    w.eval();
    const auto held_by = [&](const auto& forward) {
        const MemoryTracker memory;
        const std::uint64_t before = memory.current();
        Tensor h = w;
        for (const auto& layer : layers) h = forward(layer, h);
        const Tensor loss = sum(h);
        h = Tensor();
        loss.eval();
        return memory.current() - before;
    };
    const std::uint64_t with = held_by([](const auto& layer, const Tensor& h) { return layer(h); });
    EXPECT_EQ(with, held_by([&](const auto&, const Tensor& h) { return checkpoint(twice, Tensors{h})[0]; }));
    EXPECT_LT(with, value);
}

TEST(LayerMemory, FollowsABudgetOfLayers)
{
    Tower tower;
    const Tensor x = test::random_tensor({64, width}, 2);
    eval({tower.w, x});
    const MemoryTracker memory;
    const std::uint64_t before = memory.current();
    const auto step = [&] {
        const Tensor loss = tower.loss(x);
        loss.eval();
        tower.manager->measure();
        const std::uint64_t between = memory.current() - before;
        loss.backward();
        tower.w.zero_grad();
        return between;
    };
    const std::uint64_t all = step();
    constexpr std::uint64_t layer = (inner - 1) * value; // results of tanh but the last
    tower.manager->set_config({.strategy = Strategy::by_budget, .bytes = 2 * layer});
    std::string checkpoints;
    for (const std::string& id : tower.manager->layers())
        if (tower.manager->should_checkpoint(id)) checkpoints += id;
    EXPECT_EQ(checkpoints, "01");
    const std::uint64_t within = step();
    EXPECT_GT(within, all + layer);
    EXPECT_LE(within, all + 2 * layer);
}

// Where a layer lies in another one, nothing of it is kept.
TEST(LayerMemory, IsThatOfNestedCheckpoints)
{
    const Tower tower;
    const CheckpointFunction whole(
        "whole",
        [&](const Tensors& in) {
            Tensor h = in[0];
            for (const auto& layer : tower.layers) h = layer(h);
            return Tensors{h};
        },
        tower.manager, tower.engine, nullptr, true);
    const Tensor x = test::random_tensor({64, width}, 2);
    eval({tower.w, x});
    const MemoryTracker memory;
    const std::uint64_t before = memory.current();
    const Tensor loss = sum(whole(x));
    loss.eval();
    EXPECT_LE(memory.current() - before, 2 * value); // the result and the loss
    EXPECT_EQ(tower.manager->statistics().keeping, 1u);
    loss.backward();
    EXPECT_EQ(tower.w.grad().to_vector<float>().size(), static_cast<std::size_t>(width * width));
}

TEST(LayerMemory, IsThatOfCheckpointsInPrograms)
{
    const Tower tower;
    const auto arena = [&](const CheckpointConfig& config) {
        tower.manager->set_config(config);
        return record([&](Tensor x) { return grad(tower.loss(x), tower.w); }, {spec({symbol("n"), width})})
            .arena_bytes({64});
    };
    const std::uint64_t plain = arena({.strategy = Strategy::none}), least = arena({});
    EXPECT_GE(plain, depth * inner * value);
    EXPECT_LE(least,
              (depth + inner + 3) * value); // inputs of layers, one layer made again, what its backward needs
    EXPECT_EQ(tower.manager->statistics().keeping, 0u);
}

} // namespace
} // namespace reprise
