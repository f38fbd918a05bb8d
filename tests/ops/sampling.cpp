// Distributions by fixed seeds, and random ops in programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "ops/reduce_tools.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using namespace reduce_tools;
using testing::Each;
using testing::ElementsAre;
using Whole = std::vector<std::int32_t>;

Whole whole(const Tensor& t) { return t.to_vector<std::int32_t>(); }

// Pearson's statistic of counts that should go like the weights.
double chi_square(const std::vector<double>& counts, const std::vector<double>& weights)
{
    const double n = std::accumulate(counts.begin(), counts.end(), 0.0),
                 total = std::accumulate(weights.begin(), weights.end(), 0.0);
    double sum = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const double want = n * weights[i] / total;
        sum += (counts[i] - want) * (counts[i] - want) / want;
    }
    return sum;
}

std::vector<double> counted(const Whole& values, std::size_t classes, std::int32_t low = 0)
{
    std::vector<double> counts(classes);
    for (const std::int32_t v : values) counts.at(static_cast<std::size_t>(v - low)) += 1;
    return counts;
}

TEST(Randint, IsUniform)
{
    manual_seed(1);
    const Whole v = whole(randint(-5, 5, {20000}));
    EXPECT_LT(chi_square(counted(v, 10, -5), std::vector<double>(10, 1)), 27.9); // 0.1% of 9 degrees
    EXPECT_THAT(whole(randint(7, 8, {5})), Each(7));
    EXPECT_EQ(randint(3, {2}).dtype(), i32);
    EXPECT_EQ(randint(0, 200, {2}, {.dtype = f32}).dtype(), f32);
    std::set<std::int32_t> signs;
    for (const std::int32_t x : whole(randint(-2147483648LL, 2147483647LL, {100}))) signs.insert(x >> 30);
    EXPECT_EQ(signs.size(), 4u);
}

TEST(Randperm, HasEveryNumberOnce)
{
    manual_seed(2);
    for (const std::int64_t n : {0, 1, 5, 1000, 5000}) {
        Whole v = whole(randperm(n));
        EXPECT_EQ(std::is_sorted(v.begin(), v.end()), n < 5) << n;
        std::sort(v.begin(), v.end());
        Whole want(static_cast<std::size_t>(n));
        std::iota(want.begin(), want.end(), 0);
        EXPECT_EQ(v, want);
    }
    std::vector<double> counts(6); // each order of three equally often
    for (int i = 0; i < 600; ++i) {
        const Whole p = whole(randperm(3));
        counts[static_cast<std::size_t>(p[0] * 2 + (p[1] > p[2] ? 1 : 0))] += 1;
    }
    EXPECT_LT(chi_square(counts, std::vector<double>(6, 1)), 20.5);
}

TEST(Bernoulli, HasItsProbability)
{
    manual_seed(3);
    const Floats v = bernoulli(full({40000}, 0.3)).to_vector<float>();
    EXPECT_NEAR(std::accumulate(v.begin(), v.end(), 0.0) / 40000, 0.3, 0.01);
    EXPECT_THAT(bernoulli(zeros({100})).to_vector<float>(), Each(0));
    EXPECT_THAT(bernoulli(ones({100})).to_vector<float>(), Each(1));
    EXPECT_FALSE(bernoulli(full({3}, 0.5).contiguous().requires_grad_()).requires_grad());
}

TEST(Normal, HasItsMoments)
{
    manual_seed(4);
    const Tensor x = normal(3, 0.5, {100000});
    EXPECT_NEAR(mean(x).item<float>(), 3, 0.01);
    EXPECT_NEAR(reprise::std(x).item<float>(), 0.5, 0.01);
    EXPECT_THAT(normal(full({3}, 2.0), 0).to_vector<float>(), Each(2));
}

TEST(Multinomial, DrawsByWeights)
{
    manual_seed(5);
    const std::vector<double> weights{1, 0, 3, 6};
    const Tensor w = from_vector(Floats{1, 0, 3, 6});
    const std::vector<double> with = counted(whole(multinomial(w, 20000, true)), 4);
    EXPECT_EQ(with[1], 0);
    EXPECT_LT(chi_square({with[0], with[2], with[3]}, {1, 3, 6}), 13.8);
    const Tensor rows = expand(w, {20000, 4});
    const Whole first = whole(narrow(multinomial(rows, 1), 1, 0, 1).contiguous());
    const std::vector<double> without = counted(first, 4);
    EXPECT_EQ(without[1], 0);
    EXPECT_LT(chi_square({without[0], without[2], without[3]}, {1, 3, 6}), 13.8);
    for (int i = 0; i < 20; ++i) { // what weighs nothing comes last
        Whole all = whole(multinomial(w, 4));
        EXPECT_EQ(all[3], 1);
        std::sort(all.begin(), all.end());
        EXPECT_THAT(all, ElementsAre(0, 1, 2, 3));
    }
}

TEST(Dropout, DropsChannels)
{
    manual_seed(6);
    const Floats v = dropout2d(ones({40, 50, 3, 3}), 0.25).to_vector<float>();
    double kept = 0;
    for (std::size_t c = 0; c < 2000; ++c) {
        for (std::size_t i = 1; i < 9; ++i) EXPECT_EQ(v[c * 9 + i], v[c * 9]);
        EXPECT_TRUE(v[c * 9] == 0 || std::fabs(v[c * 9] - 4.0f / 3) < 1e-6f);
        kept += v[c * 9] != 0 ? 1 : 0;
    }
    EXPECT_NEAR(kept / 2000, 0.75, 0.04);
}

TEST(AlphaDropout, KeepsMeanAndVariance)
{
    manual_seed(7);
    const Tensor y = alpha_dropout(randn({100000}), 0.3, true);
    EXPECT_NEAR(mean(y).item<float>(), 0, 0.02);
    EXPECT_NEAR(reprise::std(y).item<float>(), 1, 0.02);
}

// New numbers at every call, those of eager code; and again from a saved state.
TEST(Sampling, RecordedEqualsEager)
{
    const Dim n = symbol("n");
    const auto all = [](const Tensor& x) {
        return std::vector<Tensor>{cast(randint_like(cast(x, i32), 0, 1000), f32),
                                   cast(randperm(x.size(0)), f32),
                                   bernoulli(x),
                                   normal(x, 2),
                                   cast(multinomial(x, 2), f32),
                                   cast(multinomial(x, 5, true), f32),
                                   dropout1d(expand(unsqueeze(x, 1), {-1, 4})),
                                   alpha_dropout(x, 0.5, true)};
    };
    const Program program = record(all, {spec({n})});
    manual_seed(8);
    GeneratorState state = generator_state();
    std::vector<Floats> last;
    for (const std::int64_t size : {4, 300, 300, 7}) {
        const Tensor x = abs(drawn({size}, 5)) * 0.05 + 0.1;
        set_generator_state(state);
        const GeneratorState before = state;
        std::vector<Floats> found, want;
        for (const Tensor& t : program.call({x})) found.push_back(t.to_vector<float>());
        state = generator_state();
        set_generator_state(before);
        for (const Tensor& t : all(x)) want.push_back(t.to_vector<float>());
        EXPECT_EQ(generator_state().ordinal, state.ordinal);
        EXPECT_EQ(found, want) << size;
        EXPECT_NE(found, last);
        last = found;
    }
}

} // namespace
