// The gradients of networks with checkpoints are those without, bit for bit, whichever way they are called and run.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/nn.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>
#include <reprise/random.hpp>

#include "support/stacks.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using test::Bits;
using test::bits;
using test::plain;
using test::Stack;
using test::stacks;
using Policy = CheckpointOptions::Policy;

// ---- ways to call them ----

using Forward = std::function<Tensor(const std::vector<std::shared_ptr<nn::Module>>&, Tensor)>;
struct Way {
    std::string name;
    Forward forward;
};
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
std::vector<Bits> train(const Stack& net, const Forward& forward, How how)
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
        return stacks()[std::get<0>(test.param)].name + "_" + ways()[std::get<1>(test.param)].name;
    });

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

} // namespace
} // namespace reprise
