// Quantisation: conversions to and from integers of few bits, and products of such integers.
#include "onnx/quantization.hpp"

#include <cmath>

namespace reprise::onnx {

namespace {

// The smallest and the largest integer of a type.
std::pair<double, double> range_of(const ElementType& type)
{
    const double half = std::ldexp(1.0, static_cast<int>(type.bits) - 1);
    if (type.kind == ElementType::Kind::with_sign) return {-half, half - 1};
    return {0, 2 * half - 1};
}

const ElementType& output_type(const Call& call, std::size_t zero_point)
{
    if (call.has(zero_point)) return call.type(zero_point);
    return call.element_type("output_dtype", element_type_of(u8));
}

// Products and quotients in f16 are computed in f32.
Tensor wide(const Tensor& x)
{
    return x.dtype() == f16 || x.dtype() == bf16 || !is_floating(x.dtype()) ? x.to(f32) : x;
}

Value quantize_linear(Call& call)
{
    const Tensor x = call[0];
    const std::int64_t axis = call.integer("axis", 1), block = call.integer("block_size", 0);
    const ElementType& type = output_type(call, 2);
    const Tensor scale = along_axis(call, call[1], x, axis, block);
    const Tensor scaled = div(wide(x), wide(scale));
    const Tensor zero = call.has(2) ? along_axis(call, call[2], x, axis, block) : Tensor();
    if (!type.is_floating()) return quantized(scaled, zero, type);
    if (!type.small) call.fail("The type (", type.name, ") is none that numbers are quantised to.");
    const Tensor shifted = zero.defined() ? add(scaled, zero.to(scaled.dtype())) : scaled;
    return Value(rounded(shifted, *type.small, call.flag("saturate", true)), &type);
}

Value dequantize_linear(Call& call)
{
    const Tensor x = call[0], scale_given = call[1];
    const std::int64_t axis = call.integer("axis", 1), block = call.integer("block_size", 0);
    const Tensor scale = along_axis(call, scale_given, x, axis, block);
    Tensor whole = x.to(f32);
    if (call.has(2)) whole = sub(whole, along_axis(call, call[2], x, axis, block).to(f32));
    return mul(whole, scale.to(f32)).to(call.element_type("output_dtype", call.type(1)).held);
}

// Scale and zero point from the smallest and the largest element and 0.
Values dynamic_quantize_linear(Call& call)
{
    const Tensor x = call[0];
    const Tensor low = minimum(min(x), 0.0), high = maximum(max(x), 0.0);
    const Tensor scale = div(sub(high, low), 255);
    const Tensor zero = clamp(round(div(neg(low), scale)), 0, 255);
    const ElementType& type = element_type_of(u8);
    return {quantized(div(x, scale), zero, type), Value(scale), Value(zero.to(i32).to(u8))};
}

Tensor sums_of_products(const Tensor& a, const Tensor& b)
{
    return exact_sums(a, a.size(-1), [&](const Tensor& part) { return matmul(part, b); });
}

Value mat_mul_integer(Call& call)
{
    return sums_of_products(centred(call, 0, 2, -2), centred(call, 1, 3, -1));
}

Value qlinear_mat_mul(Call& call)
{
    const Tensor whole = sums_of_products(centred(call, 0, 2, -2), centred(call, 3, 5, -1)).to(f32);
    const auto scale = [&](std::size_t input, std::int64_t axis) {
        return along_axis(call, call[input].to(f32), whole, axis);
    };
    const Tensor factor = div(mul(scale(1, -2), scale(4, -1)), scale(6, -2));
    return quantized(mul(whole, factor), call[7], call.type(7));
}

const Operator rows[] = {
    {"DequantizeLinear", dequantize_linear, {.since = 10, .limits = "computed in f32"}},
    {"DynamicQuantizeLinear", dynamic_quantize_linear},
    {"MatMulInteger", mat_mul_integer, {.limits = "sums of up to 4,112 products are exact"}},
    {"QLinearMatMul", qlinear_mat_mul, {.limits = "sums of up to 4,112 products are exact"}},
    {"QuantizeLinear", quantize_linear, {.since = 10, .limits = "no gradient; computed in f32"}},
};

} // namespace

Tensor along_axis(const Call& call, const Tensor& given, const Tensor& x, std::int64_t axis,
                  std::int64_t block)
{
    if (same(given.numel(), Dim(1))) return reshape(given, Shape{});
    if (given.dim() == 1) {
        Shape shape(static_cast<std::size_t>(x.dim()), 1);
        shape[static_cast<std::size_t>(call.axis(axis, x.dim()))] = given.size(0);
        return reshape(given, shape);
    }
    if (block <= 0) return given;
    const std::int64_t dim = call.axis(axis, x.dim());
    return narrow(repeat_interleave(given, block, dim), dim, 0, x.size(dim));
}

Tensor centred(const Call& call, std::size_t x, std::size_t zero, std::int64_t axis)
{
    const Tensor whole = call[x].to(f32);
    return call.has(zero) ? sub(whole, along_axis(call, call[zero].to(f32), whole, axis)) : whole;
}

Tensor exact_sums(const Tensor& x, const Dim& products, const std::function<Tensor(const Tensor&)>& product)
{
    constexpr std::int64_t exact = (1 << 24) / (255 * 255);
    if (products.is_constant() && products.value() <= exact) return product(x).to(i32);
    const Tensor high = floor(div(x, 16));
    return add(mul(product(high).to(i32), 16), product(sub(x, mul(high, 16))).to(i32));
}

Value quantized(const Tensor& scaled, const Tensor& zero, const ElementType& type)
{
    Tensor y = round(scaled);
    if (zero.defined()) y = add(y, zero.to(y.dtype()));
    const auto [low, high] = range_of(type);
    return Value(clamp(y, low, high).to(type.held == i8 || type.held == u8 ? i32 : type.held).to(type.held),
                 &type);
}

Operators quantization_operators() { return rows; }

} // namespace reprise::onnx
