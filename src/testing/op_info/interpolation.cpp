// Interpolation, pixels in channels, padding with elements of the tensor.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

using Integers = std::vector<std::int64_t>;
using Call = Tensor (*)(const Tensor&);

Sample sample(const char* what, Shape x, Call call, Integers sizes = {0, 1, 4})
{
    return {.what = what,
            .arguments = {arg(std::move(x))},
            .call = [call](const Inputs& in) { return std::vector{call(in[0])}; },
            .sizes = std::move(sizes)};
}

std::vector<Sample> nearest_samples()
{
    return {sample("nearest to a size", {n(), 2, 3, 5},
                   [](const Tensor& x) {
                       return interpolate(x, {.size = {7, 4}});
                   }),
            sample("nearest by a factor, symbolic sizes", {2, 1, n() + 2, n() * 3 + 2},
                   [](const Tensor& x) {
                       return interpolate(x, {.scale_factor = {1.5, 0.625}});
                   }),
            sample("nearest by factors that nearly keep or double", {2, 1, n() + 2, n() + 3},
                   [](const Tensor& x) {
                       return interpolate(x, {.scale_factor = {1.125, 2.125}});
                   }),
            sample("nearest_exact of volumes", {1, n(), 2, 3, 4},
                   [](const Tensor& x) {
                       return interpolate(x, {.size = {3, 5, 2}, .mode = Interpolation::nearest_exact});
                   }),
            sample("nearest of lines, twice", {n(), 2, 5},
                   [](const Tensor& x) { return interpolate(x, {.scale_factor = {2}}); }),
            sample("area", {n(), 2, 5, 6}, [](const Tensor& x) {
                return interpolate(x, {.size = {3, 4}, .mode = Interpolation::area});
            })};
}

std::vector<Sample> linear_samples()
{
    return {sample("linear", {n(), 2, 6},
                   [](const Tensor& x) {
                       return interpolate(x, {.scale_factor = {1.7}, .mode = Interpolation::linear});
                   }),
            sample("bilinear, symbolic sizes", {2, 1, n() + 2, n() * 2 + 2},
                   [](const Tensor& x) {
                       return interpolate(x, {.scale_factor = {2, 0.75}, .mode = Interpolation::bilinear});
                   }),
            sample("bilinear with corners, symbolic sizes", {2, 1, n() + 1, 5},
                   [](const Tensor& x) {
                       return interpolate(x, {.size = {x.size(2) * 2 - 1, x.size(2)},
                                              .mode = Interpolation::bilinear,
                                              .align_corners = true});
                   }),
            sample("bilinear, smaller", {n(), 2, 9, 11},
                   [](const Tensor& x) {
                       return interpolate(x, {.size = {4, 3}, .mode = Interpolation::bilinear});
                   }),
            sample("one element with corners", {n(), 2, 1, 4},
                   [](const Tensor& x) {
                       return interpolate(
                           x, {.size = {5, 1}, .mode = Interpolation::bilinear, .align_corners = true});
                   }),
            sample("bicubic", {n(), 1, 4, 5},
                   [](const Tensor& x) {
                       return interpolate(x, {.size = {7, 3}, .mode = Interpolation::bicubic});
                   }),
            sample("bicubic with corners, symbolic sizes", {1, 2, n() + 1, 3},
                   [](const Tensor& x) {
                       return interpolate(x, {.size = {x.size(2) + 3, 8},
                                              .mode = Interpolation::bicubic,
                                              .align_corners = true});
                   }),
            sample("trilinear", {1, n(), 2, 3, 4}, [](const Tensor& x) {
                return interpolate(x, {.scale_factor = {1.5}, .mode = Interpolation::trilinear});
            })};
}

void add_interpolate(std::vector<OpInfo>& rows)
{
    OpInfo row{.name = "interpolate",
               .is_op = false,
               .mistakes = {{"neither size nor factor",
                             [] {
                                 interpolate(ones({1, 1, 4}), {});
                             },
                             ErrorKind::argument, "one of size (0 entries) and scale_factor (0 entries)"},
                            {"both",
                             [] {
                                 interpolate(ones({1, 1, 4}), {.size = {2}, .scale_factor = {2}});
                             },
                             ErrorKind::argument, "one of size (1"},
                            {"a mode for images",
                             [] {
                                 interpolate(ones({1, 1, 4}), {.size = {2}, .mode = Interpolation::bilinear});
                             },
                             ErrorKind::shape, "(bilinear) is for inputs of (4) dimensions"},
                            {"corners of nearest",
                             [] {
                                 interpolate(ones({1, 1, 4}), {.size = {2}, .align_corners = true});
                             },
                             ErrorKind::argument, "align_corners is not for the mode (nearest)"},
                            {"too many sizes",
                             [] {
                                 interpolate(ones({1, 1, 4}), {.size = {2, 2}});
                             },
                             ErrorKind::argument, "(2) entries in size for (1)"},
                            {"nothing",
                             [] {
                                 interpolate(ones({1, 1, 4}), {.size = {0}});
                             },
                             ErrorKind::shape, "(4 and 0) must be at least 1"},
                            {"a negative factor",
                             [] {
                                 interpolate(ones({1, 1, 4}), {.scale_factor = {-1}});
                             },
                             ErrorKind::argument, "(-1) must be above 0"},
                            {"integers",
                             [] {
                                 interpolate(ones({1, 1, 4}, {.dtype = i32}), {.size = {2}});
                             },
                             ErrorKind::dtype, "a floating dtype"}}};
    for (const auto& samples : {nearest_samples(), linear_samples()})
        row.samples.insert(row.samples.end(), samples.begin(), samples.end());
    rows.push_back(std::move(row));
}

void add_pixels(std::vector<OpInfo>& rows)
{
    rows.push_back(
        {.name = "pixel_shuffle",
         .is_op = false,
         .samples = {sample("squares of 4", {n(), 8, 3, 2},
                            [](const Tensor& x) { return pixel_shuffle(x, 2); }),
                     sample("symbolic sizes", {9, n(), n() + 1},
                            [](const Tensor& x) { return pixel_shuffle(x, 3); })},
         .mistakes = {{"channels",
                       [] {
                           pixel_shuffle(ones({1, 3, 2, 2}), 2);
                       },
                       ErrorKind::shape, "(3) of the input's shape ([1, 3, 2, 2]) must be a multiple of (4)"},
                      {"two dimensions",
                       [] {
                           pixel_shuffle(ones({4, 2}), 2);
                       },
                       ErrorKind::shape, "[..., channels, height, width]"},
                      {"no factor",
                       [] {
                           pixel_shuffle(ones({1, 4, 2, 2}), 0);
                       },
                       ErrorKind::argument, "(0) must be at least 1"}}});
    rows.push_back({.name = "pixel_unshuffle",
                    .is_op = false,
                    .samples = {sample("squares of 4", {n(), 2, 4, 6},
                                       [](const Tensor& x) { return pixel_unshuffle(x, 2); }),
                                sample("symbolic sizes", {2, 1, n() * 3, n() * 3 + 3},
                                       [](const Tensor& x) { return pixel_unshuffle(x, 3); })},
                    .mistakes = {{"the height",
                                  [] {
                                      pixel_unshuffle(ones({1, 1, 3, 2}), 2);
                                  },
                                  ErrorKind::shape, "height (3)"},
                                 {"the width",
                                  [] {
                                      pixel_unshuffle(ones({1, 1, 2, 3}), 2);
                                  },
                                  ErrorKind::shape, "width (3)"},
                                 {"no factor",
                                  [] {
                                      pixel_unshuffle(ones({1, 4, 2, 2}), -1);
                                  },
                                  ErrorKind::argument, "(-1)"}}});
}

void add_paddings(std::vector<OpInfo>& rows)
{
    rows.push_back(
        {.name = "pad_with_elements",
         .is_op = false,
         .samples = {sample("reflect", {2, n(), 4},
                            [](const Tensor& x) {
                                return pad(x, {3, 2}, PaddingMode::reflect);
                            }),
                     sample("reflect, symbolic sizes", {2, n() + 2, n() * 2 + 2},
                            [](const Tensor& x) {
                                return pad(x, {x.size(2) - 1, 1, 1, x.size(1) - 1}, PaddingMode::reflect);
                            }),
                     sample("reflect in volumes, cut off", {n(), 2, 3, 4, 5},
                            [](const Tensor& x) {
                                return pad(x, {-1, 2, 3, 0, 0, 2}, PaddingMode::reflect);
                            }),
                     sample("replicate", {n(), 2, 3, 4},
                            [](const Tensor& x) {
                                return pad(x, {5, 1, 0, 2}, PaddingMode::replicate);
                            }),
                     sample("replicate, symbolic amounts, cut off", {2, n() + 3},
                            [](const Tensor& x) {
                                return pad(x, {x.size(1), -2}, PaddingMode::replicate);
                            }),
                     sample("circular", {n(), 2, 3, 4},
                            [](const Tensor& x) {
                                return pad(x, {4, 1, 3, 3}, PaddingMode::circular);
                            }),
                     sample("circular in volumes, cut off", {1, n(), 2, 3, 4},
                            [](const Tensor& x) {
                                return pad(x, {-1, 2, 1, 3, 2, 0}, PaddingMode::circular);
                            }),
                     sample("a constant", {n(), 3},
                            [](const Tensor& x) {
                                return pad(x, {1, 1, 0, 2}, PaddingMode::constant, 0.5);
                            })},
         .mistakes = {{"more than there are",
                       [] {
                           pad(ones({1, 1, 4}), {4, 0}, PaddingMode::reflect);
                       },
                       ErrorKind::shape, "(4 and 0) are too much for the size (4)"},
                      {"more than all of them",
                       [] {
                           pad(ones({1, 1, 4}), {0, 5}, PaddingMode::circular);
                       },
                       ErrorKind::shape, "in the mode (circular)"},
                      {"of nothing",
                       [] {
                           pad(ones({1, 1, 0}), {1, 1}, PaddingMode::replicate);
                       },
                       ErrorKind::shape, "for the size (0)"},
                      {"of all dimensions",
                       [] {
                           pad(ones({4}), {1, 1}, PaddingMode::replicate);
                       },
                       ErrorKind::argument, "(2) amounts for the shape ([4])"},
                      {"an odd number",
                       [] {
                           pad(ones({1, 4}), {1}, PaddingMode::reflect);
                       },
                       ErrorKind::argument, "(1) amounts"}}});
}

} // namespace

void add_interpolation(std::vector<OpInfo>& rows)
{
    add_interpolate(rows);
    add_pixels(rows);
    add_paddings(rows);
}

} // namespace reprise::test
