// Pooling against PyTorch's values, and what no row can say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "known_values.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using namespace reprise::test;
using testing::Each;
using testing::ElementsAre;

const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();

TEST(Pooling, FollowsPyTorch)
{
    const std::vector<Known> known{
        {"max1d with ceil_mode",
         line,
         [](const Tensor& x) {
             return max_pool1d(x, {.kernel_size = {3}, .stride = {2}, .padding = {1}, .ceil_mode = true});
         },
         {3, 4, 9, 9, 6, 3},
         {1, 0, 2, 0, 0, 7, 0, 5, 0, 6}},
        {"max1d, no window in the padding",
         line,
         [](const Tensor& x) {
             return max_pool1d(narrow(x, 2, 0, 4),
                               {.kernel_size = {2}, .stride = {3}, .padding = {1}, .ceil_mode = true});
         },
         {3, 4},
         {1, 0, 2, 0, 0, 0, 0, 0, 0, 0}},
        {"max1d dilated",
         line,
         [](const Tensor& x) {
             return max_pool1d(
                 x, {.kernel_size = {3}, .stride = {2}, .padding = {1}, .dilation = {2}, .ceil_mode = true});
         },
         {1, 9, 9, 9, 6},
         {0, 1, 0, 0, 0, 9, 0, 5, 0, 0}},
        {"max2d with ceil_mode",
         image,
         [](const Tensor& x) { return max_pool2d(x, {.ceil_mode = true}); },
         {8, 8, 8, 5, 9, 4},
         {0, 0, 0, 2, 0, 1, 0, 0, 0, 3, 0, 4, 5, 0, 6}},
        {"max3d",
         volume,
         [](const Tensor& x) {
             return max_pool3d(x, {.stride = {1, 1, 2}, .padding = {0, 1, 0}, .ceil_mode = true});
         },
         {7, 10, 9, 10, 9, 9, 8, 7},
         {0, 1, 0, 6, 0, 0, 6, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 8}},
        {"avg1d, padding counts",
         line,
         [](const Tensor& x) {
             return avg_pool1d(x, {.kernel_size = {4}, .stride = {3}, .padding = {2}, .ceil_mode = true});
         },
         {1, 2.75f, 5.5f, 3.5f},
         {0.25f, 0.75f, 0.5f, 0.5f, 1.25f, 0.75f, 0.75f, 1.75f, 1, 1}},
        {"avg2d, padding counts",
         image,
         [](const Tensor& x) {
             return avg_pool2d(
                 x, {.kernel_size = {2, 3}, .stride = {2, 2}, .padding = {1, 1}, .ceil_mode = true});
         },
         {1.5f, 2.666667f, 1.666667f, 3, 4.166667f, 2.333333f},
         {0.1666667f, 0.5f, 0.3333333f, 0.8333334f, 0.5f, 0.6666667f, 1.5f, 0.8333333f, 1.833333f, 1,
          0.6666667f, 1.5f, 0.8333333f, 1.833333f, 1}},
        {"avg1d, padding does not count",
         line,
         [](const Tensor& x) {
             return avg_pool1d(x, {.kernel_size = {4},
                                   .stride = {3},
                                   .padding = {2},
                                   .ceil_mode = true,
                                   .count_include_pad = false});
         },
         {2, 2.75f, 5.5f, 4.666667f},
         {0.5f, 1, 0.5f, 0.5f, 1.25f, 0.75f, 0.75f, 2.083333f, 1.333333f, 1.333333f}},
        {"avg2d, padding does not count",
         image,
         [](const Tensor& x) {
             return avg_pool2d(x, {.kernel_size = {2, 3},
                                   .stride = {2, 2},
                                   .padding = {1, 1},
                                   .ceil_mode = true,
                                   .count_include_pad = false});
         },
         {4.5f, 5.333333f, 5, 4.5f, 4.166667f, 3.5f},
         {0.5f, 1.166667f, 0.6666667f, 2.166667f, 1.5f, 1, 1.833333f, 0.8333333f, 2.333333f, 1.5f, 1,
          1.833333f, 0.8333333f, 2.333333f, 1.5f}},
        {"avg2d with a divisor",
         image,
         [](const Tensor& x) {
             return avg_pool2d(x, {.kernel_size = {2, 3},
                                   .stride = {2, 2},
                                   .padding = {1, 1},
                                   .ceil_mode = true,
                                   .divisor_override = 5});
         },
         {1.8f, 3.2f, 2, 3.6f, 5, 2.8f},
         {0.2f, 0.6f, 0.4f, 1, 0.6f, 0.8f, 1.8f, 1, 2.2f, 1.2f, 0.8f, 1.8f, 1, 2.2f, 1.2f}},
        {"avg3d",
         volume,
         [](const Tensor& x) {
             return avg_pool3d(x, {.kernel_size = {2, 2, 3},
                                   .stride = {1, 2, 2},
                                   .padding = {0, 1, 1},
                                   .ceil_mode = true,
                                   .count_include_pad = false});
         },
         {4.25f, 6.5f, 8, 5, 4.5f, 3.25f},
         {0.25f, 0.5833334f, 0.3333333f, 1.833333f, 0.5f,  0.9166666f, 0.4166667f, 1.916667f,
          0.5f,  0.9166666f, 0.4166667f, 1.916667f, 0.25f, 0.5833334f, 0.3333333f, 1.833333f,
          0.5f,  0.9166666f, 0.4166667f, 1.916667f, 0.5f,  0.9166666f, 0.4166667f, 1.916667f}},
        {"adaptive averages",
         image,
         [](const Tensor& x) {
             return adaptive_avg_pool2d(x, {2, 3});
         },
         {4.5f, 4.5f, 5, 4.5f, 4.166667f, 3.5f},
         {0.25f, 0.5833334f, 0.3333333f, 1.083333f, 0.75f, 1.25f, 2.416667f, 1.166667f, 3.416667f, 2.25f, 1,
          1.833333f, 0.8333333f, 2.333333f, 1.5f}},
        {"adaptive maxima",
         image,
         [](const Tensor& x) {
             return adaptive_max_pool2d(x, {2, 3});
         },
         {8, 8, 8, 8, 9, 8},
         {0, 0, 0, 5, 0, 5, 0, 0, 0, 6, 0, 0, 5, 0, 0}},
        {"more outputs than inputs",
         line,
         [](const Tensor& x) { return adaptive_avg_pool1d(narrow(x, 2, 0, 3), 5); },
         {3, 2, 1, 2.5f, 4},
         {2, 6, 7, 0, 0, 0, 0, 0, 0, 0}},
        {"squares",
         image,
         [](const Tensor& x) { return lp_pool2d(x, 2, {.ceil_mode = true}); },
         {10.86278f, 11.53256f, 11.6619f, 9.055386f, 12.72792f, 8},
         {0.1841149f, 0.6444022f, 0.173422f, 1.387376f, 1.028992f, 0.7364597f, 0.09205746f, 1.387376f,
          0.346844f, 4.115966f, 3.533809f, 4.417261f, 7.071067f, 0, 12}},
    };
    for (const Known& k : known) expect_known(k);
}

TEST(Pooling, PlacesAreFlatInTheImage)
{
    const Tensor x = from_vector(volume.values, volume.shape), plane = from_vector(image.values, image.shape);
    const auto [y, places] =
        max_pool3d_with_indices(x, {.stride = {1, 1, 2}, .padding = {0, 1, 0}, .ceil_mode = true});
    EXPECT_THAT(places.to_vector<std::int32_t>(), ElementsAre(1, 3, 17, 3, 17, 6, 9, 23));
    EXPECT_EQ(places.dtype(), i32);
    EXPECT_THAT(max_pool2d_with_indices(plane, {.ceil_mode = true}).second.to_vector<std::int32_t>(),
                ElementsAre(5, 3, 9, 11, 12, 14));
    EXPECT_THAT(adaptive_max_pool2d_with_indices(plane, {2, 3}).second.to_vector<std::int32_t>(),
                ElementsAre(5, 3, 3, 5, 12, 9));
    EXPECT_THAT(adaptive_max_pool2d_with_indices(plane, {1, 1}).second.to_vector<std::int32_t>(),
                ElementsAre(12));
}

TEST(Pooling, NaNsWinAndAllTheLowestHaveAPlace)
{
    const Tensor x = from_vector<float>({1, nan, 3, -infinity, -infinity, -infinity}, {1, 1, 6});
    for (const auto& [y, places] :
         {max_pool1d_with_indices(x, {.kernel_size = {3}}), adaptive_max_pool1d_with_indices(x, 2)}) {
        const Floats values = y.to_vector<float>();
        EXPECT_TRUE(std::isnan(values[0]));
        EXPECT_EQ(values[1], -infinity);
        EXPECT_THAT(places.to_vector<std::int32_t>(), ElementsAre(1, 3));
    }
}

TEST(Pooling, AWindowOfPaddingAloneTakesNothing)
{
    const Variable x(from_vector<float>({5, 7}, {1, 2}));
    const auto [y, places] =
        max_pool1d_with_indices(x, {.kernel_size = {2}, .padding = {1}, .dilation = {3}});
    EXPECT_THAT(y.to_vector<float>(), ElementsAre(-infinity));
    EXPECT_THAT(places.to_vector<std::int32_t>(), ElementsAre(-1));
    y.backward(ones({1, 1}));
    EXPECT_THAT(x.grad().to_vector<float>(), ElementsAre(0, 0));
}

TEST(Pooling, WithCeilModeAWindowMayBeLargerThanTheLine)
{
    const Tensor x = from_vector<float>({5, 7}, {1, 2});
    EXPECT_THAT(max_pool1d(x, {.kernel_size = {3}, .ceil_mode = true}).to_vector<float>(), ElementsAre(7));
    EXPECT_THAT(avg_pool1d(x, {.kernel_size = {3}, .ceil_mode = true}).to_vector<float>(), ElementsAre(6));
    EXPECT_THROW(max_pool1d(x, {.kernel_size = {3}, .stride = {1}, .ceil_mode = true}), Error);
}

TEST(Pooling, NothingComesBackOfNothing)
{
    const Tensor wild = from_vector<float>({nan, infinity, -infinity, nan, 1, 2, 3, 4, infinity}, {1, 3, 3});
    for (const auto& call : std::vector<std::function<Tensor(const Tensor&)>>{
             [](const Tensor& x) {
                 return max_pool2d(x, {.stride = {1, 1}});
             },
             [](const Tensor& x) {
                 return avg_pool2d(x, {.stride = {1, 1}});
             },
             [](const Tensor& x) {
                 return adaptive_avg_pool2d(x, {2, 4});
             },
             [](const Tensor& x) { return global_max_pool2d(x); }}) {
        const Variable x(wild);
        const Tensor y = call(x);
        y.backward(zeros(y.shape()));
        EXPECT_THAT(x.grad().to_vector<float>(), Each(0));
    }
}

TEST(Pooling, ManyPlanesAndAnEmptyBatch)
{
    const Variable many(ones({3000, 7, 4, 6})), none(zeros({0, 3, 5, 5}));
    const Tensor averages = avg_pool2d(many, {.kernel_size = {3, 2}, .stride = {1, 2}});
    EXPECT_THAT(sum(averages).item<float>(), 3000 * 7 * 2 * 3);
    averages.backward(ones(averages.shape()));
    EXPECT_NEAR(sum(many.grad()).item<float>(), 3000 * 7 * 2 * 3, 0.5);
    const Tensor y = adaptive_max_pool2d(none, {2, 2});
    EXPECT_EQ(y.shape(), (Shape{0, 3, 2, 2}));
    y.backward(zeros({0, 3, 2, 2}));
    EXPECT_TRUE(none.grad().to_vector<float>().empty());
    EXPECT_EQ(adaptive_avg_pool2d(ones({2, 3, 3}), {0, 2}).shape(), (Shape{2, 0, 2}));
}

TEST(Pooling, RefusesWindowsThatKernelsCannotCount)
{
    const Tensor x = ones({1, 1, 8});
    for (const std::int64_t large : {std::int64_t{1} << 30, std::int64_t{1} << 32, std::int64_t{1} << 62}) {
        const std::vector<std::function<void()>> calls{
            [&] { max_pool1d(x, {.kernel_size = {2}, .stride = {large}}); },
            [&] { avg_pool1d(x, {.kernel_size = {2}, .stride = {large}}); },
            [&] { max_pool1d(x, {.kernel_size = {1}, .stride = {1}, .dilation = {large}}); },
            [&] { avg_pool1d(x, {.kernel_size = {large}, .stride = {1}, .padding = {large / 2}}); },
            [&] {
                conv1d(x, ones({1, 1, 2}), {}, {.stride = {large}});
            }};
        for (const auto& call : calls) {
            const Caught e = error_of(call);
            EXPECT_EQ(e.kind, ErrorKind::argument) << e.text;
            EXPECT_THAT(e.text,
                        testing::HasSubstr("(" + std::to_string(large) + ") must be below (1073741824)"));
        }
    }
    Tensor y = ones({1, 1, 8}).requires_grad_(); // the largest that is taken
    sum(max_pool1d(y, {.kernel_size = {2}, .stride = {(1 << 30) - 1}}) +
        avg_pool1d(y, {.kernel_size = {2}, .stride = {(1 << 30) - 1}}) * 4)
        .backward();
    EXPECT_THAT(y.grad().to_vector<float>(), ElementsAre(3, 2, 0, 0, 0, 0, 0, 0));
}

// lavapipe ends the loops of a shader after 65,535 iterations of all of them together.
TEST(Pooling, AveragesMoreElementsThanAnInvocationAdds)
{
    const auto check = [](const Shape& shape, const std::function<Tensor(const Tensor&)>& f, double each) {
        Tensor x = ones(shape).requires_grad_();
        const Tensor y = f(x);
        for (const float v : y.to_vector<float>()) ASSERT_FLOAT_EQ(v, 1);
        sum(y).backward();
        const std::vector<float> g = x.grad().to_vector<float>();
        EXPECT_NEAR(g.front(), each, each * 1e-5);
        EXPECT_NEAR(g.back(), each, each * 1e-5);
    };
    check(
        {1, 1, 600, 500},
        [](const Tensor& x) {
            return adaptive_avg_pool2d(x, std::array<Dim, 2>{2, 1});
        },
        1 / 150e3);
    check(
        {1, 1, 400, 400},
        [](const Tensor& x) {
            return avg_pool2d(x, {.kernel_size = {200, 400}});
        },
        1 / 80e3);
    check(
        {1, 1, 3, 4},
        [](const Tensor& x) {
            return adaptive_avg_pool2d(x, std::array<Dim, 2>{100'000, 1});
        },
        8333.375);
    check(
        {1, 1, 1, 4},
        [](const Tensor& x) {
            return adaptive_avg_pool2d(x, std::array<Dim, 2>{200'000, 2});
        },
        100e3);
}

// The same in a program, whose sizes decide at each call; the sums are those of eager code.
TEST(Pooling, AveragesManyElementsInAProgram)
{
    const Dim n = symbol("n");
    const auto f = [&](const Tensor& x) { return adaptive_avg_pool1d(x, 2); };
    const Program program = record(
        [&](Tensor x) {
            Tensor leaf = x.detach();
            leaf.requires_grad_();
            const Tensor y = f(leaf);
            return std::vector<Tensor>{y, grad(sum(y), leaf)};
        },
        {spec({1, 1, n})});
    for (const std::int64_t size : {7, 300'000, 4}) {
        Tensor x = cast(arange(size), f32);
        x = reshape(x / static_cast<double>(size), {1, 1, size});
        const std::vector<Tensor> found = program.call({x});
        EXPECT_EQ(found[0].to_vector<float>(), f(x).to_vector<float>()) << size;
        Tensor leaf = x.detach().requires_grad_();
        sum(f(leaf)).backward();
        EXPECT_EQ(found[1].to_vector<float>(), leaf.grad().to_vector<float>()) << size;
    }
}

TEST(AvgPool, TakesADivisorOfMoreThan32Bits)
{
    for (const std::int64_t divisor :
         {std::int64_t{1} << 40, -(std::int64_t{3} << 33), std::int64_t{1} << 32}) {
        const Variable x(from_vector(Floats{1, 2, 3, 4}, {1, 2, 2}));
        const Tensor y = avg_pool2d(x, {.kernel_size = {2, 2}, .divisor_override = divisor});
        const float by = static_cast<float>(divisor);
        EXPECT_FLOAT_EQ(y.item<float>(), 10 / by);
        y.backward(ones({1, 1, 1}));
        EXPECT_FLOAT_EQ(x.grad().to_vector<float>()[3], 1 / by);
    }
}

} // namespace
