// nll_loss, cross_entropy and mse_loss against plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/index_checks.hpp"
#include "ops/reduce_tools.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using namespace reduce_tools;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using Ints = std::vector<std::int32_t>;

Ints classes(std::int64_t count, std::int64_t of)
{
    Ints v;
    for (std::int64_t i = 0; i < count; ++i) v.push_back(static_cast<std::int32_t>((i * 7 + 3) % of));
    return v;
}

struct Case {
    const char* name;
    Sizes logits; // [N, C, ...]
    Sizes target() const
    {
        Sizes s = logits;
        s.erase(s.begin() + 1);
        return s;
    }
};
const std::vector<Case> cases{
    {"digits", {128, 10}},    {"texels", {33, 16}},     {"one", {1, 1}},
    {"images", {2, 5, 4, 3}}, {"sequence", {3, 12, 7}},
};
class CrossEntropy : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Shapes, CrossEntropy, testing::ValuesIn(cases),
                         [](const auto& c) { return std::string(c.param.name); });

// -log softmax(logits)[n, target] for each n and place behind the classes.
std::vector<double> losses_of(const Floats& x, const Sizes& sizes, const Ints& target)
{
    const std::int64_t n = sizes[0], c = sizes[1], inner = count_of(sizes) / (n * c);
    std::vector<double> losses;
    for (std::int64_t i = 0; i < n * inner; ++i) {
        const auto at = [&](std::int64_t k) {
            return static_cast<double>(x[static_cast<std::size_t>((i / inner * c + k) * inner + i % inner)]);
        };
        double total = 0;
        for (std::int64_t k = 0; k < c; ++k) total += std::exp(at(k));
        losses.push_back(std::log(total) - at(target[static_cast<std::size_t>(i)]));
    }
    return losses;
}

TEST_P(CrossEntropy, HasTheValuesOfEachReduction)
{
    const Case& c = GetParam();
    const Tensor x = drawn(c.logits);
    const Ints t = classes(count_of(c.target()), c.logits[1]);
    const Tensor target = from_vector(t, shape_of(c.target()));
    const auto want = losses_of(x.to_vector<float>(), c.logits, t);
    double total = 0;
    for (const double v : want) total += v;

    const Tensor none = cross_entropy(x, target, Reduction::none);
    EXPECT_EQ(sizes_of(none), c.target());
    const Floats found = none.to_vector<float>();
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(found[i], want[i], 2e-6);
    EXPECT_NEAR(cross_entropy(x, target, Reduction::sum).item<float>(), total, 1e-5 * (1 + total));
    EXPECT_NEAR(cross_entropy(x, target).item<float>(), total / static_cast<double>(want.size()), 2e-6);
    EXPECT_EQ(nll_loss(log_softmax(x, 1), target).item<float>(), cross_entropy(x, target).item<float>());
}

// d mean / d logits = (softmax - one hot) / targets
TEST_P(CrossEntropy, HasTheGradient)
{
    const Case& c = GetParam();
    Tensor x = drawn(c.logits).requires_grad_();
    const Ints t = classes(count_of(c.target()), c.logits[1]);
    cross_entropy(x, from_vector(t, shape_of(c.target()))).backward();
    const Floats p = softmax(x, 1).to_vector<float>(), found = x.grad().to_vector<float>();
    const std::int64_t classes_count = c.logits[1],
                       inner = count_of(c.logits) / (c.logits[0] * classes_count);
    for (std::size_t i = 0; i < p.size(); ++i) {
        const auto e = static_cast<std::int64_t>(i);
        const std::int64_t k = e / inner % classes_count, row = e / inner / classes_count * inner + e % inner;
        const double want =
            (p[i] - (t[static_cast<std::size_t>(row)] == k ? 1 : 0)) / static_cast<double>(t.size());
        EXPECT_NEAR(found[i], want, 1e-6) << i;
    }
}

TEST_P(CrossEntropy, PassesGradientChecks)
{
    const Case& c = GetParam();
    const Tensor target = from_vector(classes(count_of(c.target()), c.logits[1]), shape_of(c.target()),
                                      {.device = Device("reference")});
    for (const Reduction r : {Reduction::none, Reduction::mean, Reduction::sum}) {
        const auto first =
            gradient_check([&](const auto& in) { return cross_entropy(in[0], target, r); }, {c.logits});
        EXPECT_TRUE(first.passed) << first.message;
    }
    const auto second =
        gradient_check(gradient_of([&](const Tensor& x) { return cross_entropy(x, target); }), {c.logits});
    EXPECT_TRUE(second.passed) << second.message;
}

TEST(CrossEntropy, OfATargetOutsideIsNan)
{
    const IndexChecks off(false);
    const Tensor x = drawn({3, 4});
    const Tensor target = from_vector(Ints{1, 4, -1}, {3});
    const Floats losses = cross_entropy(x, target, Reduction::none).to_vector<float>();
    EXPECT_FALSE(std::isnan(losses[0]));
    EXPECT_THAT(losses[1], IsNan());
    EXPECT_THAT(losses[2], IsNan());
    EXPECT_THAT(cross_entropy(x, target).item<float>(), IsNan());
}

TEST(CrossEntropy, TakesStridedInputs)
{
    const Tensor x = drawn({10, 6}), target = from_vector(classes(12, 10), {12});
    const Tensor view = x.t(), every_half = target.narrow(0, 3, 6);
    const Tensor copy = from_vector(view.to_vector<float>(), {6, 10});
    const Tensor copied = from_vector(every_half.to_vector<std::int32_t>(), {6});
    EXPECT_EQ(cross_entropy(view, every_half).item<float>(), cross_entropy(copy, copied).item<float>());
}

TEST(CrossEntropy, OfAnEmptyBatch)
{
    const Tensor x = zeros({0, 4}), target = zeros({0}, {.dtype = i32});
    EXPECT_EQ(cross_entropy(x, target, Reduction::sum).item<float>(), 0);
    EXPECT_THAT(cross_entropy(x, target).item<float>(), IsNan());
}

TEST(CrossEntropy, RefusesWrongInputs)
{
    const Tensor x = zeros({4, 3});
    const Caught long_target = error_of([&] { return cross_entropy(x, zeros({4}, {.dtype = u8})); });
    EXPECT_EQ(long_target.kind, ErrorKind::dtype);
    EXPECT_THAT(long_target.text,
                HasSubstr("[cross_entropy] The dtype of the target is (u8), it must be i32 or i64"));
    const Caught rows = error_of([&] { return nll_loss(x, zeros({5}, {.dtype = i32})); });
    EXPECT_EQ(rows.kind, ErrorKind::shape);
    EXPECT_THAT(rows.text, HasSubstr("[nll_loss] The target's shape ([5]) is not the input's ([4, 3])"));
    const Caught flat = error_of([&] { return cross_entropy(zeros({4}), zeros({4}, {.dtype = i32})); });
    EXPECT_EQ(flat.kind, ErrorKind::shape);
    const Caught one_hot = error_of([&] { return cross_entropy(x, zeros({4, 3}, {.dtype = i32})); });
    EXPECT_EQ(one_hot.kind, ErrorKind::shape);
}

TEST(CrossEntropy, RecordedEqualsEager)
{
    const Dim batch = symbol("batch");
    Tensor weight = Variable(drawn({6, 10}, 5));
    const auto step = [&](const Tensor& x, const Tensor& t) {
        const Tensor loss = cross_entropy(matmul(x, weight), t);
        return std::vector<Tensor>{loss, grad(loss, weight)};
    };
    const Program program =
        record([&](Tensor x, Tensor t) { return step(x, t); }, {spec({batch, 6}), spec({batch}, i32)});
    for (const std::int64_t n : {1, 7, 300, 64}) {
        const Tensor x = drawn({n, 6}, 6), t = from_vector(classes(n, 10), {n});
        const auto found = program.call({x, t}), want = step(x, t);
        EXPECT_EQ(found[0].item<float>(), want[0].item<float>()) << n;
        EXPECT_EQ(found[1].to_vector<float>(), want[1].to_vector<float>()) << n;
    }
}

TEST(MseLoss, HasTheValuesOfEachReduction)
{
    const Tensor a = from_vector(Floats{1, 2, 3, 4}, {2, 2}), b = from_vector(Floats{0, 2, 5, 1}, {2, 2});
    EXPECT_THAT(mse_loss(a, b, Reduction::none).to_vector<float>(), ElementsAre(1, 0, 4, 9));
    EXPECT_EQ(mse_loss(a, b, Reduction::sum).item<float>(), 14);
    EXPECT_EQ(mse_loss(a, b).item<float>(), 3.5f);
    const auto check =
        gradient_check([](const auto& in) { return mse_loss(in[0], in[1]); }, {{3, 4}, {3, 4}});
    EXPECT_TRUE(check.passed) << check.message;
}

TEST(MseLoss, RefusesToBroadcast)
{
    const Caught wrong = error_of([] { return mse_loss(zeros({4, 1}), zeros({4})); });
    EXPECT_EQ(wrong.kind, ErrorKind::shape);
    EXPECT_THAT(wrong.text, HasSubstr("[mse_loss] The shapes ([4, 1] and [4]) differ"));
}

// PyTorch's gradients: the kinks belong to the square of huber_loss, to the line of smooth_l1_loss.
TEST(PairLosses, HavePyTorchsSlopesAtKinksAndInfinity)
{
    const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const Tensor none = zeros({5});
    for (const bool huber : {false, true}) {
        Tensor x = from_vector<float>({0.5f, -2, inf, -inf, nan}, {5});
        x.requires_grad_();
        sum(huber ? huber_loss(x, none, Reduction::none, 2) : smooth_l1_loss(x, none, Reduction::none, 2))
            .backward();
        const Floats slopes = x.grad().to_vector<float>();
        const float outside = huber ? 2 : 1;
        EXPECT_EQ(slopes[0], huber ? 0.5f : 0.25f);
        EXPECT_EQ(slopes[1], -outside);
        EXPECT_EQ(slopes[2], outside);
        EXPECT_EQ(slopes[3], -outside);
        EXPECT_TRUE(std::isnan(slopes[4]));
    }
}

} // namespace
