// Convolutions of one to three dimensions, their gradients, transposed ones, unfold and fold.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

using Integers = std::vector<std::int64_t>;

struct Convolution {
    const char* what;
    Shape x, weight, dy;
    Integers stride, padding, dilation;
    std::int64_t groups = 1;
    std::vector<std::int64_t> sizes = {0, 1, 4};
    std::size_t rank() const { return stride.size(); }
};

std::vector<Convolution> convolutions()
{
    return {
        {"3x3 padded", {n(), 2, 8, 8}, {3, 2, 3, 3}, {n(), 3, 8, 8}, {1, 1}, {1, 1}, {1, 1}},
        {"odd sizes", {n(), 3, 5, 7}, {2, 3, 2, 3}, {n(), 2, 3, 3}, {2, 2}, {1, 0}, {1, 1}},
        {"1x1", {n(), 4, 3, 3}, {5, 4, 1, 1}, {n(), 5, 3, 3}, {1, 1}, {0, 0}, {1, 1}},
        {"3x3 with a stride", {n(), 3, 5, 16}, {5, 3, 3, 3}, {n(), 5, 3, 8}, {2, 2}, {1, 1}, {1, 1}},
        {"3x3 of odd rows", {n(), 2, 4, 7}, {3, 2, 3, 3}, {n(), 3, 4, 7}, {1, 1}, {1, 1}, {1, 1}},
        {"1x1 with a stride", {n(), 3, 3, 8}, {2, 3, 1, 1}, {n(), 2, 2, 4}, {2, 2}, {0, 0}, {1, 1}},
        {"a symbolic width",
         {2, 3, 6, n()},
         {2, 3, 3, 3},
         {2, 2, 6, n()},
         {1, 1},
         {1, 1},
         {1, 1},
         1,
         {1, 4, 5, 6, 36}},
        {"symbolic channels",
         {2, n(), 3, 4},
         {3, n(), 3, 3},
         {2, 3, 3, 4},
         {1, 1},
         {1, 1},
         {1, 1},
         1,
         {0, 1, 4, 9}},
        {"stride and padding larger than needed",
         {n(), 2, 7, 7},
         {3, 2, 2, 2},
         {n(), 3, 4, 3},
         {3, 4},
         {3, 2},
         {1, 1}},
        {"dilated", {n(), 2, 8, 8}, {3, 2, 3, 3}, {n(), 3, 8, 8}, {1, 1}, {2, 2}, {2, 2}},
        {"groups", {n(), 4, 5, 6}, {6, 2, 3, 3}, {n(), 6, 5, 6}, {1, 1}, {1, 1}, {1, 1}, 2},
        {"groups of whole texels",
         {n(), 8, 4, 4},
         {8, 4, 3, 3},
         {n(), 8, 4, 4},
         {1, 1},
         {1, 1},
         {1, 1},
         2,
         {1, 3}},
        {"groups, dilation and a stride",
         {n(), 6, 9, 8},
         {6, 2, 3, 2},
         {n(), 6, 5, 7},
         {2, 1},
         {2, 1},
         {2, 3},
         3},
        {"depthwise", {n(), 3, 6, 7}, {3, 1, 3, 3}, {n(), 3, 6, 7}, {1, 1}, {1, 1}, {1, 1}, 3},
        {"depthwise, two out of each",
         {n(), 3, 7, 6},
         {6, 1, 3, 2},
         {n(), 6, 4, 2},
         {2, 3},
         {1, 0},
         {1, 2},
         3,
         {0, 1, 4, 70}},
        {"depthwise, a symbolic height",
         {2, 2, n() + 1, 5},
         {4, 1, 3, 3},
         {2, 4, n() + 1, 5},
         {1, 1},
         {1, 1},
         {1, 1},
         2,
         {0, 1, 4, 9}},
        {"a line", {n(), 3, 10}, {4, 3, 3}, {n(), 4, 10}, {1}, {1}, {1}},
        {"a line, groups and a stride", {n(), 4, 11}, {6, 2, 4}, {n(), 6, 3}, {3}, {2}, {2}, 2},
        {"a line of unknown length", {2, 3, n() + 2}, {2, 3, 3}, {2, 2, n()}, {1}, {0}, {1}, 1, {1, 2, 8}},
        {"a depthwise line", {n(), 2, 9}, {2, 1, 4}, {n(), 2, 8}, {1}, {1}, {1}, 2},
        {"a volume",
         {n(), 2, 4, 3, 5},
         {3, 2, 3, 2, 3},
         {n(), 3, 4, 2, 5},
         {1, 1, 1},
         {1, 0, 1},
         {1, 1, 1},
         1,
         {0, 1, 2}},
        {"a flat volume",
         {n(), 2, 1, 4, 4},
         {3, 2, 1, 3, 3},
         {n(), 3, 1, 4, 4},
         {1, 1, 1},
         {0, 1, 1},
         {1, 1, 1}},
        {"a volume, all options",
         {n(), 4, 5, 4, 5},
         {4, 2, 2, 3, 2},
         {n(), 4, 3, 4, 2},
         {2, 1, 2},
         {1, 2, 0},
         {1, 2, 1},
         2,
         {0, 1, 2}},
        {"a depthwise volume",
         {n(), 2, 3, 4, 5},
         {4, 1, 2, 2, 3},
         {n(), 4, 4, 3, 5},
         {1, 1, 1},
         {1, 0, 1},
         {1, 1, 1},
         2},
        {"a volume of unknown depth",
         {1, 2, n() + 1, 3, 3},
         {2, 2, 2, 2, 2},
         {1, 2, n(), 2, 2},
         {1, 1, 1},
         {0, 0, 0},
         {1, 1, 1},
         1,
         {1, 3}},
    };
}

template <std::size_t N> ConvOptions<N> options(const Convolution& c)
{
    ConvOptions<N> o{.groups = c.groups};
    for (std::size_t i = 0; i < N; ++i) {
        o.stride[i] = c.stride[i];
        o.padding[i] = c.padding[i];
        o.dilation[i] = c.dilation[i];
    }
    return o;
}

Tensor forward(const Convolution& c, const Tensor& x, const Tensor& weight, const Tensor& bias = {})
{
    if (c.rank() == 1) return conv1d(x, weight, bias, options<1>(c));
    if (c.rank() == 2) return conv2d(x, weight, bias, options<2>(c));
    return conv3d(x, weight, bias, options<3>(c));
}

Tensor by_input(const Convolution& c, const Shape& size, const Tensor& weight, const Tensor& dy)
{
    if (c.rank() == 1) return conv1d_input(size, weight, dy, options<1>(c));
    if (c.rank() == 2) return conv2d_input(size, weight, dy, options<2>(c));
    return conv3d_input(size, weight, dy, options<3>(c));
}

Tensor by_weight(const Convolution& c, const Tensor& x, const Shape& size, const Tensor& dy)
{
    if (c.rank() == 1) return conv1d_weight(x, size, dy, options<1>(c));
    if (c.rank() == 2) return conv2d_weight(x, size, dy, options<2>(c));
    return conv3d_weight(x, size, dy, options<3>(c));
}

// `shape` with what n() is for a tensor of the shape `of`: sizes of rows are n() or n() plus a number.
Shape at_size(Shape shape, const Shape& of, const Tensor& t)
{
    Dim size = 0;
    for (std::size_t i = 0; i < of.size(); ++i)
        if (!of[i].is_constant()) size = t.size(static_cast<std::int64_t>(i)) - (of[i] - n());
    for (Dim& d : shape)
        if (!d.is_constant()) d = d - n() + size;
    return shape;
}

std::vector<Mistake> mistakes()
{
    return {
        {"two dimensions",
         [] {
             conv2d(ones({8, 8}), ones({3, 2, 3, 3}));
         },
         ErrorKind::shape, "[batch, channels, height, width]"},
        {"channels",
         [] {
             conv2d(ones({1, 4, 8, 8}), ones({3, 2, 3, 3}));
         },
         ErrorKind::shape, "(4) channels but the weight has (2)"},
        {"a bias of another size",
         [] {
             conv2d(ones({1, 2, 8, 8}), ones({3, 2, 3, 3}), ones({2}));
         },
         ErrorKind::shape, "(3) out channels"},
        {"a kernel larger than the image",
         [] {
             conv2d(ones({1, 2, 2, 2}), ones({3, 2, 3, 3}));
         },
         ErrorKind::shape, "3"},
        {"a dilated kernel larger than the padded line",
         [] {
             conv1d(ones({1, 2, 4}), ones({3, 2, 3}), {}, {.padding = 1, .dilation = 3});
         },
         ErrorKind::shape, "[conv1d] A window of kernel size (3) with dilation (3)"},
        {"a stride of 0",
         [] {
             conv2d(ones({1, 2, 8, 8}), ones({3, 2, 3, 3}), {}, {.stride = {0, 1}});
         },
         ErrorKind::argument, "stride"},
        {"two dtypes",
         [] {
             conv2d(ones({1, 2, 8, 8}), ones({3, 2, 3, 3}, {.dtype = f16}));
         },
         ErrorKind::dtype, "(f32 and f16)"},
        {"channels of groups",
         [] {
             conv3d(ones({1, 4, 3, 3, 3}), ones({4, 4, 3, 3, 3}), {}, {.groups = 2});
         },
         ErrorKind::shape,
         "[conv3d] The input has (4) channels but the weight has (4) for each of (2) groups"},
        {"out channels that do not divide",
         [] {
             conv2d(ones({1, 4, 3, 3}), ones({3, 2, 3, 3}), {}, {.groups = 2});
         },
         ErrorKind::shape, "(3) channels do not divide into (2) groups"},
        {"no group",
         [] {
             conv2d(ones({1, 4, 3, 3}), ones({3, 4, 3, 3}), {}, {.groups = 0});
         },
         ErrorKind::argument, "groups (0)"},
        {"a stride with the padding same",
         [] {
             conv2d(ones({1, 4, 3, 3}), ones({3, 4, 3, 3}), {}, {.stride = 2, .padding = "same"});
         },
         ErrorKind::argument, "does not go with the padding (same)"},
        {"a padding of another name",
         [] {
             conv2d(ones({1, 4, 3, 3}), ones({3, 4, 3, 3}), {}, {.padding = "full"});
         },
         ErrorKind::argument, "(full)"},
    };
}

// What no row of the list above says.
std::vector<Sample> more_samples()
{
    return {
        {.what = "with a bias",
         .arguments = {arg({n(), 2, 6, 6}), arg({3, 2, 3, 3}), arg({3})},
         .call = [](const Inputs& in) { return std::vector{conv2d(in[0], in[1], in[2])}; },
         .sizes = {0, 1, 4}},
        {.what = "depthwise with a bias",
         .arguments = {arg({n(), 2, 6, 6}), arg({4, 1, 3, 3}), arg({4})},
         .call = [](const Inputs& in) { return std::vector{conv2d(in[0], in[1], in[2], {.groups = 2})}; },
         .sizes = {0, 1, 4}},
        {.what = "without a batch",
         .arguments = {arg({3, n() + 2, 5}), arg({2, 3, 3, 3}), arg({2})},
         .call = [](const Inputs& in) { return std::vector{conv2d(in[0], in[1], in[2], {.padding = 1})}; },
         .sizes = {0, 1, 4}},
        {.what = "padding that keeps the size, kernels of odd and even sizes",
         .arguments = {arg({n(), 2, 5, 6}), arg({3, 2, 4, 3})},
         .call =
             [](const Inputs& in) {
                 return std::vector{conv2d(in[0], in[1], {}, {.padding = "same", .dilation = {1, 2}})};
             },
         .sizes = {0, 1, 4}},
        {.what = "a line in three dimensions",
         .arguments = {arg({n(), 2, 1, 1, 8}), arg({2, 2, 1, 1, 3}), arg({2})},
         .call =
             [](const Inputs& in) { return std::vector{conv3d(in[0], in[1], in[2], {.padding = "valid"})}; },
         .sizes = {1, 4}}};
}

void add_ops(std::vector<OpInfo>& rows)
{
    OpInfo y{.name = "convolution", .samples = more_samples(), .mistakes = mistakes(), .tolerance = 5e-6};
    OpInfo dx{.name = "convolution_input", .tolerance = 5e-6};
    OpInfo dweight{.name = "convolution_weight", .tolerance = 5e-6};
    for (const Convolution& c : convolutions()) {
        y.samples.push_back({.what = c.what,
                             .arguments = {arg(c.x), arg(c.weight)},
                             .call = [c](const Inputs& in) { return std::vector{forward(c, in[0], in[1])}; },
                             .sizes = c.sizes});
        if (!c.weight[1].is_constant() || c.dy[0].is_constant() == c.x[0].is_constant())
            dx.samples.push_back({.what = c.what,
                                  .arguments = {arg(c.dy), arg(c.weight)},
                                  .call =
                                      [c](const Inputs& in) {
                                          const bool channels = !c.weight[1].is_constant();
                                          const Shape size = channels ? at_size(c.x, c.weight, in[1])
                                                                      : at_size(c.x, c.dy, in[0]);
                                          return std::vector{by_input(c, size, in[1], in[0])};
                                      },
                                  .sizes = c.sizes});
        dweight.samples.push_back({.what = c.what,
                                   .arguments = {arg(c.dy), arg(c.x)},
                                   .call =
                                       [c](const Inputs& in) {
                                           const Shape size = at_size(c.weight, c.x, in[1]);
                                           return std::vector{by_weight(c, in[1], size, in[0])};
                                       },
                                   .sizes = c.sizes});
    }
    dx.mistakes = {{"an output of another size",
                    [] {
                        conv2d_input({1, 2, 8, 8}, ones({3, 2, 3, 3}), ones({1, 3, 5, 6}));
                    },
                    ErrorKind::shape, "[conv2d_input] The output's gradient has the shape ([1, 3, 5, 6])"},
                   {"padding without numbers",
                    [] {
                        conv1d_input({1, 2, 8}, ones({3, 2, 3}), ones({1, 3, 8}), {.padding = "same"});
                    },
                    ErrorKind::argument, "in numbers"},
                   {"channels",
                    [] {
                        conv1d_input({1, 3, 8}, ones({3, 2, 3}), ones({1, 3, 6}));
                    },
                    ErrorKind::shape, "[conv1d_input] The input has (3) channels"}};
    dweight.mistakes = {
        {"an output of another batch",
         [] {
             conv2d_weight(ones({2, 2, 8, 8}), {3, 2, 3, 3}, ones({1, 3, 6, 6}));
         },
         ErrorKind::shape, "[conv2d_weight] The output's gradient has the shape ([1, 3, 6, 6])"},
        {"a weight of three dimensions",
         [] {
             conv2d_weight(ones({2, 2, 8, 8}), {3, 2, 3}, ones({2, 3, 6, 6}));
         },
         ErrorKind::shape, "[conv2d_weight] The weight's shape ([3, 2, 3])"},
        {"two dtypes",
         [] {
             conv2d_weight(ones({2, 2, 8, 8}), {3, 2, 3, 3}, ones({2, 3, 6, 6}, {.dtype = f16}));
         },
         ErrorKind::dtype, "[conv2d_weight]"}};
    rows.insert(rows.end(), {y, dx, dweight});
}

void add_transposed(std::vector<OpInfo>& rows)
{
    const auto sizes = test::sizes({0, 1, 3});
    OpInfo row{.name = "conv_transpose", .is_op = false, .tolerance = 5e-6};
    const auto two = [](const ConvTransposeOptions<2>& o) {
        return [o](const Inputs& in) {
            return std::vector{conv_transpose2d(in[0], in[1], in.size() > 2 ? in[2] : Tensor(), o)};
        };
    };
    row.samples = {
        {.what = "plain",
         .arguments = {arg({n(), 3, 4, 5}), arg({3, 2, 3, 3})},
         .call = two({}),
         .sizes = sizes},
        {.what = "a stride, padding, output padding and a bias",
         .arguments = {arg({n(), 2, 3, 4}), arg({2, 3, 3, 3}), arg({3})},
         .call = two({.stride = 2, .padding = 1, .output_padding = 1}),
         .sizes = sizes},
        {.what = "groups and a dilation",
         .arguments = {arg({n(), 4, 3, 4}), arg({4, 3, 2, 3}), arg({6})},
         .call = two({.stride = {3, 1}, .padding = {1, 2}, .groups = 2, .dilation = {1, 2}}),
         .sizes = sizes},
        {.what = "an output padding of more than the stride",
         .arguments = {arg({n(), 2, 3, 4}), arg({2, 2, 3, 3})},
         .call = two({.stride = {1, 2}, .padding = 2, .output_padding = {2, 3}, .dilation = {3, 4}}),
         .sizes = sizes},
        {.what = "depthwise",
         .arguments = {arg({n(), 3, 4, 4}), arg({3, 1, 4, 4})},
         .call = two({.stride = 2, .padding = 1, .groups = 3}),
         .sizes = sizes},
        {.what = "height and width unknown",
         .arguments = {arg({1, 2, n() + 1, n() + 2}), arg({2, 2, 3, 3}), arg({2})},
         .call = two({.stride = 2, .padding = 1, .output_padding = {1, 0}}),
         .sizes = {0, 1, 4}},
        {.what = "without a batch",
         .arguments = {arg({2, n() + 1, 3}), arg({2, 2, 3, 3}), arg({2})},
         .call = two({}),
         .sizes = sizes},
        {.what = "a line",
         .arguments = {arg({n(), 2, 5}), arg({2, 3, 4}), arg({3})},
         .call =
             [](const Inputs& in) {
                 return std::vector{conv_transpose1d(in[0], in[1], in[2], {.stride = 2, .padding = 1})};
             },
         .sizes = sizes},
        {.what = "a volume",
         .arguments = {arg({n(), 2, 2, 3, 2}), arg({2, 2, 3, 2, 2}), arg({2})},
         .call =
             [](const Inputs& in) {
                 return std::vector{conv_transpose3d(
                     in[0], in[1], in[2],
                     {.stride = {2, 1, 2}, .padding = {1, 0, 0}, .output_padding = {1, 0, 1}})};
             },
         .sizes = {0, 1, 2}}};
    row.mistakes = {
        {"channels",
         [] {
             conv_transpose2d(ones({1, 3, 4, 4}), ones({2, 3, 3, 3}));
         },
         ErrorKind::shape, "[conv_transpose2d] The input has (3) channels but the weight has (2)"},
        {"channels that do not divide",
         [] {
             conv_transpose2d(ones({1, 3, 4, 4}), ones({3, 3, 3, 3}), {}, {.groups = 2});
         },
         ErrorKind::shape, "(3) channels do not divide into (2) groups"},
        {"too much output padding",
         [] {
             conv_transpose1d(ones({1, 2, 4}), ones({2, 3, 3}), {}, {.stride = 2, .output_padding = 2});
         },
         ErrorKind::argument, "[conv_transpose1d] The output padding (2) must be less than the stride (2)"},
        {"a bias of another size",
         [] {
             conv_transpose2d(ones({1, 2, 4, 4}), ones({2, 3, 3, 3}), ones({2}));
         },
         ErrorKind::shape, "(3) out channels"},
        {"padding beyond the output",
         [] {
             conv_transpose2d(ones({1, 2, 1, 1}), ones({2, 3, 3, 3}), {}, {.padding = 2});
         },
         ErrorKind::shape, "negative"},
        {"two dtypes",
         [] {
             conv_transpose2d(ones({1, 2, 1, 1}), ones({2, 3, 3, 3}, {.dtype = f16}));
         },
         ErrorKind::dtype, "[conv_transpose2d]"}};
    rows.push_back(row);
}

void add_unfold(std::vector<OpInfo>& rows)
{
    const auto sizes = test::sizes({0, 1, 3});
    rows.push_back(
        {.name = "unfold",
         .samples = {{.what = "overlapping",
                      .arguments = {arg({n(), 2, 5, 6})},
                      .call = [](const Inputs& in) { return std::vector{unfold(in[0], 3)}; },
                      .sizes = sizes},
                     {.what = "all options",
                      .arguments = {arg({n(), 3, 7, 8})},
                      .call =
                          [](const Inputs& in) {
                              return std::vector{unfold(
                                  in[0], {2, 3}, {.dilation = {3, 1}, .padding = {1, 2}, .stride = {2, 1}})};
                          },
                      .sizes = sizes},
                     {.what = "without a batch, of unknown width",
                      .arguments = {arg({2, 3, n() + 2})},
                      .call = [](const Inputs& in) { return std::vector{unfold(in[0], 2)}; },
                      .sizes = {0, 1, 6}}},
         .mistakes = {{"two dimensions",
                       [] {
                           unfold(ones({3, 4}), 2);
                       },
                       ErrorKind::shape, "[batch, channels, height, width]"},
                      {"a window larger than the image",
                       [] {
                           unfold(ones({1, 1, 3, 4}), 4);
                       },
                       ErrorKind::shape, "[unfold] A window of kernel size (4)"},
                      {"a stride of 0",
                       [] {
                           unfold(ones({1, 1, 3, 4}), 2, {.stride = {1, 0}});
                       },
                       ErrorKind::argument, "stride (0)"}}});
    rows.push_back(
        {.name = "fold",
         .samples = {{.what = "overlapping",
                      .arguments = {arg({n(), 18, 12})},
                      .call =
                          [](const Inputs& in) {
                              return std::vector{fold(in[0], {5, 6}, 3)};
                          },
                      .sizes = sizes},
                     {.what = "all options",
                      .arguments = {arg({n(), 12, 30})},
                      .call =
                          [](const Inputs& in) {
                              return std::vector{
                                  fold(in[0], {7, 8}, {2, 3},
                                       {.dilation = {3, 1}, .padding = {1, 2}, .stride = {2, 1}})};
                          },
                      .sizes = sizes},
                     {.what = "without a batch, of unknown width",
                      .arguments = {arg({8, n() * 2 + 2})},
                      .call =
                          [](const Inputs& in) {
                              return std::vector{fold(in[0], {3, floor_div(in[0].size(1), 2) + 1}, 2)};
                          },
                      .sizes = {0, 1, 6}}},
         .mistakes = {{"a number of windows",
                       [] {
                           fold(ones({1, 4, 5}), {3, 3}, 2);
                       },
                       ErrorKind::shape, "(5) windows but an image of ([3, 3]) has (2 x 2)"},
                      {"channels",
                       [] {
                           fold(ones({1, 5, 4}), {3, 3}, 2);
                       },
                       ErrorKind::shape, "multiple of the (4) elements"},
                      {"four dimensions",
                       [] {
                           fold(ones({1, 1, 4, 4}), {3, 3}, 2);
                       },
                       ErrorKind::shape, "windows]"}}});
}

} // namespace

void add_convolution(std::vector<OpInfo>& rows)
{
    add_ops(rows);
    add_transposed(rows);
    add_unfold(rows);
}

} // namespace reprise::test
