// Pooling: checks of arguments and output sizes; the ops are those of max_pool.cpp and resample.cpp.
#include <span>
#include <string>

#include <reprise/ops/convolution.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/pooling.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/registry.hpp"
#include "ops/resample.hpp"
#include "ops/windows.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace {

using Integers = std::vector<std::int64_t>;
using Span = std::span<const std::int64_t>;

// Checks that x is [N, C, spatial...] or [C, spatial...] and that its images have elements.
void check_image(const char* op, const Tensor& x, std::size_t n)
{
    const char* names[] = {"length", "height, width", "depth, height, width"};
    const std::size_t rank = x.shape().size();
    if (rank != n + 1 && rank != n + 2)
        detail::fail(ErrorKind::shape, op, "The input's shape (", to_string(x.shape()),
                     ") must be [batch, channels, ", names[n - 1], "] or [channels, ", names[n - 1], "].");
    for (const Dim& size : ops::last_of(x.shape(), n))
        shape::require_at_least(op, size, 1, [&] {
            return "The input's shape (" + to_string(x.shape()) +
                   ") has no elements in an image: a window needs at least one.";
        });
}

struct Windows {
    Integers kernel, stride, padding, dilation;
    bool ceil_mode;

    Windows(Span kernel_size, Span strides, Span paddings, Span dilations, bool ceil)
        : kernel(kernel_size.begin(), kernel_size.end()), stride(strides.begin(), strides.end()),
          padding(paddings.begin(), paddings.end()), dilation(dilations.begin(), dilations.end()),
          ceil_mode(ceil)
    {
        for (std::size_t d = 0; d < stride.size(); ++d)
            if (stride[d] == 0) stride[d] = kernel[d];
    }
};

Shape output_size(const char* op, const Tensor& x, const Windows& w)
{
    const std::size_t n = w.kernel.size();
    check_image(op, x, n);
    Shape out = ops::last_of(x.shape(), n);
    for (std::size_t d = 0; d < n; ++d) {
        if (w.padding[d] > w.kernel[d] / 2)
            detail::fail(ErrorKind::argument, op, "The padding (", w.padding[d],
                         ") must be at most half of the kernel size (", w.kernel[d], "): use less.");
        out[d] = shape::window_output(op, out[d],
                                      {.kernel = w.kernel[d],
                                       .stride = w.stride[d],
                                       .padding = w.padding[d],
                                       .dilation = w.dilation[d],
                                       .ceil_mode = w.ceil_mode});
    }
    return out;
}

// Whether f32 holds all values of the dtype.
bool fits_floats(DType dtype) { return dtype == boolean || (is_integer(dtype) && size_of(dtype) < 4); }

// Returns the largest elements and their indices; windows without a kernel are adaptive.
std::pair<Tensor, Tensor> greatest(const Tensor& x, const Windows& w, const Shape& to)
{
    const std::vector<Tensor> y = graph::apply(ops::max_pool_op, {x},
                                               {{"kernel", w.kernel},
                                                {"stride", w.stride},
                                                {"padding", w.padding},
                                                {"dilation", w.dilation},
                                                {"ceil_mode", std::int64_t{w.ceil_mode}},
                                                {"to", to}});
    return {y[0], y[1]};
}

template <std::size_t N>
std::pair<Tensor, Tensor> max_windows(const char* op, const Tensor& x, const MaxPoolOptions<N>& o)
{
    if (fits_floats(x.dtype())) {
        const auto [y, indices] = max_windows(op, cast(x, f32), o);
        return {cast(y, x.dtype()), indices};
    }
    ops::require_floating(op, x.dtype());
    const Windows w(o.kernel_size, o.stride, o.padding, o.dilation, o.ceil_mode);
    return greatest(x, w, output_size(op, x, w));
}

// Returns the sums over dilated windows of each plane of x [planes, 1, spatial...], which is already padded: a
// convolution with ones.
template <std::size_t N> Tensor dilated_sums(const Tensor& x, const Windows& w)
{
    ConvOptions<N> options;
    Shape window{1, 1};
    for (std::size_t d = 0; d < N; ++d) {
        options.stride[d] = w.stride[d];
        options.dilation[d] = w.dilation[d];
        window.push_back(w.kernel[d]);
    }
    const Tensor ones = ops::full_on(ops::evaluator_of(x), window, 1, x.dtype());
    const graph::NoAutocast in_its_dtype;
    if constexpr (N == 1) return conv1d(x, ones, {}, options);
    else if constexpr (N == 2) return conv2d(x, ones, {}, options);
    else return conv3d(x, ones, {}, options);
}

template <std::size_t N>
Tensor dilated_average(const Tensor& x, const Windows& w, const Shape& to, const AvgPoolOptions<N>& o)
{
    const Shape sizes = ops::last_of(x.shape(), N);
    DimVector within, beyond; // padding, and how far the last window exceeds it; last dimension first
    for (std::size_t d = N; d-- > 0;) {
        const Dim reach = (to[d] - 1) * w.stride[d] + w.dilation[d] * (w.kernel[d] - 1) + 1;
        within.insert(within.end(), 2, w.padding[d]);
        beyond.insert(beyond.end(), {0, w.ceil_mode ? max(reach - sizes[d] - 2 * w.padding[d], 0) : Dim(0)});
    }
    const auto summed = [&](const Tensor& image, double padding) {
        return dilated_sums<N>(pad(pad(image, within, padding), beyond), w);
    };
    Shape planes{ops::planes_of(x.shape(), N), 1}, one{1, 1};
    planes.insert(planes.end(), sizes.begin(), sizes.end());
    one.insert(one.end(), sizes.begin(), sizes.end());
    const Tensor sums = summed(reshape(x, planes), 0);
    const Tensor ones = ops::full_on(ops::evaluator_of(x), one, 1, x.dtype());
    const Tensor counts = o.divisor_override ? ops::number_like(x, static_cast<double>(*o.divisor_override))
                                             : summed(ones, o.count_include_pad ? 1 : 0);
    return reshape(sums / counts, ops::with_last(x.shape(), to));
}

template <std::size_t N> Tensor average_windows(const char* op, const Tensor& x, const AvgPoolOptions<N>& o)
{
    ops::require_floating(op, x.dtype());
    const Windows w(o.kernel_size, o.stride, o.padding, o.dilation, o.ceil_mode);
    const Shape to = output_size(op, x, w);
    if (o.divisor_override == 0)
        detail::fail(ErrorKind::argument, op, "The divisor_override (0) must not be 0.");
    if (o.dilation != detail::each<N>(1)) return dilated_average<N>(x, w, to, o);
    return ops::resample(x, {.how = ops::Resampling::window,
                             .to = to,
                             .kernel = w.kernel,
                             .stride = w.stride,
                             .counts_padding = o.count_include_pad,
                             .divisor = o.divisor_override.value_or(0),
                             .before = {w.padding.begin(), w.padding.end()}});
}

// The output size defaults to that of PyTorch.
template <std::size_t N>
Tensor unpooled(const char* op, const Tensor& x, const Tensor& indices, const MaxUnpoolOptions<N>& o)
{
    check_image(op, x, N);
    shape::require_same(op, x.shape(), indices.shape(), [&] {
        return "The shapes (" + to_string(x.shape()) + " and " + to_string(indices.shape()) +
               ") of the values and the indices differ.";
    });
    Shape to = o.output_size.value_or(Shape());
    if (!to.empty() && to.size() != N)
        detail::fail(ErrorKind::argument, op, "The output size (", to_string(to), ") must have (", N,
                     ") sizes.");
    const Shape sizes = ops::last_of(x.shape(), N);
    for (std::size_t d = 0; to.size() < N; ++d) {
        const std::int64_t stride = o.stride[d] ? o.stride[d] : o.kernel_size[d];
        to.push_back((sizes[d] - 1) * stride - 2 * o.padding[d] + o.kernel_size[d]);
    }
    const Dim planes = ops::planes_of(x.shape(), N), count = shape::element_count(to);
    const Shape rows{planes, shape::element_count(sizes)};
    const Tensor none = ops::full_on(ops::evaluator_of(x), {planes, count}, 0, x.dtype());
    return reshape(scatter(none, 1, reshape(indices, rows), reshape(x, rows)), ops::with_last(x.shape(), to));
}

Shape adaptive_size(const char* op, const Tensor& x, std::span<const Dim> output_size)
{
    const std::size_t n = output_size.size();
    check_image(op, x, n);
    Shape to(output_size.begin(), output_size.end());
    for (std::size_t d = 0; d < n; ++d) {
        const Dim size = x.shape()[x.shape().size() - n + d];
        if (same(to[d], -1)) to[d] = size;
        shape::require_at_least(op, to[d], 0, [&] {
            return "The output size (" + to[d].text() + ") must be at least 0, or -1 for the input's.";
        });
        const Dim limit = 0x7FFFFFFF;
        shape::require_at_least(op, limit, (size + 1) * (to[d] + 1), [&] {
            return "The sizes (" + size.text() + " and " + to[d].text() +
                   ") of input and output are too large: their product must be below 2^31.";
        });
    }
    return to;
}

bool is_global(const Shape& to) { return same(to, Shape(to.size(), Dim(1))); }

Tensor adaptive_average(const char* op, const Tensor& x, std::span<const Dim> output_size)
{
    ops::require_floating(op, x.dtype());
    const Shape to = adaptive_size(op, x, output_size);
    if (!is_global(to)) return ops::resample(x, {.how = ops::Resampling::adaptive, .to = to});
    Dims dims;
    for (std::size_t d = 0; d < to.size(); ++d) dims.push_back(-1 - static_cast<std::int64_t>(d));
    return mean(x, dims, true);
}

std::pair<Tensor, Tensor> adaptive_max(const char* op, const Tensor& x, std::span<const Dim> output_size)
{
    if (fits_floats(x.dtype())) {
        const auto [y, indices] = adaptive_max(op, cast(x, f32), output_size);
        return {cast(y, x.dtype()), indices};
    }
    ops::require_floating(op, x.dtype());
    const Shape to = adaptive_size(op, x, output_size);
    if (is_global(to)) { // a reduction, which runs in parallel
        const auto first = static_cast<std::int64_t>(x.shape().size() - to.size());
        const auto [y, index] = max(flatten(x, first), -1);
        const Shape shape = ops::with_last(x.shape(), to);
        return {reshape(y, shape), reshape(index, shape)};
    }
    return greatest(x, Windows({}, {}, {}, {}, false), to);
}

template <std::size_t N> MaxPoolOptions<N> max_of(std::int64_t kernel_size)
{
    return {.kernel_size = detail::each<N>(kernel_size)};
}
template <std::size_t N> AvgPoolOptions<N> average_of(std::int64_t kernel_size)
{
    return {.kernel_size = detail::each<N>(kernel_size)};
}

// Computes the mean over the existing elements of a window times the size of a full window, as PyTorch does: a window
// that is cut off at the end has fewer elements.
template <std::size_t N>
Tensor lp_windows(const char* op, const Tensor& x, double p, const LpPoolOptions<N>& o)
{
    std::int64_t count = 1;
    for (const std::int64_t k : o.kernel_size) count *= k;
    const Tensor mean = average_windows<N>(
        op, pow(x, p), {.kernel_size = o.kernel_size, .stride = o.stride, .ceil_mode = o.ceil_mode});
    return pow(sign(mean) * relu(abs(mean)) * static_cast<double>(count), 1 / p);
}

} // namespace

#define POOLING(n)                                                                                           \
    std::pair<Tensor, Tensor> max_pool##n##d_with_indices(const Tensor& x, const MaxPoolOptions<n>& o)       \
    {                                                                                                        \
        return max_windows("max_pool" #n "d", x, o);                                                         \
    }                                                                                                        \
    Tensor max_pool##n##d(const Tensor& x, const MaxPoolOptions<n>& o)                                       \
    {                                                                                                        \
        return max_pool##n##d_with_indices(x, o).first;                                                      \
    }                                                                                                        \
    Tensor max_pool##n##d(const Tensor& x, std::int64_t k) { return max_pool##n##d(x, max_of<n>(k)); }       \
    Tensor max_unpool##n##d(const Tensor& x, const Tensor& indices, const MaxUnpoolOptions<n>& o)            \
    {                                                                                                        \
        return unpooled("max_unpool" #n "d", x, indices, o);                                                 \
    }                                                                                                        \
    Tensor max_unpool##n##d(const Tensor& x, const Tensor& indices, std::int64_t k)                          \
    {                                                                                                        \
        return max_unpool##n##d(x, indices, {.kernel_size = detail::each<n>(k)});                            \
    }                                                                                                        \
    Tensor avg_pool##n##d(const Tensor& x, const AvgPoolOptions<n>& o)                                       \
    {                                                                                                        \
        return average_windows("avg_pool" #n "d", x, o);                                                     \
    }                                                                                                        \
    Tensor avg_pool##n##d(const Tensor& x, std::int64_t k) { return avg_pool##n##d(x, average_of<n>(k)); }
POOLING(1)
POOLING(2)
POOLING(3)
#undef POOLING

Tensor adaptive_avg_pool1d(const Tensor& x, const Dim& size)
{
    return adaptive_average("adaptive_avg_pool1d", x, {&size, 1});
}
std::pair<Tensor, Tensor> adaptive_max_pool1d_with_indices(const Tensor& x, const Dim& size)
{
    return adaptive_max("adaptive_max_pool1d", x, {&size, 1});
}
Tensor adaptive_max_pool1d(const Tensor& x, const Dim& size)
{
    return adaptive_max_pool1d_with_indices(x, size).first;
}
#define ADAPTIVE_POOLING(n)                                                                                  \
    Tensor adaptive_avg_pool##n##d(const Tensor& x, const std::array<Dim, n>& size)                          \
    {                                                                                                        \
        return adaptive_average("adaptive_avg_pool" #n "d", x, size);                                        \
    }                                                                                                        \
    Tensor adaptive_avg_pool##n##d(const Tensor& x, const Dim& size)                                         \
    {                                                                                                        \
        const Shape all(n, size);                                                                            \
        return adaptive_average("adaptive_avg_pool" #n "d", x, all);                                         \
    }                                                                                                        \
    std::pair<Tensor, Tensor> adaptive_max_pool##n##d_with_indices(const Tensor& x,                          \
                                                                   const std::array<Dim, n>& size)           \
    {                                                                                                        \
        return adaptive_max("adaptive_max_pool" #n "d", x, size);                                            \
    }                                                                                                        \
    Tensor adaptive_max_pool##n##d(const Tensor& x, const std::array<Dim, n>& size)                          \
    {                                                                                                        \
        return adaptive_max_pool##n##d_with_indices(x, size).first;                                          \
    }                                                                                                        \
    Tensor adaptive_max_pool##n##d(const Tensor& x, const Dim& size)                                         \
    {                                                                                                        \
        const Shape all(n, size);                                                                            \
        return adaptive_max("adaptive_max_pool" #n "d", x, all).first;                                       \
    }
ADAPTIVE_POOLING(2)
ADAPTIVE_POOLING(3)
#undef ADAPTIVE_POOLING

Tensor global_avg_pool2d(const Tensor& x)
{
    const Shape one(2, 1);
    return adaptive_average("global_avg_pool2d", x, one);
}

Tensor global_max_pool2d(const Tensor& x)
{
    const Shape one(2, 1);
    return adaptive_max("global_max_pool2d", x, one).first;
}

Tensor lp_pool1d(const Tensor& x, double p, const LpPoolOptions<1>& o)
{
    return lp_windows("lp_pool1d", x, p, o);
}
Tensor lp_pool2d(const Tensor& x, double p, const LpPoolOptions<2>& o)
{
    return lp_windows("lp_pool2d", x, p, o);
}

} // namespace reprise
