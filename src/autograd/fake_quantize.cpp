#include <reprise/autograd/custom_function.hpp>
#include <reprise/error.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/quantization.hpp>

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

} // namespace reprise
