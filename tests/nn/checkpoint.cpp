// Modules whose calls are checkpoints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/autograd.hpp>
#include <reprise/nn.hpp>
#include <reprise/ops.hpp>
#include <reprise/random.hpp>

#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using nn::make;
using test::bits;
using testing::HasSubstr;

std::vector<test::Bits> gradients(nn::Module& net, const Tensor& loss)
{
    net.zero_grad();
    loss.backward();
    std::vector<test::Bits> out;
    for (const Variable& p : net.parameters()) out.push_back(bits(p.grad()));
    return out;
}

struct Checkpointed : testing::Test {
    Checkpointed()
    {
        manual_seed(3);
        for (int i = 0; i < 5; ++i) {
            net.push_back(make<nn::Linear>(6, 6));
            net.push_back(make<nn::Tanh>());
        }
    }
    nn::Sequential net;
    Tensor x = test::random_tensor({4, 6}, 1);
};

TEST_F(Checkpointed, ModulesKeepParametersNamesAndGradients)
{
    const auto want = gradients(net, sum(net(x)));
    const auto names = [&] {
        std::vector<std::string> out;
        for (const auto& [name, value] : net.state_dict()) out.push_back(name);
        return out;
    };
    const auto before = names();
    for (std::size_t i = 0; i < net.size(); i += 2)
        EXPECT_EQ(&nn::checkpoint_module(net.at(i), "layer " + std::to_string(i)), &net.at(i));
    EXPECT_EQ(names(), before);
    int running = 0;
    net.at(2).register_forward_hook([&](nn::Module&, const Tensor&, const Tensor&) {
        running += is_checkpointing() ? 1 : 0;
        return Tensor();
    });
    EXPECT_EQ(gradients(net, sum(net(x))), want);
    EXPECT_EQ(running, 1);
    net.at(2).set_checkpoint(std::nullopt);
    EXPECT_EQ(gradients(net, sum(net(x))), want);
    EXPECT_EQ(running, 1);
    EXPECT_THAT(error_of([&] { nn::checkpoint_module(net, ""); }).text,
                HasSubstr("[checkpoint_module] The layer's id is empty"));
}

TEST_F(Checkpointed, SequencesTakeUnevenSegments)
{
    Variable input(x);
    const auto want = gradients(net, sum(net(input)));
    const test::Bits by_input = bits(input.grad());
    for (const std::size_t segments : {1, 3, 4, 10, 11}) {
        input.zero_grad();
        EXPECT_EQ(gradients(net, sum(nn::checkpoint_sequential(net, segments, input))), want) << segments;
        EXPECT_EQ(bits(input.grad()), by_input) << segments;
    }
    EXPECT_EQ(bits(nn::checkpoint_sequential(nn::Sequential(), 1, x)), bits(x));
}

} // namespace
} // namespace reprise
