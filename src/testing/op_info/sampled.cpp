// Images: read at any positions, put back, padded and pooled in further ways.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

OpInfo sampled_row(const char* name, std::vector<Sample> samples, std::vector<Mistake> mistakes = {},
                   double tolerance = 5e-6)
{
    return {.name = name,
            .is_op = false,
            .samples = std::move(samples),
            .mistakes = std::move(mistakes),
            .tolerance = tolerance};
}

void add_grids(std::vector<OpInfo>& rows)
{
    using Mode = GridSampleMode;
    using Padding = GridSamplePadding;
    // Positions keep away from whole numbers, where slopes jump.
    const auto sample = [](const char* what, Shape x, Shape grid, GridSampleOptions o, double reach = 1.37) {
        Sample s{.what = what,
                 .arguments = {arg(std::move(x)), arg(std::move(grid), -reach, reach)},
                 .call = [o](const Inputs& in) { return std::vector{grid_sample(in[0], in[1], o)}; },
                 .sizes = {0, 1, 3}};
        if (o.mode == Mode::nearest) s.arguments[1].differentiable = false;
        return s;
    };
    const Shape image{n(), 2, 5, 6}, grid{n(), 3, 4, 2}, volume{n(), 2, 3, 4, 5}, places{n(), 2, 2, 3, 3};
    rows.push_back(sampled_row(
        "grid_sample",
        {sample("bilinear", image, grid, {}),
         sample("bilinear, corners", image, grid, {.align_corners = true}),
         sample("bilinear, border", image, grid, {.padding_mode = Padding::border}),
         sample("bilinear, reflection", image, grid, {.padding_mode = Padding::reflection}, 3.1),
         sample("bilinear, reflection, corners", image, grid,
                {.padding_mode = Padding::reflection, .align_corners = true}, 3.1),
         sample("nearest", image, grid, {.mode = Mode::nearest}),
         sample("nearest, border", image, grid, {.mode = Mode::nearest, .padding_mode = Padding::border}),
         sample("bicubic", image, grid, {.mode = Mode::bicubic}),
         sample("bicubic, border", image, grid,
                {.mode = Mode::bicubic, .padding_mode = Padding::border, .align_corners = true}),
         sample("bicubic, reflection", image, grid,
                {.mode = Mode::bicubic, .padding_mode = Padding::reflection}),
         sample("volumes", volume, places, {}),
         sample("volumes, nearest", volume, places, {.mode = Mode::nearest, .padding_mode = Padding::border}),
         sample("an image of unknown size", {2, 3, n() + 1, 4}, {2, 2, n(), 2}, {})},
        {{"a grid of three numbers",
          [] {
              grid_sample(ones({1, 1, 2, 2}), ones({1, 2, 2, 3}));
          },
          ErrorKind::shape, "[1, 2, 2, 3]"},
         {"another batch",
          [] {
              grid_sample(ones({1, 1, 2, 2}), ones({2, 2, 2, 2}));
          },
          ErrorKind::shape, "[2, 2, 2, 2]"},
         {"bicubic volumes",
          [] {
              grid_sample(ones({1, 1, 2, 2, 2}), ones({1, 2, 2, 2, 3}), {.mode = GridSampleMode::bicubic});
          },
          ErrorKind::argument, "bicubic"},
         {"an empty image",
          [] {
              grid_sample(ones({1, 1, 0, 2}), ones({1, 2, 2, 2}));
          },
          ErrorKind::shape, "no elements"},
         {"two dtypes",
          [] {
              grid_sample(ones({1, 1, 2, 2}), ones({1, 2, 2, 2}, {.dtype = f16}));
          },
          ErrorKind::dtype, "(f32 and f16)"}},
        2e-5));
    rows.push_back(sampled_row("affine_grid",
                               {{.what = "planes and volumes",
                                 .arguments = {arg({n(), 2, 3}), arg({n(), 3, 4})},
                                 .call =
                                     [](const Inputs& in) {
                                         const Dim& images = in[0].size(0);
                                         return std::vector{affine_grid(in[0], {images, 1, 3, 4}),
                                                            affine_grid(in[0], {images, 2, 1, 4}, true),
                                                            affine_grid(in[1], {images, 1, 2, 3, 2}, true)};
                                     }},
                                {.what = "of unknown size",
                                 .arguments = {arg({2, 2, 3}), fixed(arg({n(), 2}))},
                                 .call =
                                     [](const Inputs& in) {
                                         return std::vector{
                                             affine_grid(in[0], {2, 1, in[1].size(0), 3}),
                                             affine_grid(in[0], {2, 1, in[1].size(0), 3}, true)};
                                     }}},
                               {{"another shape",
                                 [] {
                                     affine_grid(ones({1, 3, 3}), {1, 1, 2, 2});
                                 },
                                 ErrorKind::shape, "[1, 3, 3]"}}));
}

void add_images(std::vector<OpInfo>& rows)
{
    rows.push_back(sampled_row(
        "max_unpool",
        {{.what = "of one to three dimensions",
          .arguments = {arg({n(), 2, 8}), arg({n(), 2, 4, 6}), arg({n(), 1, 4, 2, 4})},
          .call =
              [](const Inputs& in) {
                  const auto [a, at] = max_pool1d_with_indices(in[0], {});
                  const auto [b, bt] = max_pool2d_with_indices(in[1], {});
                  const auto [c, ct] = max_pool3d_with_indices(in[2], {});
                  return std::vector{max_unpool1d(a * 2, at, 2), max_unpool2d(b, bt, 2),
                                     max_unpool3d(c, ct, 2)};
              }},
         {.what = "of a given size",
          .arguments = {arg({2, n(), 5, 7})},
          .call =
              [](const Inputs& in) {
                  const auto [y, at] = max_pool2d_with_indices(in[0], {.stride = {2, 3}});
                  return std::vector{max_unpool2d(y, at, {.stride = {2, 3}, .output_size = Shape{5, 7}})};
              }}},
        {{"indices of another shape",
          [] {
              max_unpool1d(ones({1, 1, 2}), zeros({1, 1, 3}, {.dtype = i32}), 2);
          },
          ErrorKind::shape, "[1, 1, 3]"},
         {"a size of two dimensions",
          [] {
              max_unpool1d(ones({1, 1, 2}), zeros({1, 1, 2}, {.dtype = i32}), {.output_size = Shape{2, 2}});
          },
          ErrorKind::argument, "[2, 2]"}}));
    rows.push_back(sampled_row(
        "avg_pool_dilated",
        {{.what = "planes",
          .arguments = {arg({n(), 2, 7, 8})},
          .call =
              [](const Inputs& in) {
                  return std::vector{
                      avg_pool2d(
                          in[0],
                          {.kernel_size = {3, 2}, .stride = {2, 1}, .padding = {1, 1}, .dilation = {2, 3}}),
                      avg_pool2d(in[0], {.stride = {2, 3},
                                         .padding = {1, 1},
                                         .count_include_pad = false,
                                         .dilation = {2, 2}}),
                      avg_pool2d(
                          in[0],
                          {.stride = {3, 3}, .ceil_mode = true, .divisor_override = 3, .dilation = {3, 1}}),
                      avg_pool2d(
                          in[0],
                          {.stride = {3, 2}, .padding = {1, 1}, .ceil_mode = true, .dilation = {3, 2}})};
              }},
         {.what = "lines and volumes",
          .arguments = {arg({2, n(), 9}), arg({n(), 1, 3, 4, 5})},
          .call =
              [](const Inputs& in) {
                  return std::vector{avg_pool1d(in[0], {.dilation = {3}}),
                                     avg_pool3d(in[1], {.stride = {1, 1, 1}, .dilation = {2, 1, 3}})};
              }},
         {.what = "a line of unknown length",
          .arguments = {arg({2, 3, n() + 4})},
          .call = [](const Inputs& in) {
              return std::vector{avg_pool1d(in[0], {.stride = {2}, .padding = {1}, .dilation = {2}})};
          }}}));
    OpInfo whole_pools =
        sampled_row("max_pool_of_integers",
                    {{.what = "narrow ones",
                      .arguments = {of(u8, arg({n(), 2, 5, 6}, 0, 255)), of(i8, arg({n(), 2, 9}, -128, 127))},
                      .call =
                          [](const Inputs& in) {
                              const auto [y, at] =
                                  max_pool2d_with_indices(in[0], {.kernel_size = {3, 3}, .padding = {1, 1}});
                              return std::vector{y, at, max_pool1d(in[1], 2), adaptive_max_pool2d(in[0], 2)};
                          }}},
                    {{"i32",
                      [] {
                          max_pool1d(zeros({1, 1, 4}, {.dtype = i32}), 2);
                      },
                      ErrorKind::dtype, "a floating dtype"}});
    whole_pools.differentiable = false;
    rows.push_back(whole_pools);
    OpInfo whole_pads = sampled_row(
        "pad_of_integers", {{.what = "by elements",
                             .arguments = {whole({2, n() + 3, 5}, -99, 99), of(u8, arg({n(), 2, 4}, 0, 255)),
                                           truth({1, n() + 2})},
                             .call = [](const Inputs& in) {
                                 std::vector<Tensor> out;
                                 for (const PaddingMode mode :
                                      {PaddingMode::reflect, PaddingMode::replicate, PaddingMode::circular}) {
                                     out.push_back(pad(in[0], {2, 1, 1, 2}, mode));
                                     out.push_back(pad(in[1], {3, -1}, mode));
                                     out.push_back(pad(in[2], {0, 1}, mode));
                                 }
                                 return out;
                             }}});
    whole_pads.differentiable = false;
    rows.push_back(whole_pads);
    rows.push_back(
        sampled_row("channel_shuffle",
                    {{.what = "groups",
                      .arguments = {arg({n(), 6, 2})},
                      .call =
                          [](const Inputs& in) {
                              return std::vector{channel_shuffle(in[0], 2), channel_shuffle(in[0], 6)};
                          }}},
                    {{"no such groups",
                      [] {
                          channel_shuffle(ones({1, 6}), 4);
                      },
                      ErrorKind::shape, "(4)"}}));
    rows.push_back(sampled_row("local_response_norm",
                               {{.what = "images and lines",
                                 .arguments = {arg({n(), 5, 2, 3}), arg({2, 4, n()})},
                                 .call =
                                     [](const Inputs& in) {
                                         return std::vector{local_response_norm(in[0], 3),
                                                            local_response_norm(in[0], 2, 0.5, 0.6, 2),
                                                            local_response_norm(in[1], 5, 0.1)};
                                     },
                                 .sizes = {1, 3, 8}}},
                               {{"no channels",
                                 [] {
                                     local_response_norm(ones({2, 3}), 3);
                                 },
                                 ErrorKind::shape, "[2, 3]"},
                                {"no neighbours",
                                 [] {
                                     local_response_norm(ones({1, 2, 3}), 0);
                                 },
                                 ErrorKind::argument, "(0)"}}));
}

} // namespace

void add_sampled(std::vector<OpInfo>& rows)
{
    add_grids(rows);
    add_images(rows);
}

} // namespace reprise::test
