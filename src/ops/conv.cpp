// conv1d to conv3d, functions of their gradients, and transposed convolutions: checks and views around the ops.
#include <algorithm>
#include <array>

#include <reprise/ops/convolution.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/autocast.hpp"
#include "ops/convolution.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {

namespace {

using ops::Windows;
using Integers = std::vector<std::int64_t>;

template <std::size_t N> Integers list(const WindowSizes<N>& sizes) { return {sizes.begin(), sizes.end()}; }

template <std::size_t N> Windows windows(const ConvOptions<N>& o)
{
    return {list(o.stride), list(o.padding), list(o.dilation), o.groups};
}

// Adds a batch dimension of size 1 if there is none.
Tensor batched(const Tensor& x, std::size_t rank)
{
    return x.dim() == static_cast<std::int64_t>(rank) + 1 ? unsqueeze(x, 0) : x;
}

// Sets the padding that makes the output as large as the input, half of it on each side. If the total is odd, x is
// padded explicitly with the remaining zero at the end.
void pad_same(const char* op, Tensor& x, const Shape& weight, Windows& w)
{
    const std::size_t rank = w.rank();
    DimVector amounts(2 * rank, 0);
    for (std::size_t i = 0; i < rank; ++i) {
        if (w.stride[i] != 1)
            detail::fail(ErrorKind::argument, op, "A stride (", w.stride[i],
                         ") does not go with the padding (same): give numbers, or use a stride of 1.");
        const std::int64_t total = w.dilation[i] * (weight[2 + i].value() - 1);
        w.padding[i] = total / 2;
        amounts[2 * (rank - 1 - i) + 1] = total % 2;
    }
    if (std::any_of(amounts.begin(), amounts.end(), [](const Dim& d) { return !same(d, 0); }))
        x = pad(x, amounts);
}

Tensor convolve(const char* op, const Tensor& given, const Tensor& weight, const Tensor& bias, Windows w,
                bool same)
{
    Tensor x = batched(given, w.rank());
    if (same) {
        ops::require_image(op, "input", x.shape(), w.rank());
        ops::require_weight(op, weight.shape(), w.rank(), w.groups);
        pad_same(op, x, weight.shape(), w);
    }
    std::vector<Tensor> inputs{x, weight};
    if (bias.defined()) inputs.push_back(bias);
    const Tensor y = graph::apply1(ops::convolution_op, inputs, w.attributes());
    return given.dim() < x.dim() ? squeeze(y, 0) : y;
}

template <std::size_t N> Windows in_numbers(const char* op, const ConvOptions<N>& o)
{
    if (o.padding.is_same())
        detail::fail(ErrorKind::argument, op, "The padding (same) must be given in numbers here.");
    return windows(o);
}

Tensor input_gradient(const Shape& size, const Tensor& weight, const Tensor& dy, const Windows& w)
{
    return graph::apply1(ops::convolution_input_op, {dy, weight}, w.attributes().with("size", size));
}

Tensor weight_gradient(const Tensor& x, const Shape& size, const Tensor& dy, const Windows& w)
{
    return graph::apply1(ops::convolution_weight_op, {dy, x}, w.attributes().with("size", size));
}

// Returns the output shape [N, Co, ...] of a transposed convolution.
Shape transposed_shape(const char* op, const Shape& x, const Shape& weight, const Windows& w,
                       const Integers& output_padding)
{
    Shape y{x[0], weight[1] * w.groups};
    for (std::size_t i = 0; i < w.rank(); ++i) {
        if (output_padding[i] >= std::max(w.stride[i], w.dilation[i]))
            detail::fail(ErrorKind::argument, op, "The output padding (", output_padding[i],
                         ") must be less than the stride (", w.stride[i], ") or the dilation (",
                         w.dilation[i], "): use less.");
        const Dim& size = x[2 + i];
        shape::require_at_least(op, size, 1, [&] {
            return "The input's shape (" + to_string(x) + ") has no elements in an image.";
        });
        y.push_back(shape::transposed_window_output(op, size,
                                                    {.kernel = weight[2 + i],
                                                     .stride = w.stride[i],
                                                     .padding = w.padding[i],
                                                     .dilation = w.dilation[i]},
                                                    output_padding[i]));
    }
    return y;
}

// With an output padding below the stride, a convolution over the output has exactly the size of x. A larger output
// padding, which a dilation allows, gives it further elements: x is padded at the end with zeros for these.
Tensor padded_by_strides(const Tensor& x, const Windows& w, const Integers& output_padding)
{
    DimVector amounts;
    for (std::size_t i = w.rank(); i-- > 0;) {
        amounts.emplace_back(0);
        amounts.emplace_back(output_padding[i] / w.stride[i]);
    }
    const bool none = std::all_of(amounts.begin(), amounts.end(), [](const Dim& d) { return same(d, 0); });
    return none ? x : pad(x, amounts);
}

Tensor transpose_convolve(const char* op, const Tensor& given, const Tensor& weight, const Tensor& bias,
                          const Windows& w, const Integers& output_padding)
{
    Tensor x = batched(given, w.rank());
    const std::array values{graph::read(x), graph::read(weight), graph::read(bias.defined() ? bias : x)};
    ops::require_one_dtype(op, graph::InputTypes(values));
    ops::require_image(op, "input", x.shape(), w.rank());
    ops::require_weight(op, weight.shape(), w.rank(), w.groups);
    ops::require_channels(op, "input", x.size(1), weight.size(0), 1);
    const Shape size = transposed_shape(op, x.shape(), weight.shape(), w, output_padding);
    if (bias.defined()) ops::require_bias(op, bias.shape(), size[1]);
    x = padded_by_strides(x, w, output_padding);
    Tensor y = input_gradient(size, weight, x, w);
    if (bias.defined()) {
        Shape channels(w.rank() + 1, 1);
        channels[0] = size[1];
        y = y + reshape(bias, channels);
    }
    return given.dim() < x.dim() ? squeeze(y, 0) : y;
}

} // namespace

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, WindowSizes<1> stride,
              WindowPadding<1> padding, WindowSizes<1> dilation, std::int64_t groups)
{
    if (const ops::Autocast to = ops::Autocast::low({&x, &weight, &bias}); to)
        return conv1d(to(x), to(weight), to(bias), stride, padding, dilation, groups);
    return convolve("conv1d", x, weight, bias, {list(stride), list<1>(padding), list(dilation), groups},
                    padding.is_same());
}

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, WindowSizes<2> stride,
              WindowPadding<2> padding, WindowSizes<2> dilation, std::int64_t groups)
{
    if (const ops::Autocast to = ops::Autocast::low({&x, &weight, &bias}); to)
        return conv2d(to(x), to(weight), to(bias), stride, padding, dilation, groups);
    return convolve("conv2d", x, weight, bias, {list(stride), list<2>(padding), list(dilation), groups},
                    padding.is_same());
}

Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, WindowSizes<3> stride,
              WindowPadding<3> padding, WindowSizes<3> dilation, std::int64_t groups)
{
    if (const ops::Autocast to = ops::Autocast::low({&x, &weight, &bias}); to)
        return conv3d(to(x), to(weight), to(bias), stride, padding, dilation, groups);
    return convolve("conv3d", x, weight, bias, {list(stride), list<3>(padding), list(dilation), groups},
                    padding.is_same());
}

Tensor conv1d_input(const Shape& size, const Tensor& weight, const Tensor& dy, const ConvOptions<1>& o)
{
    return input_gradient(size, weight, dy, in_numbers("conv1d_input", o));
}

Tensor conv2d_input(const Shape& size, const Tensor& weight, const Tensor& dy, const ConvOptions<2>& o)
{
    return input_gradient(size, weight, dy, in_numbers("conv2d_input", o));
}

Tensor conv3d_input(const Shape& size, const Tensor& weight, const Tensor& dy, const ConvOptions<3>& o)
{
    return input_gradient(size, weight, dy, in_numbers("conv3d_input", o));
}

Tensor conv1d_weight(const Tensor& x, const Shape& size, const Tensor& dy, const ConvOptions<1>& o)
{
    return weight_gradient(x, size, dy, in_numbers("conv1d_weight", o));
}

Tensor conv2d_weight(const Tensor& x, const Shape& size, const Tensor& dy, const ConvOptions<2>& o)
{
    return weight_gradient(x, size, dy, in_numbers("conv2d_weight", o));
}

Tensor conv3d_weight(const Tensor& x, const Shape& size, const Tensor& dy, const ConvOptions<3>& o)
{
    return weight_gradient(x, size, dy, in_numbers("conv3d_weight", o));
}

Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias, WindowSizes<1> stride,
                        WindowSizes<1> padding, WindowSizes<1> output_padding, std::int64_t groups,
                        WindowSizes<1> dilation)
{
    if (const ops::Autocast to = ops::Autocast::low({&x, &weight, &bias}); to)
        return conv_transpose1d(to(x), to(weight), to(bias), stride, padding, output_padding, groups,
                                dilation);
    return transpose_convolve("conv_transpose1d", x, weight, bias,
                              {list(stride), list(padding), list(dilation), groups}, list(output_padding));
}

Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias, WindowSizes<2> stride,
                        WindowSizes<2> padding, WindowSizes<2> output_padding, std::int64_t groups,
                        WindowSizes<2> dilation)
{
    if (const ops::Autocast to = ops::Autocast::low({&x, &weight, &bias}); to)
        return conv_transpose2d(to(x), to(weight), to(bias), stride, padding, output_padding, groups,
                                dilation);
    return transpose_convolve("conv_transpose2d", x, weight, bias,
                              {list(stride), list(padding), list(dilation), groups}, list(output_padding));
}

Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias, WindowSizes<3> stride,
                        WindowSizes<3> padding, WindowSizes<3> output_padding, std::int64_t groups,
                        WindowSizes<3> dilation)
{
    if (const ops::Autocast to = ops::Autocast::low({&x, &weight, &bias}); to)
        return conv_transpose3d(to(x), to(weight), to(bias), stride, padding, output_padding, groups,
                                dilation);
    return transpose_convolve("conv_transpose3d", x, weight, bias,
                              {list(stride), list(padding), list(dilation), groups}, list(output_padding));
}

} // namespace reprise
