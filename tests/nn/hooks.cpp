// Hooks of modules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/autograd.hpp>
#include <reprise/nn.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "testing/values.hpp"

namespace reprise {
namespace {

using test::floats;
using testing::ElementsAre;

Tensor values(std::vector<float> v) { return from_vector(v); }

struct Triple : nn::Module {
    Tensor forward(Tensor x) override { return x * 3; }
};

TEST(ModuleHook, RunsAroundForwardInOrder)
{
    Triple triple;
    std::string order;
    triple.register_forward_pre_hook([&](nn::Module& m, const Tensor& x) {
        EXPECT_EQ(&m, &triple);
        order += 'a';
        return x + 1;
    });
    triple.register_forward_pre_hook([&](nn::Module&, const Tensor&) {
        order += 'b';
        return Tensor();
    });
    const HookHandle last = triple.register_forward_hook([&](nn::Module&, const Tensor& x, const Tensor& y) {
        order += 'c';
        return x + y;
    });
    EXPECT_THAT(floats(triple(values({1}))), ElementsAre(2 + 6));
    EXPECT_EQ(order, "abc");
    last.remove();
    EXPECT_THAT(floats(triple(values({1}))), ElementsAre(6));
    EXPECT_EQ(order, "abcab");
}

TEST(ModuleHook, SeesTheGradientsOfItsModuleOnly)
{
    Triple triple;
    std::vector<float> in, out;
    const HookHandle hook =
        triple.register_full_backward_hook([&](nn::Module&, const Tensor& by_input, const Tensor& by_output) {
            in = floats(by_input);
            out = floats(by_output);
            return Tensor();
        });
    Variable w(values({1, 2}));
    sum(triple(w) * 2 + w * 100).backward();
    EXPECT_THAT(in, ElementsAre(6, 6));
    EXPECT_THAT(out, ElementsAre(2, 2));
    EXPECT_THAT(floats(w.grad()), ElementsAre(106, 106));
    hook.remove();
    triple.register_full_backward_hook(
        [](nn::Module&, const Tensor& by_input, const Tensor&) { return by_input * 10; });
    w.zero_grad();
    in.clear();
    sum(triple(w) * 2 + w * 100).backward();
    EXPECT_TRUE(in.empty());
    EXPECT_THAT(floats(w.grad()), ElementsAre(160, 160));
}

TEST(ModuleHook, GetsNoGradientByAnInputThatNeedsNone)
{
    nn::Linear linear(2, 1);
    bool by_input = true;
    std::vector<float> by_output;
    linear.register_full_backward_hook([&](nn::Module&, const Tensor& in, const Tensor& out) {
        by_input = in.defined();
        by_output = floats(out);
        return Tensor();
    });
    sum(linear(ones({3, 2})) * 5).backward();
    EXPECT_FALSE(by_input);
    EXPECT_THAT(by_output, ElementsAre(5, 5, 5));
}

TEST(ModuleHook, OfAChildRunsInsideOfItsParent)
{
    const auto relu = nn::make<nn::ReLU>();
    nn::Sequential net{nn::make<Triple>(), relu};
    int calls = 0;
    relu->register_forward_hook([&](nn::Module&, const Tensor&, const Tensor& y) {
        ++calls;
        return y * 2;
    });
    const auto f = record([&](Tensor x) { return net(x); }, {spec({symbol("n")})});
    EXPECT_THAT(floats(f(values({1, -1}))), ElementsAre(6, 0));
    EXPECT_THAT(floats(f(values({1, -1, 2}))), ElementsAre(6, 0, 12));
    EXPECT_EQ(calls, 1); // while recording
}

} // namespace
} // namespace reprise
