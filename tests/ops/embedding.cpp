// embedding beyond the suite: rows that do not exist, the order of the sums, many blocks of positions.
#include <gtest/gtest.h>

#include <cmath>

#include "ops/index_checks.hpp"
#include "ops/reduce_tools.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using namespace reduce_tools;

std::vector<std::int32_t> indices(std::size_t count, std::int32_t rows)
{
    std::vector<std::int32_t> v(count);
    std::uint32_t state = 12345;
    for (std::int32_t& i : v) {
        state = state * 1664525u + 1013904223u;
        i = static_cast<std::int32_t>((state >> 8) % static_cast<std::uint32_t>(rows));
    }
    return v;
}

TEST(Embedding, AnIndexOutsideGivesNaNAndNoGradient)
{
    const IndexChecks off(false);
    Variable weight(from_vector(Floats{1, 2, 3, 4, 5, 6}, {3, 2}));
    const Tensor y = embedding(from_vector(std::vector<std::int32_t>{2, -1, 3, 0}, {4}), weight);
    const Floats values = y.to_vector<float>();
    EXPECT_EQ(values[0], 5);
    EXPECT_EQ(values[1], 6);
    for (std::size_t i = 2; i < 6; ++i) EXPECT_TRUE(std::isnan(values[i])) << i;
    EXPECT_EQ(values[7], 2);
    sum(y).backward();
    EXPECT_EQ(weight.grad().to_vector<float>(), (Floats{1, 1, 0, 0, 1, 1}));
}

TEST(Embedding, ThePaddingRowHasNoGradient)
{
    Variable weight(ones({3, 4}));
    sum(embedding(from_vector(std::vector<std::int32_t>{0, 1, 1, 2}, {2, 2}), weight, -2)).backward();
    EXPECT_EQ(weight.grad().to_vector<float>(), (Floats{1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1}));
}

struct Case {
    std::size_t count;
    std::int32_t rows;
    std::int64_t length;
};

// Blocks of one position and of many, rows of texels and not, all positions of one row.
class EmbeddingGradient : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Sizes, EmbeddingGradient,
                         testing::Values(Case{1, 5, 4}, Case{255, 7, 3}, Case{257, 1, 8}, Case{2048, 96, 16},
                                         Case{5000, 1000, 5}, Case{20000, 33, 4}, Case{65536, 40, 4},
                                         Case{65537, 40, 4}));

TEST_P(EmbeddingGradient, AddsInTheOrderOfPositions)
{
    const auto [count, rows, length] = GetParam();
    const auto at = indices(count, rows);
    const auto n = static_cast<std::int64_t>(count);
    const Tensor dy = drawn({n, length}, 5);
    Variable weight(zeros({rows, length}));
    const Tensor y = embedding(from_vector(at, {n}), weight);
    const Floats found = grad(y, weight, {.cotangents = {dy}}).to_vector<float>();
    const Floats given = dy.to_vector<float>();
    const auto width = static_cast<std::size_t>(length);
    Floats want(static_cast<std::size_t>(rows) * width, 0);
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t e = 0; e < width; ++e) {
            float& to = want[static_cast<std::size_t>(at[i]) * width + e];
            to = to + given[i * width + e];
        }
    if (default_device().name() == "reference") { // adds in double
        for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(found[i], want[i], 1e-3) << i;
    } else EXPECT_EQ(found, want);
}

TEST(OneHot, CountsTheClassesItself)
{
    const Tensor y = one_hot(from_vector(std::vector<std::int32_t>{1, 0, 2, 1}, {2, 2}));
    EXPECT_EQ(y.shape(), (Shape{2, 2, 3}));
    EXPECT_EQ(y.to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0}));
    EXPECT_EQ(one_hot(from_vector(std::vector<std::int64_t>{4}, {})).shape(), (Shape{5}));
    const Caught none = error_of([] { return one_hot(zeros({0}, {.dtype = i32})); });
    EXPECT_EQ(none.kind, ErrorKind::argument);
    EXPECT_NE(none.text.find("give it"), std::string::npos) << none.text;
    const Caught negative = error_of([] {
        return one_hot(from_vector(std::vector<std::int32_t>{0, -2}, {2}));
    });
    EXPECT_EQ(negative.kind, ErrorKind::argument);
    EXPECT_NE(negative.text.find("(-2)"), std::string::npos) << negative.text;
    const Caught recording =
        error_of([] { return record([](Tensor index) { return one_hot(index); }, {spec({3}, i32)}); });
    EXPECT_EQ(recording.kind, ErrorKind::state);
}

} // namespace
