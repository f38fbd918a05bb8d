// Pooling over the last one, two or three dimensions: x [N, C, L], [N, C, H, W] or [N, C, D, H, W]; the batch may
// be absent.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

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

// The padding is at most half of the kernel's size, and never wins.  With ceil_mode a last window may reach beyond
// the padding, if it starts before it.
template <std::size_t N> struct MaxPoolOptions {
    std::array<std::int64_t, N> kernel_size = detail::each<N>(2);
    std::array<std::int64_t, N> stride = detail::each<N>(0); // 0: the kernel's size
    std::array<std::int64_t, N> padding = detail::each<N>(0);
    std::array<std::int64_t, N> dilation = detail::each<N>(1);
    bool ceil_mode = false;
};
// NaN wins; of equal values the first in row-major order takes the gradient.  x is floating, i8, i16 or u8.
Tensor max_pool1d(const Tensor& x, const MaxPoolOptions<1>&);
Tensor max_pool1d(const Tensor& x, std::int64_t kernel_size);
Tensor max_pool2d(const Tensor& x, const MaxPoolOptions<2>&);
Tensor max_pool2d(const Tensor& x, std::int64_t kernel_size);
Tensor max_pool3d(const Tensor& x, const MaxPoolOptions<3>&);
Tensor max_pool3d(const Tensor& x, std::int64_t kernel_size);
// Beside them the places (i32) of the greatest, flat in the image: iy * W + ix.
std::pair<Tensor, Tensor> max_pool1d_with_indices(const Tensor& x, const MaxPoolOptions<1>&);
std::pair<Tensor, Tensor> max_pool2d_with_indices(const Tensor& x, const MaxPoolOptions<2>&);
std::pair<Tensor, Tensor> max_pool3d_with_indices(const Tensor& x, const MaxPoolOptions<3>&);

// What max pooling with these options took from, put back where the indices say, zeros elsewhere: of the size that
// such a pooling is made from, or output_size (the last N dimensions).  Of several values for one place the last is
// kept, and it alone gets a gradient.  Error(shape) where the shapes of x and indices differ.
template <std::size_t N> struct MaxUnpoolOptions {
    std::array<std::int64_t, N> kernel_size = detail::each<N>(2);
    std::array<std::int64_t, N> stride = detail::each<N>(0); // 0: the kernel's size
    std::array<std::int64_t, N> padding = detail::each<N>(0);
    std::optional<Shape> output_size{};
};
Tensor max_unpool1d(const Tensor& x, const Tensor& indices, const MaxUnpoolOptions<1>&);
Tensor max_unpool1d(const Tensor& x, const Tensor& indices, std::int64_t kernel_size);
Tensor max_unpool2d(const Tensor& x, const Tensor& indices, const MaxUnpoolOptions<2>&);
Tensor max_unpool2d(const Tensor& x, const Tensor& indices, std::int64_t kernel_size);
Tensor max_unpool3d(const Tensor& x, const Tensor& indices, const MaxUnpoolOptions<3>&);
Tensor max_unpool3d(const Tensor& x, const Tensor& indices, std::int64_t kernel_size);

template <std::size_t N> struct AvgPoolOptions {
    std::array<std::int64_t, N> kernel_size = detail::each<N>(2);
    std::array<std::int64_t, N> stride = detail::each<N>(0); // 0: the kernel's size
    std::array<std::int64_t, N> padding = detail::each<N>(0);
    bool ceil_mode = false;
    bool count_include_pad = true;                  // whether the padding counts as zeros
    std::optional<std::int64_t> divisor_override{}; // in place of the number of elements
    std::array<std::int64_t, N> dilation = detail::each<N>(1);
};
Tensor avg_pool1d(const Tensor& x, const AvgPoolOptions<1>&);
Tensor avg_pool1d(const Tensor& x, std::int64_t kernel_size);
Tensor avg_pool2d(const Tensor& x, const AvgPoolOptions<2>&);
Tensor avg_pool2d(const Tensor& x, std::int64_t kernel_size);
Tensor avg_pool3d(const Tensor& x, const AvgPoolOptions<3>&);
Tensor avg_pool3d(const Tensor& x, std::int64_t kernel_size);

// As many windows as outputs are asked for: from floor(o n / m) to ceil((o + 1) n / m).  -1: the input's size.
Tensor adaptive_avg_pool1d(const Tensor& x, const Dim& output_size);
Tensor adaptive_avg_pool2d(const Tensor& x, const std::array<Dim, 2>& output_size);
Tensor adaptive_avg_pool2d(const Tensor& x, const Dim& output_size);
Tensor adaptive_avg_pool3d(const Tensor& x, const std::array<Dim, 3>& output_size);
Tensor adaptive_avg_pool3d(const Tensor& x, const Dim& output_size);
Tensor adaptive_max_pool1d(const Tensor& x, const Dim& output_size);
Tensor adaptive_max_pool2d(const Tensor& x, const std::array<Dim, 2>& output_size);
Tensor adaptive_max_pool2d(const Tensor& x, const Dim& output_size);
Tensor adaptive_max_pool3d(const Tensor& x, const std::array<Dim, 3>& output_size);
Tensor adaptive_max_pool3d(const Tensor& x, const Dim& output_size);
std::pair<Tensor, Tensor> adaptive_max_pool1d_with_indices(const Tensor& x, const Dim& output_size);
std::pair<Tensor, Tensor> adaptive_max_pool2d_with_indices(const Tensor& x,
                                                           const std::array<Dim, 2>& output_size);
std::pair<Tensor, Tensor> adaptive_max_pool3d_with_indices(const Tensor& x,
                                                           const std::array<Dim, 3>& output_size);

// Of whole images, [N, C, H, W] -> [N, C, 1, 1]; of equal greatest elements the first takes the gradient.
Tensor global_avg_pool2d(const Tensor& x);
Tensor global_max_pool2d(const Tensor& x);

// (sum of x^p over the window)^(1/p), without padding.
template <std::size_t N> struct LpPoolOptions {
    std::array<std::int64_t, N> kernel_size = detail::each<N>(2);
    std::array<std::int64_t, N> stride = detail::each<N>(0); // 0: the kernel's size
    bool ceil_mode = false;
};
Tensor lp_pool1d(const Tensor& x, double norm_type, const LpPoolOptions<1>&);
Tensor lp_pool2d(const Tensor& x, double norm_type, const LpPoolOptions<2>&);

} // namespace reprise
