// Ops that wait for values, against what PyTorch gave.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::IsEmpty;

using Ints = std::vector<std::int32_t>;
using Floats = std::vector<float>;

Tensor ints(const Ints& v) { return from_vector(v, {static_cast<long long>(v.size())}); }
Ints read(const Tensor& t) { return t.to_vector<std::int32_t>(); }

Tensor matrix() { return from_vector(Ints{3, 0, 1, 0, 3, 1}, {2, 3}); }

TEST(Nonzero, NamesPlacesRowByRow)
{
    const Tensor at = nonzero(matrix());
    EXPECT_EQ(to_string(at.shape()), "[4, 2]");
    EXPECT_THAT(read(at), ElementsAre(0, 0, 0, 2, 1, 1, 1, 2));
    const std::vector<Tensor> by_dim = nonzero_as_tuple(matrix().t());
    ASSERT_EQ(by_dim.size(), 2u);
    EXPECT_THAT(read(by_dim[0].contiguous()), ElementsAre(0, 1, 2, 2));
    EXPECT_THAT(read(by_dim[1].contiguous()), ElementsAre(0, 1, 0, 1));
    EXPECT_THAT(read(where(from_vector(Floats{0, -0.0f, 2}) == 2.0)[0].contiguous()), ElementsAre(2));
}

TEST(Nonzero, OfNothingAndOfOneNumber)
{
    EXPECT_EQ(to_string(nonzero(zeros({0, 3})).shape()), "[0, 2]");
    EXPECT_EQ(to_string(nonzero(full({}, 2)).shape()), "[1, 0]");
    EXPECT_EQ(to_string(nonzero(full({}, 0)).shape()), "[0, 0]");
    EXPECT_THAT(read(nonzero_as_tuple(full({}, 2))[0]), ElementsAre(0));
}

TEST(Unique, CountsAndTellsWhere)
{
    const auto [values, inverse, counts] = unique(matrix(), true, true, true);
    EXPECT_THAT(read(values), ElementsAre(0, 1, 3));
    EXPECT_EQ(to_string(inverse.shape()), "[2, 3]");
    EXPECT_THAT(read(inverse), ElementsAre(2, 0, 1, 0, 2, 1));
    EXPECT_THAT(read(counts), ElementsAre(2, 2, 2));
    const auto [alone, no_inverse, no_counts] = unique(matrix());
    EXPECT_FALSE(no_inverse.defined() || no_counts.defined());
    EXPECT_THAT(read(alone), ElementsAre(0, 1, 3));
}

TEST(Unique, OfNumbersWithNaNAndOfNothing)
{
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const auto [values, inverse, counts] = unique(from_vector(Floats{nan, 2, -1, 2, nan}), true, true, true);
    const Floats v = values.to_vector<float>();
    ASSERT_EQ(v.size(), 4u); // each NaN is one
    EXPECT_EQ(v[0], -1);
    EXPECT_EQ(v[1], 2);
    EXPECT_THAT(read(inverse), ElementsAre(2, 1, 0, 1, 3));
    EXPECT_THAT(read(counts), ElementsAre(1, 2, 1, 1));
    EXPECT_EQ(std::get<0>(unique(zeros({0}))).numel(), Dim(0));
    EXPECT_THAT(std::get<0>(unique(from_vector(std::vector<bool>{true, false, true}, {3}))).to_vector<bool>(),
                ElementsAre(false, true));
}

TEST(Unique, ConsecutiveTakesRuns)
{
    const auto [values, inverse, counts] = unique_consecutive(ints({1, 1, 2, 2, 3, 1, 1, 2}), true, true);
    EXPECT_THAT(read(values), ElementsAre(1, 2, 3, 1, 2));
    EXPECT_THAT(read(inverse), ElementsAre(0, 0, 1, 1, 2, 3, 3, 4));
    EXPECT_THAT(read(counts), ElementsAre(2, 2, 1, 2, 1));
}

TEST(Unique, OfManyElements)
{
    Ints v(10007);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<std::int32_t>(i * 7919 % 1000);
    const auto [values, inverse, counts] = unique(ints(v), true, true, true);
    ASSERT_EQ(values.numel(), Dim(1000));
    EXPECT_THAT(read(take(values, inverse)), ElementsAreArray(v));
    EXPECT_EQ(sum(counts).item<std::int64_t>(), 10007);
}

TEST(Bincount, CountsAndWeighs)
{
    EXPECT_THAT(read(bincount(ints({4, 3, 6, 3, 4}))), ElementsAre(0, 0, 0, 2, 2, 0, 1));
    const Tensor weights = from_vector(Floats{0, 0.25f, 0.5f, 0.75f, 1});
    EXPECT_THAT(bincount(ints({4, 3, 6, 3, 4}), weights).to_vector<float>(),
                ElementsAre(0, 0, 0, 1, 1, 0, 0.5f));
    EXPECT_THAT(read(bincount(ints({1}), {}, 4)), ElementsAre(0, 1, 0, 0));
    EXPECT_THAT(read(bincount(ints({}))), IsEmpty());
}

TEST(DataDependent, MistakesAreNamed)
{
    EXPECT_THAT(error_of([] { bincount(ints({1, -2})); }).text, HasSubstr("(-2) is negative"));
    EXPECT_THAT(error_of([] { bincount(ones({3})); }).text, HasSubstr("an integer dtype"));
    EXPECT_THAT(error_of([] { bincount(matrix()); }).text, HasSubstr("[2, 3]"));
    EXPECT_THAT(error_of([] { bincount(ints({1}), ones({2})); }).text, HasSubstr("[2]"));
    const auto recorded = [](Tensor (*f)(const Tensor&)) {
        const auto call = [f](const auto& in) { return std::vector{f(in[0])}; };
        return error_of([&] { record_function(call, {spec({3})}); }).text;
    };
    for (const auto f : {+[](const Tensor& x) { return nonzero(x); },
                         +[](const Tensor& x) { return std::get<0>(unique(x)); },
                         +[](const Tensor& x) { return bincount(cast(x, i32)); }})
        EXPECT_THAT(recorded(f), HasSubstr("while recording"));
}

} // namespace
