// Convolutions of one to three dimensions, their gradients, transposed ones, unfold and fold.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

using Integers = std::vector<std::int64_t>;

struct Convolution {
    const char* what;
    Shape x, weight, dy;
    struct Options {
        Integers stride, padding, dilation; // empty: the defaults of ConvOptions
        std::int64_t groups = 1;
    } options;
    Integers sizes; // values of n()
    std::size_t rank() const { return x.size() - 2; }
};

std::vector<Convolution> convolutions()
{
    std::vector<Convolution> all;
    const auto add = [&](const char* what, Shape x, Shape weight, Shape dy, Convolution::Options options,
                         Integers sizes = {0, 1, 4}) {
        all.push_back(
            {what, std::move(x), std::move(weight), std::move(dy), std::move(options), std::move(sizes)});
    };
    add("3x3 padded", {n(), 2, 8, 8}, {3, 2, 3, 3}, {n(), 3, 8, 8}, {.padding = {1, 1}});
    add("odd sizes", {n(), 3, 5, 7}, {2, 3, 2, 3}, {n(), 2, 3, 3}, {.stride = {2, 2}, .padding = {1, 0}});
    add("1x1", {n(), 4, 3, 3}, {5, 4, 1, 1}, {n(), 5, 3, 3}, {});
    add("3x3 with a stride", {n(), 3, 5, 16}, {5, 3, 3, 3}, {n(), 5, 3, 8},
        {.stride = {2, 2}, .padding = {1, 1}});
    add("3x3 of odd rows", {n(), 2, 4, 7}, {3, 2, 3, 3}, {n(), 3, 4, 7}, {.padding = {1, 1}});
    add("1x1 with a stride", {n(), 3, 3, 8}, {2, 3, 1, 1}, {n(), 2, 2, 4}, {.stride = {2, 2}});
    add("a symbolic width", {2, 3, 6, n()}, {2, 3, 3, 3}, {2, 2, 6, n()}, {.padding = {1, 1}},
        {1, 4, 5, 6, 36});
    add("symbolic channels", {2, n(), 3, 4}, {3, n(), 3, 3}, {2, 3, 3, 4}, {.padding = {1, 1}}, {0, 1, 4, 9});
    add("stride and padding larger than needed", {n(), 2, 7, 7}, {3, 2, 2, 2}, {n(), 3, 4, 3},
        {.stride = {3, 4}, .padding = {3, 2}});
    add("dilated", {n(), 2, 8, 8}, {3, 2, 3, 3}, {n(), 3, 8, 8}, {.padding = {2, 2}, .dilation = {2, 2}});
    add("groups", {n(), 4, 5, 6}, {6, 2, 3, 3}, {n(), 6, 5, 6}, {.padding = {1, 1}, .groups = 2});
    add("groups of whole texels", {n(), 8, 4, 4}, {8, 4, 3, 3}, {n(), 8, 4, 4},
        {.padding = {1, 1}, .groups = 2}, {1, 3});
    add("groups, dilation and a stride", {n(), 6, 9, 8}, {6, 2, 3, 2}, {n(), 6, 5, 7},
        {.stride = {2, 1}, .padding = {2, 1}, .dilation = {2, 3}, .groups = 3});
    add("depthwise", {n(), 3, 6, 7}, {3, 1, 3, 3}, {n(), 3, 6, 7}, {.padding = {1, 1}, .groups = 3});
    add("depthwise, two out of each", {n(), 3, 7, 6}, {6, 1, 3, 2}, {n(), 6, 4, 2},
        {.stride = {2, 3}, .padding = {1, 0}, .dilation = {1, 2}, .groups = 3}, {0, 1, 4, 70});
    add("depthwise, a symbolic height", {2, 2, n() + 1, 5}, {4, 1, 3, 3}, {2, 4, n() + 1, 5},
        {.padding = {1, 1}, .groups = 2}, {0, 1, 4, 9});
    add("a line", {n(), 3, 10}, {4, 3, 3}, {n(), 4, 10}, {.padding = {1}});
    add("a line, groups and a stride", {n(), 4, 11}, {6, 2, 4}, {n(), 6, 3},
        {.stride = {3}, .padding = {2}, .dilation = {2}, .groups = 2});
    add("a line of unknown length", {2, 3, n() + 2}, {2, 3, 3}, {2, 2, n()}, {}, {1, 2, 8});
    add("a depthwise line", {n(), 2, 9}, {2, 1, 4}, {n(), 2, 8}, {.padding = {1}, .groups = 2});
    add("a volume", {n(), 2, 4, 3, 5}, {3, 2, 3, 2, 3}, {n(), 3, 4, 2, 5}, {.padding = {1, 0, 1}}, {0, 1, 2});
    add("a flat volume", {n(), 2, 1, 4, 4}, {3, 2, 1, 3, 3}, {n(), 3, 1, 4, 4}, {.padding = {0, 1, 1}});
    add("a volume, all options", {n(), 4, 5, 4, 5}, {4, 2, 2, 3, 2}, {n(), 4, 3, 4, 2},
        {.stride = {2, 1, 2}, .padding = {1, 2, 0}, .dilation = {1, 2, 1}, .groups = 2}, {0, 1, 2});
    add("a depthwise volume", {n(), 2, 3, 4, 5}, {4, 1, 2, 2, 3}, {n(), 4, 4, 3, 5},
        {.padding = {1, 0, 1}, .groups = 2});
    add("a volume of unknown depth", {1, 2, n() + 1, 3, 3}, {2, 2, 2, 2, 2}, {1, 2, n(), 2, 2}, {}, {1, 3});
    return all;
}

template <std::size_t N> ConvOptions<N> options(const Convolution& c)
{
    const Convolution::Options& given = c.options;
    ConvOptions<N> o{.groups = given.groups};
    for (std::size_t i = 0; i < N; ++i) {
        if (!given.stride.empty()) o.stride[i] = given.stride[i];
        if (!given.padding.empty()) o.padding[i] = given.padding[i];
        if (!given.dilation.empty()) o.dilation[i] = given.dilation[i];
    }
    return o;
}

Tensor forward(const Convolution& c, const Tensor& x, const Tensor& weight)
{
    if (c.rank() == 1) return conv1d(x, weight, {}, options<1>(c));
    if (c.rank() == 2) return conv2d(x, weight, {}, options<2>(c));
    return conv3d(x, weight, {}, options<3>(c));
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

// Returns `shape` with the value of n() that gives `t` its shape `of`: sizes are n() or n() plus a constant.
Shape at_size(Shape shape, const Shape& of, const Tensor& t)
{
    Dim size = 0;
    for (std::size_t i = 0; i < of.size(); ++i)
        if (!of[i].is_constant()) size = t.size(static_cast<std::int64_t>(i)) - (of[i] - n());
    for (Dim& d : shape)
        if (!d.is_constant()) d = d - n() + size;
    return shape;
}

void add_forward(Rows& rows)
{
    rows.op("convolution").tolerance = 5e-6;
    rows.sample("with a bias", {arg({n(), 2, 6, 6}), arg({3, 2, 3, 3}), arg({3})}, {0, 1, 4},
                [](const Inputs& in) { return conv2d(in[0], in[1], in[2]); });
    rows.sample("depthwise with a bias", {arg({n(), 2, 6, 6}), arg({4, 1, 3, 3}), arg({4})}, {0, 1, 4},
                [](const Inputs& in) { return conv2d(in[0], in[1], in[2], {.groups = 2}); });
    rows.sample("without a batch", {arg({3, n() + 2, 5}), arg({2, 3, 3, 3}), arg({2})}, {0, 1, 4},
                [](const Inputs& in) { return conv2d(in[0], in[1], in[2], {.padding = 1}); });
    rows.sample("padding that keeps the size, kernels of odd and even sizes",
                {arg({n(), 2, 5, 6}), arg({3, 2, 4, 3})}, {0, 1, 4}, [](const Inputs& in) {
                    return conv2d(in[0], in[1], {}, {.padding = "same", .dilation = {1, 2}});
                });
    rows.sample("a line in three dimensions", {arg({n(), 2, 1, 1, 8}), arg({2, 2, 1, 1, 3}), arg({2})},
                {1, 4}, [](const Inputs& in) { return conv3d(in[0], in[1], in[2], {.padding = "valid"}); });
    for (const Convolution& c : convolutions())
        rows.sample(c.what, {arg(c.x), arg(c.weight)}, c.sizes,
                    [c](const Tensor& x, const Tensor& weight) { return forward(c, x, weight); });
    rows.mistake("two dimensions", ErrorKind::shape, "[batch, channels, height, width]", [] {
        conv2d(ones({8, 8}), ones({3, 2, 3, 3}));
    });
    rows.mistake("channels", ErrorKind::shape, "(4) channels but the weight has (2)", [] {
        conv2d(ones({1, 4, 8, 8}), ones({3, 2, 3, 3}));
    });
    rows.mistake("a bias of another size", ErrorKind::shape, "(3) out channels", [] {
        conv2d(ones({1, 2, 8, 8}), ones({3, 2, 3, 3}), ones({2}));
    });
    rows.mistake("a kernel larger than the image", ErrorKind::shape, "3", [] {
        conv2d(ones({1, 2, 2, 2}), ones({3, 2, 3, 3}));
    });
    rows.mistake("a dilated kernel larger than the padded line", ErrorKind::shape,
                 "[conv1d] A window of kernel size (3) with dilation (3)", [] {
                     conv1d(ones({1, 2, 4}), ones({3, 2, 3}), {}, {.padding = 1, .dilation = 3});
                 });
    rows.mistake("a stride of 0", ErrorKind::argument, "stride", [] {
        conv2d(ones({1, 2, 8, 8}), ones({3, 2, 3, 3}), {}, {.stride = {0, 1}});
    });
    rows.mistake("two dtypes", ErrorKind::dtype, "(f32 and f16)", [] {
        conv2d(ones({1, 2, 8, 8}), ones({3, 2, 3, 3}, {.dtype = f16}));
    });
    rows.mistake("channels of groups", ErrorKind::shape,
                 "[conv3d] The input has (4) channels but the weight has (4) for each of (2) groups", [] {
                     conv3d(ones({1, 4, 3, 3, 3}), ones({4, 4, 3, 3, 3}), {}, {.groups = 2});
                 });
    rows.mistake("out channels that do not divide", ErrorKind::shape,
                 "(3) channels do not divide into (2) groups", [] {
                     conv2d(ones({1, 4, 3, 3}), ones({3, 2, 3, 3}), {}, {.groups = 2});
                 });
    rows.mistake("no group", ErrorKind::argument, "groups (0)", [] {
        conv2d(ones({1, 4, 3, 3}), ones({3, 4, 3, 3}), {}, {.groups = 0});
    });
    rows.mistake("a stride with the padding same", ErrorKind::argument, "does not go with the padding (same)",
                 [] {
                     conv2d(ones({1, 4, 3, 3}), ones({3, 4, 3, 3}), {}, {.stride = 2, .padding = "same"});
                 });
    rows.mistake("a padding of another name", ErrorKind::argument, "(full)", [] {
        conv2d(ones({1, 4, 3, 3}), ones({3, 4, 3, 3}), {}, {.padding = "full"});
    });
}

void add_by_input(Rows& rows)
{
    rows.op("convolution_input").tolerance = 5e-6;
    for (const Convolution& c : convolutions()) {
        const bool channels = !c.weight[1].is_constant();
        if (!channels && c.dy[0].is_constant() != c.x[0].is_constant()) continue;
        rows.sample(c.what, {arg(c.dy), arg(c.weight)}, c.sizes,
                    [c, channels](const Tensor& dy, const Tensor& weight) {
                        const Shape size = channels ? at_size(c.x, c.weight, weight) : at_size(c.x, c.dy, dy);
                        return by_input(c, size, weight, dy);
                    });
    }
    rows.mistake("an output of another size", ErrorKind::shape,
                 "[conv2d_input] The output's gradient has the shape ([1, 3, 5, 6])", [] {
                     conv2d_input({1, 2, 8, 8}, ones({3, 2, 3, 3}), ones({1, 3, 5, 6}));
                 });
    rows.mistake("padding without numbers", ErrorKind::argument, "in numbers", [] {
        conv1d_input({1, 2, 8}, ones({3, 2, 3}), ones({1, 3, 8}), {.padding = "same"});
    });
    rows.mistake("channels", ErrorKind::shape, "[conv1d_input] The input has (3) channels", [] {
        conv1d_input({1, 3, 8}, ones({3, 2, 3}), ones({1, 3, 6}));
    });
}

void add_by_weight(Rows& rows)
{
    rows.op("convolution_weight").tolerance = 5e-6;
    for (const Convolution& c : convolutions())
        rows.sample(c.what, {arg(c.dy), arg(c.x)}, c.sizes, [c](const Tensor& dy, const Tensor& x) {
            return by_weight(c, x, at_size(c.weight, c.x, x), dy);
        });
    rows.mistake("an output of another batch", ErrorKind::shape,
                 "[conv2d_weight] The output's gradient has the shape ([1, 3, 6, 6])", [] {
                     conv2d_weight(ones({2, 2, 8, 8}), {3, 2, 3, 3}, ones({1, 3, 6, 6}));
                 });
    rows.mistake("a weight of three dimensions", ErrorKind::shape,
                 "[conv2d_weight] The weight's shape ([3, 2, 3])", [] {
                     conv2d_weight(ones({2, 2, 8, 8}), {3, 2, 3}, ones({2, 3, 6, 6}));
                 });
    rows.mistake("two dtypes", ErrorKind::dtype, "[conv2d_weight]", [] {
        conv2d_weight(ones({2, 2, 8, 8}), {3, 2, 3, 3}, ones({2, 3, 6, 6}, {.dtype = f16}));
    });
}

void add_transposed(Rows& rows)
{
    const Integers sizes = {0, 1, 3};

    rows.composed("conv_transpose").tolerance = 5e-6;
    const auto two = [](const ConvTransposeOptions<2>& o) {
        return [o](const Inputs& in) {
            return std::vector{conv_transpose2d(in[0], in[1], in.size() > 2 ? in[2] : Tensor(), o)};
        };
    };
    rows.sample("plain", {arg({n(), 3, 4, 5}), arg({3, 2, 3, 3})}, sizes, two({}));
    rows.sample("a stride, padding, output padding and a bias",
                {arg({n(), 2, 3, 4}), arg({2, 3, 3, 3}), arg({3})}, sizes,
                two({.stride = 2, .padding = 1, .output_padding = 1}));
    rows.sample("groups and a dilation", {arg({n(), 4, 3, 4}), arg({4, 3, 2, 3}), arg({6})}, sizes,
                two({.stride = {3, 1}, .padding = {1, 2}, .groups = 2, .dilation = {1, 2}}));
    rows.sample("an output padding of more than the stride", {arg({n(), 2, 3, 4}), arg({2, 2, 3, 3})}, sizes,
                two({.stride = {1, 2}, .padding = 2, .output_padding = {2, 3}, .dilation = {3, 4}}));
    rows.sample("depthwise", {arg({n(), 3, 4, 4}), arg({3, 1, 4, 4})}, sizes,
                two({.stride = 2, .padding = 1, .groups = 3}));
    rows.sample("height and width unknown", {arg({1, 2, n() + 1, n() + 2}), arg({2, 2, 3, 3}), arg({2})},
                {0, 1, 4}, two({.stride = 2, .padding = 1, .output_padding = {1, 0}}));
    rows.sample("without a batch", {arg({2, n() + 1, 3}), arg({2, 2, 3, 3}), arg({2})}, sizes, two({}));
    rows.sample("a line", {arg({n(), 2, 5}), arg({2, 3, 4}), arg({3})}, sizes, [](const Inputs& in) {
        return conv_transpose1d(in[0], in[1], in[2], {.stride = 2, .padding = 1});
    });
    rows.sample("a volume", {arg({n(), 2, 2, 3, 2}), arg({2, 2, 3, 2, 2}), arg({2})}, {0, 1, 2},
                [](const Inputs& in) {
                    return conv_transpose3d(
                        in[0], in[1], in[2],
                        {.stride = {2, 1, 2}, .padding = {1, 0, 0}, .output_padding = {1, 0, 1}});
                });
    rows.mistake("channels", ErrorKind::shape,
                 "[conv_transpose2d] The input has (3) channels but the weight has (2)", [] {
                     conv_transpose2d(ones({1, 3, 4, 4}), ones({2, 3, 3, 3}));
                 });
    rows.mistake("channels that do not divide", ErrorKind::shape,
                 "(3) channels do not divide into (2) groups", [] {
                     conv_transpose2d(ones({1, 3, 4, 4}), ones({3, 3, 3, 3}), {}, {.groups = 2});
                 });
    rows.mistake(
        "too much output padding", ErrorKind::argument,
        "[conv_transpose1d] The output padding (2) must be less than the stride (2)", [] {
            conv_transpose1d(ones({1, 2, 4}), ones({2, 3, 3}), {}, {.stride = 2, .output_padding = 2});
        });
    rows.mistake("a bias of another size", ErrorKind::shape, "(3) out channels", [] {
        conv_transpose2d(ones({1, 2, 4, 4}), ones({2, 3, 3, 3}), ones({2}));
    });
    rows.mistake("padding beyond the output", ErrorKind::shape, "negative", [] {
        conv_transpose2d(ones({1, 2, 1, 1}), ones({2, 3, 3, 3}), {}, {.padding = 2});
    });
    rows.mistake("two dtypes", ErrorKind::dtype, "[conv_transpose2d]", [] {
        conv_transpose2d(ones({1, 2, 1, 1}), ones({2, 3, 3, 3}, {.dtype = f16}));
    });
}

void add_unfold(Rows& rows)
{
    const Integers sizes = {0, 1, 3};

    rows.op("unfold");
    rows.sample("overlapping", {arg({n(), 2, 5, 6})}, sizes,
                [](const Inputs& in) { return unfold(in[0], 3); });
    rows.sample("all options", {arg({n(), 3, 7, 8})}, sizes, [](const Inputs& in) {
        return unfold(in[0], {2, 3}, {.dilation = {3, 1}, .padding = {1, 2}, .stride = {2, 1}});
    });
    rows.sample("without a batch, of unknown width", {arg({2, 3, n() + 2})}, {0, 1, 6},
                [](const Inputs& in) { return unfold(in[0], 2); });
    rows.mistake("two dimensions", ErrorKind::shape, "[batch, channels, height, width]", [] {
        unfold(ones({3, 4}), 2);
    });
    rows.mistake("a window larger than the image", ErrorKind::shape, "[unfold] A window of kernel size (4)",
                 [] {
                     unfold(ones({1, 1, 3, 4}), 4);
                 });
    rows.mistake("a stride of 0", ErrorKind::argument, "stride (0)", [] {
        unfold(ones({1, 1, 3, 4}), 2, {.stride = {1, 0}});
    });

    rows.op("fold");
    rows.sample("overlapping", {arg({n(), 18, 12})}, sizes, [](const Inputs& in) {
        return fold(in[0], {5, 6}, 3);
    });
    rows.sample("all options", {arg({n(), 12, 30})}, sizes, [](const Inputs& in) {
        return fold(in[0], {7, 8}, {2, 3}, {.dilation = {3, 1}, .padding = {1, 2}, .stride = {2, 1}});
    });
    rows.sample("without a batch, of unknown width", {arg({8, n() * 2 + 2})}, {0, 1, 6},
                [](const Inputs& in) {
                    return fold(in[0], {3, floor_div(in[0].size(1), 2) + 1}, 2);
                });
    rows.mistake("a number of windows", ErrorKind::shape, "(5) windows but an image of ([3, 3]) has (2 x 2)",
                 [] {
                     fold(ones({1, 4, 5}), {3, 3}, 2);
                 });
    rows.mistake("channels", ErrorKind::shape, "multiple of the (4) elements", [] {
        fold(ones({1, 5, 4}), {3, 3}, 2);
    });
    rows.mistake("four dimensions", ErrorKind::shape, "windows]", [] {
        fold(ones({1, 1, 4, 4}), {3, 3}, 2);
    });
}

} // namespace

void add_convolution(Rows& rows)
{
    add_forward(rows);
    add_by_input(rows);
    add_by_weight(rows);
    add_transposed(rows);
    add_unfold(rows);
}

} // namespace reprise::test
