// Sizes near what kernels can count, on devices that compute nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"
#include "support/devices.hpp"

namespace reprise {
namespace {

using testing::HasSubstr;

class LargeSizes : public testing::TestWithParam<const char*> {
    test::UseDevice use_{test::imitation(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(Devices, LargeSizes, testing::Values("lavapipe", "swiftshader", "gpu"),
                         [](const auto& test) { return test.param; });

// As the second layer of VGG-16 has them at a batch of 128: 3.7 * 2^30 elements of patches, never all at once.
TEST_P(LargeSizes, PatchesOfALargeBatchAreMadeByParts)
{
    const Variable weight(zeros({64, 64, 3, 3}));
    const Tensor x = zeros({128, 64, 224, 224}).requires_grad_();
    const Tensor y = conv2d(x, weight, {}, {.padding = {1, 1}});
    EXPECT_NO_THROW(eval(grad({sum(y)}, {x, weight})));
}

TEST_P(LargeSizes, PatchesBeyondWhatKernelsCountAreRefused)
{
    const Tensor x = zeros({1024, 64, 128, 128});
    const Tensor y = conv2d(x, zeros({1, 64, 7, 7}), {}, {.padding = {6, 6}, .dilation = {2, 2}});
    const Caught e = error_of([&] {
        eval({y});
        return 0;
    });
    EXPECT_EQ(e.kind, ErrorKind::unsupported);
    EXPECT_THAT(e.text, HasSubstr("does not fit 32 bits: use smaller tensors"));
}

TEST(LargeSizesOfVariants, LaunchesThatOthersStandInForAreNotCounted)
{
    const test::UseDevice use{test::imitation("lavapipe")}; // whose direct kernel makes no patches
    const auto f = record(
        [](Tensor x) {
            return conv2d(x, zeros({1, 64, 3, 3}), {}, {.padding = {1, 1}});
        },
        {spec({1900, 64, 128, symbol("width")})});
    EXPECT_NO_THROW(f(zeros({1900, 64, 128, 128})).eval());
}

} // namespace
} // namespace reprise
