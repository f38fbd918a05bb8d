// Images: grid_sample, fold, and more kinds of padding and pooling.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

void add_grids(Rows& rows)
{
    using Mode = GridSampleMode;
    using Padding = GridSamplePadding;
    // Positions avoid integers, where derivatives jump.
    const auto sample = [&](const char* what, Shape x, Shape grid, GridSampleOptions o, double reach = 1.37) {
        Argument positions = arg(std::move(grid), -reach, reach);
        positions.differentiable = o.mode != Mode::nearest;
        rows.sample(what, {arg(std::move(x)), positions}, {0, 1, 3},
                    [o](const Inputs& in) { return grid_sample(in[0], in[1], o); });
    };
    const Shape image{n(), 2, 5, 6}, grid{n(), 3, 4, 2}, volume{n(), 2, 3, 4, 5}, places{n(), 2, 2, 3, 3};

    rows.composed("grid_sample").tolerance = 2e-5;
    sample("bilinear", image, grid, {});
    sample("bilinear, corners", image, grid, {.align_corners = true});
    sample("bilinear, border", image, grid, {.padding_mode = Padding::border});
    sample("bilinear, reflection", image, grid, {.padding_mode = Padding::reflection}, 3.1);
    sample("bilinear, reflection, corners", image, grid,
           {.padding_mode = Padding::reflection, .align_corners = true}, 3.1);
    sample("nearest", image, grid, {.mode = Mode::nearest});
    sample("nearest, border", image, grid, {.mode = Mode::nearest, .padding_mode = Padding::border});
    sample("bicubic", image, grid, {.mode = Mode::bicubic});
    sample("bicubic, border", image, grid,
           {.mode = Mode::bicubic, .padding_mode = Padding::border, .align_corners = true});
    sample("bicubic, reflection", image, grid, {.mode = Mode::bicubic, .padding_mode = Padding::reflection});
    sample("volumes", volume, places, {});
    sample("volumes, nearest", volume, places, {.mode = Mode::nearest, .padding_mode = Padding::border});
    sample("an image of unknown size", {2, 3, n() + 1, 4}, {2, 2, n(), 2}, {});
    rows.mistake("a grid of three numbers", ErrorKind::shape, "[1, 2, 2, 3]", [] {
        grid_sample(ones({1, 1, 2, 2}), ones({1, 2, 2, 3}));
    });
    rows.mistake("another batch", ErrorKind::shape, "[2, 2, 2, 2]", [] {
        grid_sample(ones({1, 1, 2, 2}), ones({2, 2, 2, 2}));
    });
    rows.mistake("bicubic volumes", ErrorKind::argument, "bicubic", [] {
        grid_sample(ones({1, 1, 2, 2, 2}), ones({1, 2, 2, 2, 3}), {.mode = GridSampleMode::bicubic});
    });
    rows.mistake("an empty image", ErrorKind::shape, "no elements", [] {
        grid_sample(ones({1, 1, 0, 2}), ones({1, 2, 2, 2}));
    });
    rows.mistake("two dtypes", ErrorKind::dtype, "(f32 and f16)", [] {
        grid_sample(ones({1, 1, 2, 2}), ones({1, 2, 2, 2}, {.dtype = f16}));
    });

    rows.composed("affine_grid").tolerance = 5e-6;
    rows.sample("planes and volumes", {arg({n(), 2, 3}), arg({n(), 3, 4})}, [](const Inputs& in) {
        const Dim& images = in[0].size(0);
        return std::vector{affine_grid(in[0], {images, 1, 3, 4}), affine_grid(in[0], {images, 2, 1, 4}, true),
                           affine_grid(in[1], {images, 1, 2, 3, 2}, true)};
    });
    rows.sample("of unknown size", {arg({2, 2, 3}), fixed(arg({n(), 2}))}, [](const Inputs& in) {
        return std::vector{affine_grid(in[0], {2, 1, in[1].size(0), 3}),
                           affine_grid(in[0], {2, 1, in[1].size(0), 3}, true)};
    });
    rows.mistake("another shape", ErrorKind::shape, "[1, 3, 3]", [] {
        affine_grid(ones({1, 3, 3}), {1, 1, 2, 2});
    });
}

void add_images(Rows& rows)
{
    rows.composed("max_unpool").tolerance = 5e-6;
    rows.sample(
        "of one to three dimensions", {arg({n(), 2, 8}), arg({n(), 2, 4, 6}), arg({n(), 1, 4, 2, 4})},
        [](const Inputs& in) {
            const auto [a, at] = max_pool1d_with_indices(in[0], {});
            const auto [b, bt] = max_pool2d_with_indices(in[1], {});
            const auto [c, ct] = max_pool3d_with_indices(in[2], {});
            return std::vector{max_unpool1d(a * 2, at, 2), max_unpool2d(b, bt, 2), max_unpool3d(c, ct, 2)};
        });
    rows.sample("of a given size", {arg({2, n(), 5, 7})}, [](const Inputs& in) {
        const auto [y, at] = max_pool2d_with_indices(in[0], {.stride = {2, 3}});
        return max_unpool2d(y, at, {.stride = {2, 3}, .output_size = Shape{5, 7}});
    });
    rows.mistake("indices of another shape", ErrorKind::shape, "[1, 1, 3]", [] {
        max_unpool1d(ones({1, 1, 2}), zeros({1, 1, 3}, {.dtype = i32}), 2);
    });
    rows.mistake("a size of two dimensions", ErrorKind::argument, "[2, 2]", [] {
        max_unpool1d(ones({1, 1, 2}), zeros({1, 1, 2}, {.dtype = i32}), {.output_size = Shape{2, 2}});
    });

    rows.composed("avg_pool_dilated").tolerance = 5e-6;
    rows.sample("planes", {arg({n(), 2, 7, 8})}, [](const Inputs& in) {
        return std::vector{
            avg_pool2d(in[0],
                       {.kernel_size = {3, 2}, .stride = {2, 1}, .padding = {1, 1}, .dilation = {2, 3}}),
            avg_pool2d(in[0],
                       {.stride = {2, 3}, .padding = {1, 1}, .count_include_pad = false, .dilation = {2, 2}}),
            avg_pool2d(in[0],
                       {.stride = {3, 3}, .ceil_mode = true, .divisor_override = 3, .dilation = {3, 1}}),
            avg_pool2d(in[0], {.stride = {3, 2}, .padding = {1, 1}, .ceil_mode = true, .dilation = {3, 2}})};
    });
    rows.sample("lines and volumes", {arg({2, n(), 9}), arg({n(), 1, 3, 4, 5})}, [](const Inputs& in) {
        return std::vector{avg_pool1d(in[0], {.dilation = {3}}),
                           avg_pool3d(in[1], {.stride = {1, 1, 1}, .dilation = {2, 1, 3}})};
    });
    rows.sample("a line of unknown length", {arg({2, 3, n() + 4})}, [](const Inputs& in) {
        return avg_pool1d(in[0], {.stride = {2}, .padding = {1}, .dilation = {2}});
    });

    rows.composed("max_pool_of_integers").tolerance = 5e-6;
    rows.sample(
        "narrow ones", {of(u8, arg({n(), 2, 5, 6}, 0, 255)), of(i8, arg({n(), 2, 9}, -128, 127))},
        [](const Inputs& in) {
            const auto [y, at] = max_pool2d_with_indices(in[0], {.kernel_size = {3, 3}, .padding = {1, 1}});
            return std::vector{y, at, max_pool1d(in[1], 2), adaptive_max_pool2d(in[0], 2)};
        });
    rows.mistake("i32", ErrorKind::dtype, "a floating dtype", [] {
        max_pool1d(zeros({1, 1, 4}, {.dtype = i32}), 2);
    });
    rows.last().differentiable = false;

    rows.composed("pad_of_integers").tolerance = 5e-6;
    rows.sample("by elements",
                {whole({2, n() + 3, 5}, -99, 99), of(u8, arg({n(), 2, 4}, 0, 255)), truth({1, n() + 2})},
                [](const Inputs& in) {
                    std::vector<Tensor> out;
                    for (const PaddingMode mode :
                         {PaddingMode::reflect, PaddingMode::replicate, PaddingMode::circular}) {
                        out.push_back(pad(in[0], {2, 1, 1, 2}, mode));
                        out.push_back(pad(in[1], {3, -1}, mode));
                        out.push_back(pad(in[2], {0, 1}, mode));
                    }
                    return out;
                });
    rows.last().differentiable = false;
}

void add_channels(Rows& rows)
{
    rows.composed("channel_shuffle").tolerance = 5e-6;
    rows.sample("groups", {arg({n(), 6, 2})}, [](const Inputs& in) {
        return std::vector{channel_shuffle(in[0], 2), channel_shuffle(in[0], 6)};
    });
    rows.mistake("no such groups", ErrorKind::shape, "(4)", [] { channel_shuffle(ones({1, 6}), 4); });

    rows.composed("local_response_norm").tolerance = 5e-6;
    rows.sample("images and lines", {arg({n(), 5, 2, 3}), arg({2, 4, n()})}, {1, 3, 8}, [](const Inputs& in) {
        return std::vector{local_response_norm(in[0], 3), local_response_norm(in[0], 2, 0.5, 0.6, 2),
                           local_response_norm(in[1], 5, 0.1)};
    });
    rows.mistake("no channels", ErrorKind::shape, "[2, 3]", [] { local_response_norm(ones({2, 3}), 3); });
    rows.mistake("no neighbours", ErrorKind::argument, "(0)", [] {
        local_response_norm(ones({1, 2, 3}), 0);
    });
}

} // namespace

void add_sampled(Rows& rows)
{
    add_grids(rows);
    add_images(rows);
    add_channels(rows);
}

} // namespace reprise::test
