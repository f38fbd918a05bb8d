// Elementwise functions composed of rows of the table.
#include <cmath>
#include <limits>
#include <numbers>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>

#include "ops/registry.hpp"

namespace reprise {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Casts integers and bool to f32, as rows of floating types do, too.
Tensor floating(const Tensor& x) { return is_floating(x.dtype()) ? x : cast(x, f32); }

double largest_of(DType dtype)
{
    if (dtype == f16) return 65504;
    if (dtype == bf16) return 0x1.FEp127;
    return dtype == f64 ? std::numeric_limits<double>::max()
                        : static_cast<double>(std::numeric_limits<float>::max());
}

Tensor is_infinite(const Tensor& a, const Tensor& b) { return logical_or(isinf(a), isinf(b)); }

// Computes max(a, b) + log(1 + exp(-scale |a - b|)) / scale, which is the logarithm to base exp(scale) of the sum of
// exp(scale a) and exp(scale b). The difference of equal infinities counts as 0.
Tensor log_of_sum(const Tensor& given_a, const Tensor& given_b, double scale)
{
    const graph::NoAutocast in_its_dtype;
    const Tensor a = floating(given_a), b = floating(given_b);
    const Tensor difference = where(eq(a, b), 0.0, a - b);
    return maximum(a, b) + log1p(exp(abs(difference) * -scale)) / scale;
}

void check_lambda(const char* op, double lambda)
{
    if (!(lambda >= 0))
        detail::fail(ErrorKind::argument, op, "The lambda (", lambda, ") must be at least 0.");
}

} // namespace

Tensor exp2(const Tensor& x)
{
    const graph::NoAutocast in_its_dtype;
    return pow(2.0, floating(x));
}

Tensor frac(const Tensor& x)
{
    ops::require_floating("frac", x.dtype());
    return x - trunc(x);
}

// Detects -0 by 1 / -0 = -infinity. This also detects negative subnormal numbers on devices that flush them to 0.
Tensor signbit(const Tensor& x)
{
    if (!is_floating(x.dtype())) return (x.dtype() == boolean ? cast(x, i32) : x) < 0.0;
    return logical_or(x < 0.0, logical_and(x == 0.0, reciprocal(x) < 0.0));
}

Tensor copysign(const Tensor& a, const Tensor& b)
{
    const Tensor size = abs(floating(a));
    return where(signbit(b), -size, size);
}
Tensor copysign(const Tensor& a, double b)
{
    const Tensor size = abs(floating(a));
    return std::signbit(b) ? -size : size;
}

// Computes the larger one times sqrt(1 + ratio^2), so that no square overflows.
Tensor hypot(const Tensor& given_a, const Tensor& given_b)
{
    const Tensor a = abs(floating(given_a)), b = abs(floating(given_b));
    const Tensor large = maximum(a, b), infinite = is_infinite(a, b);
    const Tensor divisor = where(logical_or(infinite, large == 0.0), 1.0, large);
    return where(infinite, infinity, large * sqrt(square(minimum(a, b) / divisor) + 1.0));
}

Tensor xlogy(const Tensor& given_a, const Tensor& given_b)
{
    const graph::NoAutocast in_its_dtype;
    const Tensor a = floating(given_a), b = floating(given_b);
    const Tensor none = logical_and(a == 0.0, logical_not(isnan(b)));
    return where(none, 0.0, a * log(where(none, 1.0, b)));
}

Tensor logaddexp(const Tensor& a, const Tensor& b) { return log_of_sum(a, b, 1); }
Tensor logaddexp2(const Tensor& a, const Tensor& b) { return log_of_sum(a, b, std::numbers::ln2); }

Tensor heaviside(const Tensor& x, const Tensor& values)
{
    if (x.dtype() != values.dtype())
        detail::fail(ErrorKind::dtype, "heaviside", "The dtypes (", name_of(x.dtype()), " and ",
                     name_of(values.dtype()), ") differ: cast one of the inputs.");
    const Tensor at = x.detach();
    const Tensor y = where(at == 0.0, values.detach(), cast(at > 0.0, x.dtype()));
    return is_floating(x.dtype()) ? where(isnan(at), at, y) : y;
}

Tensor fmax(const Tensor& a, const Tensor& b) { return where(logical_or(a >= b, isnan(b)), a, b); }
Tensor fmin(const Tensor& a, const Tensor& b) { return where(logical_or(a <= b, isnan(b)), a, b); }

Tensor nan_to_num(const Tensor& x, double nan, std::optional<double> posinf, std::optional<double> neginf)
{
    if (!is_floating(x.dtype())) return ops::copied(x);
    const double largest = largest_of(x.dtype());
    const Tensor high = where(x == infinity, posinf.value_or(largest), x);
    return where(isnan(x), nan, where(x == -infinity, neginf.value_or(-largest), high));
}

Tensor isclose(const Tensor& given_a, const Tensor& given_b, double rtol, double atol, bool equal_nan)
{
    if (!(rtol >= 0 && atol >= 0))
        detail::fail(ErrorKind::argument, "isclose", "The tolerances (", rtol, " and ", atol,
                     ") must be at least 0.");
    const Tensor a = floating(given_a), b = floating(given_b), difference = abs(a - b);
    Tensor close = logical_or(eq(given_a, given_b),
                              logical_and(isfinite(difference), difference <= abs(b) * rtol + atol));
    return equal_nan ? logical_or(close, logical_and(isnan(a), isnan(b))) : close;
}

Tensor logit(const Tensor& given, std::optional<double> eps)
{
    const graph::NoAutocast in_its_dtype;
    const Tensor whole = floating(given);
    const Tensor x = eps ? clamp(whole, *eps, 1 - *eps) : whole;
    return log(x / (1.0 - x));
}

Tensor sinc(const Tensor& given)
{
    const Tensor x = floating(given), origin = x == 0.0;
    const Tensor turned = where(origin, 1.0, x) * std::numbers::pi;
    return where(origin, 1.0, sin(turned) / turned);
}

Tensor deg2rad(const Tensor& x) { return floating(x) * (std::numbers::pi / 180); }
Tensor rad2deg(const Tensor& x) { return floating(x) * (180 / std::numbers::pi); }

Tensor tanhshrink(const Tensor& x) { return floating(x) - tanh(x); }
Tensor softshrink(const Tensor& x, double lambda)
{
    check_lambda("softshrink", lambda);
    ops::require_floating("softshrink", x.dtype());
    return x - clamp(x, -lambda, lambda);
}
Tensor hardshrink(const Tensor& x, double lambda)
{
    ops::require_floating("hardshrink", x.dtype());
    return where(abs(x) <= lambda, 0.0, x);
}
Tensor threshold(const Tensor& x, double threshold, double value) { return where(x <= threshold, value, x); }

} // namespace reprise
