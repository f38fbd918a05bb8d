// Pooling over the last one, two or three dimensions: x [N, C, L], [N, C, H, W] or [N, C, D, H, W]; the batch
// may be absent.  A result has the dtype of x and, but for the pooled sizes, its shape.  Error(shape) where x
// has another number of dimensions, an image has no elements, or a window is larger than the padded image.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <reprise/ops/window_sizes.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

namespace detail {
template <std::size_t N> constexpr std::array<std::int64_t, N> each(std::int64_t value)
{
    std::array<std::int64_t, N> all{};
    for (std::int64_t& v : all) v = value;
    return all;
}
} // namespace detail

// Options of max pooling over N dimensions.  The size of the output is
// floor((size + 2 padding - dilation (kernel_size - 1) - 1) / stride) + 1.
template <std::size_t N> struct MaxPoolOptions {
    std::array<std::int64_t, N> kernel_size = detail::each<N>(2); // the size of a window
    std::array<std::int64_t, N> stride = detail::each<N>(0);      // the distance of windows; 0: kernel_size
    // Elements on both sides that never are the largest; at most half of kernel_size, else Error(argument).
    std::array<std::int64_t, N> padding = detail::each<N>(0);
    std::array<std::int64_t, N> dilation = detail::each<N>(1); // the distance of a window's elements
    // Rounds the size of the output up: the last window may reach beyond the padding if it starts before its
    // end.
    bool ceil_mode = false;
};
// The largest element of each window.  x is floating, i8, i16, u8 or bool.  NaN counts as the largest; of
// equal elements the first in row-major order gets the gradient.
Tensor max_pool1d(const Tensor& x, const MaxPoolOptions<1>&);
Tensor max_pool1d(const Tensor& x, std::int64_t kernel_size); // with kernel_size as the stride too
// max_pool1d() over two dimensions.
Tensor max_pool2d(const Tensor& x, const MaxPoolOptions<2>&);
// With kernel_size in both dimensions, and as the stride.
Tensor max_pool2d(const Tensor& x, std::int64_t kernel_size);
// max_pool1d() over three dimensions.
Tensor max_pool3d(const Tensor& x, const MaxPoolOptions<3>&);
// With kernel_size in all three dimensions, and as the stride.
Tensor max_pool3d(const Tensor& x, std::int64_t kernel_size);
// max_pool1d() and the indices (i32) of the largest elements along the pooled dimension.
std::pair<Tensor, Tensor> max_pool1d_with_indices(const Tensor& x, const MaxPoolOptions<1>&);
// max_pool2d() and the indices (i32) of the largest elements in the flattened image: iy W + ix.
std::pair<Tensor, Tensor> max_pool2d_with_indices(const Tensor& x, const MaxPoolOptions<2>&);
// max_pool3d() and the indices (i32) of the largest elements in the flattened image: (iz H + iy) W + ix.
std::pair<Tensor, Tensor> max_pool3d_with_indices(const Tensor& x, const MaxPoolOptions<3>&);

// Options of max unpooling over N dimensions: those of the max pooling that it reverses.
template <std::size_t N> struct MaxUnpoolOptions {
    std::array<std::int64_t, N> kernel_size = detail::each<N>(2); // the size of a window
    std::array<std::int64_t, N> stride = detail::each<N>(0);      // the distance of windows; 0: kernel_size
    std::array<std::int64_t, N> padding = detail::each<N>(0);     // elements on both sides
    // The last N sizes of the result; nullopt: (size - 1) stride - 2 padding + kernel_size.
    std::optional<Shape> output_size{};
};
// Puts each element of x at its index (i32 or i64, of x's shape), as max_pool1d_with_indices() returned it,
// in an image of zeros.  Of several elements for one index the last is stored, and it alone gets a gradient.
// Error(shape) where the shapes of x and indices differ; Error(argument) where output_size has another number
// of sizes.
Tensor max_unpool1d(const Tensor& x, const Tensor& indices, const MaxUnpoolOptions<1>&);
// With kernel_size as the stride too.
Tensor max_unpool1d(const Tensor& x, const Tensor& indices, std::int64_t kernel_size);
// max_unpool1d() over two dimensions, with the indices of max_pool2d_with_indices().
Tensor max_unpool2d(const Tensor& x, const Tensor& indices, const MaxUnpoolOptions<2>&);
// With kernel_size in both dimensions, and as the stride.
Tensor max_unpool2d(const Tensor& x, const Tensor& indices, std::int64_t kernel_size);
// max_unpool1d() over three dimensions, with the indices of max_pool3d_with_indices().
Tensor max_unpool3d(const Tensor& x, const Tensor& indices, const MaxUnpoolOptions<3>&);
// With kernel_size in all three dimensions, and as the stride.
Tensor max_unpool3d(const Tensor& x, const Tensor& indices, std::int64_t kernel_size);

// Options of average pooling over N dimensions.  The size of the output is that of max pooling.
template <std::size_t N> struct AvgPoolOptions {
    std::array<std::int64_t, N> kernel_size = detail::each<N>(2); // the size of a window
    std::array<std::int64_t, N> stride = detail::each<N>(0);      // the distance of windows; 0: kernel_size
    // Zeros on both sides; at most half of kernel_size, else Error(argument).
    std::array<std::int64_t, N> padding = detail::each<N>(0);
    bool ceil_mode = false;        // rounds the size of the output up, as for max pooling
    bool count_include_pad = true; // whether the divisor counts the zeros of the padding
    // Divides by this instead of the number of elements; Error(argument) for 0.
    std::optional<std::int64_t> divisor_override{};
    std::array<std::int64_t, N> dilation = detail::each<N>(1); // the distance of a window's elements
};
// The mean of each window.  x is floating.
Tensor avg_pool1d(const Tensor& x, const AvgPoolOptions<1>&);
Tensor avg_pool1d(const Tensor& x, std::int64_t kernel_size); // with kernel_size as the stride too
// The mean of each window over two dimensions.  x is floating.
Tensor avg_pool2d(const Tensor& x, const AvgPoolOptions<2>&);
// With kernel_size in both dimensions, and as the stride.
Tensor avg_pool2d(const Tensor& x, std::int64_t kernel_size);
// The mean of each window over three dimensions.  x is floating.
Tensor avg_pool3d(const Tensor& x, const AvgPoolOptions<3>&);
// With kernel_size in all three dimensions, and as the stride.
Tensor avg_pool3d(const Tensor& x, std::int64_t kernel_size);

// -- with PyTorch's arguments in their order; a stride of {} is the kernel_size --

// max_pool1d() by arguments.
inline Tensor max_pool1d(const Tensor& x, WindowSizes<1> kernel_size, WindowStrides<1> stride,
                         WindowSizes<1> padding = 0, WindowSizes<1> dilation = 1, bool ceil_mode = false)
{
    return max_pool1d(x, MaxPoolOptions<1>{kernel_size.array(), stride.array(), padding.array(),
                                           dilation.array(), ceil_mode});
}
// max_pool1d_with_indices() by arguments.
inline std::pair<Tensor, Tensor> max_pool1d_with_indices(const Tensor& x, WindowSizes<1> kernel_size,
                                                         WindowStrides<1> stride, WindowSizes<1> padding = 0,
                                                         WindowSizes<1> dilation = 1, bool ceil_mode = false)
{
    return max_pool1d_with_indices(x, MaxPoolOptions<1>{kernel_size.array(), stride.array(), padding.array(),
                                                        dilation.array(), ceil_mode});
}
// avg_pool1d() by arguments.
inline Tensor avg_pool1d(const Tensor& x, WindowSizes<1> kernel_size, WindowStrides<1> stride,
                         WindowSizes<1> padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                         std::optional<std::int64_t> divisor_override = std::nullopt)
{
    return avg_pool1d(x, AvgPoolOptions<1>{kernel_size.array(), stride.array(), padding.array(), ceil_mode,
                                           count_include_pad, divisor_override});
}
// max_pool2d() by arguments.
inline Tensor max_pool2d(const Tensor& x, WindowSizes<2> kernel_size, WindowStrides<2> stride,
                         WindowSizes<2> padding = 0, WindowSizes<2> dilation = 1, bool ceil_mode = false)
{
    return max_pool2d(x, MaxPoolOptions<2>{kernel_size.array(), stride.array(), padding.array(),
                                           dilation.array(), ceil_mode});
}
// max_pool2d_with_indices() by arguments.
inline std::pair<Tensor, Tensor> max_pool2d_with_indices(const Tensor& x, WindowSizes<2> kernel_size,
                                                         WindowStrides<2> stride, WindowSizes<2> padding = 0,
                                                         WindowSizes<2> dilation = 1, bool ceil_mode = false)
{
    return max_pool2d_with_indices(x, MaxPoolOptions<2>{kernel_size.array(), stride.array(), padding.array(),
                                                        dilation.array(), ceil_mode});
}
// avg_pool2d() by arguments.
inline Tensor avg_pool2d(const Tensor& x, WindowSizes<2> kernel_size, WindowStrides<2> stride,
                         WindowSizes<2> padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                         std::optional<std::int64_t> divisor_override = std::nullopt)
{
    return avg_pool2d(x, AvgPoolOptions<2>{kernel_size.array(), stride.array(), padding.array(), ceil_mode,
                                           count_include_pad, divisor_override});
}
// max_pool3d() by arguments.
inline Tensor max_pool3d(const Tensor& x, WindowSizes<3> kernel_size, WindowStrides<3> stride,
                         WindowSizes<3> padding = 0, WindowSizes<3> dilation = 1, bool ceil_mode = false)
{
    return max_pool3d(x, MaxPoolOptions<3>{kernel_size.array(), stride.array(), padding.array(),
                                           dilation.array(), ceil_mode});
}
// max_pool3d_with_indices() by arguments.
inline std::pair<Tensor, Tensor> max_pool3d_with_indices(const Tensor& x, WindowSizes<3> kernel_size,
                                                         WindowStrides<3> stride, WindowSizes<3> padding = 0,
                                                         WindowSizes<3> dilation = 1, bool ceil_mode = false)
{
    return max_pool3d_with_indices(x, MaxPoolOptions<3>{kernel_size.array(), stride.array(), padding.array(),
                                                        dilation.array(), ceil_mode});
}
// avg_pool3d() by arguments.
inline Tensor avg_pool3d(const Tensor& x, WindowSizes<3> kernel_size, WindowStrides<3> stride,
                         WindowSizes<3> padding = 0, bool ceil_mode = false, bool count_include_pad = true,
                         std::optional<std::int64_t> divisor_override = std::nullopt)
{
    return avg_pool3d(x, AvgPoolOptions<3>{kernel_size.array(), stride.array(), padding.array(), ceil_mode,
                                           count_include_pad, divisor_override});
}

// Adaptive average pooling: the mean of each of output_size windows.  Window i of m over a size n extends
// from floor(i n / m) to ceil((i + 1) n / m) exclusive.  An output_size of -1 is the size of x; less is
// Error(argument).  x is floating.
Tensor adaptive_avg_pool1d(const Tensor& x, const Dim& output_size);
// The same over two dimensions.
Tensor adaptive_avg_pool2d(const Tensor& x, const std::array<Dim, 2>& output_size);
Tensor adaptive_avg_pool2d(const Tensor& x, const Dim& output_size); // with one size for both dimensions
// The same over three dimensions.
Tensor adaptive_avg_pool3d(const Tensor& x, const std::array<Dim, 3>& output_size);
Tensor adaptive_avg_pool3d(const Tensor& x, const Dim& output_size); // with one size for all dimensions
// Adaptive max pooling: the largest element of each of output_size windows, which are those of
// adaptive_avg_pool1d(); dtypes, NaN and gradient as for max_pool1d().
Tensor adaptive_max_pool1d(const Tensor& x, const Dim& output_size);
// The same over two dimensions.
Tensor adaptive_max_pool2d(const Tensor& x, const std::array<Dim, 2>& output_size);
Tensor adaptive_max_pool2d(const Tensor& x, const Dim& output_size); // with one size for both dimensions
// The same over three dimensions.
Tensor adaptive_max_pool3d(const Tensor& x, const std::array<Dim, 3>& output_size);
Tensor adaptive_max_pool3d(const Tensor& x, const Dim& output_size); // with one size for all dimensions
// adaptive_max_pool1d() and indices as max_pool1d_with_indices().
std::pair<Tensor, Tensor> adaptive_max_pool1d_with_indices(const Tensor& x, const Dim& output_size);
// adaptive_max_pool2d() and indices as max_pool2d_with_indices().
std::pair<Tensor, Tensor> adaptive_max_pool2d_with_indices(const Tensor& x,
                                                           const std::array<Dim, 2>& output_size);
// adaptive_max_pool3d() and indices as max_pool3d_with_indices().
std::pair<Tensor, Tensor> adaptive_max_pool3d_with_indices(const Tensor& x,
                                                           const std::array<Dim, 3>& output_size);

// The mean of each whole image, [N, C, H, W] -> [N, C, 1, 1].  x is floating.
Tensor global_avg_pool2d(const Tensor& x);
// The largest element of each whole image, [N, C, H, W] -> [N, C, 1, 1]; of equal elements the first gets the
// gradient.
Tensor global_max_pool2d(const Tensor& x);

// Options of power-average pooling over N dimensions; there is no padding.
template <std::size_t N> struct LpPoolOptions {
    std::array<std::int64_t, N> kernel_size = detail::each<N>(2); // the size of a window
    std::array<std::int64_t, N> stride = detail::each<N>(0);      // the distance of windows; 0: kernel_size
    bool ceil_mode = false; // rounds the size of the output up, as for max pooling
};
// (sum of x^p over the window)^(1 / p) for p = norm_type.  For a window that ceil_mode extends beyond the end
// the sum is kernel_size times the mean over its elements, as in PyTorch.  x is floating.
Tensor lp_pool1d(const Tensor& x, double norm_type, const LpPoolOptions<1>&);
// The same over two dimensions.
Tensor lp_pool2d(const Tensor& x, double norm_type, const LpPoolOptions<2>&);

} // namespace reprise
