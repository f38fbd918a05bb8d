// nn::init, nn::functional and nn::utils.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace {

using namespace reprise;
namespace init = nn::init;
namespace F = nn::functional;
using test::floats;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

struct Statistics {
    double mean = 0, std = 0, low = 0, high = 0;
};
Statistics statistics(const Tensor& t)
{
    const std::vector<float> v = floats(t);
    Statistics s;
    const auto n = static_cast<double>(v.size());
    for (const float x : v) s.mean += static_cast<double>(x) / n;
    for (const float x : v)
        s.std += (static_cast<double>(x) - s.mean) * (static_cast<double>(x) - s.mean) / n;
    s.std = std::sqrt(s.std);
    s.low = static_cast<double>(*std::min_element(v.begin(), v.end()));
    s.high = static_cast<double>(*std::max_element(v.begin(), v.end()));
    return s;
}

// Of 60 x 40 x 2 x 3 elements: fan_in 240, fan_out 360.
void expect_from_uniform(const Tensor& t, double bound)
{
    const Statistics s = statistics(t);
    EXPECT_NEAR(s.mean, 0, 0.02 * bound);
    EXPECT_NEAR(s.std, bound / std::sqrt(3.0), 0.02 * bound);
    EXPECT_GE(s.low, -bound);
    EXPECT_LE(s.high, bound);
    EXPECT_GT(s.high, 0.99 * bound);
}
void expect_from_normal(const Tensor& t, double std)
{
    const Statistics s = statistics(t);
    EXPECT_NEAR(s.mean, 0, 0.03 * std);
    EXPECT_NEAR(s.std, std, 0.03 * std);
    EXPECT_GT(s.high, 3 * std);
}

TEST(Init, FollowsPyTorchsFormulas)
{
    manual_seed(11);
    Variable w(zeros({60, 40, 2, 3}));
    expect_from_uniform(init::xavier_uniform_(w, 2), 2 * std::sqrt(6.0 / 600));
    expect_from_normal(init::xavier_normal_(w), std::sqrt(2.0 / 600));
    expect_from_uniform(init::kaiming_uniform_(w, std::sqrt(5.0)), 1 / std::sqrt(240.0));
    expect_from_uniform(init::kaiming_uniform_(w, 0, "fan_out", "relu"), std::sqrt(6.0 / 360));
    expect_from_normal(init::kaiming_normal_(w, 0, "fan_in", "tanh"), 5.0 / 3 / std::sqrt(240.0));
    expect_from_uniform(init::uniform_(w, -0.5, 0.5), 0.5);
    EXPECT_NEAR(statistics(init::normal_(w, 3, 2)).mean, 3, 0.05);
    EXPECT_TRUE(w.requires_grad() && w.is_leaf());
    EXPECT_EQ(init::calculate_gain("leaky_relu", 0.2), std::sqrt(2 / 1.04));
    EXPECT_EQ(init::calculate_gain("selu"), 0.75);
    EXPECT_EQ(init::calculate_gain("conv2d"), 1);
    // cut at one standard deviation: the std of what is left is 0.5396
    const Statistics cut = statistics(init::trunc_normal_(w, 1, 0.5, 0.5, 1.5));
    EXPECT_NEAR(cut.mean, 1, 0.01);
    EXPECT_NEAR(cut.std, 0.5 * 0.5396, 0.01);
    EXPECT_GE(cut.low, 0.5);
    EXPECT_LE(cut.high, 1.5);
}

TEST(Init, SetsConstants)
{
    Variable w(ones({2, 3}));
    EXPECT_THAT(floats(init::constant_(w, 0.25)), Each(0.25f));
    EXPECT_THAT(floats(init::eye_(w)), ElementsAre(1, 0, 0, 0, 1, 0));
    EXPECT_THAT(floats(init::zeros_(w)), Each(0.0f));
    EXPECT_THAT(floats(init::ones_(w)), Each(1.0f));
    EXPECT_THAT(floats(w), Each(1.0f)); // the handle itself
    Variable half(zeros({4}, {.dtype = f16}));
    init::normal_(half);
    EXPECT_EQ(half.dtype(), f16);
    init::uniform_(Variable(zeros({0, 3})));
}

TEST(Init, MakesOrthogonalMatrices)
{
    for (const Shape& shape : {Shape{5, 8}, Shape{8, 5}, Shape{4, 2, 3}, Shape{1, 1}}) {
        const Tensor w = flatten(init::orthogonal_(Variable(zeros(shape)), 2), 1);
        const bool wide = w.size(0).value() <= w.size(1).value();
        const Tensor square = wide ? matmul(w, w.t()) : matmul(w.t(), w);
        const std::vector<float> v = floats(square);
        const auto n = static_cast<std::size_t>(square.size(0).value());
        for (std::size_t i = 0; i < v.size(); ++i)
            EXPECT_NEAR(v[i], i % (n + 1) == 0 ? 4 : 0, 1e-5) << to_string(shape) << i;
    }
}

TEST(Init, RefusesWhatDoesNotFit)
{
    const Variable vector(zeros({3}));
    for (const auto& f : std::vector<std::function<Tensor()>>{
             [&] { return init::xavier_uniform_(vector); }, [&] { return init::kaiming_normal_(vector); },
             [&] { return init::orthogonal_(vector); }, [&] { return init::eye_(vector); }})
        EXPECT_EQ(error_of(f).kind, ErrorKind::shape);
    const Variable w(zeros({3, 2}));
    EXPECT_THAT(error_of([&] { init::kaiming_uniform_(w, 0, "fan"); }).text, HasSubstr("The mode (fan)"));
    EXPECT_THAT(error_of([&] { init::kaiming_uniform_(w, 0, "fan_in", "swish"); }).text,
                HasSubstr("(swish)"));
    EXPECT_EQ(error_of([&] { init::uniform_(w, 1, 0); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([&] { init::normal_(w, 0, -1); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([&] { init::zeros_(zeros({2}, {.dtype = i32})); }).kind, ErrorKind::dtype);
}

void expect_near(const Tensor& t, const std::vector<double>& want)
{
    const std::vector<float> found = floats(t);
    ASSERT_EQ(found.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(found[i], want[i], 2e-6) << i;
}

TEST(Functional, GivesPyTorchsNumbers)
{
    const Tensor x = from_vector({-1.5f, -0.5f, 0.0f, 0.25f, 2.0f}),
                 y = from_vector({1.0f, -1.0f, 1.0f, -1.0f, 1.0f}),
                 z = from_vector({0.5f, 0.5f, -1.0f, 2.0f, 1.0f});
    const Tensor a = from_vector<float>({1, 2, 0.5, -1}, {2, 2}),
                 p = from_vector<float>({1.5, 2, 0, -1}, {2, 2}),
                 n = from_vector<float>({-1, 0, 0.5, -1.5}, {2, 2});
    expect_near(F::hardshrink(x), {-1.5, 0, 0, 0, 2});
    expect_near(F::softshrink(x, 0.4), {-1.1, -0.099999994, 0, 0, 1.6});
    expect_near(F::tanhshrink(x), {-0.59485173, -0.037882835, 0, 0.0050813407, 1.0359724});
    expect_near(F::softmin(x, 0), {0.55710894, 0.20494893, 0.12430781, 0.096811019, 0.016823232});
    expect_near(F::threshold(x, 0, 7), {7, 7, 7, 0.25, 2});
    expect_near(F::margin_ranking_loss(x, z, y, 0.25), {0.44999999});
    expect_near(F::hinge_embedding_loss(x, y, 0.5), {0.34999999});
    expect_near(F::soft_margin_loss(x, y), {0.76430094});
    expect_near(F::triplet_margin_loss(a, p, n, 1, 2, 1e-6, Reduction::none), {0, 0.99999994});
    expect_near(F::normalize(a), {0.44721359, 0.89442718, 0.44721359, -0.89442718});
    expect_near(F::pairwise_distance(a, p), {0.49999899, 0.50000101});
    EXPECT_EQ(error_of([&] { F::softshrink(x, -1); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([&] { F::triplet_margin_loss(a, p, n, 0); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([&] { F::soft_margin_loss(x, y, Reduction::batchmean); }).kind, ErrorKind::argument);
    EXPECT_EQ(test::bits(F::binary_cross_entropy_with_logits(x, cast(y > 0, f32))),
              test::bits(bce_with_logits_loss(x, cast(y > 0, f32))));
    EXPECT_EQ(test::bits(F::binary_cross_entropy(sigmoid(x), cast(y > 0, f32), abs(y), Reduction::sum)),
              test::bits(bce_loss(sigmoid(x), cast(y > 0, f32), Reduction::sum, abs(y))));
}

TEST(Functional, ModulesAreTheSame)
{
    const Tensor x = test::random_tensor({3, 4}, 1), y = test::random_tensor({3, 4}, 2), t = sign(y),
                 one = narrow(t, 1, 0, 1).squeeze(1);
    const auto same = [](const Tensor& a, const Tensor& b) { EXPECT_EQ(test::bits(a), test::bits(b)); };
    same(nn::Softmin(1)(x), F::softmin(x, 1));
    same(nn::Tanhshrink()(x), F::tanhshrink(x));
    same(nn::Hardshrink(0.2)(x), F::hardshrink(x, 0.2));
    same(nn::Softshrink(0.2)(x), F::softshrink(x, 0.2));
    same(nn::Threshold(0.1, 3)(x), F::threshold(x, 0.1, 3));
    same(nn::SoftMarginLoss()(x, t), F::soft_margin_loss(x, t));
    same(nn::HingeEmbeddingLoss(0.5)(x, t), F::hinge_embedding_loss(x, t, 0.5));
    same(nn::MarginRankingLoss(0.5)(x, y, t), F::margin_ranking_loss(x, y, t, 0.5));
    same(nn::TripletMarginLoss(0.5)(x, y, t), F::triplet_margin_loss(x, y, t, 0.5));
    same(nn::CosineSimilarity()(x, y), cosine_similarity(x, y));
    same(nn::PairwiseDistance(1)(x, y), F::pairwise_distance(x, y, 1));
    EXPECT_EQ(nn::Unflatten(1, {2, -1})(x).shape(), (Shape{3, 2, 2}));
}

TEST(Utils, TurnParametersIntoAVectorAndBack)
{
    nn::Linear a(2, 3), b(2, 3);
    const Tensor all = nn::utils::parameters_to_vector(a.parameters());
    EXPECT_EQ(all.shape(), (Shape{9}));
    nn::utils::vector_to_parameters(all, b.parameters());
    EXPECT_EQ(floats(b.weight), floats(a.weight));
    EXPECT_EQ(floats(b.bias), floats(a.bias));
    EXPECT_TRUE(b.weight.is_leaf() && b.weight.requires_grad());
    sum(nn::utils::parameters_to_vector(b.parameters()) * 2).backward();
    EXPECT_THAT(floats(b.weight.grad()), Each(2.0f));
    EXPECT_THAT(floats(nn::utils::clip_grad_norm_(b.parameters(), 1)), ElementsAre(6));
    nn::utils::vector_to_parameters(ones({9}, {.dtype = f16}), a.parameters()); // of the parameters' dtype
    EXPECT_EQ(a.weight.dtype(), f32);
    EXPECT_THAT(floats(a.weight), Each(1.0f));
    EXPECT_EQ(error_of([&] { nn::utils::vector_to_parameters(ones({8}), a.parameters()); }).kind,
              ErrorKind::shape);
    EXPECT_EQ(error_of([] { nn::utils::parameters_to_vector({}); }).kind, ErrorKind::argument);
}

} // namespace
