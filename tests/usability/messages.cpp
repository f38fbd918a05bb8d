// What users read when something is wrong, in terms that they know; arguments in PyTorch's order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include <reprise/reprise.hpp>

#include "support/devices.hpp"

namespace reprise {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string message(const std::function<void()>& f)
{
    try {
        f();
    } catch (const Error& e) {
        return e.what();
    }
    return "nothing was thrown";
}

TEST(Messages, OfDevicesThatThereAreNot)
{
    EXPECT_THAT(message([] { Device("cpu"); }), HasSubstr("\"reference\""));
    EXPECT_THAT(message([] { Device("vulcan"); }),
                HasSubstr("The device (vulcan) was not found. Available: "));
    EXPECT_THAT(message([] { Device("vulcan"); }), Not(HasSubstr("\"reference\"")));
}

TEST(Messages, OfProgramsInTheOtherMode)
{
    nn::Dropout dropout(0.5);
    const Program program = record([&](Tensor x) { return dropout(x); }, {spec({2})});
    dropout.eval();
    EXPECT_THAT(message([&] { program(ones({2})); }), HasSubstr("a program that was recorded in this mode"));
}

TEST(Messages, OfSizesThatNoSymbolGives)
{
    const Program program = record([](Tensor x) { return x * 2; }, {spec({symbol("b") * 2 + 1})});
    EXPECT_THAT(message([&] { program(ones({4})); }), HasSubstr("(4)"));
    EXPECT_THAT(message([&] { program(ones({4})); }), HasSubstr("cannot be (b * 2 + 1) for any integer (b)"));
}

TEST(Messages, NameOpsAndNoKernels)
{
    const test::UseDevice use{test::imitation("lavapipe")};
    const Tensor x = zeros({1024, 64, 128, 128});
    const Tensor y = conv2d(x, zeros({1, 64, 7, 7}), {}, {.padding = {6, 6}, .dilation = {2, 2}});
    const std::string text = message([&] { y.eval(); });
    EXPECT_THAT(text, HasSubstr("does not fit 32 bits"));
    EXPECT_THAT(text, HasSubstr("[conv"));
    EXPECT_THAT(text, Not(HasSubstr("(%")));
}

TEST(PositionalArguments, OfConvolutions)
{
    const Tensor x = rand({2, 4, 7, 6}), w = rand({6, 2, 3, 3}), b = rand({6});
    EXPECT_TRUE(equal(conv2d(x, w, b, 2, {1, 0}, 1, 2),
                      conv2d(x, w, b, {.stride = 2, .padding = {1, 0}, .groups = 2})));
    EXPECT_TRUE(
        equal(conv2d(x, w, {}, {1, 1}, "same", 1, 2), conv2d(x, w, {}, {.padding = "same", .groups = 2})));
    const Tensor line = rand({1, 2, 9}), v = rand({3, 2, 3});
    EXPECT_TRUE(equal(conv1d(line, v, {}, 2), conv1d(line, v, {}, {.stride = 2})));
}

TEST(PositionalArguments, OfAttention)
{
    const Tensor q = rand({2, 3, 4}), mask = rand({3, 3});
    EXPECT_TRUE(equal(scaled_dot_product_attention(q, q, q, mask),
                      scaled_dot_product_attention(q, q, q, {.attn_mask = mask})));
    EXPECT_TRUE(equal(scaled_dot_product_attention(q, q, q, {}, 0.0, true, 0.5),
                      scaled_dot_product_attention(q, q, q, {.is_causal = true, .scale = 0.5})));
}

TEST(PositionalArguments, ModesOfInterpolationAsText)
{
    const Tensor x = rand({1, 1, 3, 4});
    EXPECT_TRUE(equal(interpolate(x, {.size = {6, 8}, .mode = "bilinear"}),
                      interpolate(x, {.size = {6, 8}, .mode = Interpolation::bilinear})));
    EXPECT_TRUE(equal(interpolate(x, {.scale_factor = {2}, .mode = "nearest-exact"}),
                      interpolate(x, {.scale_factor = {2}, .mode = Interpolation::nearest_exact})));
    EXPECT_THAT(message([&] { interpolate(x, {.size = {2}, .mode = "quadratic"}); }), HasSubstr("bilinear"));
}

} // namespace
} // namespace reprise
