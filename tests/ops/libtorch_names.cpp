// Calls as code for libtorch writes them; the values are PyTorch's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

std::vector<float> values(const Tensor& t) { return t.to(f32).to_vector<float>(); }
auto near(const std::vector<float>& expected) { return Pointwise(FloatNear(1e-4f), expected); }

std::string error(const std::function<void()>& f, ErrorKind kind)
{
    try {
        f();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), kind) << e.what();
        return e.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
}

Tensor small() { return tensor({{1.0, 2.0}, {3.0, 4.0}}); }

TEST(LibtorchNames, PoolingByArguments)
{
    const Tensor x = arange(16, f32).view({1, 1, 4, 4}), line = x.view({1, 1, 16});
    EXPECT_THAT(values(max_pool2d(x, 3, 2, 1)), ElementsAre(5, 7, 13, 15));
    EXPECT_THAT(values(max_pool2d(x, {3, 3}, {2, 2}, {1, 1})), ElementsAre(5, 7, 13, 15));
    EXPECT_THAT(values(max_pool2d(x, 2, 1, 0, 2)), ElementsAre(10, 11, 14, 15));
    EXPECT_THAT(values(max_pool2d(x, 3, 2, 0, 1, true)), ElementsAre(10, 11, 14, 15));
    EXPECT_THAT(values(max_pool2d(x, {2, 2}, {}, 0)), ElementsAre(5, 7, 13, 15));
    EXPECT_THAT(values(max_pool2d(x, {2, 2})), ElementsAre(5, 7, 13, 15));
    EXPECT_THAT(values(avg_pool2d(x, 3, 2, 1)), near({1.1111f, 2.6667f, 5.6667f, 10}));
    EXPECT_THAT(values(avg_pool2d(x, {3, 3}, {2, 2}, 1, false, false)), near({2.5f, 4, 8.5f, 10}));
    EXPECT_THAT(values(avg_pool1d(line, 8, 8)), ElementsAre(3.5f, 11.5f));
    EXPECT_THAT(values(max_pool1d(line, 8, 4, 0)), ElementsAre(7, 11, 15));
    EXPECT_THAT(values(max_pool3d(x.view({1, 1, 1, 4, 4}), {1, 2, 2}, {1, 2, 2})), ElementsAre(5, 7, 13, 15));
    EXPECT_EQ(max_pool2d_with_indices(x, 2, 2).second.to(i64).to_vector<std::int64_t>().back(), 15);
}

TEST(LibtorchNames, ConvolutionsWithoutBias)
{
    const Tensor x = ones({1, 1, 4, 4}), w = ones({1, 1, 3, 3});
    EXPECT_EQ(conv2d(x, w, {.stride = 1, .padding = 1}).shape(), (Shape{1, 1, 4, 4}));
    EXPECT_EQ(conv2d(x, w, {}).shape(), (Shape{1, 1, 2, 2}));
    EXPECT_EQ(conv1d(ones({1, 1, 4}), ones({1, 1, 2}), {.stride = 2}).shape(), (Shape{1, 1, 2}));
    EXPECT_EQ(conv_transpose2d(x, w, {.stride = 2}).shape(), (Shape{1, 1, 9, 9}));
    EXPECT_EQ(conv_transpose2d(x, w, {}, 2, 1, 1).shape(), (Shape{1, 1, 8, 8}));
}

TEST(LibtorchNames, LossesByArgumentsAndNames)
{
    const Tensor a = small(), b = a + 1, t = tensor({0, 1}), w = tensor({1.0, 3.0});
    EXPECT_EQ(mse_loss(a, b, Reduction::Sum).item(), 4);
    EXPECT_EQ(mse_loss(a, b, kSum).item(), 4);
    EXPECT_EQ(mse_loss(a, b, "sum").item(), 4);
    EXPECT_EQ(l1_loss(a, b, Reduction::None).shape(), (Shape{2, 2}));
    EXPECT_EQ(nll_loss(-a, t, w, Reduction::Sum).item(), 13);
    EXPECT_NEAR(cross_entropy(a, t, w).item(), 0.5633, 1e-4);
    EXPECT_NEAR(cross_entropy(a, t, {.weight = w}).item(), 0.5633, 1e-4);
    EXPECT_NEAR(cross_entropy(a, t, w, kSum, -100, 0.1).item(), 2.2530, 1e-4);
    EXPECT_NEAR(cross_entropy_loss(a, t, w).item(), 0.5633, 1e-4);
    EXPECT_NEAR(cross_entropy(a, t, {}).item(), cross_entropy(a, t).item(), 0);
    const Tensor half = full({2, 2}, 0.5), factors = tensor({2.0, 1.0});
    EXPECT_NEAR(binary_cross_entropy_with_logits(a, half, {}, factors).item(), 1.4220, 1e-4);
    EXPECT_NEAR(binary_cross_entropy_with_logits(a, half, {}, factors, "sum").item(), 4 * 1.4220, 4e-4);
    EXPECT_THAT(error([&] { mse_loss(a, b, "average"); }, ErrorKind::argument), HasSubstr("mean"));
}

TEST(LibtorchNames, NormalizationByArguments)
{
    const Tensor a = small();
    const Tensor y = batch_norm(a, tensor({2.0, 3.0}), tensor({1.0, 0.0}), tensor({1.0, 1.0}),
                                tensor({4.0, 9.0}), false, 0.1, 0.0, false);
    EXPECT_THAT(values(y), near({1, 1, 3, 3}));
    const Tensor z = instance_norm(a.view({1, 2, 2}), {}, {}, {}, {}, true, 0.1, 0.0, true);
    EXPECT_THAT(values(z), near({-1, 1, -1, 1}));
}

TEST(LibtorchNames, ChoicesByTheirNames)
{
    const Tensor i = tensor({6, -7, 3}), line = arange(3, f32).view({1, 1, 3});
    EXPECT_THAT(values(div(i, 2, "floor")), ElementsAre(3, -4, 1));
    EXPECT_THAT(values(i.div(2, "trunc")), ElementsAre(3, -3, 1));
    EXPECT_THAT(values(div(i, tensor({2, 2, 2}), Rounding::floor)), ElementsAre(3, -4, 1));
    EXPECT_EQ(div(tensor({-7.5}), 2, "floor").item(), -4);
    EXPECT_THAT(values(pad(line, {1, 1}, "reflect")), ElementsAre(1, 0, 1, 2, 1));
    EXPECT_THAT(values(pad(line, {1, 0}, kConstant, 5)), ElementsAre(5, 0, 1, 2));
    EXPECT_THAT(values(constant_pad_nd(line, {0, 1}, 7)), ElementsAre(0, 1, 2, 7));
    EXPECT_NEAR(gelu(tensor({1.0}), "tanh").item(), 0.8412, 1e-4);
    EXPECT_NEAR(tensor({1.0}).gelu("none").item(), 0.8413, 1e-4);
    EXPECT_THAT(values(meshgrid({arange(2), arange(2)}, "xy")[0]), ElementsAre(0, 1, 0, 1));
    const Tensor image = arange(4, f32).view({1, 1, 2, 2});
    EXPECT_THAT(values(interpolate(image, {.scale_factor = 2, .mode = kNearest})),
                ElementsAre(0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3));
    EXPECT_EQ(interpolate(image, {.scale_factor = {2, 1}, .mode = "nearest-exact"}).shape(),
              (Shape{1, 1, 4, 2}));
    EXPECT_EQ(interpolate(image, {.scale_factor = std::vector<double>{2, 1}, .mode = kBilinear}).shape(),
              (Shape{1, 1, 4, 2}));
    EXPECT_EQ(grid_sample(image, zeros({1, 1, 1, 2}), {.mode = "nearest", .padding_mode = kBorder}).item(),
              0);
    EXPECT_EQ(quantile(tensor({1.0, 2.0}), 0.3, 0, false, "higher").item(), 2);
    error([&] { div(i, 2, "down"); }, ErrorKind::argument);
    error([&] { pad(line, {1, 1}, "mirror"); }, ErrorKind::argument);
}

TEST(LibtorchNames, OperatorsOfIntegersAndNumbers)
{
    const Tensor i = tensor({6, -7, 3});
    EXPECT_THAT(values(i & 5), ElementsAre(4, 1, 1));
    EXPECT_THAT(values(i | 8), ElementsAre(14, -7, 11));
    EXPECT_THAT(values(i ^ 1), ElementsAre(7, -8, 2));
    EXPECT_THAT(values(i << 2), ElementsAre(24, -28, 12));
    EXPECT_THAT(values(i >> 1), ElementsAre(3, -4, 1));
    EXPECT_THAT(values(i << tensor({1, 0, 2})), ElementsAre(12, -7, 12));
    EXPECT_EQ((i & 5).dtype(), i.dtype());
    EXPECT_THAT(values(rsub(tensor({1.0, 2.0}), 10)), ElementsAre(9, 8));
    EXPECT_THAT(values(tensor({1.0, 2.0}).rsub(tensor({5.0, 5.0}), 2)), ElementsAre(3, 1));
}

TEST(LibtorchNames, FunctionsInPlace)
{
    Tensor x = tensor({-1.0, 0.5, 2.0});
    EXPECT_TRUE(relu_(x).is_same(x));
    EXPECT_THAT(values(x), ElementsAre(0, 0.5f, 2));
    clip_(x, 0, 1);
    EXPECT_THAT(values(x.clip(0.25)), ElementsAre(0.25f, 0.5f, 1));
    leaky_relu_(neg_(x), 0.5);
    EXPECT_THAT(values(x), ElementsAre(0, -0.25f, -0.5f));
    EXPECT_NEAR(sigmoid_(x)[0].item(), 0.5, 1e-6);
}

TEST(LibtorchNames, ShapesInPlace)
{
    Tensor x = arange(6, f32).view({2, 3}), copy = x;
    x.t_();
    EXPECT_EQ(copy.shape(), (Shape{3, 2}));
    EXPECT_THAT(values(copy), ElementsAre(0, 3, 1, 4, 2, 5));
    x.unsqueeze_(0).transpose_(1, 2);
    EXPECT_EQ(x.shape(), (Shape{1, 2, 3}));
    x.squeeze_();
    EXPECT_EQ(x.squeeze_(0).shape(), (Shape{2, 3}));
    Tensor base = zeros({2, 3}), view = base.select(1, 1);
    view.unsqueeze_(0);
    view.fill_(4); // reaches what the handle was a view of
    EXPECT_THAT(values(base), ElementsAre(0, 4, 0, 0, 4, 0));
    Tensor leaf = ones({2, 3}).requires_grad_();
    error([&] { leaf.t_(); }, ErrorKind::state);
    Tensor outside = ones({2, 3});
    error([&] { record([&](Tensor t) { return outside.t_() + t; }, {spec({})}); }, ErrorKind::state);
    const auto inside = record([](Tensor t) { return (t + 1).t_().unsqueeze_(0); }, {spec({2, 3})});
    EXPECT_EQ(inside(outside).shape(), (Shape{1, 3, 2}));
}

TEST(LibtorchNames, DiagonalsAndRandomNumbersInPlace)
{
    Tensor tall = zeros({7, 3}), cube = zeros({3, 3, 3});
    EXPECT_EQ(tall.fill_diagonal_(5).sum().item(), 15);
    EXPECT_EQ(tall.fill_diagonal_(5, true).sum().item(), 30);
    EXPECT_EQ(tall[4][0].item(), 5);
    EXPECT_EQ(cube.fill_diagonal_(1).sum().item(), 3);
    EXPECT_EQ(cube[1][1][1].item(), 1);
    EXPECT_EQ(zeros({2, 2}).fill_diagonal_(0.5).sum().item(), 1);
    EXPECT_EQ(zeros({2, 2}, i64).fill_diagonal_(0x1p40).sum().item<std::int64_t>(), std::int64_t{1} << 41);
    error([] { zeros({2, 2}, u8).fill_diagonal_(256); }, ErrorKind::argument);
    error([] { zeros({2, 3, 2}).fill_diagonal_(1); }, ErrorKind::shape);
    manual_seed(3);
    Tensor x = zeros({1000}), i = zeros({1000}, i32);
    EXPECT_NEAR(x.exponential_(2).mean().item(), 0.5, 0.06);
    EXPECT_GE(x.min().item(), 0);
    EXPECT_NEAR(i.random_(10).to(f32).mean().item(), 4.5, 0.5);
    EXPECT_EQ(x.random_(3, 5).min().item(), 3);
    EXPECT_EQ(x.max().item(), 4);
    EXPECT_GT(x.random_().max().item(), 1e6);
    EXPECT_EQ(i.random_(2147483646, 2147483648).max().item<std::int32_t>(), 2147483647);
    EXPECT_GT(i.random_().max().item<std::int32_t>(), 2000000000);
    EXPECT_GE(i.min().item<std::int32_t>(), 0);
    error([&] { x.exponential_(0); }, ErrorKind::argument);
}

TEST(LibtorchNames, Methods)
{
    const Tensor x = arange(6, f32).view({2, 3});
    EXPECT_THAT(values(tensor({1.0, 2.0, 3.0, 4.0, 5.0}).unfold(0, 3, 2)), ElementsAre(1, 2, 3, 3, 4, 5));
    EXPECT_EQ(x.unfold(1, 2, 1).shape(), (Shape{2, 2, 2}));
    EXPECT_THAT(values(x.unfold(1, 2, 1)), ElementsAre(0, 1, 1, 2, 3, 4, 4, 5));
    EXPECT_EQ(x.mT().shape(), (Shape{3, 2}));
    EXPECT_EQ(x.view({1, 2, 3}).T().shape(), (Shape{3, 2, 1}));
    EXPECT_THAT(values(x.where(x > 2, -1)), ElementsAre(-1, -1, -1, 3, 4, 5));
    EXPECT_THAT(values(x.where(x > 2, x * 10)), ElementsAre(0, 10, 20, 3, 4, 5));
    EXPECT_EQ(tensor({0.0, 1.0}).multinomial(2, true).to(f32).sum().item(), 2);
    EXPECT_TRUE(x.is_same(Tensor(x)));
    EXPECT_FALSE(x.is_same(x.clone()));
    const Tensor mask = tensor({{true, false, true}, {false, true, false}});
    Tensor filled = zeros({2, 3});
    filled.masked_scatter_(mask, tensor({7.0, 8.0, 9.0, 10.0}));
    EXPECT_THAT(values(filled), ElementsAre(7, 0, 8, 0, 9, 0));
    filled.masked_fill_(mask, tensor(3.0));
    EXPECT_THAT(values(filled), ElementsAre(3, 0, 3, 0, 3, 0));
    EXPECT_THAT(values(small().repeat_interleave(2)), ElementsAre(1, 1, 2, 2, 3, 3, 4, 4));
    EXPECT_THAT(values(small().repeat_interleave(tensor({2, 1}), 0)), ElementsAre(1, 2, 1, 2, 3, 4));
    error([&] { x.unfold(1, 4, 1); }, ErrorKind::shape);
    error([&] { x.unfold(1, 1, 0); }, ErrorKind::argument);
    error([&] { x.repeat_interleave(tensor({1, 2, 3}), 0); }, ErrorKind::shape);
}

TEST(LibtorchNames, ReductionsWithDtypesAndFlags)
{
    const Tensor a = small(), i = tensor({1, 2});
    EXPECT_NEAR(a.var(false).item(), 1.25, 1e-6);
    EXPECT_NEAR(var(a, true).item(), 5.0 / 3, 1e-6);
    EXPECT_NEAR(a.std(true).item(), 1.2910, 1e-4);
    EXPECT_EQ(a.var(0).shape(), (Shape{2})); // a dimension
    const auto [variance, average] = var_mean(a, 1, false);
    EXPECT_THAT(values(variance), ElementsAre(0.25f, 0.25f));
    EXPECT_THAT(values(average), ElementsAre(1.5f, 3.5f));
    EXPECT_EQ(i.sum(kFloat).dtype(), f32);
    EXPECT_EQ(i.sum({0}, true, i16).dtype(), i16);
    EXPECT_EQ(i.mean(kFloat).item(), 1.5);
    EXPECT_EQ(i.prod(kFloat).item(), 2);
    EXPECT_THAT(values(i.softmax(0, kFloat)), near({0.2689f, 0.7311f}));
    EXPECT_THAT(values(log_softmax(i, 0, kFloat)), near({-1.3133f, -0.3133f}));
    EXPECT_EQ(tensor({true, true}).cumsum(0, i32).dtype(), i32);
    EXPECT_THAT(error([] { zeros({0}, i32).median(); }, ErrorKind::shape), HasSubstr("median"));
}

TEST(LibtorchNames, ModesSetsAndUniqueRows)
{
    const Tensor x = tensor({{3.0, 1.0, 1.0, 3.0}, {2.0, 2.0, 5.0, 2.0}});
    const auto [modes, places] = x.mode(1);
    EXPECT_THAT(values(modes), ElementsAre(1, 2));
    EXPECT_THAT(values(places), ElementsAre(2, 3));
    const auto [first, rows] = mode(x, 0, true);
    EXPECT_THAT(values(first), ElementsAre(2, 1, 1, 2));
    EXPECT_THAT(values(rows), ElementsAre(1, 0, 0, 1));
    const Tensor i = tensor({6, -7, 3});
    EXPECT_THAT(values(isin(i, tensor({3, 6}))), ElementsAre(1, 0, 1));
    EXPECT_THAT(values(isin(i, tensor({3, 6}), false, true)), ElementsAre(0, 1, 0));
    for (const DType dtype : {i32, f32}) {
        const auto [unique_rows, inverse, counts] =
            unique_dim(tensor({{2, 1}, {0, 5}, {2, 1}}).to(dtype), 0, true, true, true);
        EXPECT_THAT(values(unique_rows), ElementsAre(0, 5, 2, 1));
        EXPECT_THAT(values(inverse), ElementsAre(1, 0, 1));
        EXPECT_THAT(values(counts), ElementsAre(1, 2));
    }
    EXPECT_THAT(values(std::get<0>(_unique2(tensor({2, 1, 2})))), ElementsAre(1, 2));
}

TEST(LibtorchNames, Norms)
{
    const Tensor b = tensor({{1.0, -2.0}, {3.0, 4.0}});
    const double inf = std::numeric_limits<double>::infinity();
    EXPECT_NEAR(linalg::norm(b).item(), 5.4772, 1e-4);
    EXPECT_NEAR(linalg_norm(b, "fro").item(), 5.4772, 1e-4);
    EXPECT_THAT(error(
                    [] {
                        linalg_norm(ones({2, 2, 2}), "fro");
                    },
                    ErrorKind::argument),
                HasSubstr("(3) dims"));
    EXPECT_EQ(linalg_norm(ones({3, 2, 2}), "fro", {-2, -1}).shape(), (Shape{3}));
    EXPECT_NEAR(linalg::matrix_norm(b).item(), 5.4772, 1e-4);
    EXPECT_EQ(linalg::norm(b, 1).item(), 6);
    EXPECT_EQ(linalg::norm(b, -1).item(), 4);
    EXPECT_EQ(linalg::norm(b, inf).item(), 7);
    EXPECT_EQ(linalg::matrix_norm(b, -inf, {0, 1}, true).shape(), (Shape{1, 1}));
    EXPECT_NEAR(linalg::vector_norm(b, 3).item(), 4.6416, 1e-4);
    EXPECT_EQ(linalg_vector_norm(tensor({3, 4}), 2, {}, false, kFloat).item(), 5);
    EXPECT_THAT(values(linalg::norm(b, 2, {1})), near({2.2361f, 5}));
    error([&] { linalg::norm(b, 2); }, ErrorKind::unsupported);
    error([&] { linalg::matrix_norm(b, "nuc"); }, ErrorKind::unsupported);
    error([&] { linalg::matrix_norm(b, 3); }, ErrorKind::argument);
}

TEST(LibtorchNames, EmbeddingSaysWhichArgumentIsFirst)
{
    EXPECT_THAT(error(
                    [] {
                        embedding(ones({4, 2}), tensor({0, 1}));
                    },
                    ErrorKind::argument),
                HasSubstr("indices first"));
}

} // namespace
} // namespace reprise
