// Tensors that are made from nothing: full, arange, host_scalar.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/reduce_tools.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using namespace reduce_tools;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Full, FillsEveryDtype)
{
    EXPECT_THAT(full({3, 5}, 0.1).to_vector<float>(), Each(0.1f));
    EXPECT_THAT(full({7}, 2147483647, {.dtype = i32}).to_vector<std::int32_t>(), Each(2147483647));
    EXPECT_THAT(full({7}, -5.9, {.dtype = i32}).to_vector<std::int32_t>(), Each(-5));
    EXPECT_THAT(full({9}, 200, {.dtype = u8}).to_vector<std::uint8_t>(), Each(200));
    EXPECT_THAT(full({5}, 0.5, {.dtype = boolean}).to_vector<bool>(), Each(true));
    EXPECT_THAT(zeros({5}, {.dtype = boolean}).to_vector<bool>(), Each(false));
    EXPECT_TRUE(ones({0, 4}).to_vector<float>().empty());
    EXPECT_EQ(full({}, -3).item<float>(), -3);
}

TEST(Full, IsWrittenToMemoryWhereItIsKept)
{
    const Tensor x = full({70000}, 1.5).contiguous();
    const Floats v = x.to_vector<float>();
    EXPECT_EQ(v.size(), 70000u);
    EXPECT_THAT(v, Each(1.5f));
    EXPECT_THAT((x + ones({70000})).to_vector<float>(), Each(2.5f));
}

TEST(Full, LikesTakeShapeAndDtype)
{
    const Tensor x = zeros({2, 3}, {.dtype = i32});
    EXPECT_THAT(ones_like(x).to_vector<std::int32_t>(), ElementsAre(1, 1, 1, 1, 1, 1));
    EXPECT_THAT(full_like(x, 4).to_vector<std::int32_t>(), Each(4));
    EXPECT_EQ(zeros_like(x).dtype(), i32);
    EXPECT_TRUE(zeros({2}, {.requires_grad = true}).requires_grad());
}

TEST(Full, RefusesWhatTheDtypeCannotHold)
{
    const Caught large = error_of([] { return full({2}, 300, {.dtype = u8}); });
    EXPECT_EQ(large.kind, ErrorKind::argument);
    EXPECT_THAT(large.text, HasSubstr("[full] The value (300) is none of the dtype (u8)"));
    EXPECT_EQ(error_of([] { return full({2}, std::nan(""), {.dtype = i32}); }).kind, ErrorKind::argument);
    const Caught negative = error_of([] { return zeros({2, -1}); });
    EXPECT_EQ(negative.kind, ErrorKind::shape);
    EXPECT_THAT(negative.text, HasSubstr("negative size (-1)"));
}

TEST(Arange, Counts)
{
    EXPECT_THAT(arange(5).to_vector<std::int32_t>(), ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(arange(3, {.dtype = f32}).to_vector<float>(), ElementsAre(0, 1, 2));
    EXPECT_TRUE(arange(0).to_vector<std::int32_t>().empty());
    const auto many = arange(100001).to_vector<std::int32_t>();
    EXPECT_EQ(many[100000], 100000);
    EXPECT_EQ(error_of([] { return arange(-1); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([] { return arange(2, {.dtype = boolean}); }).kind, ErrorKind::dtype);
}

TEST(Arange, OfIntegersKnowsMoreThan24Bits)
{
    EXPECT_THAT(arange(16777216.0, 16777220.0, 1.0, {.dtype = i32}).to_vector<std::int32_t>(),
                ElementsAre(16777216, 16777217, 16777218, 16777219));
    EXPECT_THAT(arange(0x1p40, 0x1p40 - 3, -1.0, {.dtype = i64}).to_vector<std::int64_t>(),
                ElementsAre(1099511627776, 1099511627775, 1099511627774));
    EXPECT_THAT(arange(16777216.5, 16777219.0, 0.5, {.dtype = i32}).to_vector<std::int32_t>(),
                ElementsAre(16777216, 16777217, 16777217, 16777218, 16777218));
    EXPECT_THAT(linspace(16777215, 16777219, 5, {.dtype = i32}).to_vector<std::int32_t>(),
                ElementsAre(16777215, 16777216, 16777217, 16777218, 16777219));
    EXPECT_THAT(logspace(0, 12, 3, 10, {.dtype = i64}).to_vector<std::int64_t>(),
                ElementsAre(1, 1000000, 1000000000000));
    EXPECT_EQ(linspace(0, 1, 0, {.dtype = i32}).numel(), 0);
    EXPECT_EQ(error_of([] { linspace(0, 1, -1, {.dtype = i32}); }).kind, ErrorKind::argument);
}

TEST(Tensors, OfFloatingNumbersInBracesKeepWhatADtypeHolds)
{
    EXPECT_EQ(tensor({16777217.0}, {.dtype = i64}).item<std::int64_t>(), 16777217);
    EXPECT_THAT(tensor({{2147483647.0, -1.5}}, {.dtype = i32}).to_vector<std::int32_t>(),
                ElementsAre(2147483647, -1));
    EXPECT_THAT(tensor({0.1, 16777217.0}).to_vector<float>(), ElementsAre(0.1f, 16777216.0f));
    EXPECT_THAT(tensor({1e-300, 0.0}, {.dtype = boolean}).to_vector<bool>(), ElementsAre(true, false));
}

TEST(Arange, FollowsASymbol)
{
    const Dim n = symbol("n");
    const Program program = record(
        [](Tensor x) { return x + arange(x.size(0), {.dtype = f32}) + full({x.size(0)}, 10); }, {spec({n})});
    for (const std::int64_t size : {1, 6, 0, 300}) {
        const Floats found = program(zeros({size})).to_vector<float>();
        ASSERT_EQ(found.size(), static_cast<std::size_t>(size));
        for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], 10 + static_cast<float>(i));
    }
}

TEST(HostScalar, IsAskedNowInEagerCodeAndAtEachCallOfAProgram)
{
    double value = 2;
    EXPECT_EQ(host_scalar([&] { return value; }).item<float>(), 2);
    const Program program = record(
        [&](Tensor x) {
            const Tensor s = host_scalar([&] { return value; });
            return std::vector<Tensor>{x * s, s, sum(expand(s, {3}))};
        },
        {spec({2})});
    for (const double v : {3.0, -1.0}) {
        value = v;
        const auto found = program.call({ones({2})});
        EXPECT_THAT(found[0].to_vector<float>(), Each(static_cast<float>(v)));
        EXPECT_EQ(found[1].item<float>(), static_cast<float>(v));
        EXPECT_EQ(found[2].item<float>(), static_cast<float>(3 * v));
    }
}

} // namespace
