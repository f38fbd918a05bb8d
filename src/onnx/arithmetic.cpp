// Operators that work element by element, and on bits.
#include <functional>

#include "onnx/call.hpp"
#include "onnx/host.hpp"

namespace reprise::onnx {

namespace {

// Nodes of opset 6 and below broadcast by an attribute and are not imported.
template <Tensor (*f)(const Tensor&, const Tensor&)> Value binary(Call& call) { return f(call[0], call[1]); }

template <Tensor (*f)(const Tensor&, const Tensor&)> Value variadic(Call& call)
{
    Tensor result = call[0];
    for (std::size_t i = 1; i < call.inputs(); ++i) result = f(result, call[i]);
    return result;
}

Value divide(Call& call)
{
    if (call.type(0).is_floating()) return div(call[0], call[1]);
    return trunc_divide(call[0], call[1]);
}

Value power(Call& call)
{
    const Tensor base = call[0], exponent = call[1];
    if (is_floating(base.dtype())) return pow(base, exponent.to(base.dtype()));
    // In f32, as devices need not have f64.  Powers by integers are integers; others are cut, unless they are an
    // integer up to the rounding of f32.
    const Tensor exact = pow(base.to(f32), exponent.to(f32)), near = round(exact);
    if (!is_floating(exponent.dtype())) return near.to(base.dtype());
    constexpr double rounding = 4e-6; // relative, of the f32 functions of devices
    const Tensor whole = le(abs(sub(exact, near)), mul(abs(near), rounding));
    return where(whole, near, trunc(exact)).to(base.dtype());
}

Value modulus(Call& call)
{
    if (call.flag("fmod")) return fmod(call[0], call[1]);
    return remainder(call[0], call[1]);
}

Value mean_of_all(Call& call)
{
    return div(variadic<add>(call).tensor(call.device), static_cast<double>(call.inputs()));
}

Value bit_shift(Call& call)
{
    const std::string direction = call.text("direction");
    if (direction == "LEFT") return left_shift(call[0], call[1]);
    if (direction == "RIGHT") return right_shift(call[0], call[1]);
    call.fail("The direction (", direction, ") is neither LEFT nor RIGHT.");
}

Value is_infinite(Call& call)
{
    const Tensor x = call[0], infinite = isinf(x);
    const bool negative = call.flag("detect_negative", true), positive = call.flag("detect_positive", true);
    if (negative && positive) return infinite;
    if (negative) return logical_and(infinite, lt(x, 0));
    if (positive) return logical_and(infinite, gt(x, 0));
    return zeros_like(infinite);
}

Value select(Call& call)
{
    Tensor condition = call[0], a = call[1], b = call[2];
    Value result(where(condition, a, b), &call.type(1));
    return result;
}

Value clip_values(Call& call)
{
    const Tensor x = call[0];
    if (call.opset() < 11) {
        Tensor y = x;
        if (call.has_attribute("min")) y = clamp_min(y, call.real("min", 0));
        if (call.has_attribute("max")) y = clamp_max(y, call.real("max", 0));
        return y;
    }
    Tensor y = x;
    if (call.has(1)) y = maximum(y, call[1]);
    if (call.has(2)) y = minimum(y, call[2]);
    return y;
}

constexpr Typed wraps = Typed::arithmetic;

const Operator rows[] = {
    {"Abs", unary<abs>, {.typed = wraps}},
    {"Acos", unary<acos>},
    {"Acosh", unary<acosh>},
    {"Add", binary<add>, {.typed = wraps, .on_host = host_add, .since = 7}},
    {"And", binary<logical_and>, {.on_host = host_and, .since = 7}},
    {"Asin", unary<asin>},
    {"Asinh", unary<asinh>},
    {"Atan", unary<atan>},
    {"Atanh", unary<atanh>},
    {"BitShift", bit_shift, {.typed = wraps}},
    {"BitwiseAnd", binary<bitwise_and>, {.typed = wraps}},
    {"BitwiseNot", unary<bitwise_not>, {.typed = wraps}},
    {"BitwiseOr", binary<bitwise_or>, {.typed = wraps}},
    {"BitwiseXor", binary<bitwise_xor>, {.typed = wraps}},
    {"Ceil", unary<ceil>},
    {"Clip", clip_values, {.typed = wraps, .constants = 0b110, .since = 6}},
    {"Cos", unary<cos>},
    {"Cosh", unary<cosh>},
    {"Div", divide, {.typed = wraps, .on_host = host_div, .since = 7}},
    {"Equal", binary<eq>, {.on_host = host_equal, .since = 7}},
    {"Erf", unary<erf>},
    {"Exp", unary<exp>},
    {"Floor", unary<floor>},
    {"Greater", binary<gt>, {.on_host = host_greater, .since = 7}},
    {"GreaterOrEqual", binary<ge>, {.on_host = host_greater_or_equal}},
    {"IsInf", is_infinite},
    {"IsNaN", unary<isnan>},
    {"Less", binary<lt>, {.on_host = host_less, .since = 7}},
    {"LessOrEqual", binary<le>, {.on_host = host_less_or_equal}},
    {"Log", unary<log>},
    {"Max", variadic<maximum>, {.typed = wraps, .on_host = host_max, .since = 6}},
    {"Mean", mean_of_all, {.since = 6}},
    {"Min", variadic<minimum>, {.typed = wraps, .on_host = host_min, .since = 6}},
    {"Mod", modulus, {.typed = wraps, .on_host = host_mod}},
    {"Mul", binary<mul>, {.typed = wraps, .on_host = host_mul, .since = 7}},
    {"Neg", unary<neg>, {.typed = wraps, .on_host = host_neg}},
    {"Not", unary<logical_not>, {.on_host = host_not}},
    {"Or", binary<logical_or>, {.on_host = host_or, .since = 7}},
    {"Pow", power, {.since = 7, .limits = "powers of integers are computed in f32"}},
    {"Reciprocal", unary<reciprocal>},
    {"Round", unary<round>},
    {"Sign", unary<sign>, {.typed = wraps}},
    {"Sin", unary<sin>},
    {"Sinh", unary<sinh>},
    {"Sqrt", unary<sqrt>},
    {"Sub", binary<sub>, {.typed = wraps, .on_host = host_sub, .since = 7}},
    {"Sum", variadic<add>, {.since = 6}},
    {"Tan", unary<tan>},
    {"Tanh", unary<tanh>},
    {"Where", select, {.on_host = host_where}},
    {"Xor", binary<logical_xor>, {.since = 7}},
};

} // namespace

Operators arithmetic_operators() { return rows; }

} // namespace reprise::onnx
