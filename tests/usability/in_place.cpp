// Writing into tensors: what handles, views, programs and gradients see.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> values(const Tensor& t) { return t.to_vector<float>(); }

struct Failure {
    ErrorKind kind = ErrorKind::internal;
    std::string text;
};
Failure failure(const std::function<void()>& f)
{
    try {
        f();
    } catch (const Error& e) {
        return {e.kind(), e.what()};
    }
    return {ErrorKind::internal, "nothing was thrown"};
}

TEST(InPlace, IsSeenByCopiesOfTheHandle)
{
    Tensor x = ones({2});
    const Tensor copy = x, own = x.clone();
    x += 1;
    x.mul_(3);
    EXPECT_THAT(values(copy), ElementsAre(6, 6));
    EXPECT_THAT(values(own), ElementsAre(1, 1));
    x -= copy;
    x /= ones({2});
    EXPECT_THAT(values(x), ElementsAre(0, 0));
}

TEST(InPlace, GradientsFollow)
{
    const Tensor x = tensor({1.0, 2.0}).requires_grad_();
    Tensor y = x * 2;
    y += x;
    y *= y; // (3 x)^2
    y.sum().backward();
    EXPECT_THAT(values(x.grad()), ElementsAre(18, 36));
}

TEST(InPlace, OfATensorWithoutGradientTakesThatOfTheValue)
{
    const Tensor x = tensor({1.0, 2.0}).requires_grad_();
    Tensor total = zeros({2});
    for (int i = 0; i < 3; ++i) total += x * i;
    total.copy_(total * 2);
    EXPECT_FALSE(total.is_leaf());
    total.sum().backward();
    EXPECT_THAT(values(x.grad()), ElementsAre(6, 6));
    Tensor copy = zeros({2});
    copy.copy_(x);
    EXPECT_FALSE(copy.is_leaf());
}

TEST(InPlace, RefusesALeafThatRequiresAGradient)
{
    Tensor x = ones({2}).requires_grad_();
    const Failure f = failure([&] { x += 1; });
    EXPECT_EQ(f.kind, ErrorKind::state);
    EXPECT_THAT(f.text, HasSubstr("leaf"));
    EXPECT_EQ(failure([&] { x[0] = 5; }).kind, ErrorKind::state);
    EXPECT_THAT(values(x), ElementsAre(1, 1));
    {
        const no_grad guard;
        x += 1;
        x[0] = 5;
    }
    EXPECT_THAT(values(x), ElementsAre(5, 2));
    EXPECT_TRUE(x.is_leaf());
    EXPECT_TRUE(x.requires_grad());
}

TEST(InPlace, KeepsShapeAndDtype)
{
    Tensor x = ones({3}), i = arange(3), half = ones({3}, f16);
    EXPECT_EQ(failure([&] { x += ones({2, 3}); }).kind, ErrorKind::shape);
    EXPECT_EQ(failure([&] { i += 0.5; }).kind, ErrorKind::dtype);
    EXPECT_EQ(failure([&] { i.exp_(); }).kind, ErrorKind::dtype);
    i += 1;
    i.copy_(i * 1.5);
    EXPECT_EQ(to_string(i), "tensor([1, 3, 4], dtype=i32)");
    half += x;
    EXPECT_EQ(half.dtype(), f16);
    x.eq_(1);
    EXPECT_THAT(values(x), ElementsAre(1, 1, 1));
    EXPECT_EQ(failure([&] { Tensor().zero_(); }).kind, ErrorKind::argument);
}

TEST(InPlace, PartsWriteIntoTheWhole)
{
    Tensor x = zeros({2, 3});
    x[0] = 1;
    x[1][2] = tensor(5.0);
    x[0][1] += 3;
    x.index({Slice(), 0}) *= 7;
    EXPECT_THAT(values(x), ElementsAre(7, 4, 1, 0, 0, 5));
    const Tensor row = x[-1];
    Tensor(row).fill_(2);
    EXPECT_THAT(values(x), ElementsAre(7, 4, 1, 2, 2, 2));
    EXPECT_THAT(values(row), ElementsAre(2, 2, 2));
    x.index({Slice(), Slice(None, None, 2)}) = tensor({{1.0, 2.0}, {3.0, 4.0}});
    EXPECT_THAT(values(x), ElementsAre(1, 4, 2, 3, 2, 4));
    x[x > 2] = 0;
    x[tensor({1})] += 10;
    EXPECT_THAT(values(x), ElementsAre(1, 0, 2, 10, 12, 10));
    Tensor named = x[tensor({0})]; // a copy, as in PyTorch
    named += 100;
    EXPECT_THAT(values(x), ElementsAre(1, 0, 2, 10, 12, 10));
    named = x[0]; // another handle
    EXPECT_THAT(values(x), ElementsAre(1, 0, 2, 10, 12, 10));
}

TEST(InPlace, OtherViewsOfALivingTensorRefuse)
{
    Tensor x = zeros({2, 3});
    for (const auto& f : std::vector<std::function<void()>>{
             [&] { x.t() += 1; }, [&] { x.view({6}).fill_(1); }, [&] { x.detach().add_(1); },
             [&] {
                 x.view({6}).view({3, 2}).add_(1);
             },
             [&] { x.select(0, 1) = 3; }}) {
        const Failure found = failure(f);
        EXPECT_EQ(found.kind, ErrorKind::state);
        EXPECT_THAT(found.text, HasSubstr("view"));
    }
    EXPECT_THAT(values(x), ElementsAre(0, 0, 0, 0, 0, 0));
    Tensor y = (x + 1).view({6}); // nobody sees what it is a view of
    y += 1;
    EXPECT_EQ(values(y)[5], 2);
    Tensor z = x.view({6});
    z.assign(ones({6}));
    z += 1;
    EXPECT_EQ(values(z)[0], 2);
}

TEST(InPlace, RandomNumbersAreDrawn)
{
    manual_seed(3);
    Tensor x = zeros({1000});
    x.uniform_(2, 3);
    EXPECT_GE(x.min().item(), 2);
    EXPECT_LT(x.max().item(), 3);
    EXPECT_GT(x.max().item() - x.min().item(), 0.9);
    x.normal_(5, 2);
    EXPECT_NEAR(x.mean().item(), 5, 0.3);
    EXPECT_NEAR(x.std().item(), 2, 0.2);
}

TEST(InPlace, WorksInPrograms)
{
    Tensor count = zeros({}), table = zeros({4, 2});
    const Dim n = symbol("n", {.min = 1}), at = symbol("at", {.max = 3});
    const auto step = [&](Tensor x, Dim place) {
        Tensor y = x * 2;
        y += x;
        y[0] = 1;
        y[-1] += 1;
        count += 1;
        table[place] += y.sum(0);
        return y;
    };
    auto program = record(step, {spec({n, 2}), at});
    EXPECT_THAT(values(program(ones({2, 2}), 3)), ElementsAre(1, 1, 4, 4));
    EXPECT_THAT(values(program(ones({3, 2}), 1)), ElementsAre(1, 1, 3, 3, 4, 4));
    EXPECT_EQ(count.item(), 2);
    EXPECT_THAT(values(table), ElementsAre(0, 0, 8, 8, 0, 0, 5, 5));
    EXPECT_THROW(program(ones({3, 2}), 4), Error);
}

TEST(Indexing, GradientsFlow)
{
    const Tensor x = arange(6, f32).view({2, 3}).clone().requires_grad_();
    const Tensor weight = tensor({1.0, 10.0, 100.0});
    (x.index({tensor({1, 1, 0}), tensor({0, 0, 2})}) * weight).sum().backward();
    EXPECT_THAT(values(x.grad()), ElementsAre(0, 0, 100, 11, 0, 0));
    const Tensor a = zeros({2, 3}).requires_grad_(), v = ones({2}).requires_grad_();
    const Tensor put = a.index_put({Slice(), 1}, v) * arange(6, f32).view({2, 3});
    put.sum().backward();
    EXPECT_THAT(values(a.grad()), ElementsAre(0, 0, 2, 3, 0, 5));
    EXPECT_THAT(values(v.grad()), ElementsAre(1, 4));
    const Tensor b = zeros({3}).requires_grad_(), w = ones({3}).requires_grad_();
    const Tensor sums = b.index_put({tensor({2, 0, 2})}, w, true);
    EXPECT_THAT(values(sums), ElementsAre(1, 0, 2));
    (sums * tensor({1.0, 2.0, 3.0})).sum().backward();
    EXPECT_THAT(values(b.grad()), ElementsAre(1, 2, 3));
    EXPECT_THAT(values(w.grad()), ElementsAre(3, 1, 3));
}

TEST(Indexing, OfEmptyAndSmallTensors)
{
    const Tensor none = zeros({0, 3}), one = ones({1});
    EXPECT_EQ(none.index({Slice(), 1}).shape(), (Shape{0}));
    EXPECT_EQ(none.index({from_vector(std::vector<std::int32_t>{}, {0})}).shape(), (Shape{0, 3}));
    EXPECT_EQ(one[0].shape(), Shape{});
    EXPECT_EQ(one[zeros({1}, boolean)].shape(), (Shape{0}));
    EXPECT_EQ(one.index({Slice(5, 9)}).shape(), (Shape{0}));
    EXPECT_EQ(one.index({false}).shape(), (Shape{0, 1}));
    EXPECT_EQ(one.index({None, "...", None}).shape(), (Shape{1, 1, 1}));
    Tensor x = zeros({3});
    x.index_put_({from_vector(std::vector<std::int32_t>{}, {0})}, 4);
    x.index({Slice(2, 2)}) = 5;
    x.index_put_({tensor({1, 1})}, tensor({3.0, 4.0})); // the last is kept
    EXPECT_THAT(values(x), ElementsAre(0, 4, 0));
}

TEST(Indexing, MistakesAreNamed)
{
    const Tensor x = zeros({2, 3});
    const Failure far = failure([&] { x[0][3]; });
    EXPECT_EQ(far.kind, ErrorKind::argument);
    EXPECT_THAT(far.text, HasSubstr("The index (3) is out of range for dimension (0) of the size (3)"));
    EXPECT_THAT(failure([&] {
                    x.index({Slice(), -4});
                }).text,
                HasSubstr("index (-4) is out of range for dimension (1)"));
    EXPECT_EQ(failure([&] { x.index({0, 0, 0}); }).kind, ErrorKind::argument);
    EXPECT_EQ(failure([&] { x.index({"...", "..."}); }).kind, ErrorKind::argument);
    EXPECT_EQ(failure([&] { x.index({"all"}); }).kind, ErrorKind::argument);
    EXPECT_EQ(failure([&] { x.index({Slice(None, None, -1)}); }).kind, ErrorKind::argument);
    EXPECT_EQ(failure([&] { x[ones({2})]; }).kind, ErrorKind::dtype);
    EXPECT_EQ(failure([&] { x[ones({3}, boolean)]; }).kind, ErrorKind::shape);
    EXPECT_EQ(failure([&] { x.index({tensor({0, 1}), tensor({0, 1, 2})}); }).kind, ErrorKind::shape);
    EXPECT_EQ(failure([&] { x.index_put({0}, ones({2})); }).kind, ErrorKind::shape);
    EXPECT_EQ(failure([&] { record([](Tensor t) { return t[t > 0]; }, {spec({2})}); }).kind,
              ErrorKind::state);
}

TEST(Reading, ConvertsOneElement)
{
    EXPECT_EQ(tensor(3).item<float>(), 3);
    EXPECT_EQ(tensor(3.75).item<int>(), 3);
    EXPECT_EQ(tensor(2.5).item<double>(), 2.5);
    EXPECT_EQ(tensor(true).item<float>(), 1);
    EXPECT_EQ(ones({}, f16).item<std::int64_t>(), 1);
    EXPECT_TRUE(tensor(2).item<bool>());
    EXPECT_EQ(failure([] { tensor(300).item<std::uint8_t>(); }).kind, ErrorKind::argument);
    EXPECT_EQ(failure([] { tensor(1e20).item<int>(); }).kind, ErrorKind::argument);
    EXPECT_EQ(failure([] { (tensor(0.0) / 0).item<int>(); }).kind, ErrorKind::argument);
}

TEST(Reading, ConvertsManyWhereNothingIsLost)
{
    EXPECT_THAT(tensor({1, 2}, i32).to_vector<std::int64_t>(), ElementsAre(1, 2));
    EXPECT_THAT(tensor({1, 2}, u8).to_vector<float>(), ElementsAre(1, 2));
    EXPECT_THAT(tensor({0.5, 2.0}).to_vector<double>(), ElementsAre(0.5, 2));
    EXPECT_THAT(tensor({true, false}).to_vector<int>(), ElementsAre(1, 0));
    EXPECT_EQ(failure([] { tensor({1, 2}).to_vector<float>(); }).kind, ErrorKind::dtype);
    EXPECT_EQ(failure([] { tensor({1.0}).to_vector<int>(); }).kind, ErrorKind::dtype);
}

TEST(Comparing, OfWholeTensors)
{
    const Tensor x = tensor({1.0, 2.0}), nan = tensor({0.0}) / 0, inf = tensor({1.0}) / 0;
    EXPECT_TRUE(allclose(x, x + 1e-7));
    EXPECT_TRUE(x.allclose(x * (1 + 1e-6)));
    EXPECT_FALSE(allclose(x, x + 1e-3));
    EXPECT_FALSE(allclose(nan, nan));
    EXPECT_TRUE(allclose(nan, nan, 1e-5, 1e-8, true));
    EXPECT_TRUE(allclose(inf, inf));
    EXPECT_FALSE(allclose(inf, -inf));
    EXPECT_FALSE(allclose(x.index({Slice(0, 1)}), inf));
    EXPECT_TRUE(equal(x, x.clone()));
    EXPECT_FALSE(x.equal(x + 1));
    EXPECT_FALSE(equal(x, tensor({1.0})));
    EXPECT_EQ(failure([] { record([](Tensor t) { equal(t, t); }, {spec({2})}); }).kind, ErrorKind::state);
}

TEST(Creating, MistakesAreNamed)
{
    EXPECT_EQ(failure([] { tensor({{1, 2}, {3}}); }).kind, ErrorKind::shape);
    EXPECT_EQ(failure([] { arange(0, 3, 0); }).kind, ErrorKind::argument);
    EXPECT_EQ(failure([] { arange(3, 0); }).kind, ErrorKind::argument);
    EXPECT_EQ(failure([] { arange(0.0, 1.0, 0.0); }).kind, ErrorKind::argument);
    EXPECT_EQ(failure([] { arange(0.0, 1.0, -0.5); }).kind, ErrorKind::argument);
    EXPECT_EQ(failure([] { linspace(0, 1, -1); }).kind, ErrorKind::argument);
    EXPECT_EQ(linspace(3, 9, 1).item(), 3);
    EXPECT_EQ(linspace(3, 9, 0).shape(), (Shape{0}));
    EXPECT_EQ(values(linspace(0, 0.7, 8))[7], 0.7f);
    EXPECT_EQ(tensor({}).shape(), (Shape{0}));
}

TEST(Creating, SequencesOfSymbolicSizes)
{
    const Dim n = symbol("n", {.min = 1});
    const auto program = record(
        [&](Tensor x) {
            return std::vector{linspace(0, 1, x.size(0)), eye(x.size(0)).sum(1),
                               arange(1, x.size(0) + 1).to(f32)};
        },
        {spec({n})});
    const std::vector<Tensor> found = program(ones({3}));
    EXPECT_THAT(values(found[0]), ElementsAre(0, 0.5f, 1));
    EXPECT_THAT(values(found[1]), ElementsAre(1, 1, 1));
    EXPECT_THAT(values(found[2]), ElementsAre(1, 2, 3));
}

} // namespace
} // namespace reprise
