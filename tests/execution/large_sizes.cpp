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
    if (std::string(GetParam()) == "gpu") { // stores no patches
        EXPECT_EQ(e.text, "nothing was thrown");
        return;
    }
    EXPECT_EQ(e.kind, ErrorKind::unsupported);
    EXPECT_THAT(e.text, HasSubstr("does not fit 32 bits: use smaller tensors"));
}

// More than any memory holds, as views that take none, and as what would be made of them.
TEST(LargeSizes, OfNoMemoryAreRefused)
{
    const Tensor x = ones({1});
    constexpr std::int64_t huge = std::int64_t{1} << 62;
    const std::vector<std::pair<std::function<void()>, ErrorKind>> calls{
        {[&] { expand(x, {huge}).to_vector<float>(); }, ErrorKind::argument}, // its bytes exceed 64 bits
        {[&] { expand(x > 0, {huge}).to_vector<bool>(); }, ErrorKind::out_of_memory},
        {[&] { (expand(x, {huge}) + 1).eval(); }, ErrorKind::unsupported},
        {[&] { repeat_interleave(x, huge, 0).to_vector<float>(); }, ErrorKind::argument},
        {[&] { repeat_interleave(x > 0, huge, 0).to_vector<bool>(); }, ErrorKind::out_of_memory},
        {[&] {
             zeros({huge, 2}).to_vector<float>();
         },
         ErrorKind::argument}};
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const Caught e = error_of(calls[i].first);
        EXPECT_EQ(e.kind, calls[i].second) << i << ": " << e.text;
    }
    EXPECT_EQ((x + 1).to_vector<float>()[0], 2); // the device is usable
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
