// Gradients through layers are those of the plain API, bit for bit: eager and recorded, nested, by every
// strategy.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/checkpointing.hpp>
#include <reprise/nn.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "support/stacks.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using Strategy = CheckpointConfig::Strategy;
using test::Bits;
using test::bits;
using test::Blocks;
using test::How;
using test::Stack;
using test::stacks;
using Tensors = std::vector<Tensor>;

// The blocks as layers of a manager of its own; each with a hook that counts.
struct Layers {
    std::shared_ptr<CheckpointManager> manager = std::make_shared<CheckpointManager>();
    std::shared_ptr<RecomputationEngine> engine = std::make_shared<RecomputationEngine>();
    std::vector<CheckpointFunction> each;
    std::shared_ptr<int> hooked = std::make_shared<int>(0);

    Layers(const Blocks& blocks, const CheckpointConfig& config)
    {
        manager->set_config(config);
        for (const auto& b : blocks)
            each.push_back(Checkpoint::checkpoint_module("block " + std::to_string(each.size()), b,
                                                         {.hook =
                                                              [hooked = hooked](const Tensor&) {
                                                                  ++*hooked;
                                                                  return Tensor();
                                                              },
                                                          .manager = manager,
                                                          .engine = engine,
                                                          .keep_inputs = true}));
    }
    Tensor operator()(Tensor x, std::size_t from = 0) const
    {
        for (std::size_t i = from; i < each.size(); ++i) x = each[i](x);
        return x;
    }
};

struct Way {
    std::string name;
    CheckpointConfig config;
    std::function<Tensor(const Layers&, Tensor)> forward;
};
const std::vector<Way>& ways()
{
    const auto in_turn = [](const Layers& layers, Tensor x) { return layers(x); };
    // From the second step on by what the first one has measured.
    const auto measured = [](Strategy strategy) {
        return [strategy](const Layers& layers, Tensor x) {
            Tensor y = layers(x);
            if (recording_id()) return y;
            y.eval();
            layers.manager->measure();
            std::uint64_t largest = 0;
            for (const std::string& id : layers.manager->layers())
                largest = std::max(largest, layers.manager->bytes(id).value_or(0));
            layers.manager->set_config(
                {.strategy = strategy, .bytes = std::max<std::uint64_t>(largest, 2) - 1});
            return y;
        };
    };
    static const std::vector<Way> all = {
        {"all", {}, in_turn},
        {"every_second", {.strategy = Strategy::every_kth, .every = 2}, in_turn},
        {"selective",
         {.strategy = Strategy::selective,
          .layers = {"block 1"},
          .policy = CheckpointOptions::Policy::selective},
         in_turn},
        {"by_size", {}, measured(Strategy::by_size)},
        {"by_budget", {}, measured(Strategy::by_budget)},
        {"a_layer_of_layers",
         {},
         [](const Layers& layers, Tensor x) {
             const CheckpointFunction rest(
                 "rest", [&](const Tensors& in) { return Tensors{layers(in[0], 1)}; }, layers.manager,
                 layers.engine);
             return rest(layers.each[0](x));
         }},
        {"in_nested_contexts",
         {.strategy = Strategy::none},
         [](const Layers& layers, Tensor x) {
             CheckpointContext every({}), none({.strategy = Strategy::none}),
                 second({.strategy = Strategy::every_kth, .every = 2});
             every.enter();
             x = layers.each[0](x);
             none.enter();
             x = layers.each[1](x);
             second.enter();
             return layers(x, 2);
         }},
    };
    return all;
}

std::vector<Bits> train_layers(const Stack& net, const Way& way, How how)
{
    std::optional<Layers> layers;
    const auto found = test::train(
        net,
        [&](const Blocks& blocks, Tensor x) {
            if (!layers) layers.emplace(blocks, way.config);
            return way.forward(*layers, x);
        },
        how);
    const auto passes = static_cast<int>(layers->each.size()) * (how == How::recorded ? 1 : 2);
    EXPECT_EQ(*layers->hooked, passes);
    EXPECT_EQ(layers->manager->statistics().keeping, 0u);
    EXPECT_EQ(CheckpointContext::current(), std::nullopt);
    return found;
}

const std::vector<Bits>& without_layers(const Stack& net)
{
    static std::map<std::string, std::vector<Bits>> known;
    const auto [found, added] = known.try_emplace(net.name);
    if (added) found->second = test::train(net, test::plain, How::eager);
    return found->second;
}

struct LayerBits : testing::TestWithParam<test::StackAndWay> {};
INSTANTIATE_TEST_SUITE_P(Nets, LayerBits, test::each_with(ways()), test::named_with(ways()));

TEST_P(LayerBits, AreThoseOfThePlainNetwork)
{
    const Stack& net = stacks()[std::get<0>(GetParam())];
    const Way& way = ways()[std::get<1>(GetParam())];
    const auto& want = without_layers(net);
    EXPECT_EQ(train_layers(net, way, How::eager), want) << "eager";
    EXPECT_EQ(train_layers(net, way, How::eager_in_steps), want) << "eager, the loss first";
    EXPECT_EQ(train_layers(net, way, How::recorded), want) << "recorded";
}

TEST(LayerBits, OfGradientsOfGradients)
{
    const Variable w(from_vector({0.3F, -0.7F}));
    const TracedFunction f = [](const Tensors& in) { return Tensors{exp(sin(in[0]) * cos(in[0]))}; };
    const auto layer = Checkpoint::checkpoint_function("f", f);
    const auto third = [&](const Tensor& x, const auto& call) {
        const Tensor first = grad(sum(call(x * w)), w, {.create_graph = true}),
                     second = grad(sum(first * first), w, {.create_graph = true});
        return grad(sum(second * second), w);
    };
    const Tensor x = from_vector({2, 3});
    const Bits want = bits(third(x, [&](const Tensor& in) { return f({in})[0]; }));
    EXPECT_EQ(bits(third(x, layer)), want);
    const Program p = record([&](Tensor in) { return third(in, layer); }, {spec({2})});
    EXPECT_EQ(bits(p(x)), want);
}

} // namespace
} // namespace reprise
