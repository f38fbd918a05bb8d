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

TEST(InPlace, ViewsWriteIntoWhatTheyLookAt)
{
    Tensor x = arange(6, f32).view({2, 3});
    x.select(0, 1).zero_();
    EXPECT_THAT(values(x), ElementsAre(0, 1, 2, 0, 0, 0));
    x.select(1, -1)[1] = 7;
    x.narrow(1, 0, 2).add_(1);
    EXPECT_THAT(values(x), ElementsAre(1, 2, 2, 1, 1, 7));
    x.t()[2] = 5;
    x.view({6}).slice(0, 0, 6, 4).fill_(3);
    EXPECT_THAT(values(x), ElementsAre(3, 2, 5, 1, 3, 5));
    x.slice(1, 0, 3, 2).mul_(10); // which pads to a multiple of the step
    EXPECT_THAT(values(x), ElementsAre(30, 2, 50, 10, 3, 50));
    x.diagonal().fill_(-1);
    x.diagonal(1)[1] = -2;
    EXPECT_THAT(values(x), ElementsAre(-1, 2, 50, 10, -1, -2));
    for (Tensor row : x.unbind(1)) row[0] = 4;
    x.chunk(3, 1)[1].zero_();
    x.split(1, 1)[2] -= 1;
    x.unsqueeze(0).squeeze(0).permute({1, 0}).index({0}) += 1;
    EXPECT_THAT(values(x), ElementsAre(5, 0, 3, 11, 0, -3));
    x.detach().add_(1);
    x.contiguous().mul_(2);
    x.flatten().unflatten(0, {3, 2})[0] = 0;
    EXPECT_THAT(values(x), ElementsAre(0, 0, 8, 24, 2, -4));
    Tensor cube = zeros({2, 2, 2});
    cube.diagonal(0, 0, 2).copy_(tensor({{1.0, 2.0}, {3.0, 4.0}}));
    EXPECT_THAT(values(cube), ElementsAre(1, 0, 3, 0, 0, 2, 0, 4));
}

// What a view is made of may be gone, as after x = x.view(...): the view has the elements then.
TEST(InPlace, NoWriteIsLost)
{
    using Make = std::function<Tensor()>;
    using Write = std::function<void(Tensor&)>;
    const std::vector<Make> bases{
        [] {
            return ones({2, 2});
        },
        [] {
            return ones({2, 2}) * 1;
        },
        [] {
            return ones({4}).view({2, 2});
        },
        [] {
            return ones({2, 2}).t();
        },
        [] {
            return ones({3, 2}).slice(0, 0, 2);
        },
        [] {
            return ones({3, 2, 2})[0];
        },
        [] {
            return ones({4}).view({2, 2}).clone();
        },
        [] {
            return ones({1, 2}).expand({2, 2});
        },
        [] {
            return ones({2, 2}).detach();
        },
        [] {
            Tensor t = (ones({4}) * 1).view({2, 2});
            t.eval();
            return t;
        },
    };
    const std::vector<Write> writes{
        [](Tensor& a) { a.select(0, 0).fill_(5); },
        [](Tensor& a) { a.select(0, 0)[1] = 5; },
        [](Tensor& a) { a[0].select(0, 1).fill_(5); },
        [](Tensor& a) {
            a[0].view({2, 1}).fill_(5);
        },
        [](Tensor& a) { a.unbind()[0].fill_(5); },
        [](Tensor& a) { a.split(1)[0].fill_(5); },
        [](Tensor& a) { a.narrow(0, 0, 1).fill_(5); },
        [](Tensor& a) { a.slice(0, 0, 1).t().fill_(5); },
        [](Tensor& a) { a.diagonal().fill_(5); },
        [](Tensor& a) { a.diagonal()[0] = 5; },
        [](Tensor& a) { a.view({4}).fill_(5); },
        [](Tensor& a) { a.t()[0] = 5; },
        [](Tensor& a) { a.detach()[0] = 5; },
        [](Tensor& a) {
            a.index({Slice(), 0}).squeeze().mul_(5);
        },
        [](Tensor& a) {
            const Tensor far = a.t().unsqueeze(0).transpose(0, 1); // the steps in between are gone
            Tensor(far).fill_(5);
        },
    };
    const auto write_all = [&](bool recorded) {
        for (std::size_t b = 0; b < bases.size(); ++b)
            for (std::size_t w = 0; w < writes.size(); ++w) {
                if (recorded && b == 9) continue; // no value can be read
                bool refused = false;
                const auto body = [&](Tensor zero) {
                    Tensor a = bases[b]();
                    try {
                        writes[w](a);
                    } catch (const Error& e) {
                        refused = e.kind() == ErrorKind::state;
                    }
                    return a.sum() + zero;
                };
                const Tensor sum = recorded ? record(body, {spec({})})(zeros({})) : body(zeros({}));
                EXPECT_TRUE(refused || sum.item() > 4) << "base " << b << ", write " << w;
                EXPECT_FALSE(refused && b < 2 && w + 1 < writes.size()) << "base " << b << ", write " << w;
            }
    };
    write_all(false);
    write_all(true);
}

// An op in place of a view begins from what its base holds now, whoever changed that.
TEST(InPlace, ViewsOfAChangedTensorBeginFromItsValues)
{
    Tensor q = zeros({3}), first = q[1], second = q[1];
    first += 5;
    first += 1;
    second += 1;
    EXPECT_THAT(values(q), ElementsAre(0, 7, 0));
    Tensor z = zeros({4}), w = z.view({2, 2}), turned = w.t(), column = turned[1], ends = z.slice(0, 0, 4, 3),
           s = z.detach();
    z += 1;
    w += 1;
    column.mul_(10);
    EXPECT_THAT(values(z), ElementsAre(2, 20, 2, 20));
    ends += 1;
    EXPECT_THAT(values(z), ElementsAre(3, 20, 2, 21));
    w.diagonal() -= 1;
    s.clamp_(0, 10);
    EXPECT_THAT(values(z), ElementsAre(2, 10, 2, 10));
    // through a view that is old itself
    Tensor row = z.view({2, 2}), element = row[0];
    z += 1;
    element += 1;
    EXPECT_THAT(values(z), ElementsAre(4, 12, 3, 11));
    row = z.view({2, 2});
    element = row[0];
    z += 1;
    element.zero_(); // keeps what has changed beside it
    EXPECT_THAT(values(z), ElementsAre(0, 0, 4, 12));
    // siblings
    for (Tensor part : z.chunk(2)) part += 1;
    EXPECT_THAT(values(z), ElementsAre(1, 1, 5, 13));
    // a call of a program changes its state
    Tensor state = zeros({2}), view = state.view({2, 1});
    const auto step = record(
        [&](Tensor t) {
            state += t;
            return t;
        },
        {spec({2})});
    step(ones({2}));
    view += 1;
    EXPECT_THAT(values(state), ElementsAre(2, 2));
}

// The rows of a tensor that has been transposed in place are its columns.
TEST(InPlace, ViewsFromBeforeATransposeRefuse)
{
    Tensor square = arange(4).view({2, 2}), old = square[0];
    square.t_();
    EXPECT_EQ(failure([&] { old.fill_(7); }).kind, ErrorKind::state);
    EXPECT_EQ(failure([&] { old += 7; }).kind, ErrorKind::state);
    EXPECT_EQ(square.to_vector<std::int32_t>(), (std::vector<std::int32_t>{0, 2, 1, 3}));
}

// A gradient is no view of what it was made of.
TEST(InPlace, OfAGradientLeavesTheGivenOne)
{
    Tensor w = ones({2}), g = full({2}, 3);
    w.requires_grad_();
    w.backward(g);
    w.grad().zero_();
    EXPECT_EQ(g.to_vector<float>(), (std::vector<float>{3, 3}));
    Tensor x = ones({2, 2}), h = full({4}, 3);
    x.requires_grad_();
    x.reshape({4}).backward(h);
    x.grad().mul_(2);
    EXPECT_EQ(h.to_vector<float>(), (std::vector<float>{3, 3, 3, 3}));
    EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{6, 6, 6, 6}));
}

// An assigned tensor keeps its own layout, whether the value is known yet or not.
TEST(InPlace, OfATensorThatWasAssignedATranspose)
{
    for (const bool known : {false, true}) {
        Tensor h = zeros({2, 2});
        h.assign((arange(4, f32).view({2, 2}) + 1).t());
        if (known) h.eval();
        h.view({-1}).add_(1);
        EXPECT_EQ(h.to_vector<float>(), (std::vector<float>{2, 4, 3, 5})) << known;
    }
}

TEST(InPlace, ViewsThatMayBeCopiesRefuse)
{
    Tensor x = zeros({2, 3});
    for (const auto& f : std::vector<std::function<void()>>{[&] { x.t().reshape({6}).add_(1); },
                                                            [&] {
                                                                x.expand({2, 2, 3}).fill_(1);
                                                            },
                                                            [&] {
                                                                x.view({6}).view({3, 2}).t().flatten() += 1;
                                                            }}) {
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
    EXPECT_EQ(values(x)[0], 0);
}

TEST(InPlace, ResultsThatPyTorchCopiesAreTensorsOfTheirOwn)
{
    const auto all = [](const Tensor& x) {
        return std::vector<Tensor>{cat({x}),
                                   stack({x}),
                                   x.flip(Dims{}),
                                   pad(x, {0, 0}),
                                   pad(x, {-1, 0}),
                                   pad(x, {0, 0}, PaddingMode::reflect),
                                   x.repeat({1, 1}),
                                   x.repeat({2, 1}),
                                   x.tile({1}),
                                   x.repeat_interleave(1, 0),
                                   x.roll(0, 0),
                                   x.index_put({0}, ones({3})),
                                   x.t().contiguous(),
                                   hstack({x}),
                                   vstack({x}),
                                   x.diff(0),
                                   x.diag(),
                                   pixel_shuffle(x.view({6, 1, 1}).narrow(0, 0, 4), 2),
                                   channel_shuffle(x, 3),
                                   x.clone()};
    };
    const auto written = [&](const Tensor& x) {
        std::vector<Tensor> results = all(x);
        for (Tensor& t : results) t.fill_(7);
        results.push_back(x);
        return results;
    };
    const Tensor x = ones({2, 3});
    for (const std::vector<Tensor>& results : {written(x), record(written, {spec({2, 3})})(x)}) {
        EXPECT_EQ(results.back().sum().item(), 6);
        for (std::size_t i = 0; i + 1 < results.size(); ++i) EXPECT_EQ(results[i].min().item(), 7) << i;
    }
    Tensor whole = ones({2}, i32), same = nan_to_num(whole);
    same += 1;
    EXPECT_EQ(whole.sum().item(), 2);
    const Tensor leaf = ones({2}).requires_grad_();
    Tensor joined = cat({leaf});
    joined *= 3;
    joined.sum().backward();
    EXPECT_THAT(values(leaf.grad()), ElementsAre(3, 3));
}

TEST(InPlace, GradientsFollowViews)
{
    const Tensor x = tensor({{1.0, 2.0}, {3.0, 4.0}}).requires_grad_(), v = ones({2}).requires_grad_();
    Tensor y = x * 2;
    y.select(1, 0).copy_(v);
    y.diagonal().mul_(3);
    y.t().select(0, 1) *= 5;
    (y * tensor({{1.0, 10.0}, {100.0, 1000.0}})).sum().backward();
    EXPECT_THAT(values(x.grad()), ElementsAre(0, 100, 0, 30000));
    EXPECT_THAT(values(v.grad()), ElementsAre(3, 100));
    EXPECT_EQ(failure([&] { x.select(0, 0).zero_(); }).kind, ErrorKind::state); // a leaf
    EXPECT_EQ(failure([&] { y.detach().zero_(); }).kind, ErrorKind::state);
    x.detach().fill_(9);
    EXPECT_THAT(values(x), ElementsAre(9, 9, 9, 9));
    EXPECT_TRUE(x.is_leaf() && x.requires_grad());
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
    EXPECT_EQ(failure([] { tensor(-1).item<std::uint64_t>(); }).kind, ErrorKind::argument);
    EXPECT_EQ(tensor(std::vector<std::int64_t>{INT64_MIN}).item<std::int64_t>(), INT64_MIN);
    EXPECT_EQ(Scalar(-0x1p63).to<std::int64_t>(), INT64_MIN);
    EXPECT_EQ(Scalar(-0.5).to<std::uint8_t>(), 0); // cut toward zero
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
