// Convolutions of all kinds against what PyTorch 2 gives for small whole numbers, where sums are exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAreArray;
using testing::HasSubstr;
using Floats = std::vector<float>;

// i * by % modulo - modulo / 2 of the row-major index i
Tensor ramp(const Shape& shape, int by, int modulo)
{
    std::int64_t count = 1;
    for (const Dim& d : shape) count *= d.value();
    Floats values;
    for (std::int64_t i = 0; i < count; ++i)
        values.push_back(static_cast<float>(i * by % modulo - modulo / 2));
    return from_vector(values, shape);
}
Variable x_of(const Shape& shape) { return Variable(ramp(shape, 7, 11)); }
Variable weight_of(const Shape& shape) { return Variable(ramp(shape, 5, 7)); }

void expect(const Tensor& t, const Shape& shape, const Floats& values)
{
    EXPECT_EQ(t.shape(), shape);
    EXPECT_THAT(t.to_vector<float>(), ElementsAreArray(values));
}

// The gradients by x and weight, for a ramp as the output's.
std::vector<Tensor> gradients(const Tensor& y, const Variable& x, const Variable& weight)
{
    return grad({y}, {x, weight}, {.cotangents = {ramp(y.shape(), 3, 5)}});
}

TEST(Convolution, OfGroupsWithAStrideAndADilation)
{
    const Variable x = x_of({1, 4, 5, 6}), weight = weight_of({4, 2, 2, 3});
    const Tensor y = conv2d(x, weight, from_vector(Floats{1, -2, 3, 0}),
                            {.stride = {2, 1}, .padding = {1, 2}, .dilation = {2, 3}, .groups = 2});
    expect(y, {1, 4, 3, 4}, {-2,  -22, -6, -2, -25, 6,   -25, -1,  -6,  1,  -2, 18,  2,  2,   -1, -5,
                             6,   22,  15, -5, 18,  -10, 2,   -14, -10, 10, -6, -1,  17, -27, 34, 10,
                             -10, 47,  -2, 2,  12,  -4,  -17, 7,   0,   -5, -1, -14, 4,  -18, -1, -5});
    const std::vector<Tensor> g = gradients(y, x, weight);
    expect(g[0], {1, 4, 5, 6},
           {0,  0,   0, 0, 0,  0,  1, -12, 0, -3, 1,  0, 0,  0,  0,  0, 0,   0, 7, 7,  -7, 0,  1,  -3,
            0,  0,   0, 0, 0,  0,  0, 0,   0, 0,  0,  0, 5,  10, 7,  1, -12, 0, 0, 0,  0,  0,  0,  0,
            -7, -1,  3, 7, 7,  -7, 0, 0,   0, 0,  0,  0, 0,  0,  0,  0, 0,   0, 7, 10, 5,  -7, 11, -5,
            0,  0,   0, 0, 0,  0,  1, -4,  7, 5,  -2, 5, 0,  0,  0,  0, 0,   0, 0, 0,  0,  0,  0,  0,
            0,  -12, 1, 7, 10, 5,  0, 0,   0, 0,  0,  0, -3, -6, -5, 1, -4,  7, 0, 0,  0,  0,  0,  0});
    expect(g[1], {4, 2, 2, 3}, {0,   1,   0,   0,  -11, -7,  -1,  0,   0,  1,  -13, -10, 0,   12,  16,  0,
                                -15, -16, 3,   14, 15,  0,   -14, -15, 16, 13, 13,  -13, -1,  0,   13,  13,
                                16,  -14, -13, 0,  13,  -15, -13, -16, 16, 14, 14,  16,  -16, -13, -15, 13});
}

TEST(Convolution, DepthwiseWithTwoChannelsOutOfEach)
{
    const Variable x = x_of({1, 2, 4, 3}), weight = weight_of({4, 1, 2, 2});
    const Tensor y = conv2d(x, weight, {}, {.stride = 2, .padding = 1, .groups = 2});
    expect(y, {1, 4, 3, 2},
           {10, 4, 2, -1, 6, -7, 15, 4, -7, 12, 3, -8, 6, 19, 0, 11, 0, -10, 4, 16, -1, 11, 1, -7});
    const std::vector<Tensor> g = gradients(y, x, weight);
    expect(g[0], {1, 2, 4, 3},
           {1, 1, 1, 0, -6, 4, -4, 0, -4, -2, 9, -3, 1, -4, 6, 2, -3, -1, -4, 1, -4, 1, 0, -2});
    expect(g[1], {4, 1, 2, 2}, {4, -1, 2, -4, -1, -1, -2, 5, 11, -11, 4, 2, -13, 7, -4, 7});
}

TEST(Convolution, PaddedToKeepTheSize)
{
    // an odd number of zeros: one more behind
    expect(conv2d(x_of({1, 1, 3, 4}), weight_of({1, 1, 2, 4}), {}, {.padding = "same"}), {1, 1, 3, 4},
           {-14, 5, -15, 28, -10, -2, 30, -20, -6, 28, -11, -7});
    expect(conv1d(x_of({1, 6}), weight_of({2, 1, 3}), {}, {.padding = "same", .dilation = 2}), {2, 6},
           {-10, 4, 11, 4, 8, -21, -17, 11, 5, 8, 7, -19});
}

TEST(Convolution, TransposedWithOutputPaddingInGroups)
{
    const Variable x = x_of({1, 2, 2, 3}), weight = weight_of({2, 2, 3, 2});
    const Tensor y = conv_transpose2d(
        x, weight, from_vector(Floats{1, -2, 3, 4}),
        {.stride = {2, 3}, .padding = {1, 0}, .output_padding = {1, 2}, .groups = 2, .dilation = {1, 2}});
    expect(y, {1, 4, 4, 11},
           {1,   1,  11, 1, 1,  -3, 1,  1,  5,  1,  1,  -29, 1,  6,   4,  1,  5, 4,   1,  -7,  1,  1,
            1,   1,  -9, 1, 1,  -1, 1,  1,  7,  1,  1,  16,  1,  6,   4,  1,  2, -8,  1,  -2,  1,  1,
            -12, -2, -2, 2, -2, -2, -6, -2, -2, -2, -2, 3,   -2, -32, -7, -2, 1, 5,   -2, 1,   -2, -2,
            8,   -2, -2, 0, -2, -2, -8, -2, -2, -2, -2, -12, -2, 13,  -4, -2, 1, 4,   -2, -11, -2, -2,
            -9,  3,  11, 3, 3,  3,  15, 3,  -5, 3,  3,  6,   3,  -8,  2,  3,  4, -2,  3,  16,  3,  3,
            -6,  3,  9,  6, 3,  1,  18, 3,  -7, 3,  3,  3,   3,  -3,  3,  3,  5, 3,   3,  13,  3,  3,
            0,   4,  -8, 4, 4,  4,  8,  4,  16, 4,  4,  21,  4,  7,   1,  4,  3, -19, 4,  -1,  4,  4,
            1,   4,  -5, 5, 4,  7,  9,  4,  19, 4,  4,  10,  4,  4,   2,  4,  4, -6,  4,  4,   4,  4});
    const std::vector<Tensor> g = gradients(y, x, weight);
    expect(g[0], {1, 2, 2, 3}, {8, -7, -7, 14, 14, -11, -7, 8, 8, -4, -3, 8});
    expect(g[1], {2, 2, 3, 2},
           {8, 11, -1, 2, 8, -19, -11, -13, 10, 8, -1, 2, 11, 8, -5, -23, 16, 13, 5, -13, -1, 16, -5, -23});
}

TEST(Convolution, TransposedWithAnOutputPaddingOfMoreThanTheStride)
{
    const Variable x = x_of({1, 1, 3}), weight = weight_of({1, 2, 3});
    const Tensor y = conv_transpose1d(x, weight, {}, {.padding = 2, .output_padding = 2, .dilation = 3});
    expect(y, {1, 2, 7}, {6, -10, 4, -4, 0, 0, 0, 4, -15, 6, -6, -5, 2, -2});
    const std::vector<Tensor> g = gradients(y, x, weight);
    expect(g[0], {1, 1, 3}, {9, -3, 8});
    expect(g[1], {1, 2, 3}, {4, -11, -6, 2, -6, -11});
}

TEST(Convolution, OfVolumes)
{
    expect(conv_transpose3d(x_of({1, 1, 2, 1, 2}), weight_of({1, 1, 2, 2, 2}), {},
                            {.stride = {1, 2, 2}, .padding = {1, 0, 1}, .output_padding = {0, 1, 1}}),
           {1, 1, 1, 3, 3}, {-9, -9, 12, 19, -2, -16, 0, 0, 0});
    expect(conv3d(x_of({1, 2, 2, 3, 2}), weight_of({2, 2, 2, 2, 1}), {},
                  {.stride = {1, 2, 1}, .padding = {1, 0, 0}}),
           {1, 2, 3, 1, 2}, {-13, -11, 21, 0, -17, -7, 8, 19, -27, 20, 5, -3});
}

TEST(Unfold, GivesChannelsThenPlacesThenWindows)
{
    expect(unfold(x_of({1, 2, 3, 4}), {2, 3}, {.padding = {0, 1}, .stride = {1, 2}}), {1, 12, 4},
           {0, 2,  0, -3, -5, -2, 1,  4, 2,  5, -3, 0,  0, -3, 0, 3,  1,  4, -4, -1, -3, 0,  3,  -5,
            0, -2, 0, 4,  2,  5,  -3, 0, -2, 1, 4,  -4, 0, 4,  0, -1, -3, 0, 3,  -5, 4,  -4, -1, 2});
}

TEST(Fold, AddsWhatOverlaps)
{
    expect(fold(x_of({1, 4, 6}), {3, 4}, 2), {1, 1, 3, 4}, {-5, 6, -2, -4, 7, 2, -3, -2, 1, -4, -1, 2});
    expect(fold(x_of({4, 4}), {4, 3}, 2, {.dilation = {2, 1}, .padding = {0, 1}, .stride = {1, 2}}),
           {1, 4, 3}, {1, 2, -3, 4, 5, 0, 2, 3, -2, 5, -5, 1});
}

// Depthwise windows are read where they lie; as a product of matrices they give the same sums.
TEST(Convolution, DepthwiseEqualsTheSumOverADiagonalWeight)
{
    const Variable x = x_of({3, 4, 9, 8}), weight = weight_of({4, 1, 3, 3});
    const Tensor eye = from_vector(Floats{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, {4, 4, 1, 1});
    const Tensor diagonal = weight * eye;
    const Tensor y = conv2d(x, weight, {}, {.stride = {2, 1}, .padding = 2, .dilation = {1, 2}, .groups = 4});
    const Tensor whole = conv2d(x, diagonal, {}, {.stride = {2, 1}, .padding = 2, .dilation = {1, 2}});
    expect(y, whole.shape(), whole.to_vector<float>());
    const std::vector<Tensor> g = gradients(y, x, weight), of_whole = gradients(whole, x, weight);
    for (std::size_t i = 0; i < 2; ++i) expect(g[i], of_whole[i].shape(), of_whole[i].to_vector<float>());
}

// One image's gradient by the weight needs many parts that are added.
TEST(Convolution, DepthwiseGradientsAddManyParts)
{
    const Variable x(ones({2, 2, 70, 80})), weight(zeros({2, 1, 3, 3}));
    const Tensor y = conv2d(x, weight, {}, {.padding = 1, .groups = 2});
    const Tensor g = grad(sum(y), weight);
    Floats want;
    for (int c = 0; c < 2; ++c)
        for (int ky = 0; ky < 3; ++ky)
            for (int kx = 0; kx < 3; ++kx)
                want.push_back(static_cast<float>(2 * (ky == 1 ? 70 : 69) * (kx == 1 ? 80 : 79)));
    expect(g, {2, 1, 3, 3}, want);
}

TEST(Convolution, OfAnEmptyBatchGivesNothingAndNoGradient)
{
    for (const std::int64_t groups : {1, 2, 4}) {
        const Variable x(zeros({0, 4, 5, 5})), weight(ones({4, 4 / groups, 3, 3}));
        const Tensor y = conv2d(x, weight, {}, {.groups = groups});
        EXPECT_EQ(y.shape(), (Shape{0, 4, 3, 3}));
        const std::vector<Tensor> g = grad({y}, {x, weight}, {.cotangents = {zeros({0, 4, 3, 3})}});
        EXPECT_EQ(g[0].shape(), (Shape{0, 4, 5, 5}));
        EXPECT_THAT(g[1].to_vector<float>(), testing::Each(0.0f));
    }
    EXPECT_EQ(conv_transpose2d(zeros({0, 4, 5, 5}), ones({4, 2, 3, 3}), ones({2})).shape(),
              (Shape{0, 2, 7, 7}));
}

// Of large batches parts are computed in turn: five of at most two images, seven of which two have none, parts that
// begin inside of a texel, and groups.  All sums are exact.
struct LargeBatch {
    Shape x, weight;
    ConvOptions<2> options;
};
const std::vector<LargeBatch> large_batches{
    {{9, 8, 40, 44}, {3, 8, 7, 7}, {.padding = {3, 3}}},
    {{9, 16, 48, 46}, {3, 16, 5, 5}, {.padding = {2, 2}}},
    {{50, 3, 51, 50}, {2, 3, 2, 3}, {.padding = {0, 1}}},
    {{6, 8, 33, 47}, {6, 4, 5, 7}, {.padding = {2, 3}, .groups = 2}},
};

TEST(Convolution, OfLargeBatchesEqualsThatOfTheirImages)
{
    for (const LargeBatch& c : large_batches) {
        SCOPED_TRACE(to_string(c.x));
        const auto gradients_of = [&](const Tensor& x, const Tensor& weight, const Tensor& dy) {
            const Variable vx(x), vw(weight);
            const Tensor y = conv2d(vx, vw, {}, c.options);
            std::vector<Tensor> out = grad({y}, {vx, vw}, {.cotangents = {dy}});
            out.push_back(y);
            return out;
        };
        const Tensor x = ramp(c.x, 7, 11), weight = ramp(c.weight, 5, 7);
        Shape of_y = conv2d(x, weight, {}, c.options).shape();
        const Tensor dy = ramp(of_y, 3, 5);
        const std::vector<Tensor> all = gradients_of(x, weight, dy);
        Tensor dweight = zeros_like(weight);
        for (std::int64_t i = 0; i < c.x[0].value(); ++i) {
            const auto of_image = [&](const Tensor& t) { return t.narrow(0, i, 1); };
            const std::vector<Tensor> one = gradients_of(of_image(x), weight, of_image(dy));
            EXPECT_EQ(of_image(all[0]).to_vector<float>(), one[0].to_vector<float>()) << i;
            EXPECT_EQ(of_image(all[2]).to_vector<float>(), one[2].to_vector<float>()) << i;
            dweight = dweight + one[1];
        }
        EXPECT_EQ(all[1].to_vector<float>(), dweight.to_vector<float>());

        Shape any_x = c.x;
        any_x[0] = of_y[0] = symbol("batch");
        const Program free = record([&](Tensor a, Tensor w, Tensor g) { return gradients_of(a, w, g); },
                                    {spec(any_x), spec(c.weight), spec(of_y)});
        for (const std::int64_t n : {c.x[0].value(), std::int64_t{1}, std::int64_t{0}}) {
            const Tensor some = x.narrow(0, 0, n), of_some = dy.narrow(0, 0, n);
            const auto want = gradients_of(some, weight, of_some), got = free.call({some, weight, of_some});
            for (std::size_t i = 0; i < want.size(); ++i)
                EXPECT_EQ(got[i].to_vector<float>(), want[i].to_vector<float>()) << n << ", " << i;
        }
    }
}

// Kernels for few channels have the bits of those for many: a channel's sum does not depend on the others.  CPUs
// compute 2 images by kernels, and 40 by native code, whatever the number of channels.
class SomeChannels : public testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Convolution, SomeChannels, testing::Values(2, 40));

TEST_P(SomeChannels, HaveTheBitsOfAll)
{
    for (const std::int64_t stride : {1, 2}) {
        const Tensor x = cos(ramp({GetParam(), 40, 9, 11}, 7, 11)), weight = cos(ramp({40, 40, 3, 3}, 5, 7));
        const ConvOptions<2> o{.stride = stride, .padding = 1};
        const Tensor y = conv2d(x, weight, {}, o), dy = cos(y);
        const auto by_x = [&](const Tensor& of_x, const Tensor& w) {
            Tensor leaf = of_x.clone();
            leaf.requires_grad_();
            return grad({conv2d(leaf, w, {}, o)}, {leaf}, {.cotangents = {dy}});
        };
        const Tensor dx = by_x(x, weight);
        for (const std::int64_t some : {16, 17, 32, 33}) {
            SCOPED_TRACE(testing::Message() << some << " channels, stride " << stride);
            EXPECT_EQ(conv2d(x, weight.narrow(0, 0, some), {}, o).to_vector<float>(),
                      y.narrow(1, 0, some).to_vector<float>());
            EXPECT_EQ(by_x(x.narrow(1, 0, some), weight.narrow(1, 0, some)).to_vector<float>(),
                      dx.narrow(1, 0, some).to_vector<float>());
        }
    }
}

// Taps of the gradient by the input where stride, dilation, padding and window share factors or not.
TEST(Convolution, GradientsOfAnyStrideAndDilationAreTheReferences)
{
    const auto by_x = [](const Tensor& w, std::int64_t size, const ConvOptions<1>& o, const Device& device) {
        Tensor x = zeros({2, 2, size}, {.device = device}).requires_grad_();
        const Tensor y = conv1d(x, w, {}, o.stride, o.padding, o.dilation);
        return grad(sum(cos(arange(y.numel(), {.device = device})).reshape(y.shape()) * y), x)
            .to_vector<float>();
    };
    for (const std::int64_t stride : {2, 3, 5, 6})
        for (const std::int64_t dilation : {1, 2, 3, 4})
            for (const std::int64_t padding : {0, 1, 7})
                for (const std::int64_t taps : {1, 2, 3, 5}) {
                    const std::int64_t size = 23;
                    const Tensor w = cos(ramp({3, 2, taps}, 5, 7));
                    const ConvOptions<1> o{.stride = stride, .padding = padding, .dilation = dilation};
                    const Floats got = by_x(w, size, o, default_device()),
                                 want = by_x(w.to(Device("reference")), size, o, Device("reference"));
                    for (std::size_t i = 0; i < want.size(); ++i)
                        ASSERT_NEAR(got[i], want[i], 1e-5) << "stride " << stride << ", dilation " << dilation
                                                           << ", padding " << padding << ", taps " << taps;
                }
}

TEST(Convolution, OfImagesWithoutElementsSeesPaddingOnly)
{
    const Variable x(zeros({1, 1, 0, 5})), weight(ones({1, 1, 3, 3}));
    const Tensor y = conv2d(x, weight, {}, {.padding = 2});
    expect(y, {1, 1, 2, 7}, Floats(14, 0));
    const std::vector<Tensor> d = grad({sum(y)}, {x, weight});
    EXPECT_EQ(d[0].numel(), 0);
    expect(d[1], {1, 1, 3, 3}, Floats(9, 0));
}

// A sum of products that underflow may be -0, however many parts it is computed in: where fma is fused, as on GPUs and
// lavapipe 26.2.  Lavapipe 22.3 and 25.0 round its product, and get +0.
TEST(Convolution, GradientsThatUnderflowHaveTheSameSignInPrograms)
{
    const auto by_weight = [](const Tensor& x, const Tensor& dy) {
        Tensor weight = zeros({4, 4, 3, 3}).requires_grad_();
        return grad({conv2d(x, weight)}, {weight}, {.cotangents = {dy}});
    };
    const Tensor x = full({1, 4, 3, 3}, 1e-30) + 0.0, dy = full({1, 4, 1, 1}, -1e-30) + 0.0;
    const Dim n = symbol("n");
    const Program program = record(by_weight, {spec({n, 4, 3, 3}), spec({n, 4, 1, 1})});
    const Floats eager = by_weight(x, dy).to_vector<float>(), recorded = program(x, dy).to_vector<float>();
    for (std::size_t i = 0; i < eager.size(); ++i)
        EXPECT_EQ(std::signbit(eager[i]), std::signbit(recorded[i])) << i;
}

TEST(Convolution, OneImageNeedsNoBatch)
{
    const Variable x = x_of({2, 5, 4}), weight = weight_of({3, 2, 2, 2});
    const Tensor y = conv2d(x, weight);
    const Tensor with_batch = conv2d(unsqueeze(x, 0), weight);
    expect(y, {3, 4, 3}, with_batch.to_vector<float>());
    EXPECT_EQ(grad(sum(y), x).shape(), (Shape{2, 5, 4}));
    EXPECT_EQ(conv_transpose2d(x, weight_of({2, 3, 2, 2}), ones({3})).shape(), (Shape{3, 6, 5}));
}

TEST(Convolution, KindsHaveErrorsOfTheirOwnNames)
{
    const auto text = [](const auto& call) { return error_of(call).text; };
    EXPECT_THAT(text([] {
                    return conv1d(zeros({1, 2, 3, 4}), zeros({1, 2, 1}));
                }),
                HasSubstr("[conv1d] The input's shape ([1, 2, 3, 4]) must be [batch, channels, length]."));
    EXPECT_THAT(text([] {
                    return conv3d(zeros({1, 2, 3, 4, 5}), zeros({1, 2, 1}));
                }),
                HasSubstr("[conv3d] The weight's shape ([1, 2, 1])"));
    EXPECT_THAT(text([] {
                    return conv_transpose3d(zeros({1, 2, 3}), zeros({1, 2, 1}));
                }),
                HasSubstr("[conv_transpose3d] The input's shape ([1, 2, 3])"));
}

} // namespace
