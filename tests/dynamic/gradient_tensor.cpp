// Tensors beside their gradients: what adds up, what is refused, in eager code and in programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include <reprise/autograd.hpp>
#include <reprise/dynamic.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using test::bits;
using test::random_tensor;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> floats(const Tensor& t) { return t.to_vector<float>(); }

TEST(DynamicGradientTensor, IsALeaf)
{
    const Tensor plain = from_vector({1, 2});
    const DynamicGradientTensor t(plain);
    EXPECT_TRUE(t.gradient_required());
    EXPECT_TRUE(t.tensor().requires_grad());
    EXPECT_TRUE(t.tensor().is_leaf());
    EXPECT_FALSE(plain.requires_grad());
    EXPECT_EQ(t.shape(), SymbolicShape{2});
    EXPECT_FALSE(t.get_gradient());
    const Variable leaf(from_vector({1, 2}));
    EXPECT_EQ(DynamicGradientTensor(leaf).tensor().cell(), leaf.cell());
}

TEST(DynamicGradientTensor, AddsUpWhatArrives)
{
    DynamicGradientTensor t(from_vector({1, 2}));
    t.accumulate_gradient(from_vector({10, 20}));
    const DynamicGradientTensor copy = t;
    sum(t.tensor() * 3).backward();
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(13, 23));
    EXPECT_THAT(floats(copy.get_gradient().value()), ElementsAre(13, 23));
    EXPECT_THAT(floats(t.tensor().grad()), ElementsAre(13, 23));
    t.clear_gradient();
    EXPECT_FALSE(t.get_gradient());
    t.accumulate_gradient(from_vector({1, 1}));
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(1, 1));
}

TEST(DynamicGradientTensor, KeepsItsGradientWhereTheGivenOneIsAssigned)
{
    DynamicGradientTensor t(from_vector({1, 2}));
    Tensor given = from_vector({10, 20});
    t.accumulate_gradient(given);
    given.assign(zeros({2}));
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(10, 20));
}

TEST(DynamicGradientTensor, WithoutAGradientIsPlain)
{
    const Variable w(from_vector({1, 2}));
    DynamicGradientTensor t(w * 2, false);
    EXPECT_FALSE(t.gradient_required());
    EXPECT_FALSE(t.tensor().requires_grad());
    EXPECT_THAT(floats(t.tensor()), ElementsAre(2, 4));
    const Caught error = error_of([&] { return t.accumulate_gradient(ones({2})), 0; });
    EXPECT_EQ(error.kind, ErrorKind::state);
    EXPECT_THAT(error.text, HasSubstr("[2]"));
    EXPECT_FALSE(t.get_gradient());
    t.clear_gradient();
}

TEST(DynamicGradientTensor, RefusesWhatDoesNotFit)
{
    DynamicGradientTensor t(from_vector({1, 2}));
    t.accumulate_gradient(ones({2}));
    const Caught shape = error_of([&] { return t.accumulate_gradient(ones({2, 1})), 0; });
    EXPECT_EQ(shape.kind, ErrorKind::shape);
    EXPECT_THAT(shape.text, HasSubstr("[2, 1]"));
    EXPECT_THAT(shape.text, HasSubstr("([2])"));
    EXPECT_EQ(error_of([&] { return t.accumulate_gradient(ones({1})), 0; }).kind, ErrorKind::shape);
    EXPECT_EQ(error_of([&] { return t.accumulate_gradient(ones({2}, {.dtype = f16})), 0; }).kind,
              ErrorKind::dtype);
    EXPECT_EQ(error_of([&] { return t.accumulate_gradient({}), 0; }).kind, ErrorKind::argument);
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(1, 1));

    const Variable w(from_vector({1, 2}));
    EXPECT_EQ(error_of([&] { return DynamicGradientTensor(w * 2).shape(); }).kind, ErrorKind::state);
    EXPECT_EQ(error_of([&] { return DynamicGradientTensor(arange(3)).shape(); }).kind, ErrorKind::dtype);
    EXPECT_EQ(error_of([&] { return DynamicGradientTensor(Tensor()).shape(); }).kind, ErrorKind::argument);
}

TEST(DynamicGradientTensor, OfNoElementAndOfOne)
{
    for (const Shape& s : {Shape{0, 3}, Shape{}, Shape{1, 1}}) {
        DynamicGradientTensor t(ones(s));
        t.accumulate_gradient(ones(s));
        sum(t.tensor() * 2).backward();
        EXPECT_EQ(bits(t.get_gradient().value()), bits(ones(s) * 3));
    }
}

TEST(DynamicGradientTensor, CallsHooksOnceInOrder)
{
    DynamicGradientTensor t(from_vector({1, 2}));
    std::string order;
    for (const char who : {'a', 'b'})
        t.tensor().register_hook([&order, who](const Tensor& g) {
            order += who;
            return g * 10;
        });
    t.accumulate_gradient(ones({2}));
    EXPECT_EQ(order, "ab");
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(100, 100));
    const HookHandle stop = t.tensor().register_hook(
        [](const Tensor&) -> Tensor { throw std::runtime_error("stopped in a hook"); });
    EXPECT_THROW(t.accumulate_gradient(ones({2})), std::runtime_error);
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(100, 100));
    stop.remove();
    t.accumulate_gradient(ones({2}));
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(200, 200));
}

TEST(DynamicGradientTensor, KeepsAGradientOnItsTape)
{
    const Variable w(from_vector({2, 3}));
    DynamicGradientTensor t(ones({2}));
    t.accumulate_gradient(w * w);
    t.accumulate_gradient(w);
    EXPECT_THAT(floats(grad(sum(t.get_gradient().value()), w)), ElementsAre(5, 7));
}

// A recurrence cut in chunks: the gradient by the state that a chunk began with goes on in the chunk before.
TEST(DynamicGradientTensor, CarriesTruncatedBackpropagation)
{
    const Variable w(random_tensor({3, 3}, 1));
    const Tensor x = random_tensor({4, 2, 3}, 2);
    const auto chunk = [&](Tensor h, std::int64_t from) {
        for (std::int64_t t = from; t < from + 2; ++t) h = tanh(matmul(h, w) + select(x, 0, t));
        return h;
    };
    const Tensor start = ones({2, 3});
    const Tensor whole = chunk(chunk(start, 0), 2);
    const Tensor want = grad(sum(whole), w);

    const Tensor first = chunk(start, 0);
    const DynamicGradientTensor carried(first.detach());
    sum(chunk(carried.tensor(), 2)).backward(); // adds the second chunk's part to w
    first.backward(carried.get_gradient().value());
    EXPECT_EQ(bits(carried.tensor()), bits(first));
    const std::vector<float> found = floats(w.grad()), wanted = floats(want);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-5);
}

TEST(DynamicGradientTensor, IsStateOfAProgram)
{
    DynamicGradientTensor t(from_vector({1, 2}));
    const auto step =
        record([&](Tensor x) { t.accumulate_gradient(sum(x) * t.tensor().detach()); }, {spec({symbol("n")})});
    EXPECT_EQ(t.get_gradient().has_value(), true); // zeros, as backward() makes them while recording
    step(ones({3}));
    step(ones({5}));
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(8, 16));
    t.clear_gradient();
    step(ones({1}));
    EXPECT_THAT(floats(t.get_gradient().value()), ElementsAre(1, 2));
}

TEST(DynamicGradientTensor, OfSymbolsInAProgram)
{
    const Dim n = symbol("n"), m = symbol("m");
    const auto f = record(
        [&](Tensor x, Tensor other) {
            DynamicGradientTensor t(x);
            EXPECT_EQ(t.shape(), (SymbolicShape{n, 2}));
            const Caught wrong = error_of([&] { return t.accumulate_gradient(other), 0; });
            EXPECT_EQ(wrong.kind, ErrorKind::shape);
            EXPECT_THAT(wrong.text, HasSubstr("[n, 2]"));
            EXPECT_THAT(wrong.text, HasSubstr("[m, 2]"));
            t.accumulate_gradient(x * 10);
            sum(t.tensor() * t.tensor()).backward();
            return t.get_gradient().value();
        },
        {spec({n, 2}), spec({m, 2})});
    for (const std::int64_t rows : {3, 1, 0}) {
        const Tensor x = random_tensor({rows, 2}, 1);
        EXPECT_EQ(bits(f(x, ones({7, 2}))), bits(x * 10 + (x + x)));
    }
}

} // namespace
} // namespace reprise
