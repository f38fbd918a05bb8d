#include <reprise/nn/init.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <reprise/autograd/grad.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>

namespace reprise::nn::init {

using reprise::detail::fail;

namespace {

Tensor assigned(const char* op, Tensor tensor, const Tensor& value)
{
    if (!is_floating(tensor.dtype()))
        fail(ErrorKind::dtype, op, "The tensor is of (", name_of(tensor.dtype()),
             "): initial values are for floating dtypes.");
    const no_grad guard;
    tensor.assign(cast(value, tensor.dtype()));
    return tensor;
}

// Options for an f32 tensor on the device of t.
CreationOptions on_device_of(const Tensor& t) { return {.device = t.device()}; }

void check_std(const char* op, double std)
{
    if (!(std >= 0)) fail(ErrorKind::argument, op, "The std (", std, ") must be at least 0.");
}

struct Fans {
    double in, out;
};
Fans fans(const char* op, const Tensor& t)
{
    if (t.dim() < 2)
        fail(ErrorKind::shape, op, "The shape (", to_string(t.shape()),
             ") has fewer than two dimensions, so that it has no inputs and outputs.");
    double field = 1;
    for (std::int64_t d = 2; d < t.dim(); ++d) field *= static_cast<double>(t.size(d).value());
    return {static_cast<double>(t.size(1).value()) * field, static_cast<double>(t.size(0).value()) * field};
}

double kaiming_std(const char* op, const Tensor& t, double a, std::string_view mode,
                   std::string_view nonlinearity)
{
    if (mode != "fan_in" && mode != "fan_out")
        fail(ErrorKind::argument, op, "The mode (", mode, ") must be fan_in or fan_out.");
    const Fans f = fans(op, t);
    return calculate_gain(nonlinearity, a) / std::sqrt(mode == "fan_in" ? f.in : f.out);
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

// Returns the p-quantile of the standard normal distribution, by bisection: exact to the last bits of a float.
double normal_quantile(double p)
{
    double low = -40, high = 40;
    for (int i = 0; i < 80; ++i) {
        const double middle = (low + high) / 2;
        (normal_cdf(middle) < p ? low : high) = middle;
    }
    return (low + high) / 2;
}

} // namespace

Tensor uniform_(Tensor tensor, double a, double b)
{
    if (!(a <= b))
        fail(ErrorKind::argument, "uniform_", "The bounds (", a, " and ", b, ") must not descend.");
    return assigned("uniform_", tensor, rand(tensor.shape(), on_device_of(tensor)) * (b - a) + a);
}

Tensor normal_(Tensor tensor, double mean, double std)
{
    check_std("normal_", std);
    return assigned("normal_", tensor, randn(tensor.shape(), on_device_of(tensor)) * std + mean);
}

Tensor trunc_normal_(Tensor tensor, double mean, double std, double a, double b)
{
    if (!(std > 0)) fail(ErrorKind::argument, "trunc_normal_", "The std (", std, ") must be above 0.");
    if (!(a < b)) fail(ErrorKind::argument, "trunc_normal_", "The bounds (", a, " and ", b, ") must ascend.");
    const double low = normal_cdf((a - mean) / std), high = normal_cdf((b - mean) / std);
    std::vector<float> values = rand(tensor.shape(), on_device_of(tensor)).to_vector<float>();
    for (float& v : values) {
        const double x = mean + std * normal_quantile(low + (high - low) * static_cast<double>(v));
        v = static_cast<float>(std::min(std::max(x, a), b));
    }
    return assigned("trunc_normal_", tensor, from_vector(values, tensor.shape(), on_device_of(tensor)));
}

Tensor constant_(Tensor tensor, double val) { return assigned("constant_", tensor, full_like(tensor, val)); }
Tensor zeros_(Tensor tensor) { return assigned("zeros_", tensor, zeros_like(tensor)); }
Tensor ones_(Tensor tensor) { return assigned("ones_", tensor, ones_like(tensor)); }

Tensor eye_(Tensor tensor)
{
    if (tensor.dim() != 2)
        fail(ErrorKind::shape, "eye_", "The shape (", to_string(tensor.shape()), ") is no matrix.");
    const CreationOptions index{.dtype = i32, .device = tensor.device()};
    return assigned("eye_", tensor,
                    cast(unsqueeze(arange(tensor.size(0), index), 1) == arange(tensor.size(1), index), f32));
}

Tensor dirac_(Tensor tensor, std::int64_t groups)
{
    if (tensor.dim() < 3 || tensor.dim() > 5)
        fail(ErrorKind::shape, "dirac_", "The shape (", to_string(tensor.shape()),
             ") is not [out, in, ...] with three to five dimensions.");
    std::vector<std::int64_t> sizes;
    for (const Dim& d : tensor.shape()) sizes.push_back(d.value());
    if (groups < 1 || sizes[0] % groups != 0)
        fail(ErrorKind::argument, "dirac_", "The (", sizes[0], ") outputs do not make (", groups,
             ") groups.");
    std::int64_t window = 1, middle = 0;
    for (std::size_t d = 2; d < sizes.size(); ++d) {
        window *= sizes[d];
        middle = middle * sizes[d] + sizes[d] / 2;
    }
    std::vector<float> values(static_cast<std::size_t>(sizes[0] * sizes[1] * window));
    const std::int64_t outputs = sizes[0] / groups;
    for (std::int64_t o = 0; o < sizes[0]; ++o)
        if (const std::int64_t i = o % outputs; i < sizes[1])
            values[static_cast<std::size_t>((o * sizes[1] + i) * window + middle)] = 1;
    return assigned("dirac_", tensor, from_vector(values, tensor.shape(), on_device_of(tensor)));
}

Tensor sparse_(Tensor tensor, double sparsity, double std)
{
    check_std("sparse_", std);
    if (tensor.dim() != 2)
        fail(ErrorKind::shape, "sparse_", "The shape (", to_string(tensor.shape()), ") is no matrix.");
    if (!(sparsity >= 0 && sparsity <= 1))
        fail(ErrorKind::argument, "sparse_", "The sparsity (", sparsity, ") must be from 0 to 1.");
    const auto rows = static_cast<std::size_t>(tensor.size(0).value()),
               columns = static_cast<std::size_t>(tensor.size(1).value());
    const auto none = static_cast<std::size_t>(std::ceil(sparsity * static_cast<double>(rows)));
    std::vector<float> values = randn(tensor.shape(), on_device_of(tensor)).to_vector<float>();
    const std::vector<float> keys = rand(tensor.shape(), on_device_of(tensor)).to_vector<float>();
    for (float& v : values) v = static_cast<float>(static_cast<double>(v) * std);
    std::vector<std::size_t> order(rows);
    for (std::size_t c = 0; c < columns; ++c) {
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return std::pair(keys[a * columns + c], a) < std::pair(keys[b * columns + c], b);
        });
        for (std::size_t r = 0; r < none; ++r) values[order[r] * columns + c] = 0;
    }
    return assigned("sparse_", tensor, from_vector(values, tensor.shape(), on_device_of(tensor)));
}

double calculate_gain(std::string_view nonlinearity, double param)
{
    for (const std::string_view linear : {"linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
                                          "conv_transpose2d", "conv_transpose3d", "sigmoid"})
        if (nonlinearity == linear) return 1;
    if (nonlinearity == "tanh") return 5.0 / 3;
    if (nonlinearity == "relu") return std::sqrt(2.0);
    if (nonlinearity == "leaky_relu") return std::sqrt(2.0 / (1 + param * param));
    if (nonlinearity == "selu") return 0.75;
    fail(ErrorKind::argument, "calculate_gain", "The function (", nonlinearity,
         ") is not known: give linear, conv2d, sigmoid, tanh, relu, leaky_relu or selu.");
}

Tensor xavier_uniform_(Tensor tensor, double gain)
{
    const Fans f = fans("xavier_uniform_", tensor);
    const double bound = gain * std::sqrt(6 / (f.in + f.out));
    return uniform_(std::move(tensor), -bound, bound);
}

Tensor xavier_normal_(Tensor tensor, double gain)
{
    const Fans f = fans("xavier_normal_", tensor);
    return normal_(std::move(tensor), 0, gain * std::sqrt(2 / (f.in + f.out)));
}

Tensor kaiming_uniform_(Tensor tensor, double a, std::string_view mode, std::string_view nonlinearity)
{
    const double bound = std::sqrt(3.0) * kaiming_std("kaiming_uniform_", tensor, a, mode, nonlinearity);
    return uniform_(std::move(tensor), -bound, bound);
}

Tensor kaiming_normal_(Tensor tensor, double a, std::string_view mode, std::string_view nonlinearity)
{
    const double std = kaiming_std("kaiming_normal_", tensor, a, mode, nonlinearity);
    return normal_(std::move(tensor), 0, std);
}

// Modified Gram-Schmidt, run twice for each vector, so that they are orthogonal to the last bits.
Tensor orthogonal_(Tensor tensor, double gain)
{
    fans("orthogonal_", tensor);
    const auto rows = static_cast<std::size_t>(tensor.size(0).value());
    const std::vector<float> drawn = randn(tensor.shape(), on_device_of(tensor)).to_vector<float>();
    if (drawn.empty()) return tensor;
    const std::size_t columns = drawn.size() / rows;
    const bool wide = rows <= columns;
    const std::size_t count = wide ? rows : columns, length = wide ? columns : rows;
    const auto offset = [&](std::size_t v, std::size_t i) {
        return wide ? v * columns + i : i * columns + v;
    };
    std::vector<std::vector<double>> vectors(count, std::vector<double>(length));
    std::vector<float> values(drawn.size());
    for (std::size_t v = 0; v < count; ++v) {
        std::vector<double>& x = vectors[v];
        for (std::size_t i = 0; i < length; ++i) x[i] = static_cast<double>(drawn[offset(v, i)]);
        for (std::size_t other = 0; other < 2 * v; ++other) {
            const std::vector<double>& y = vectors[other % v];
            double along = 0;
            for (std::size_t i = 0; i < length; ++i) along += x[i] * y[i];
            for (std::size_t i = 0; i < length; ++i) x[i] -= along * y[i];
        }
        double square = 0;
        for (const double e : x) square += e * e;
        for (std::size_t i = 0; i < length; ++i) {
            x[i] /= std::sqrt(square);
            values[offset(v, i)] = static_cast<float>(gain * x[i]);
        }
    }
    return assigned("orthogonal_", tensor, from_vector(values, tensor.shape(), on_device_of(tensor)));
}

} // namespace reprise::nn::init
