// Strides, paddings and kernels as numbers and lists of any integer type, as libtorch's and PyTorch's users write them.
#include "libtorch.hpp"

#include <cstddef>
#include <type_traits>

namespace {

// A list of as many numbers as there are dimensions is the stride, as in libtorch.
TEST(Windows, AreStridesInAList)
{
    const rp::Tensor line = rp::ones({1, 1, 9}), image = rp::ones({1, 1, 9, 9}),
                     space = rp::ones({1, 1, 9, 9, 9});
    const rp::Tensor w1 = rp::ones({1, 1, 3}), w2 = rp::ones({1, 1, 3, 3}), w3 = rp::ones({1, 1, 3, 3, 3});
    const rp::Tensor bias = rp::zeros({1});
    EXPECT_EQ(rp::conv1d(line, w1, bias, {2}).shape(), (rp::Shape{1, 1, 4}));
    EXPECT_EQ(rp::conv2d(image, w2, bias, {2, 2}).shape(), (rp::Shape{1, 1, 4, 4}));
    EXPECT_EQ(rp::conv2d(image, w2, {}, {2, 1}).shape(), (rp::Shape{1, 1, 4, 7}));
    EXPECT_EQ(rp::conv3d(space, w3, bias, {1, 2, 2}).shape(), (rp::Shape{1, 1, 7, 4, 4}));
    EXPECT_EQ(F::conv2d(image, w2, bias, {2, 2}, {1, 1}).shape(), (rp::Shape{1, 1, 5, 5}));
    EXPECT_EQ(rp::conv2d(image, w2, bias, 2).shape(), (rp::Shape{1, 1, 4, 4}));
    EXPECT_EQ(rp::conv_transpose1d(line, w1, bias, {2}).shape(), (rp::Shape{1, 1, 19}));
    EXPECT_EQ(rp::conv_transpose2d(image, w2, bias, {2, 2}).shape(), (rp::Shape{1, 1, 19, 19}));
    EXPECT_EQ(rp::conv_transpose3d(space, w3, bias, {1, 2, 2}).shape(), (rp::Shape{1, 1, 11, 19, 19}));
    EXPECT_EQ(rp::conv_transpose2d(image, w2, bias, 2, 1).shape(), (rp::Shape{1, 1, 17, 17}));
}

TEST(Windows, LeaveOptionsInBraces)
{
    const rp::Tensor image = rp::ones({1, 1, 9, 9}), weight = rp::ones({1, 1, 3, 3}), bias = rp::zeros({1});
    const rp::ConvOptions<2> strided{.stride = 2};
    const rp::ConvTransposeOptions<2> transposed{.stride = 2};
    EXPECT_EQ(rp::conv2d(image, weight, bias, {}).shape(), (rp::Shape{1, 1, 7, 7}));
    EXPECT_EQ(rp::conv2d(image, weight, {}, {.padding = {1, 0}}).shape(), (rp::Shape{1, 1, 9, 7}));
    EXPECT_EQ(rp::conv2d(image, weight, bias, strided).shape(), (rp::Shape{1, 1, 4, 4}));
    EXPECT_EQ(rp::conv2d(image, weight, strided).shape(), (rp::Shape{1, 1, 4, 4}));
    EXPECT_EQ(rp::conv2d(image, weight, {.padding = "same"}).shape(), (rp::Shape{1, 1, 9, 9}));
    EXPECT_EQ(rp::conv2d(image, weight, {}).shape(), (rp::Shape{1, 1, 7, 7}));
    EXPECT_EQ(rp::conv_transpose2d(image, weight, bias, {}).shape(), (rp::Shape{1, 1, 11, 11}));
    EXPECT_EQ(rp::conv_transpose2d(image, weight, bias, {.stride = 2}).shape(), (rp::Shape{1, 1, 19, 19}));
    EXPECT_EQ(rp::conv_transpose2d(image, weight, {}, transposed).shape(), (rp::Shape{1, 1, 19, 19}));
    EXPECT_EQ(rp::conv_transpose2d(image, weight, transposed).shape(), (rp::Shape{1, 1, 19, 19}));
}

TEST(Windows, OfModulesOfConvolutions)
{
    const rp::Tensor image = rp::ones({1, 1, 9, 9});
    EXPECT_EQ(nn::Conv2d(1, 8, 3, {2, 2})(image).shape(), (rp::Shape{1, 8, 4, 4}));
    EXPECT_EQ(nn::Conv2d(1, 8, {3, 3}, {2, 1})(image).shape(), (rp::Shape{1, 8, 4, 7}));
    EXPECT_EQ(nn::Conv2d(1, 8, {3, 1})(image).shape(), (rp::Shape{1, 8, 7, 9}));
    EXPECT_EQ(nn::Conv2d(1, 8, 3, {.stride = 2})(image).shape(), (rp::Shape{1, 8, 4, 4}));
    EXPECT_EQ(nn::Conv2d(1, 8, 3, {})(image).shape(), (rp::Shape{1, 8, 7, 7}));
    EXPECT_EQ(nn::Conv2d(1, 8, 3, 1, "same")(image).shape(), (rp::Shape{1, 8, 9, 9}));
    EXPECT_EQ(nn::Conv3d(1, 2, 3, {1, 2, 2})(rp::ones({1, 1, 9, 9, 9})).shape(), (rp::Shape{1, 2, 7, 4, 4}));
    EXPECT_EQ(nn::ConvTranspose2d(1, 8, 3, {2, 2})(image).shape(), (rp::Shape{1, 8, 19, 19}));
    EXPECT_EQ(nn::ConvTranspose2d(1, 8, 3, {.stride = 2})(image).shape(), (rp::Shape{1, 8, 19, 19}));
    EXPECT_EQ(nn::ConvTranspose2d(1, 8, 3)(image).shape(), (rp::Shape{1, 8, 11, 11}));
}

// The kernel's size, the stride and the padding, as in PyTorch; a list alone is the kernel's size, as in libtorch.
TEST(Windows, OfModulesOfPooling)
{
    const rp::Tensor line = rp::ones({1, 1, 8}), image = rp::ones({1, 1, 8, 8}),
                     space = rp::ones({1, 1, 8, 8, 8});
    EXPECT_EQ(nn::MaxPool2d(2)(image).shape(), (rp::Shape{1, 1, 4, 4}));
    EXPECT_EQ(nn::MaxPool2d(2, 2)(image).shape(), (rp::Shape{1, 1, 4, 4}));
    EXPECT_EQ(nn::MaxPool2d(3, 1)(image).shape(), (rp::Shape{1, 1, 6, 6}));
    EXPECT_EQ(nn::MaxPool2d(3, 2, 1)(image).shape(), (rp::Shape{1, 1, 4, 4}));
    EXPECT_EQ(nn::MaxPool2d({2, 1})(image).shape(), (rp::Shape{1, 1, 4, 8}));
    EXPECT_EQ(nn::MaxPool2d({2})(image).shape(), (rp::Shape{1, 1, 4, 4}));
    EXPECT_EQ(nn::MaxPool2d({2, 1}, {1, 2})(image).shape(), (rp::Shape{1, 1, 7, 4}));
    EXPECT_EQ((nn::MaxPool2d{3, 1})(image).shape(), (rp::Shape{1, 1, 6, 6}));
    EXPECT_EQ(nn::MaxPool2d(3, {.stride = 1})(image).shape(), (rp::Shape{1, 1, 6, 6}));
    EXPECT_EQ(nn::MaxPool2d(3, {})(image).shape(), (rp::Shape{1, 1, 2, 2}));
    EXPECT_EQ(nn::MaxPool2d({.kernel_size = 3, .stride = 1})(image).shape(), (rp::Shape{1, 1, 6, 6}));
    EXPECT_EQ(nn::MaxPool1d({2})(line).shape(), (rp::Shape{1, 1, 4}));
    EXPECT_EQ(nn::MaxPool1d(2, 1)(line).shape(), (rp::Shape{1, 1, 7}));
    EXPECT_EQ(nn::MaxPool3d(3, 2, 1)(space).shape(), (rp::Shape{1, 1, 4, 4, 4}));
    EXPECT_EQ(nn::MaxPool3d({4, 2, 1})(space).shape(), (rp::Shape{1, 1, 2, 4, 8}));
    EXPECT_EQ(nn::AvgPool2d(2, 2)(image).shape(), (rp::Shape{1, 1, 4, 4}));
    EXPECT_EQ(nn::AvgPool2d({2, 1})(image).shape(), (rp::Shape{1, 1, 4, 8}));
    EXPECT_EQ(nn::AvgPool2d(3, {.stride = 1})(image).shape(), (rp::Shape{1, 1, 6, 6}));
    EXPECT_EQ(nn::AvgPool3d(3, 2, 1)(space).shape(), (rp::Shape{1, 1, 4, 4, 4}));
    const auto [y, places] = nn::MaxPool2d(2, 2).forward_with_indices(image);
    EXPECT_EQ(nn::MaxUnpool2d(2, 2)(y, places).shape(), image.shape());
    EXPECT_EQ(nn::MaxUnpool2d({2, 2})(y, places).shape(), image.shape());
    EXPECT_THROW(nn::MaxPool3d({2, 2}), rp::Error); // two sizes for three dimensions
}

TEST(Windows, AreIntegersOfAnyType)
{
    const std::size_t n = 3;
    const std::int64_t m = 3;
    const rp::Tensor x = rp::ones({1, 1, 3, 3, 3});
    EXPECT_EQ(nn::Conv3d(1, 8, {n, n, n})(x).shape(), (rp::Shape{1, 8, 1, 1, 1}));
    EXPECT_EQ(nn::Conv3d(1, 8, {n, m, 3})(x).shape(), (rp::Shape{1, 8, 1, 1, 1}));
    EXPECT_EQ(nn::Conv3d(1, 8, n)(x).shape(), (rp::Shape{1, 8, 1, 1, 1}));
    EXPECT_EQ(nn::Conv3d(1, 8, x.size(2))(x).shape(), (rp::Shape{1, 8, 1, 1, 1}));
    EXPECT_EQ(nn::Conv3d(1, 8, {x.size(2), 3, n})(x).shape(), (rp::Shape{1, 8, 1, 1, 1}));
    EXPECT_EQ(nn::MaxPool3d({x.size(2), 3, n})(x).shape(), (rp::Shape{1, 1, 1, 1, 1}));
    EXPECT_THROW(nn::MaxPool2d(~std::size_t{0}), rp::Error);
}

// A floating number is no size.
static_assert(std::is_constructible_v<nn::Conv2d, int, int, int>);
static_assert(std::is_constructible_v<nn::Conv2d, int, int, std::size_t>);
static_assert(!std::is_constructible_v<nn::Conv2d, int, int, double>);
static_assert(!std::is_constructible_v<nn::Conv2d, int, int, int, float>);
static_assert(!std::is_constructible_v<nn::MaxPool2d, double>);
static_assert(!std::is_constructible_v<rp::WindowSizes<2>, int, double>);
static_assert(!std::is_convertible_v<double, rp::WindowStrides<2>>);
static_assert(!std::is_convertible_v<double, rp::WindowPadding<2>>);

} // namespace
