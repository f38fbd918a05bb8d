// Interpolation, pixels in channels, padding with elements of the tensor.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

void add_interpolate(Rows& rows)
{
    rows.composed("interpolate");
    rows.sample("nearest to a size", {arg({n(), 2, 3, 5})}, {0, 1, 4}, [](const Tensor& x) {
        return interpolate(x, {.size = {7, 4}});
    });
    rows.sample("nearest by a factor, symbolic sizes", {arg({2, 1, n() + 2, n() * 3 + 2})}, {0, 1, 4},
                [](const Tensor& x) {
                    return interpolate(x, {.scale_factor = {1.5, 0.625}});
                });
    rows.sample("nearest by factors that nearly keep or double", {arg({2, 1, n() + 2, n() + 3})}, {0, 1, 4},
                [](const Tensor& x) {
                    return interpolate(x, {.scale_factor = {1.125, 2.125}});
                });
    rows.sample("nearest_exact of volumes", {arg({1, n(), 2, 3, 4})}, {0, 1, 4}, [](const Tensor& x) {
        return interpolate(x, {.size = {3, 5, 2}, .mode = Interpolation::nearest_exact});
    });
    rows.sample("nearest of lines, twice", {arg({n(), 2, 5})}, {0, 1, 4},
                [](const Tensor& x) { return interpolate(x, {.scale_factor = {2}}); });
    rows.sample("area", {arg({n(), 2, 5, 6})}, {0, 1, 4}, [](const Tensor& x) {
        return interpolate(x, {.size = {3, 4}, .mode = Interpolation::area});
    });
    rows.sample("linear", {arg({n(), 2, 6})}, {0, 1, 4}, [](const Tensor& x) {
        return interpolate(x, {.scale_factor = {1.7}, .mode = Interpolation::linear});
    });
    rows.sample("bilinear, symbolic sizes", {arg({2, 1, n() + 2, n() * 2 + 2})}, {0, 1, 4},
                [](const Tensor& x) {
                    return interpolate(x, {.scale_factor = {2, 0.75}, .mode = Interpolation::bilinear});
                });
    rows.sample("bilinear with corners, symbolic sizes", {arg({2, 1, n() + 1, 5})}, {0, 1, 4},
                [](const Tensor& x) {
                    return interpolate(x, {.size = {x.size(2) * 2 - 1, x.size(2)},
                                           .mode = Interpolation::bilinear,
                                           .align_corners = true});
                });
    rows.sample("bilinear, smaller", {arg({n(), 2, 9, 11})}, {0, 1, 4}, [](const Tensor& x) {
        return interpolate(x, {.size = {4, 3}, .mode = Interpolation::bilinear});
    });
    rows.sample("one element with corners", {arg({n(), 2, 1, 4})}, {0, 1, 4}, [](const Tensor& x) {
        return interpolate(x, {.size = {5, 1}, .mode = Interpolation::bilinear, .align_corners = true});
    });
    rows.sample("bicubic", {arg({n(), 1, 4, 5})}, {0, 1, 4}, [](const Tensor& x) {
        return interpolate(x, {.size = {7, 3}, .mode = Interpolation::bicubic});
    });
    rows.sample(
        "bicubic with corners, symbolic sizes", {arg({1, 2, n() + 1, 3})}, {0, 1, 4}, [](const Tensor& x) {
            return interpolate(
                x, {.size = {x.size(2) + 3, 8}, .mode = Interpolation::bicubic, .align_corners = true});
        });
    rows.sample("trilinear", {arg({1, n(), 2, 3, 4})}, {0, 1, 4}, [](const Tensor& x) {
        return interpolate(x, {.scale_factor = {1.5}, .mode = Interpolation::trilinear});
    });
    rows.mistake("neither size nor factor", ErrorKind::argument,
                 "one of size (0 entries) and scale_factor (0 entries)", [] {
                     interpolate(ones({1, 1, 4}), {});
                 });
    rows.mistake("both", ErrorKind::argument, "one of size (1", [] {
        interpolate(ones({1, 1, 4}), {.size = {2}, .scale_factor = {2}});
    });
    rows.mistake("a mode for images", ErrorKind::shape, "(bilinear) is for inputs of (4) dimensions", [] {
        interpolate(ones({1, 1, 4}), {.size = {2}, .mode = Interpolation::bilinear});
    });
    rows.mistake("corners of nearest", ErrorKind::argument, "align_corners is not for the mode (nearest)",
                 [] {
                     interpolate(ones({1, 1, 4}), {.size = {2}, .align_corners = true});
                 });
    rows.mistake("too many sizes", ErrorKind::argument, "(2) entries in size for (1)", [] {
        interpolate(ones({1, 1, 4}), {.size = {2, 2}});
    });
    rows.mistake("nothing", ErrorKind::shape, "(4 and 0) must be at least 1", [] {
        interpolate(ones({1, 1, 4}), {.size = {0}});
    });
    rows.mistake("a negative factor", ErrorKind::argument, "(-1) must be above 0", [] {
        interpolate(ones({1, 1, 4}), {.scale_factor = {-1}});
    });
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype", [] {
        interpolate(ones({1, 1, 4}, {.dtype = i32}), {.size = {2}});
    });
}

void add_pixels(Rows& rows)
{
    rows.composed("pixel_shuffle");
    rows.sample("squares of 4", {arg({n(), 8, 3, 2})}, {0, 1, 4},
                [](const Tensor& x) { return pixel_shuffle(x, 2); });
    rows.sample("symbolic sizes", {arg({9, n(), n() + 1})}, {0, 1, 4},
                [](const Tensor& x) { return pixel_shuffle(x, 3); });
    rows.mistake("channels", ErrorKind::shape,
                 "(3) of the input's shape ([1, 3, 2, 2]) must be a multiple of (4)", [] {
                     pixel_shuffle(ones({1, 3, 2, 2}), 2);
                 });
    rows.mistake("two dimensions", ErrorKind::shape, "[..., channels, height, width]", [] {
        pixel_shuffle(ones({4, 2}), 2);
    });
    rows.mistake("no factor", ErrorKind::argument, "(0) must be at least 1", [] {
        pixel_shuffle(ones({1, 4, 2, 2}), 0);
    });

    rows.composed("pixel_unshuffle");
    rows.sample("squares of 4", {arg({n(), 2, 4, 6})}, {0, 1, 4},
                [](const Tensor& x) { return pixel_unshuffle(x, 2); });
    rows.sample("symbolic sizes", {arg({2, 1, n() * 3, n() * 3 + 3})}, {0, 1, 4},
                [](const Tensor& x) { return pixel_unshuffle(x, 3); });
    rows.mistake("the height", ErrorKind::shape, "height (3)", [] {
        pixel_unshuffle(ones({1, 1, 3, 2}), 2);
    });
    rows.mistake("the width", ErrorKind::shape, "width (3)", [] { pixel_unshuffle(ones({1, 1, 2, 3}), 2); });
    rows.mistake("no factor", ErrorKind::argument, "(-1)", [] { pixel_unshuffle(ones({1, 4, 2, 2}), -1); });
}

void add_paddings(Rows& rows)
{
    rows.composed("pad_with_elements");
    rows.sample("reflect", {arg({2, n(), 4})}, {0, 1, 4}, [](const Tensor& x) {
        return pad(x, {3, 2}, PaddingMode::reflect);
    });
    rows.sample("reflect, symbolic sizes", {arg({2, n() + 2, n() * 2 + 2})}, {0, 1, 4}, [](const Tensor& x) {
        return pad(x, {x.size(2) - 1, 1, 1, x.size(1) - 1}, PaddingMode::reflect);
    });
    rows.sample("reflect in volumes, cut off", {arg({n(), 2, 3, 4, 5})}, {0, 1, 4}, [](const Tensor& x) {
        return pad(x, {-1, 2, 3, 0, 0, 2}, PaddingMode::reflect);
    });
    rows.sample("replicate", {arg({n(), 2, 3, 4})}, {0, 1, 4}, [](const Tensor& x) {
        return pad(x, {5, 1, 0, 2}, PaddingMode::replicate);
    });
    rows.sample("replicate, symbolic amounts, cut off", {arg({2, n() + 3})}, {0, 1, 4}, [](const Tensor& x) {
        return pad(x, {x.size(1), -2}, PaddingMode::replicate);
    });
    rows.sample("circular", {arg({n(), 2, 3, 4})}, {0, 1, 4}, [](const Tensor& x) {
        return pad(x, {4, 1, 3, 3}, PaddingMode::circular);
    });
    rows.sample("circular in volumes, cut off", {arg({1, n(), 2, 3, 4})}, {0, 1, 4}, [](const Tensor& x) {
        return pad(x, {-1, 2, 1, 3, 2, 0}, PaddingMode::circular);
    });
    rows.sample("a constant", {arg({n(), 3})}, {0, 1, 4}, [](const Tensor& x) {
        return pad(x, {1, 1, 0, 2}, PaddingMode::constant, 0.5);
    });
    rows.mistake("more than there are", ErrorKind::shape, "(4 and 0) are too much for the size (4)", [] {
        pad(ones({1, 1, 4}), {4, 0}, PaddingMode::reflect);
    });
    rows.mistake("more than all of them", ErrorKind::shape, "in the mode (circular)", [] {
        pad(ones({1, 1, 4}), {0, 5}, PaddingMode::circular);
    });
    rows.mistake("of nothing", ErrorKind::shape, "for the size (0)", [] {
        pad(ones({1, 1, 0}), {1, 1}, PaddingMode::replicate);
    });
    rows.mistake("of all dimensions", ErrorKind::argument, "(2) amounts for the shape ([4])", [] {
        pad(ones({4}), {1, 1}, PaddingMode::replicate);
    });
    rows.mistake("an odd number", ErrorKind::argument, "(1) amounts", [] {
        pad(ones({1, 4}), {1}, PaddingMode::reflect);
    });
}

} // namespace

void add_interpolation(Rows& rows)
{
    add_interpolate(rows);
    add_pixels(rows);
    add_paddings(rows);
}

} // namespace reprise::test
