// The gradients of networks with checkpoints are those without, bit for bit, whichever way they are called and run.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/nn.hpp>

#include "support/stacks.hpp"

namespace reprise {
namespace {

using test::Blocks;
using test::Forward;
using test::How;
using test::plain;
using test::Stack;
using test::stacks;
using test::train;
using Policy = CheckpointOptions::Policy;

// ---- ways to call them ----

struct Way {
    std::string name;
    Forward forward;
};
Tensor each(const CheckpointOptions& options, const Blocks& blocks, Tensor x)
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

struct SameBits : testing::TestWithParam<test::StackAndWay> {};
INSTANTIATE_TEST_SUITE_P(Nets, SameBits, test::each_with(ways()), test::named_with(ways()));

TEST_P(SameBits, AsWithoutCheckpoints)
{
    const Stack& net = stacks()[std::get<0>(GetParam())];
    const Way& way = ways()[std::get<1>(GetParam())];
    const auto want = train(net, plain, How::eager);
    EXPECT_EQ(train(net, way.forward, How::eager), want) << "eager";
    EXPECT_EQ(train(net, way.forward, How::eager_in_steps), want) << "eager, the loss first";
    EXPECT_EQ(train(net, way.forward, How::recorded), want) << "recorded";
    EXPECT_EQ(train(net, way.forward, How::recorded_unfused), want) << "recorded, not fused";
}

// A checkpoint with a saved_dtype rounds its inputs and results, also where nothing is recomputed.
struct SavedDtype : testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Nets, SavedDtype, testing::Range<std::size_t>(0, stacks().size()),
                         [](const auto& test) { return stacks()[test.param].name; });

TEST_P(SavedDtype, HasTheBitsOfRoundedValues)
{
    const Stack& net = stacks()[GetParam()];
    const auto want = train(
        net,
        [](const Blocks& blocks, Tensor x) {
            const auto rounded = [](const Tensor& t) { return cast(cast(t, bf16), f32); };
            for (const auto& b : blocks) x = rounded((*b)(rounded(x)));
            return x;
        },
        How::eager);
    const Forward saved = [](const Blocks& blocks, Tensor x) {
        return each({.saved_dtype = bf16}, blocks, x);
    };
    const Forward not_recomputed = [&](const Blocks& blocks, Tensor x) {
        return with_checkpoint_mode(false, [&] { return saved(blocks, x); });
    };
    const Forward of_modules = [](const Blocks& blocks, Tensor x) {
        for (const auto& b : blocks) {
            b->set_checkpoint(CheckpointOptions{.saved_dtype = bf16});
            x = (*b)(x);
            b->set_checkpoint(std::nullopt);
        }
        return x;
    };
    EXPECT_EQ(train(net, saved, How::eager), want) << "eager";
    EXPECT_EQ(train(net, saved, How::eager_in_steps), want) << "eager, the loss first";
    EXPECT_EQ(train(net, saved, How::recorded), want) << "recorded";
    EXPECT_EQ(train(net, not_recomputed, How::recorded), want) << "recorded, not recomputed";
    EXPECT_EQ(train(net, of_modules, How::recorded), want) << "recorded, calls of modules";
    EXPECT_NE(train(net, plain, How::eager), want);
}

} // namespace
} // namespace reprise
