#include <reprise/autograd/custom_function.hpp>
#include <reprise/error.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/quantization.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {

Tensor fake_quantize_per_tensor_affine(const Tensor& x, double scale, std::int64_t zero_point,
                                       std::int64_t quant_min, std::int64_t quant_max)
{
    constexpr const char* op = "fake_quantize_per_tensor_affine";
    if (!is_floating(x.dtype()))
        detail::fail(ErrorKind::dtype, op, "The op takes a floating dtype, not (", name_of(x.dtype()),
                     "): cast the input first.");
    if (!(scale > 0)) detail::fail(ErrorKind::argument, op, "The scale (", scale, ") must be positive.");
    if (quant_min > quant_max || zero_point < quant_min || zero_point > quant_max)
        detail::fail(ErrorKind::argument, op, "The zero point (", zero_point, ") must be from quant_min (",
                     quant_min, ") to quant_max (", quant_max, ").");
    const double inverse = x.dtype() == f64 ? 1 / scale : double{1.0F / static_cast<float>(scale)};
    const auto zero = static_cast<double>(zero_point);
    const auto low = static_cast<double>(quant_min), high = static_cast<double>(quant_max);
    const CustomFunction straight_through(
        "fake_quantize",
        [=](FunctionContext& c, const std::vector<Tensor>& in) {
            const Tensor q = round(in[0] * inverse) + zero;
            c.save_for_backward({logical_and(q >= low, q <= high)});
            return std::vector{(clamp(q, low, high) - zero) * scale};
        },
        [](const FunctionContext& c, const std::vector<Tensor>& dy) {
            return std::vector{dy[0] * cast(c.saved(0), dy[0].dtype())};
        });
    return straight_through(x);
}

Tensor fake_quantize_per_channel_affine(const Tensor& x, const Tensor& scale, const Tensor& zero_point,
                                        std::int64_t axis, std::int64_t quant_min, std::int64_t quant_max)
{
    constexpr const char* op = "fake_quantize_per_channel_affine";
    ops::require_floating(op, x.dtype());
    if (quant_min > quant_max)
        detail::fail(ErrorKind::argument, op, "The quant_min (", quant_min, ") is above quant_max (",
                     quant_max, ").");
    const Shape sizes = x.shape();
    const std::size_t dim = shape::normalize_dim(op, axis, sizes.size());
    const DType dtype = x.dtype(), computed = size_of(dtype) < 4 ? f32 : dtype;
    const auto along_axis = [&](const char* name, const Tensor& t) {
        const Shape given = t.shape();
        const auto sentence = [&] {
            return std::string("The ") + name + "'s shape (" + to_string(given) + ") must be [" +
                   sizes[dim].text() + "], the size of the input (" + to_string(sizes) + ") along the axis.";
        };
        if (given.size() != 1) detail::fail(ErrorKind::shape, op, sentence());
        shape::require_equal(op, given[0], sizes[dim], sentence);
        return ops::along_dim(cast(t.detach(), computed), dim, sizes.size());
    };
    const auto low = static_cast<double>(quant_min), high = static_cast<double>(quant_max);
    const CustomFunction straight_through(
        "fake_quantize_per_channel",
        [=](FunctionContext& c, const std::vector<Tensor>& in) {
            const Tensor q = round(in[0] * (1.0 / in[1])) + in[2];
            c.save_for_backward({logical_and(q >= low, q <= high)});
            return std::vector{(clamp(q, low, high) - in[2]) * in[1]};
        },
        [](const FunctionContext& c, const std::vector<Tensor>& dy) {
            return std::vector{dy[0] * cast(c.saved(0), dy[0].dtype()), Tensor(), Tensor()};
        });
    return cast(
        straight_through(cast(x, computed), along_axis("scale", scale), along_axis("zero_point", zero_point)),
        dtype);
}

} // namespace reprise
