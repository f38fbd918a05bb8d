// Derivatives of functions: grad, vjp, jvp, jacobian, hessian, hvp, laplacian, alone, nested and while
// recording.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <reprise/autograd.hpp>
#include <reprise/nn.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>
#include <reprise/random.hpp>

#include "shape/error_of.hpp"
#include "support/devices.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using test::floats;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;
using Tensors = std::vector<Tensor>;

using test::values;

Tensor cubes(const Tensor& x) { return sum(x * x * x); }
Tensor squares(const Tensor& x) { return x * x; }
// y0 = x0 x1, y1 = x1^2 + 3 x2
Tensor mixed(const Tensor& x)
{
    const Tensor x0 = select(x, 0, 0), x1 = select(x, 0, 1), x2 = select(x, 0, 2);
    return stack({x0 * x1, x1 * x1 + x2 * 3});
}

TEST(GradOfFunction, GivesValueAndGradient)
{
    const Tensor x = values({1, 2});
    EXPECT_THAT(floats(grad(cubes, x)), ElementsAre(3, 12));
    const auto [value, gradient] = value_and_grad(cubes, x);
    EXPECT_EQ(value.item<float>(), 9);
    EXPECT_THAT(floats(gradient), ElementsAre(3, 12));
    EXPECT_FALSE(x.requires_grad());
    EXPECT_FALSE(value.requires_grad());
    EXPECT_FALSE(gradient.requires_grad());
}

TEST(GradOfFunction, OfSeveralInputs)
{
    const auto f = [](const Tensors& in) { return sum(in[0] * in[0] * in[1]); };
    const auto g = grad(f, Tensors{values({1, 2}), values({3, 4}), values({5})});
    EXPECT_THAT(floats(g[0]), ElementsAre(6, 16));
    EXPECT_THAT(floats(g[1]), ElementsAre(1, 4));
    EXPECT_THAT(floats(g[2]), ElementsAre(0)); // f does not depend on it
}

TEST(GradOfFunction, LeavesTheGradientsOfLeavesAlone)
{
    const Variable w(values({2}));
    const Tensor g = grad([&](const Tensor& x) { return sum(x * w); }, values({3}));
    EXPECT_THAT(floats(g), ElementsAre(2));
    EXPECT_FALSE(w.grad().defined());
    const no_grad off; // of a function it is requested by name
    EXPECT_THAT(floats(grad(cubes, values({1}))), ElementsAre(3));
}

TEST(GradOfFunction, NestsToAnyOrder)
{
    Function f = [](const Tensor& x) { return sum(x * x * x * x); };
    const float want[] = {4 * 8, 12 * 4, 24 * 2, 24};
    for (const float w : want) {
        EXPECT_THAT(floats(grad(f, values({2}))), ElementsAre(w));
        f = [f](const Tensor& x) { return sum(grad(f, x)); };
    }
}

TEST(GradOfFunction, ConnectsToAnInputThatRequiresAGradient)
{
    const Variable x(values({2, 3}));
    const Tensor y = x * x, g = grad(cubes, y); // 3 y^2
    EXPECT_TRUE(g.requires_grad());
    sum(g).backward(); // 6 y dy/dx = 12 x^3
    EXPECT_THAT(floats(x.grad()), ElementsAre(96, 324));
}

TEST(GradOfFunction, CreateGraphReachesWhatTheFunctionHolds)
{
    const Variable w(values({2}));
    const Function f = [&](const Tensor& x) { return sum(x * x * w); };
    EXPECT_FALSE(grad(f, values({3})).requires_grad());
    const Tensor g = grad(f, values({3}), {.create_graph = true}); // 2 x w
    EXPECT_THAT(floats(grad(g, w)), ElementsAre(6));
}

TEST(GradOfFunction, TellsWhatDoesNotFit)
{
    EXPECT_EQ(error_of([] { return grad(squares, values({1, 2})); }).kind, ErrorKind::shape);
    const Caught integers = error_of([] { return grad(cubes, arange(3)); });
    EXPECT_EQ(integers.kind, ErrorKind::dtype);
    EXPECT_THAT(integers.text, HasSubstr("i32"));
    EXPECT_EQ(error_of([] {
                  return grad([](const Tensor& x) { return argmax(x, 0); }, values({1, 2}));
              }).kind,
              ErrorKind::dtype);
}

TEST(Vjp, IsTheTransposedJacobianTimesAVector)
{
    const auto [value, product] = vjp(mixed, values({2, 3, 5}), values({10, 100}));
    EXPECT_THAT(floats(value), ElementsAre(6, 24));
    EXPECT_THAT(floats(product), ElementsAre(30, 20 + 600, 300));
    EXPECT_EQ(error_of([] { return vjp(mixed, values({2, 3, 5})).first; }).kind, ErrorKind::shape);
    EXPECT_EQ(error_of([] {
                  return vjp(mixed, values({2, 3, 5}), values({1})).first;
              }).kind,
              ErrorKind::shape);
}

TEST(Jvp, IsTheJacobianTimesAVector)
{
    const auto [value, product] = jvp(mixed, values({2, 3, 5}), values({1, 10, 100}));
    EXPECT_THAT(floats(value), ElementsAre(6, 24));
    EXPECT_THAT(floats(product), ElementsAre(3 + 20, 60 + 300));
    EXPECT_FALSE(product.requires_grad());
    EXPECT_EQ(error_of([] {
                  return jvp(mixed, values({2, 3, 5}), values({1})).first;
              }).kind,
              ErrorKind::shape);
    const auto constant = jvp([](const Tensor&) { return ones({2}); }, values({1}), values({1}));
    EXPECT_THAT(floats(constant.second), ElementsAre(0, 0));
}

TEST(Jvp, OfSeveralInputs)
{
    const auto f = [](const Tensors& in) { return matmul(in[0], in[1]); };
    const Tensor a = rand({2, 3}), b = rand({3, 2}), da = rand({2, 3}), db = rand({3, 2});
    const auto [value, product] = jvp(f, Tensors{a, b}, Tensors{da, db});
    EXPECT_THAT(floats(product), Pointwise(FloatNear(1e-5f), floats(matmul(da, b) + matmul(a, db))));
}

TEST(Jvp, IsDifferentiableItself)
{
    const Variable x(values({2}));
    const Tensor slope = jvp([](const Tensor& t) { return t * t * t; }, x, values({1})).second; // 3 x^2
    EXPECT_THAT(floats(grad(sum(slope), x)), ElementsAre(12));
}

TEST(Jacobian, HasARowForEachElement)
{
    const Tensor j = jacobian(mixed, values({2, 3, 5}));
    EXPECT_EQ(j.shape(), (Shape{2, 3}));
    EXPECT_THAT(floats(j), ElementsAre(3, 2, 0, 0, 6, 3));
    const Tensor of_matrix = jacobian([](const Tensor& x) { return sum(x, {0}); }, ones({2, 3}));
    EXPECT_EQ(of_matrix.shape(), (Shape{3, 2, 3}));
    EXPECT_THAT(floats(of_matrix), ElementsAre(1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1));
    EXPECT_EQ(jacobian([](const Tensor&) { return ones({2}); }, ones({3})).shape(), (Shape{2, 3}));
    EXPECT_EQ(jacobian(squares, ones({0})).shape(), (Shape{0, 0}));
}

TEST(Jacobian, OfMoreRowsThanOnePart)
{
    const Tensor j = jacobian([](const Tensor& x) { return exp(x * 0.0) * 2 + x; }, ones({130}));
    const auto v = floats(j);
    for (std::size_t i = 0; i < v.size(); ++i) EXPECT_EQ(v[i], i % 131 == 0 ? 1 : 0) << i;
}

// The rows of one call of f are of one draw.
TEST(Jacobian, OfARandomFunctionIsOfOneDraw)
{
    manual_seed(5);
    const Tensor j = jacobian([](const Tensor& x) { return dropout(x, 0.5) * ones({40}); }, ones({40}));
    const auto v = floats(j);
    int kept = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
        if (i % 41) EXPECT_EQ(v[i], 0);
        else kept += v[i] == 2;
    }
    EXPECT_GT(kept, 5);
    EXPECT_LT(kept, 35);
}

TEST(Hessian, FollowsTheClosedForm)
{
    const Function f = [](const Tensor& x) {
        const Tensor x0 = select(x, 0, 0), x1 = select(x, 0, 1);
        return x0 * x0 * x1 + exp(x1);
    };
    const Tensor x = values({2, 0.5f}), h = hessian(f, x);
    const float e = std::exp(0.5f);
    EXPECT_THAT(floats(h), Pointwise(FloatNear(1e-5f), std::vector<float>{1, 4, 4, e}));
    const auto [value, product] = hvp(f, x, values({1, 10}));
    EXPECT_NEAR(value.item<float>(), 2 + e, 1e-5);
    EXPECT_THAT(floats(product), Pointwise(FloatNear(1e-4f), std::vector<float>{41, 4 + 10 * e}));
    EXPECT_NEAR(laplacian(f, x).item<float>(), 1 + e, 1e-5);
    EXPECT_THAT(floats(hessian([](const Tensor& t) { return sum(t) * 3; }, x)), ElementsAre(0, 0, 0, 0));
}

TEST(Hessian, OfANetworkIsSymmetricAndTheSameTwice)
{
    const Tensor w = test::random_tensor({4, 6}, 1), x = test::random_tensor({3, 4}, 2);
    const Function f = [&](const Tensor& t) {
        return sum(softmax(tanh(matmul(t, w)), 1) * tanh(matmul(t, w)));
    };
    const Tensor h = hessian(f, x);
    EXPECT_EQ(h.shape(), (Shape{3, 4, 3, 4}));
    const auto v = floats(h);
    for (std::size_t i = 0; i < 12; ++i)
        for (std::size_t j = 0; j < 12; ++j) EXPECT_NEAR(v[i * 12 + j], v[j * 12 + i], 1e-6);
    EXPECT_EQ(test::bits(hessian(f, x)), test::bits(h));
}

TEST(Hessian, ReplaysOneRecordedProduct)
{
    const Tensor x = test::random_tensor({50}, 3);
    x.eval();
    const Stats before = stats();
    static_cast<void>(floats(hessian([](const Tensor& t) { return sum(tanh(t) * sum(t * t)); }, x)));
    const Stats after = stats();
    EXPECT_GE(after.replays - before.replays, 50u);
    EXPECT_LE(after.plans - before.plans, 8u);
}

TEST(Laplacian, OfEachPoint)
{
    const Function f = [](const Tensor& x) { // x0^2 x1 a point
        return select(x, 1, 0) * select(x, 1, 0) * select(x, 1, 1);
    };
    const Tensor points = from_vector(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2});
    EXPECT_THAT(floats(laplacian(f, points)), ElementsAre(4, 8, 12)); // 2 x1
    const Tensor column = laplacian([&](const Tensor& x) { return unsqueeze(f(x), 1); }, points);
    EXPECT_EQ(column.shape(), (Shape{3, 1}));
    EXPECT_EQ(error_of([&] { return laplacian([](const Tensor& x) { return x * x; }, points); }).kind,
              ErrorKind::shape);
}

// A loss made of second derivatives trains what the function holds.
TEST(Laplacian, OfANetworkHasAGradientByItsWeights)
{
    const Variable w(values({0.5f, -0.25f}));
    const Tensor points = from_vector(std::vector<float>{1, 2, 3, 4}, {2, 2});
    const Tensor l = laplacian([&](const Tensor& x) { return sum(x * x * x * w, {1}); }, points,
                               {.create_graph = true}); // 6 x . w
    EXPECT_THAT(floats(l), ElementsAre(0, 3));
    sum(l).backward();
    EXPECT_THAT(floats(w.grad()), ElementsAre(24, 36));
}

TEST(DerivativesInPrograms, FollowTheSizesOfACall)
{
    const Dim n = symbol("n");
    const auto slopes = record(
        [](Tensor x, Tensor v) {
            return stack({grad(cubes, x), hvp(cubes, x, v).second, jvp(squares, x, v).second});
        },
        {spec({n}), spec({n})});
    EXPECT_THAT(floats(slopes(values({2}), values({1}))), ElementsAre(12, 12, 4));
    EXPECT_THAT(floats(slopes(values({1, 2}), values({1, 10}))), ElementsAre(3, 12, 6, 120, 2, 40));
    const auto each =
        record([](Tensor x) { return laplacian([](const Tensor& p) { return sum(p * p * p, {1}); }, x); },
               {spec({n, 2})});
    EXPECT_THAT(floats(each(from_vector(std::vector<float>{1, 2, 3, 4}, {2, 2}))), ElementsAre(18, 42));
    const Caught symbolic =
        error_of([&] { return record([](Tensor x) { return hessian(cubes, x); }, {spec({n})}); });
    EXPECT_EQ(symbolic.kind, ErrorKind::shape);
    EXPECT_THAT(symbolic.text, HasSubstr("symbol"));
    const auto fixed = record([](Tensor x) { return hessian(cubes, x); }, {spec({2})});
    EXPECT_THAT(floats(fixed(values({1, 2}))), ElementsAre(6, 0, 0, 12));
}

// Its gradient reads several outputs of one op of the tape.
TEST(Jacobian, OfAnOpThatKeepsStatistics)
{
    const Tensor x = values({1, -2, 0.5f, 3, 0, 2});
    const auto f = [](const Tensor& t) { return layer_norm(reshape(t, {2, 3}), {3}); };
    EXPECT_THAT(floats(jacobian(f, x)),
                Pointwise(FloatNear(1e-6f), floats(jacobian(f, x, {.create_graph = true}))));
}

} // namespace
} // namespace reprise
