// Interpolation and padding with elements against PyTorch's values, and what no row can say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "known_values.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using namespace reprise::test;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Interpolation, FollowsPyTorch)
{
    const std::vector<Known> known{
        {"nearest to a size",
         image,
         [](const Tensor& x) {
             return interpolate(x, {.size = {5, 8}, .mode = Interpolation::nearest});
         },
         {2, 2, 7, 7, 1, 8, 8, 2, 2, 2, 7, 7, 1, 8, 8, 2, 8, 8, 1, 1,
          8, 2, 2, 8, 8, 8, 1, 1, 8, 2, 2, 8, 4, 4, 5, 5, 9, 0, 0, 4},
         {22, 30, 18, 42, 24, 86, 94, 50, 106, 56, 67, 71, 37, 77, 40}},
        {"nearest by 1.7",
         image,
         [](const Tensor& x) {
             return interpolate(x, {.scale_factor = {1.7}, .mode = Interpolation::nearest});
         },
         {2, 2, 7, 7, 1, 1, 8, 2, 2, 2, 7, 7, 1, 1, 8, 2, 8, 8, 1, 1,
          8, 8, 2, 8, 8, 8, 1, 1, 8, 8, 2, 8, 4, 4, 5, 5, 9, 9, 0, 4},
         {22, 30, 38, 22, 24, 86, 94, 102, 54, 56, 67, 71, 75, 39, 40}},
        {"nearest by 0.6",
         image,
         [](const Tensor& x) {
             return interpolate(x, {.scale_factor = {0.6}, .mode = Interpolation::nearest});
         },
         {2, 7, 8},
         {1, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
        {"nearest exact to a size",
         image,
         [](const Tensor& x) {
             return interpolate(x, {.size = {5, 8}, .mode = Interpolation::nearest_exact});
         },
         {2, 2, 7, 1, 1, 8, 2, 2, 2, 2, 7, 1, 1, 8, 2, 2, 8, 8, 1, 8,
          8, 2, 8, 8, 4, 4, 5, 9, 9, 0, 4, 4, 4, 4, 5, 9, 9, 0, 4, 4},
         {22, 14, 34, 20, 46, 35, 19, 41, 22, 47, 118, 62, 130, 68, 142}},
        {"nearest exact by 1.7",
         image,
         [](const Tensor& x) {
             return interpolate(x, {.scale_factor = {1.7}, .mode = Interpolation::nearest_exact});
         },
         {2, 2, 7, 1, 1, 8, 8, 2, 2, 2, 7, 1, 1, 8, 8, 2, 8, 8, 1, 8,
          8, 2, 2, 8, 4, 4, 5, 9, 9, 0, 0, 4, 4, 4, 5, 9, 9, 0, 0, 4},
         {22, 14, 34, 42, 24, 35, 19, 41, 45, 24, 118, 62, 130, 138, 72}},
        {"linear to a size",
         line,
         [](const Tensor& x) {
             return interpolate(narrow(x, 2, 0, 6), {.size = {7}, .mode = Interpolation::linear});
         },
         {3, 1.428571f, 2.928571f, 2.5f, 2.428572f, 5.857143f, 9},
         {1.428571f, 2.642857f, 3.928572f, 5.214285f, 6.5f, 8.285715f}},
        {"linear to a size with corners",
         line,
         [](const Tensor& x) {
             return interpolate(narrow(x, 2, 0, 6),
                                {.size = {7}, .mode = Interpolation::linear, .align_corners = true});
         },
         {3, 1.333333f, 3, 2.5f, 2.333333f, 5.666666f, 9},
         {1.333333f, 2.666667f, 4, 5.333334f, 6.666667f, 7.999999f}},
        {"linear by 1.7",
         line,
         [](const Tensor& x) {
             return interpolate(narrow(x, 2, 0, 6), {.scale_factor = {1.7}, .mode = Interpolation::linear});
         },
         {3, 2.235294f, 1.058823f, 2.676471f, 3.558823f, 1.794117f, 2.294118f, 4.64706f, 7, 9},
         {2.323529f, 5.441176f, 8.088234f, 10.58824f, 14.05883f, 14.5f}},
        {"linear by 0.6",
         line,
         [](const Tensor& x) {
             return interpolate(narrow(x, 2, 0, 6), {.scale_factor = {0.6}, .mode = Interpolation::linear});
         },
         {2.333333f, 4, 3.666666f},
         {0.6666667f, 0.3333333f, 2, 1, 2, 0}},
        {"bilinear to a size",
         image,
         [](const Tensor& x) {
             return interpolate(x, {.size = {5, 8}, .mode = Interpolation::bilinear});
         },
         {2,      4.1875f, 6.625f,  2.875f,    3.1875f,   7.5625f, 4.625f,  2,       4.4f,    4.4875f,
          4.55f,  4.05f,   4.3625f, 5.487499f, 4.925f,    4.4f,    8,       4.9375f, 1.4375f, 5.8125f,
          6.125f, 2.375f,  5.375f,  8,         5.599999f, 4.6375f, 3.725f,  6.975f,  6.1625f, 1.2875f,
          3.5f,   5.6f,    4,       4.4375f,   5.25f,     7.75f,   6.1875f, 0.5625f, 2.25f,   4},
         {10.9f, 16, 18, 24.5f, 26.6f, 48.82499f, 57.4875f, 55.34999f, 67.05f, 66.4875f, 75.90001f, 86.2f,
          80.4f, 94.7f, 91.60001f}},
        {"bilinear to a size with corners",
         image,
         [](const Tensor& x) {
             return interpolate(x, {.size = {5, 8}, .mode = Interpolation::bilinear, .align_corners = true});
         },
         {2, 4.857143f, 6.142857f, 2.714285f, 3.000001f, 7,         5.42857f,  2,
          5, 4.428571f, 4.071428f, 4.357143f, 4.642858f, 4.928571f, 5,         5,
          8, 4,         2,         6.000001f, 6.285714f, 2.857142f, 4.57143f,  8,
          6, 4.285714f, 3.785715f, 6.928572f, 6.357142f, 2.071428f, 3.142859f, 6,
          4, 4.571428f, 5.571429f, 7.857143f, 6.428571f, 1.285714f, 1.714287f, 4},
         {8.5f, 14.14286f, 18.42857f, 22.71428f, 22.21429f, 49.42857f, 64.57143f, 70.28571f, 76, 67.71429f,
          65.64285f, 82.71428f, 87, 91.28571f, 79.35715f}},
        {"bilinear by 1.7",
         image,
         [](const Tensor& x) {
             return interpolate(x, {.scale_factor = {1.7}, .mode = Interpolation::bilinear});
         },
         {2,         3.911765f, 6.852942f, 3.647058f, 2.029413f, 6.14706f,  6.058823f, 2.529411f,
          4.294118f, 4.451558f, 4.693772f, 4.130623f, 3.974914f, 5.168685f, 5.249135f, 4.418685f,
          7.82353f,  5.282007f, 1.371971f, 4.874568f, 6.967993f, 3.663493f, 4.00346f,  7.325261f,
          5.764706f, 4.797578f, 3.309689f, 6.210208f, 7.42993f,  2.914358f, 2.461938f, 5.333911f,
          4,         4.382353f, 4.970588f, 7.235294f, 7.67647f,  2.382351f, 1.294118f, 3.647059f},
         {12.74048f, 18.67128f, 22.39445f, 26.35294f, 22.42907f, 52.22404f, 62.10814f, 63.42473f, 67.0519f,
          53.19118f, 78.41782f, 89.95589f, 88.7396f, 91.30105f, 70.99742f}},
        {"bilinear by 0.6",
         image,
         [](const Tensor& x) {
             return interpolate(x, {.scale_factor = {0.6}, .mode = Interpolation::bilinear});
         },
         {4.333333f, 3.333333f, 4.666667f},
         {0.4444445f, 0.2222222f, 1.333333f, 0.666667f, 1.333333f, 0.2222222f, 0.1111111f, 0.6666666f,
          0.3333335f, 0.6666664f, 0, 0, 0, 0, 0}},
        {"bicubic to a size",
         image,
         [](const Tensor& x) {
             return interpolate(x, {.size = {5, 8}, .mode = Interpolation::bicubic});
         },
         {0.8528829f, 4.653462f, 7.446702f, 1.843088f, 2.29658f,  8.440965f,  5.164021f, 0.7600484f,
          4.637538f,  4.576038f, 4.33171f,  3.608053f, 4.257452f, 5.755493f,  5.307158f, 4.5046f,
          8.649841f,  4.426086f, 1.075867f, 6.265686f, 6.719177f, 2.070129f,  4.936646f, 8.557007f,
          6.259531f,  4.215754f, 3.220881f, 8.154915f, 6.943186f, 0.5642105f, 2.851539f, 6.507586f,
          3.451869f,  4.076162f, 5.666772f, 9.128706f, 6.600039f, 0.1227628f, 1.229284f, 3.969515f},
         {8.100257f, 12.88517f, 16.63952f, 21.62016f, 24.99498f, 46.74543f, 53.42656f, 55.977f, 62.65275f,
          64.59021f, 80.41313f, 88.27905f, 89.35403f, 97.01406f, 97.30785f}},
        {"bicubic to a size with corners",
         image,
         [](const Tensor& x) {
             return interpolate(x, {.size = {5, 8}, .mode = Interpolation::bicubic, .align_corners = true});
         },
         {2,       5.530612f, 6.575802f, 2.036442f, 2.453354f, 7.546651f,  6.215741f,  2,
          5.375f,  4.277695f, 3.57152f,  4.038174f, 4.689596f, 5.088466f,  5.348214f,  5.375f,
          8,       3.20408f,  1.374636f, 6.502917f, 6.919826f, 2.345479f,  3.889214f,  8,
          6.5625f, 3.464102f, 3.040088f, 8.156343f, 7.322522f, 1.098396f,  2.093842f,  6.5625f,
          4,       4.160349f, 5.680758f, 8.972303f, 6.887754f, 0.8265319f, 0.7346942f, 4},
         {4.279338f, 10.01704f, 14.13083f, 19.5164f, 16.6814f, 48.53317f, 74.58546f, 78.44387f, 89.36224f,
          67.82526f, 58.12045f, 85.87854f, 86.72558f, 95.37791f, 70.52251f}},
        {"bicubic by 1.7",
         image,
         [](const Tensor& x) {
             return interpolate(x, {.scale_factor = {1.7}, .mode = Interpolation::bicubic});
         },
         {0.8150804f, 4.180663f, 7.595248f, 3.120313f, 0.867132f, 7.074183f, 7.321291f,    1.973532f,
          4.478083f,  4.563361f, 4.538435f, 3.70204f,  3.752144f, 5.45714f,  5.75364f,     4.597929f,
          8.618251f,  4.94852f,  1.068874f, 4.904522f, 7.578655f, 3.184405f, 3.306285f,    7.503421f,
          6.561131f,  4.522984f, 2.720938f, 6.999928f, 8.472556f, 2.11459f,  1.184536f,    5.759478f,
          3.519156f,  4.029438f, 5.205579f, 8.537773f, 8.174384f, 1.807135f, -0.01850228f, 3.35466f},
         {9.285157f, 14.67501f, 19.43841f, 25.77286f, 18.61078f, 52.596f, 59.94009f, 64.14482f, 73.02853f,
          48.19349f, 82.23281f, 90.05695f, 93.03728f, 102.6673f, 66.32067f}},
        {"bicubic by 0.6",
         image,
         [](const Tensor& x) {
             return interpolate(x, {.scale_factor = {0.6}, .mode = Interpolation::bicubic});
         },
         {4.452676f, 3.14815f, 4.946502f},
         {0.4694787f, 0.2537723f, 1.218106f, 0.7613172f, 1.408436f, 0.2537723f, 0.1371742f, 0.6584356f,
          0.4115229f, 0.7613167f, -0.03806553f, -0.02057597f, -0.09876453f, -0.06172793f, -0.1141966f}},
    };
    for (const Known& k : known) expect_known(k);
}

TEST(PaddingWithElements, FollowsPyTorch)
{
    const std::vector<Known> known{
        {"reflect of a line",
         line,
         [](const Tensor& x) {
             return pad(narrow(x, 2, 0, 4), {2, 1}, PaddingMode::reflect);
         },
         {4, 1, 3, 1, 4, 1, 4},
         {3, 6, 13, 6}},
        {"reflect of an image",
         image,
         [](const Tensor& x) {
             return pad(x, {2, 3, 1, 2}, PaddingMode::reflect);
         },
         {8, 1, 8, 1, 8, 2, 8, 2, 8, 1, 1, 7, 2, 7, 1, 8, 2, 8, 1, 7, 8, 1, 8, 1, 8, 2, 8, 2, 8, 1,
          9, 5, 4, 5, 9, 0, 4, 0, 9, 5, 8, 1, 8, 1, 8, 2, 8, 2, 8, 1, 1, 7, 2, 7, 1, 8, 2, 8, 1, 7},
         {66, 212, 210, 148, 74, 69, 228, 225, 162, 81, 33, 106, 105, 74, 37}},
        {"reflect, cut off",
         line,
         [](const Tensor& x) {
             return pad(narrow(x, 2, 0, 4), {-1, 2}, PaddingMode::reflect);
         },
         {1, 4, 1, 4, 1},
         {0, 6, 6, 3}},
        {"replicate of a line",
         line,
         [](const Tensor& x) {
             return pad(narrow(x, 2, 0, 4), {2, 1}, PaddingMode::replicate);
         },
         {3, 3, 3, 1, 4, 1, 1},
         {6, 4, 5, 13}},
        {"replicate of an image",
         image,
         [](const Tensor& x) {
             return pad(x, {2, 3, 1, 2}, PaddingMode::replicate);
         },
         {2, 2, 2, 7, 1, 8, 2, 2, 2, 2, 2, 2, 2, 7, 1, 8, 2, 2, 2, 2, 8, 8, 8, 1, 8, 2, 8, 8, 8, 8,
          4, 4, 4, 5, 9, 0, 4, 4, 4, 4, 4, 4, 4, 5, 9, 0, 4, 4, 4, 4, 4, 4, 4, 5, 9, 0, 4, 4, 4, 4},
         {42, 18, 20, 22, 108, 66, 24, 25, 26, 114, 378, 132, 135, 138, 582}},
        {"replicate, cut off",
         line,
         [](const Tensor& x) {
             return pad(narrow(x, 2, 0, 4), {-1, 2}, PaddingMode::replicate);
         },
         {1, 4, 1, 1, 1},
         {0, 1, 2, 12}},
        {"circular of a line",
         line,
         [](const Tensor& x) {
             return pad(narrow(x, 2, 0, 4), {2, 1}, PaddingMode::circular);
         },
         {4, 1, 3, 1, 4, 1, 3},
         {10, 4, 6, 8}},
        {"circular of an image",
         image,
         [](const Tensor& x) {
             return pad(x, {2, 3, 1, 2}, PaddingMode::circular);
         },
         {0, 4, 4, 5, 9, 0, 4, 4, 5, 9, 8, 2, 2, 7, 1, 8, 2, 2, 7, 1, 2, 8, 8, 1, 8, 2, 8, 8, 1, 8,
          0, 4, 4, 5, 9, 0, 4, 4, 5, 9, 8, 2, 2, 7, 1, 8, 2, 2, 7, 1, 2, 8, 8, 1, 8, 2, 8, 8, 1, 8},
         {122, 126, 130, 114, 118, 162, 166, 170, 154, 158, 82, 86, 90, 74, 78}},
        {"circular, cut off",
         line,
         [](const Tensor& x) {
             return pad(narrow(x, 2, 0, 4), {-1, 2}, PaddingMode::circular);
         },
         {1, 4, 1, 1, 4},
         {0, 5, 7, 3}},
    };
    for (const Known& k : known) expect_known(k);
}

TEST(Interpolation, NoSizesMissAnElement) // the gradient's search of outputs finds all of them
{
    for (const Interpolation mode :
         {Interpolation::nearest, Interpolation::nearest_exact, Interpolation::linear})
        for (const std::int64_t from : {1, 2, 3, 7, 100, 257})
            for (const std::int64_t to : {1, 2, 5, 49, 100, 1000}) {
                const Variable x(ones({1, 1, from}));
                interpolate(x, {.size = {to}, .mode = mode}).backward(ones({1, 1, to}));
                EXPECT_NEAR(sum(x.grad()).item<float>(), static_cast<double>(to),
                            1e-4 * static_cast<double>(to))
                    << from << " to " << to;
            }
}

TEST(Interpolation, NothingComesBackOfNothing)
{
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const Interpolation mode :
         {Interpolation::nearest, Interpolation::bilinear, Interpolation::bicubic}) {
        const Variable x(full({1, 1, 3, 3}, nan));
        const Tensor y = interpolate(x, {.scale_factor = {2.5}, .mode = mode});
        y.backward(zeros(y.shape()));
        EXPECT_THAT(x.grad().to_vector<float>(), Each(0));
    }
}

// In planes only.  (PyTorch's gradients of lines and volumes are those of the rounded factors, its values are not.)
TEST(Interpolation, NearestInPlanesTakesSizesThatStayOrDoubleAsTheyAre)
{
    const Tensor x = arange(4, {.dtype = f32});
    const auto values = [&](const Shape& shape, std::vector<double> factors) {
        return interpolate(reshape(x, shape), {.scale_factor = std::move(factors)}).to_vector<float>();
    };
    EXPECT_THAT(values({1, 1, 1, 4}, {1, 1.1}), ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(values({1, 1, 1, 4}, {1, 2.1}), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
    EXPECT_THAT(values({1, 1, 4}, {1.1}), ElementsAre(0, 0, 1, 2));
    EXPECT_THAT(values({1, 1, 1, 1, 4}, {1, 1, 2.1}), ElementsAre(0, 0, 0, 1, 1, 2, 2, 3));
}

TEST(Interpolation, RefusesFactorsThatNoSymbolCanHave)
{
    const Dim length = symbol("length");
    const auto call = [](double factor) {
        return [factor](Tensor x) { return interpolate(x, {.scale_factor = {factor}}); };
    };
    const Program program = record(call(1.5), {spec({1, 1, length})});
    EXPECT_EQ(program(ones({1, 1, 5})).shape(), (Shape{1, 1, 7}));
    EXPECT_THAT(error_of([&] {
                    return record(call(0.3), {spec({1, 1, length})});
                }).text,
                HasSubstr("(0.3) of the symbolic size (length)"));
}

TEST(Pixels, AreShuffledAsInPyTorch)
{
    EXPECT_THAT(pixel_shuffle(reshape(arange(8, {.dtype = f32}), {1, 4, 1, 2}), 2).to_vector<float>(),
                ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
    EXPECT_THAT(pixel_unshuffle(reshape(arange(8, {.dtype = f32}), {1, 1, 2, 4}), 2).to_vector<float>(),
                ElementsAre(0, 2, 1, 3, 4, 6, 5, 7));
}

} // namespace
