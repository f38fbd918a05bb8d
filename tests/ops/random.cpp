// Random numbers, dropout and the generator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/random.hpp"
#include "ops/reduce_tools.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using namespace reduce_tools;
using ops::native::rp_words;
using testing::Each;
using testing::ElementsAreArray;
using testing::FloatEq;
using testing::HasSubstr;
using testing::Pointwise;

// The vectors of the authors' Random123.
TEST(Philox, HasTheKnownAnswers)
{
    const auto words = [](rp_words counter, std::uint32_t key0, std::uint32_t key1) {
        const rp_words w = ops::native::rp_philox(counter, key0, key1);
        return std::array{w.x, w.y, w.z, w.w};
    };
    EXPECT_EQ(words({0, 0, 0, 0}, 0, 0), (std::array{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
    EXPECT_EQ(words({~0u, ~0u, ~0u, ~0u}, ~0u, ~0u),
              (std::array{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
    EXPECT_EQ(words({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, 0xa4093822u, 0x299f31d0u),
              (std::array{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}));
}

std::vector<std::uint32_t> words_of(std::int64_t count, const GeneratorState& s)
{
    std::vector<std::uint32_t> words;
    for (std::uint32_t group = 0; static_cast<std::int64_t>(words.size()) < count; ++group) {
        const rp_words w = ops::native::rp_random(
            group, static_cast<std::uint32_t>(s.ordinal), static_cast<std::uint32_t>(s.ordinal >> 32),
            static_cast<std::uint32_t>(s.seed), static_cast<std::uint32_t>(s.seed >> 32));
        words.insert(words.end(), {w.x, w.y, w.z, w.w});
    }
    return words;
}

const std::vector<GeneratorState> states{
    {0, 0}, {1, 0}, {0x123456789abcdef0u, 7}, {~std::uint64_t{0}, 5'000'000'000u}};

TEST(Rand, HasTheWordsOfTheCounter)
{
    for (const GeneratorState& s : states)
        for (const std::int64_t n : {1, 4, 1003}) {
            set_generator_state(s);
            const auto words = words_of(n, s);
            Floats want;
            for (std::int64_t i = 0; i < n; ++i)
                want.push_back(static_cast<float>(words[static_cast<std::size_t>(i)] >> 8) / 16777216.0f);
            EXPECT_EQ(rand({n}).to_vector<float>(), want);
        }
}

TEST(Randn, HasTheWordsOfTheCounter)
{
    for (const GeneratorState& s : states) {
        set_generator_state(s);
        const auto words = words_of(1002, s);
        Floats want;
        for (std::size_t i = 0; i < 1002; i += 2) {
            want.push_back(ops::native::rp_normal_first(words[i], words[i + 1]));
            want.push_back(ops::native::rp_normal_second(words[i], words[i + 1]));
        }
        EXPECT_THAT(randn({1002}).to_vector<float>(), Pointwise(FloatEq(), want));
    }
}

TEST(Rand, HasTheMomentsOfItsDistribution)
{
    manual_seed(42);
    const auto moments = [](const Floats& v) {
        double mean = 0, square = 0;
        for (const float x : v) mean += x;
        mean /= static_cast<double>(v.size());
        for (const float x : v) square += (x - mean) * (x - mean);
        return std::pair{mean, square / static_cast<double>(v.size())};
    };
    const Floats uniform = rand({100000}).to_vector<float>(), normal = randn({100000}).to_vector<float>();
    EXPECT_NEAR(moments(uniform).first, 0.5, 0.005);
    EXPECT_NEAR(moments(uniform).second, 1.0 / 12, 0.002);
    EXPECT_NEAR(moments(normal).first, 0, 0.015);
    EXPECT_NEAR(moments(normal).second, 1, 0.02);
    EXPECT_LT(*std::max_element(uniform.begin(), uniform.end()), 1);
    EXPECT_GE(*std::min_element(uniform.begin(), uniform.end()), 0);
    double lag = 0; // neighbours are independent
    for (std::size_t i = 0; i + 1 < normal.size(); ++i) lag += normal[i] * normal[i + 1];
    EXPECT_NEAR(lag / 100000, 0, 0.015);
}

TEST(Rand, TakesOneOrdinalAndFollowsTheSeed)
{
    manual_seed(9);
    EXPECT_EQ(generator_state().seed, 9u);
    EXPECT_EQ(generator_state().ordinal, 0u);
    const Floats first = rand({8}).to_vector<float>(), second = rand({8}).to_vector<float>();
    EXPECT_NE(first, second);
    EXPECT_EQ(generator_state().ordinal, 2u);
    manual_seed(9);
    EXPECT_EQ(rand_like(zeros({2, 4})).to_vector<float>(), first);
    EXPECT_EQ(rand({8}).to_vector<float>(), second);
    EXPECT_TRUE(rand({2}, {.requires_grad = true}).requires_grad());
    EXPECT_EQ(error_of([] { return rand({2}, {.dtype = i32}); }).kind, ErrorKind::dtype);
}

TEST(Rand, OfNothing) { EXPECT_TRUE(randn({3, 0}).to_vector<float>().empty()); }

TEST(Dropout, DropsAndScales)
{
    manual_seed(3);
    const Tensor x = drawn({200, 51});
    const Floats before = x.to_vector<float>(), after = dropout(x, 0.3).to_vector<float>();
    std::size_t dropped = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        if (after[i] == 0) ++dropped;
        else EXPECT_FLOAT_EQ(after[i], before[i] / 0.7f);
    }
    EXPECT_NEAR(static_cast<double>(dropped) / static_cast<double>(before.size()), 0.3, 0.02);
    manual_seed(3);
    EXPECT_EQ(dropout(x, 0.3).to_vector<float>(), after);
    EXPECT_NE(dropout(x, 0.3).to_vector<float>(), after);
}

TEST(Dropout, DropsTheSameInBackward)
{
    Tensor x = ones({1003}).requires_grad_();
    const Tensor y = dropout(x, 0.5);
    sum(y).backward();
    EXPECT_EQ(x.grad().to_vector<float>(), y.to_vector<float>());
    const auto f = [](const std::vector<Tensor>& in) {
        manual_seed(4);
        return dropout(square(in[0]), 0.4);
    };
    const auto check = gradient_check(f, {{5, 7}});
    EXPECT_TRUE(check.passed) << check.message;
}

TEST(Dropout, KnowsElementsByTheirPlaceInViews)
{
    manual_seed(8);
    const Floats contiguous = dropout(ones({6, 10}), 0.5).to_vector<float>();
    manual_seed(8);
    EXPECT_EQ(dropout(ones({10, 6}).t(), 0.5).to_vector<float>(), contiguous);
}

TEST(Dropout, AtTheEdges)
{
    const Tensor x = drawn({40});
    const auto before = generator_state().ordinal;
    EXPECT_EQ(dropout(x, 0).to_vector<float>(), x.to_vector<float>());
    EXPECT_EQ(dropout(x, 0.5, false).to_vector<float>(), x.to_vector<float>());
    EXPECT_EQ(generator_state().ordinal, before);
    EXPECT_THAT(dropout(x, 1).to_vector<float>(), Each(0));
    Tensor leaf = ones({8}).requires_grad_();
    sum(dropout(leaf, 1)).backward();
    EXPECT_THAT(leaf.grad().to_vector<float>(), Each(0));
    for (const double p : {-0.1, 1.1, std::nan("")}) {
        const Caught wrong = error_of([&] { return dropout(x, p); });
        EXPECT_EQ(wrong.kind, ErrorKind::argument);
        EXPECT_THAT(wrong.text, HasSubstr("[dropout] The probability ("));
    }
    EXPECT_EQ(error_of([] { return dropout(arange(3)); }).kind, ErrorKind::dtype);
}

// A program draws what eager code would, anew at each call.
TEST(Random, RecordedEqualsEager)
{
    const Dim n = symbol("n");
    const auto f = [](Tensor x) {
        return std::vector<Tensor>{dropout(x, 0.5), x + rand_like(x), randn_like(x)};
    };
    const Program program = record(f, {spec({n})});
    const Tensor x = drawn({37});
    manual_seed(77);
    std::vector<Floats> want, found;
    for (int call = 0; call < 3; ++call)
        for (const Tensor& t : f(x)) want.push_back(t.to_vector<float>());
    const auto state = generator_state();
    manual_seed(77);
    for (int call = 0; call < 3; ++call)
        for (const Tensor& t : program.call({x})) found.push_back(t.to_vector<float>());
    EXPECT_THAT(found, ElementsAreArray(want));
    EXPECT_NE(found[0], found[3]);
    EXPECT_EQ(generator_state().ordinal, state.ordinal);
}

} // namespace
