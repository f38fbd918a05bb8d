// Convolutions over one, two and three dimensions, their gradients as functions, transposed convolutions, and
// unfold() and fold().
#pragma once
#include <cstddef>
#include <cstdint>

#include <reprise/ops/window_sizes.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// Options of the convolutions over N dimensions; a single number serves all dimensions.
template <std::size_t N> struct ConvOptions {
    WindowSizes<N> stride = 1;    // the distance of neighbouring windows
    WindowPadding<N> padding = 0; // zeros on both sides of each dimension; also "same" or "valid"
    WindowSizes<N> dilation = 1;  // the distance of a window's neighbouring elements
    std::int64_t groups = 1;      // groups of channels, each with its own part of the weight
};

// Convolution over one dimension (a cross-correlation, as in PyTorch): conv2d() without the height.
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, WindowSizes<1> stride = 1,
              WindowPadding<1> padding = 0, WindowSizes<1> dilation = 1, std::int64_t groups = 1);
// Convolution over two dimensions (a cross-correlation, as in PyTorch): x [N, Ci, H, W] or [Ci, H, W], weight
// [Co, Ci / groups, kh, kw], bias [Co] -> [N, Co, OH, OW] or [Co, OH, OW], with
// OH = floor((H + 2 padding - dilation (kh - 1) - 1) / stride) + 1.  All have one floating dtype.  Calls are
// conv2d(x, weight, bias, 2, {1, 2}) or conv2d(x, weight, {}, 1, "same").
// Error(shape) where channels, groups or bias do not fit or a window is larger than the padded image;
// Error(dtype) where the dtypes differ; Error(argument) for "same" with a stride above 1.
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, WindowSizes<2> stride = 1,
              WindowPadding<2> padding = 0, WindowSizes<2> dilation = 1, std::int64_t groups = 1);
// Convolution over three dimensions: conv2d() with a depth before the height.
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, WindowSizes<3> stride = 1,
              WindowPadding<3> padding = 0, WindowSizes<3> dilation = 1, std::int64_t groups = 1);
// conv1d() with options.
template <class = void>
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions<1>& options)
{
    const auto& [stride, padding, dilation, groups] = options;
    return conv1d(x, weight, bias, stride, padding, dilation, groups);
}
// conv1d() without a bias.  A template, so that {} stays the bias.
template <class = void> Tensor conv1d(const Tensor& x, const Tensor& weight, const ConvOptions<1>& options)
{
    return conv1d(x, weight, Tensor(), options);
}
// conv2d() with options, as {.padding = 1}.  A template, so that {2, 2} stays the stride.
template <class = void>
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions<2>& options)
{
    const auto& [stride, padding, dilation, groups] = options;
    return conv2d(x, weight, bias, stride, padding, dilation, groups);
}
// conv2d() without a bias.  A template, so that {} stays the bias.
template <class = void> Tensor conv2d(const Tensor& x, const Tensor& weight, const ConvOptions<2>& options)
{
    return conv2d(x, weight, Tensor(), options);
}
// conv3d() with options.
template <class = void>
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const ConvOptions<3>& options)
{
    const auto& [stride, padding, dilation, groups] = options;
    return conv3d(x, weight, bias, stride, padding, dilation, groups);
}
// conv3d() without a bias.  A template, so that {} stays the bias.
template <class = void> Tensor conv3d(const Tensor& x, const Tensor& weight, const ConvOptions<3>& options)
{
    return conv3d(x, weight, Tensor(), options);
}

// The gradient of conv1d() by x, of shape input_size [N, Ci, W]; as conv2d_input().
Tensor conv1d_input(const Shape& input_size, const Tensor& weight, const Tensor& grad_output,
                    const ConvOptions<1>& = {});
// The gradient of conv2d() by x, of shape input_size [N, Ci, H, W], for the gradient by the output,
// grad_output [N, Co, OH, OW].  Error(argument) for the padding "same": give numbers.
Tensor conv2d_input(const Shape& input_size, const Tensor& weight, const Tensor& grad_output,
                    const ConvOptions<2>& = {});
// The gradient of conv3d() by x, of shape input_size [N, Ci, D, H, W]; as conv2d_input().
Tensor conv3d_input(const Shape& input_size, const Tensor& weight, const Tensor& grad_output,
                    const ConvOptions<3>& = {});
// The gradient of conv1d() by the weight, of shape weight_size [Co, Ci / groups, kw]; as conv2d_weight().
Tensor conv1d_weight(const Tensor& x, const Shape& weight_size, const Tensor& grad_output,
                     const ConvOptions<1>& = {});
// The gradient of conv2d() by the weight, of shape weight_size [Co, Ci / groups, kh, kw], for the gradient by
// the output, grad_output [N, Co, OH, OW], and x [N, Ci, H, W].  Error(argument) for the padding "same": give
// numbers.
Tensor conv2d_weight(const Tensor& x, const Shape& weight_size, const Tensor& grad_output,
                     const ConvOptions<2>& = {});
// The gradient of conv3d() by the weight, of shape weight_size [Co, Ci / groups, kd, kh, kw]; as
// conv2d_weight().
Tensor conv3d_weight(const Tensor& x, const Shape& weight_size, const Tensor& grad_output,
                     const ConvOptions<3>& = {});

// Options of the transposed convolutions over N dimensions; a single number serves all dimensions.
template <std::size_t N> struct ConvTransposeOptions {
    WindowSizes<N> stride = 1;  // the distance of neighbouring windows in the output
    WindowSizes<N> padding = 0; // elements removed on both sides of each dimension of the output
    // Elements added at the end of each dimension of the output; less than the stride or the dilation.
    WindowSizes<N> output_padding = 0;
    std::int64_t groups = 1;     // groups of channels, each with its own part of the weight
    WindowSizes<N> dilation = 1; // the distance of a window's neighbouring elements
};

// Transposed convolution over one dimension: conv_transpose2d() without the height.
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        WindowSizes<1> stride = 1, WindowSizes<1> padding = 0,
                        WindowSizes<1> output_padding = 0, std::int64_t groups = 1,
                        WindowSizes<1> dilation = 1);
// Transposed convolution over two dimensions, the gradient of conv2d() by its input: x [N, Ci, H, W] or
// [Ci, H, W], weight [Ci, Co / groups, kh, kw], bias [Co] -> [N, Co, OH, OW] or [Co, OH, OW], with
// OH = (H - 1) stride - 2 padding + dilation (kh - 1) + output_padding + 1.  All have one floating dtype.
// Error(shape) and Error(dtype) as conv2d(); Error(argument) where the output_padding is too large.
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        WindowSizes<2> stride = 1, WindowSizes<2> padding = 0,
                        WindowSizes<2> output_padding = 0, std::int64_t groups = 1,
                        WindowSizes<2> dilation = 1);
// Transposed convolution over three dimensions: conv_transpose2d() with a depth before the height.
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        WindowSizes<3> stride = 1, WindowSizes<3> padding = 0,
                        WindowSizes<3> output_padding = 0, std::int64_t groups = 1,
                        WindowSizes<3> dilation = 1);

// conv_transpose1d() with options.
template <class = void> Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                                const ConvTransposeOptions<1>& options)
{
    const auto& [stride, padding, output_padding, groups, dilation] = options;
    return conv_transpose1d(x, weight, bias, stride, padding, output_padding, groups, dilation);
}
// conv_transpose1d() without a bias.  A template, so that {} stays the bias.
template <class = void>
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const ConvTransposeOptions<1>& options)
{
    return conv_transpose1d(x, weight, Tensor(), options);
}
// conv_transpose2d() with options, as {.stride = 2}.  A template, so that {2, 2} stays the stride.
template <class = void> Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                                const ConvTransposeOptions<2>& options)
{
    const auto& [stride, padding, output_padding, groups, dilation] = options;
    return conv_transpose2d(x, weight, bias, stride, padding, output_padding, groups, dilation);
}
// conv_transpose2d() without a bias.  A template, so that {} stays the bias.
template <class = void>
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const ConvTransposeOptions<2>& options)
{
    return conv_transpose2d(x, weight, Tensor(), options);
}
// conv_transpose3d() with options.
template <class = void> Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                                const ConvTransposeOptions<3>& options)
{
    const auto& [stride, padding, output_padding, groups, dilation] = options;
    return conv_transpose3d(x, weight, bias, stride, padding, output_padding, groups, dilation);
}
// conv_transpose3d() without a bias.  A template, so that {} stays the bias.
template <class = void>
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const ConvTransposeOptions<3>& options)
{
    return conv_transpose3d(x, weight, Tensor(), options);
}

// Options of unfold() and fold(); a single number serves both dimensions.
struct UnfoldOpOptions {
    WindowSizes<2> dilation = 1; // the distance of a window's neighbouring elements
    WindowSizes<2> padding = 0;  // zeros on both sides of each dimension of the image
    WindowSizes<2> stride = 1;   // the distance of neighbouring windows
};
// The windows of images as columns: x [N, C, H, W] or [C, H, W] of a floating dtype -> [N, C kh kw, L] or [C
// kh kw, L] with L = OH OW windows.  Error(shape) where a window is larger than the padded image.
Tensor unfold(const Tensor& x, WindowSizes<2> kernel_size, const UnfoldOpOptions& = {});
// Adds columns up to images, overlapping windows summed (the transpose of unfold()): x [N, C kh kw, L] or [C
// kh kw, L] of a floating dtype -> [N, C, H, W] or [C, H, W] with output_size [H, W].  Error(shape) where the
// sizes do not fit.
Tensor fold(const Tensor& x, const Shape& output_size, WindowSizes<2> kernel_size,
            const UnfoldOpOptions& = {});

} // namespace reprise
