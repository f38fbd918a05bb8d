// Convolutions of images of one, two and three dimensions, and the sums that they are made of.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>

#include <reprise/ops/window_sizes.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

template <std::size_t N> struct ConvOptions {
    WindowSizes<N> stride = 1;
    WindowPadding<N> padding = 0;
    WindowSizes<N> dilation = 1;
    std::int64_t groups = 1; // of channels, each with its own part of the weight
};
using Conv1dOptions = ConvOptions<1>;
using Conv2dOptions = ConvOptions<2>;
using Conv3dOptions = ConvOptions<3>;

// x [N, Ci, H, W] or [Ci, H, W], weight [Co, Ci / groups, kh, kw], bias [Co] -> [N, Co, OH, OW] or [Co, OH, OW],
// OH = floor((H + 2 padding - dilation (kh - 1) - 1) / stride) + 1.  Of one dimension there is W only, of three
// [D, H, W].  Error(shape) where channels, groups or bias do not fit or a window is larger than the padded image.
Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv1dOptions& = {});
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv2dOptions& = {});
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, const Conv3dOptions& = {});
// The same with PyTorch's arguments in their order: conv2d(x, weight, bias, 2, {1, 2}), conv2d(x, weight, {}, 1, "same").
inline Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, WindowSizes<1> stride,
                     WindowPadding<1> padding, WindowSizes<1> dilation = 1, std::int64_t groups = 1)
{
    return conv1d(x, weight, bias, Conv1dOptions{stride, padding, dilation, groups});
}
template <std::integral T> Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, T stride)
{
    return conv1d(x, weight, bias, stride, 0);
}
inline Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, WindowSizes<2> stride,
                     WindowPadding<2> padding, WindowSizes<2> dilation = 1, std::int64_t groups = 1)
{
    return conv2d(x, weight, bias, Conv2dOptions{stride, padding, dilation, groups});
}
template <std::integral T> Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, T stride)
{
    return conv2d(x, weight, bias, stride, 0);
}
inline Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, WindowSizes<3> stride,
                     WindowPadding<3> padding, WindowSizes<3> dilation = 1, std::int64_t groups = 1)
{
    return conv3d(x, weight, bias, Conv3dOptions{stride, padding, dilation, groups});
}
template <std::integral T> Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, T stride)
{
    return conv3d(x, weight, bias, stride, 0);
}

// The gradient of a convolution's x, of `input_size` ([N, Ci, H, W]), for one of its output.  The padding is given
// in numbers.
Tensor conv1d_input(const Shape& input_size, const Tensor& weight, const Tensor& grad_output,
                    const Conv1dOptions& = {});
Tensor conv2d_input(const Shape& input_size, const Tensor& weight, const Tensor& grad_output,
                    const Conv2dOptions& = {});
Tensor conv3d_input(const Shape& input_size, const Tensor& weight, const Tensor& grad_output,
                    const Conv3dOptions& = {});
// The gradient of its weight, of `weight_size` ([Co, Ci / groups, kh, kw]).
Tensor conv1d_weight(const Tensor& x, const Shape& weight_size, const Tensor& grad_output,
                     const Conv1dOptions& = {});
Tensor conv2d_weight(const Tensor& x, const Shape& weight_size, const Tensor& grad_output,
                     const Conv2dOptions& = {});
Tensor conv3d_weight(const Tensor& x, const Shape& weight_size, const Tensor& grad_output,
                     const Conv3dOptions& = {});

template <std::size_t N> struct ConvTransposeOptions {
    WindowSizes<N> stride = 1;
    WindowSizes<N> padding = 0;
    WindowSizes<N> output_padding =
        0; // elements more behind the output; less than the stride or the dilation
    std::int64_t groups = 1;
    WindowSizes<N> dilation = 1;
};
using ConvTranspose1dOptions = ConvTransposeOptions<1>;
using ConvTranspose2dOptions = ConvTransposeOptions<2>;
using ConvTranspose3dOptions = ConvTransposeOptions<3>;

// What a convolution's gradient does to its output: x [N, Ci, H, W] or [Ci, H, W], weight [Ci, Co / groups, kh, kw],
// bias [Co] -> [N, Co, OH, OW], OH = (H - 1) stride - 2 padding + dilation (kh - 1) + output_padding + 1.
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTranspose1dOptions& = {});
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTranspose2dOptions& = {});
Tensor conv_transpose3d(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
                        const ConvTranspose3dOptions& = {});

struct UnfoldOptions {
    WindowSizes<2> dilation = 1;
    WindowSizes<2> padding = 0;
    WindowSizes<2> stride = 1;
};
// The windows of images as columns: x [N, C, H, W] or [C, H, W] -> [N, C kh kw, L] or [C kh kw, L], L = OH OW windows.
Tensor unfold(const Tensor& x, WindowSizes<2> kernel_size, const UnfoldOptions& = {});
// Its transpose, the sum of overlapping windows: x [N, C kh kw, L] or [C kh kw, L] -> [N, C, H, W] or [C, H, W] of
// output_size [H, W].
Tensor fold(const Tensor& x, const Shape& output_size, WindowSizes<2> kernel_size, const UnfoldOptions& = {});

} // namespace reprise
