// Pooling.
#include <limits>

#include "onnx/windows.hpp"

namespace reprise::onnx {

namespace {

template <std::size_t N> MaxPoolOptions<N> max_options(const Windows& windows)
{
    return {.kernel_size = numbers_of<N>(windows.kernel),
            .stride = numbers_of<N>(windows.stride),
            .dilation = numbers_of<N>(windows.dilation)};
}

template <std::size_t N> std::pair<Tensor, Tensor> max_with_indices(const Tensor& x, const Windows& windows)
{
    if constexpr (N == 1) return max_pool1d_with_indices(x, max_options<N>(windows));
    else if constexpr (N == 2) return max_pool2d_with_indices(x, max_options<N>(windows));
    else return max_pool3d_with_indices(x, max_options<N>(windows));
}

template <std::size_t N> Tensor max_alone(const Tensor& x, const Windows& windows)
{
    if constexpr (N == 1) return max_pool1d(x, max_options<N>(windows));
    else if constexpr (N == 2) return max_pool2d(x, max_options<N>(windows));
    else return max_pool3d(x, max_options<N>(windows));
}

template <std::size_t N> Tensor average(const Tensor& x, const Windows& windows)
{
    const AvgPoolOptions<N> options{.kernel_size = numbers_of<N>(windows.kernel),
                                    .stride = numbers_of<N>(windows.stride),
                                    .dilation = numbers_of<N>(windows.dilation)};
    if constexpr (N == 1) return avg_pool1d(x, options);
    else if constexpr (N == 2) return avg_pool2d(x, options);
    else return avg_pool3d(x, options);
}

// The lowest number of a dtype, which padding holds that is never the largest.
double lowest(DType dtype)
{
    switch (dtype) {
    case DType::i8: return std::numeric_limits<std::int8_t>::min();
    case DType::i16: return std::numeric_limits<std::int16_t>::min();
    case DType::u8:
    case DType::boolean: return 0;
    default: return -std::numeric_limits<double>::infinity();
    }
}

Tensor size_of(const Call& call, const Dim& size, DType dtype)
{
    return Value::scalar(size).tensor(call.device).to(dtype);
}

// Indices in padded images as indices in the whole tensor, row-major or, with `columns`, with the first dimension of
// an image running fastest.
Tensor whole_indices(const Call& call, const Tensor& index, const Shape& padded, const Shape& shape,
                     const DimVector& before, bool columns)
{
    const std::size_t n = before.size();
    std::vector<Tensor> position(n);
    Tensor rest = index.to(i64);
    for (std::size_t i = n; i-- > 0;) {
        const Tensor size = size_of(call, padded[i + 2], i64);
        position[i] = sub(remainder(rest, size), size_of(call, before[i], i64));
        rest = floor_divide(rest, size);
    }
    Tensor flat;
    Dim image = 1;
    for (std::size_t k = 0; k < n; ++k) {
        const std::size_t i = columns ? n - 1 - k : k;
        flat = k == 0 ? position[i] : add(mul(flat, size_of(call, shape[i + 2], i64)), position[i]);
        image *= shape[i + 2];
    }
    const Tensor images = arange(shape[0] * shape[1], {.dtype = i64, .device = call.device});
    Shape by_image(n + 2, 1);
    by_image[0] = shape[0];
    by_image[1] = shape[1];
    return add(flat, mul(reshape(images, by_image), size_of(call, image, i64)));
}

Values max_pool(Call& call)
{
    const Tensor x = call[0];
    const Windows windows =
        exact_windows(read_windows(call, x.shape(), call.list("kernel_shape")), x.shape());
    const Tensor padded = pad_images(x, windows.before, windows.after, lowest(x.dtype()));
    if (!call.wants(1))
        return {
            with_rank(call, windows.rank(), [&]<std::size_t N>() { return max_alone<N>(padded, windows); })};
    const auto [values, index] = with_rank(
        call, windows.rank(), [&]<std::size_t N>() { return max_with_indices<N>(padded, windows); });
    const bool columns = call.flag("storage_order");
    return {Value(values),
            Value(whole_indices(call, index, padded.shape(), x.shape(), windows.before, columns))};
}

// The mean of each window of zero-padded images.
Tensor average_of(const Call& call, const Tensor& x, const Windows& windows)
{
    const Tensor padded = pad_images(x, windows.before, windows.after, 0);
    return with_rank(call, windows.rank(), [&]<std::size_t N>() { return average<N>(padded, windows); });
}

Value average_pool(Call& call)
{
    const Tensor x = call[0];
    const Windows given = read_windows(call, x.shape(), call.list("kernel_shape"));
    const Windows windows = exact_windows(given, x.shape());
    const Tensor y = average_of(call, x, windows);
    // Elements beyond those that count, as parts of each window.
    const bool with_padding = call.flag("count_include_pad");
    if (windows.unpadded() || (with_padding && !given.ceil_mode)) return y;
    Shape counted{1, 1};
    Windows around = windows;
    for (std::size_t i = 0; i < windows.rank(); ++i) {
        const Dim size = x.size(static_cast<std::int64_t>(i) + 2);
        counted.push_back(with_padding ? given.before[i] + size + given.after[i] : size);
        if (!with_padding) continue;
        around.before[i] = 0;
        around.after[i] = padding_size(windows.after[i] - given.after[i]);
    }
    const Tensor ones_of = ones(counted, {.dtype = x.dtype(), .device = call.device});
    return div(y, average_of(call, ones_of, around));
}

Value lp_pool(Call& call)
{
    const Tensor x = call[0];
    const Windows windows =
        exact_windows(read_windows(call, x.shape(), call.list("kernel_shape")), x.shape());
    const auto p = static_cast<double>(call.integer("p", 2));
    double taps = 1;
    for (const std::int64_t k : windows.kernel) taps *= static_cast<double>(k);
    return pow(mul(average_of(call, pow(abs(x), p), windows), taps), 1 / p);
}

Dims image_dims(const Tensor& x)
{
    Dims dims;
    for (std::int64_t i = 2; i < x.dim(); ++i) dims.push_back(i);
    return dims;
}

Value global_average(Call& call)
{
    const Tensor x = call[0];
    return mean(x, image_dims(x), true);
}

Value global_max(Call& call)
{
    const Tensor x = call[0];
    return amax(x, image_dims(x), true);
}

Value global_lp(Call& call)
{
    const Tensor x = call[0];
    return norm(x, static_cast<double>(call.integer("p", 2)), image_dims(x), true);
}

// Indices are in the whole tensor that pooling was of; a larger output_shape adds zeros at the ends.
Value max_unpool(Call& call)
{
    const Tensor x = call[0], index = call[1];
    const Windows windows = read_windows(call, x.shape(), call.list("kernel_shape"));
    Shape shape{x.size(0), x.size(1)};
    for (std::size_t i = 0; i < windows.rank(); ++i)
        shape.push_back((x.size(static_cast<std::int64_t>(i) + 2) - 1) * windows.stride[i] +
                        windows.kernel[i] - windows.before[i] - windows.after[i]);
    Dim count = 1;
    for (const Dim& size : shape) count *= size;
    const Tensor nothing = zeros(Shape{count}, {.dtype = x.dtype(), .device = call.device});
    const Tensor image =
        reshape(scatter(nothing, 0, reshape(index, Shape{-1}), reshape(x, Shape{-1})), shape);
    if (!call.has(2)) return image;
    const DimVector wanted = call.sizes(2);
    if (wanted.size() != shape.size()) call.fail("The output_shape ", to_string(wanted), " does not fit.");
    DimVector before(windows.rank(), Dim(0)), after;
    for (std::size_t i = 2; i < shape.size(); ++i) after.push_back(wanted[i] - shape[i]);
    return pad_images(image, before, after, 0);
}

const Operator rows[] = {
    {"AveragePool", average_pool, {.since = 7, .limits = "1 to 3 dimensions"}},
    {"GlobalAveragePool", global_average},
    {"GlobalLpPool", global_lp, {.since = 2}},
    {"GlobalMaxPool", global_max},
    {"LpPool", lp_pool, {.since = 2, .limits = "1 to 3 dimensions"}},
    {"MaxPool", max_pool, {.limits = "1 to 3 dimensions"}},
    {"MaxUnpool", max_unpool},
};

} // namespace

Operators pooling_operators() { return rows; }

} // namespace reprise::onnx
