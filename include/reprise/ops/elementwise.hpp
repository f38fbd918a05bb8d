// Functions that work element by element.  Shapes broadcast, and dtypes are promoted as in PyTorch
// (promote_types()).
//
// Each row of elementwise.def is a function of its name, PyTorch's for most of them: name(x), name(a, b) or
// name(a, b, c).  The row documents it: it has the types that the function takes and returns, the formula, and
// the derivative by each input; a comment above it states conventions, such as the slope at 0 or the result
// for NaN.  Rows of floating types (F) take integers and bools as f32; rows of bools (B) take other dtypes as
// "is not 0"; bitwise_* of bools is logical_*.  Rows of numbers (N) compute in the promoted dtype.
// Comparisons return bool.  Error(dtype) for a dtype that a row does not take, and for sub() and neg() of
// bools; Error(shape) where the shapes do not broadcast.
//
// A number in place of a tensor takes the dtype of the other tensor, except that with integers a number that
// is not whole is f32, and with bools a whole number is i64 and any other one f32.  Error(argument) where the
// dtype does not hold the number.
#pragma once
#include <concepts>
#include <cstdint>
#include <optional>

#include <reprise/tensor.hpp>

namespace reprise {

// The function of a row with one input.
#define UNARY(name, out, tx, f, dx, lo, hi) Tensor name(const Tensor& x);
// The function of a row with two inputs.
#define BINARY(name, out, ta, tb, f, da, db, alo, ahi, blo, bhi)                                             \
    Tensor name(const Tensor& a, const Tensor& b);
// The function of a row with three inputs.
#define TERNARY(name, out, ta, tb, tc, f, da, db, dc, alo, ahi, blo, bhi, clo, chi)                          \
    Tensor name(const Tensor& a, const Tensor& b, const Tensor& c);
#include <reprise/elementwise.def>

// -- arithmetic and comparisons with PyTorch's short names, and with numbers --

Tensor add(const Tensor& a, double b, double alpha = 1);         // a + alpha b
Tensor add(const Tensor& a, const Tensor& b, double alpha);      // a + alpha b
Tensor sub(const Tensor& a, double b, double alpha = 1);         // a - alpha b
Tensor sub(const Tensor& a, const Tensor& b, double alpha);      // a - alpha b
Tensor rsub(const Tensor& a, double b, double alpha = 1);        // b - alpha a
Tensor rsub(const Tensor& a, const Tensor& b, double alpha = 1); // b - alpha a
Tensor mul(const Tensor& a, double b);                           // a b
Tensor div(const Tensor& a, double b);                           // a / b; integers as f32
Tensor eq(const Tensor& a, double b);                            // a == b (bool)
Tensor ne(const Tensor& a, const Tensor& b);                     // a != b (bool): not_equal()
Tensor ne(const Tensor& a, double b);                            // a != b (bool)
Tensor lt(const Tensor& a, const Tensor& b);                     // a < b (bool): less()
Tensor lt(const Tensor& a, double b);                            // a < b (bool)
Tensor le(const Tensor& a, const Tensor& b);                     // a <= b (bool): less_equal()
Tensor le(const Tensor& a, double b);                            // a <= b (bool)
Tensor gt(const Tensor& a, const Tensor& b);                     // a > b (bool): greater()
Tensor gt(const Tensor& a, double b);                            // a > b (bool)
Tensor ge(const Tensor& a, const Tensor& b);                     // a >= b (bool): greater_equal()
Tensor ge(const Tensor& a, double b);                            // a >= b (bool)
// input + value a b.
Tensor addcmul(const Tensor& input, const Tensor& a, const Tensor& b, double value = 1);
// input + value a / b.
Tensor addcdiv(const Tensor& input, const Tensor& a, const Tensor& b, double value = 1);

// Whether |a - b| <= atol + rtol |b|, element by element (bool).  Equal infinities are close; NaN is close to
// NaN only with equal_nan.  Integers are compared as f32.  Error(argument) for a tolerance below 0.
Tensor isclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8,
               bool equal_nan = false);
// Whether isclose() holds for all elements.  Waits for the values: Error(state) while recording.
bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8,
              bool equal_nan = false);
// Whether both have the same shape and equal elements; NaN equals nothing.  Waits for the values:
// Error(state) while recording.  eq() compares element by element.
bool equal(const Tensor& a, const Tensor& b);

Tensor pow(const Tensor& a, double exponent);    // a to the power of exponent; integers as f32
Tensor pow(double base, const Tensor& exponent); // base to the power of exponent; integers as f32
Tensor fmod(const Tensor& a, double b);          // the remainder of a / b with the sign of a
Tensor remainder(const Tensor& a, double b);     // the remainder of a / b with the sign of b
Tensor floor_divide(const Tensor& a, double b);  // a / b rounded down
Tensor maximum(const Tensor& a, double b);       // the larger of a and b; NaN where a is
Tensor minimum(const Tensor& a, double b);       // the smaller of a and b; NaN where a is
Tensor atan2(const Tensor& a, double b);         // the angle of the point (b, a) in radians, -pi to pi
// start + weight (end - start): linear interpolation.
Tensor lerp(const Tensor& start, const Tensor& end, double weight);
// a where the condition is true or not 0, else b.
Tensor where(const Tensor& condition, const Tensor& a, double b);
Tensor where(const Tensor& condition, double a, const Tensor& b); // a where the condition is true, else b
Tensor where(const Tensor& condition, double a, double b);        // the same as f32
Tensor affine(const Tensor& x, double scale, double shift);       // x * scale + shift
// a / b rounded down or toward zero: floor_divide() or trunc_divide().
Tensor div(const Tensor& a, const Tensor& b, Choice<Rounding> rounding_mode);
Tensor div(const Tensor& a, double b, Choice<Rounding> rounding_mode); // the same by a number

// a & b, a | b, a ^ b, a << b and a >> b of integers with a number.
Tensor bitwise_and(const Tensor& a, std::int64_t b);
Tensor bitwise_or(const Tensor& a, std::int64_t b);  // see bitwise_and() above
Tensor bitwise_xor(const Tensor& a, std::int64_t b); // see bitwise_and() above
Tensor left_shift(const Tensor& a, std::int64_t b);  // see bitwise_and() above
Tensor right_shift(const Tensor& a, std::int64_t b); // see bitwise_and() above

// The operators of integers with a number.
template <std::integral T>
requires(!std::same_as<T, bool>) Tensor operator&(const Tensor& a, T b)
{
    return bitwise_and(a, static_cast<std::int64_t>(b));
}
// a | number.
template <std::integral T>
requires(!std::same_as<T, bool>) Tensor operator|(const Tensor& a, T b)
{
    return bitwise_or(a, static_cast<std::int64_t>(b));
}
// a ^ number.
template <std::integral T>
requires(!std::same_as<T, bool>) Tensor operator^(const Tensor& a, T b)
{
    return bitwise_xor(a, static_cast<std::int64_t>(b));
}
// a << number.
template <std::integral T>
requires(!std::same_as<T, bool>) Tensor operator<<(const Tensor& a, T b)
{
    return left_shift(a, static_cast<std::int64_t>(b));
}
// a >> number.
template <std::integral T>
requires(!std::same_as<T, bool>) Tensor operator>>(const Tensor& a, T b)
{
    return right_shift(a, static_cast<std::int64_t>(b));
}

// -- activations --

Tensor leaky_relu(const Tensor&, double negative_slope = 0.01); // x above 0, else negative_slope x
Tensor elu(const Tensor&, double alpha = 1.0);                  // x from 0 on, else alpha (exp(x) - 1)
Tensor celu(const Tensor&, double alpha = 1.0);                 // x above 0, else alpha (exp(x / alpha) - 1)
// x above 0, else weight x.  weight has one element, or one for each channel of x [N, C, ...]: [C].
// Error(shape) for another shape.
Tensor prelu(const Tensor& x, const Tensor& weight);
Tensor hardtanh(const Tensor&, double min = -1, double max = 1); // x clamped to [min, max]; integers as f32
Tensor relu6(const Tensor&);                                     // x clamped to [0, 6]
// log(1 + exp(beta x)) / beta, and x where beta x is above the threshold.
Tensor softplus(const Tensor& x, double beta, double threshold = 20);
Tensor swish(const Tensor&);      // x sigmoid(x): silu()
Tensor logsigmoid(const Tensor&); // log(sigmoid(x)), without overflow
// The first half along dim times the sigmoid of the second half.  Error(shape) for an odd size.
Tensor glu(const Tensor&, std::int64_t dim = -1);
// x times the normal distribution function of x (Hendrycks and Gimpel, 2016), exactly or approximated by
// tanh.
Tensor gelu(const Tensor&, Choice<GeluApproximation> approximate = GeluApproximation::none);
// min(max(x, min), max), where nullopt is no bound.  The gradient passes strictly between the bounds.
// Error(argument) without any bound.
Tensor clamp(const Tensor&, std::optional<double> min, std::optional<double> max = std::nullopt);
// max(x, min); an element that equals its bound shares the gradient with it equally.
Tensor clamp(const Tensor& x, const Tensor& min);
// clamp(), by NumPy's name.
Tensor clip(const Tensor&, std::optional<double> min, std::optional<double> max = std::nullopt);
Tensor clamp_min(const Tensor&, double min);          // max(x, min)
Tensor clamp_min(const Tensor& x, const Tensor& min); // max(x, min), with gradients as clamp(x, min)
Tensor clamp_max(const Tensor&, double max);          // min(x, max)
Tensor clamp_max(const Tensor& x, const Tensor& max); // min(x, max), with gradients as clamp(x, min)
// Converts to a dtype; returns x itself where it has that dtype.  Rounds to nearest even for f16 and bf16, and
// toward zero for i32, saturating and with 0 for NaN; i16, i8 and u8 are the low bits of that.  bool is "is not
// 0", true for NaN.
Tensor cast(const Tensor&, DType);

// -- composed of rows; integers and bools are taken as f32 where PyTorch does so --

Tensor exp2(const Tensor& x);    // 2 to the power of x
Tensor frac(const Tensor& x);    // x - trunc(x), with the sign of x; of a floating dtype
Tensor signbit(const Tensor& x); // whether x is below 0 or -0 (bool); false for NaN
// The magnitude of a with the sign of b.  The gradient by a is 0 where a is 0; that by b is 0.
Tensor copysign(const Tensor& a, const Tensor& b);
Tensor copysign(const Tensor& a, double b);     // the magnitude of a with the sign of b
Tensor hypot(const Tensor& a, const Tensor& b); // sqrt(a^2 + b^2), which overflows only where the result does
Tensor xlogy(const Tensor& a, const Tensor& b); // a log(b), and 0 where a is 0 and b is not NaN
Tensor logaddexp(const Tensor& a, const Tensor& b);  // log(exp(a) + exp(b)), without overflow
Tensor logaddexp2(const Tensor& a, const Tensor& b); // log2(2^a + 2^b), without overflow
// 0 where x is below 0, `values` where it is 0, 1 above; NaN stays.  No gradient.  Error(dtype) where the
// dtypes differ.
Tensor heaviside(const Tensor& x, const Tensor& values);
Tensor fmax(const Tensor& a, const Tensor& b); // the larger one; of a NaN and a number the number
Tensor fmin(const Tensor& a, const Tensor& b); // the smaller one; of a NaN and a number the number
// Replaces NaN and infinities, these by default with the largest and smallest finite number of the dtype.
// The gradient is 0 where an element is replaced.  Integers are returned unchanged.
Tensor nan_to_num(const Tensor& x, double nan = 0, std::optional<double> posinf = std::nullopt,
                  std::optional<double> neginf = std::nullopt);
// log(x / (1 - x)); with eps x is clamped to [eps, 1 - eps] first.
Tensor logit(const Tensor& x, std::optional<double> eps = std::nullopt);
Tensor sinc(const Tensor& x);       // sin(pi x) / (pi x), and 1 at 0
Tensor deg2rad(const Tensor& x);    // degrees to radians: x pi / 180
Tensor rad2deg(const Tensor& x);    // radians to degrees: x 180 / pi
Tensor tanhshrink(const Tensor& x); // x - tanh(x)
// x moved toward 0 by lambda, and 0 from -lambda to lambda; of a floating dtype.  Error(argument) for lambda
// below 0.
Tensor softshrink(const Tensor& x, double lambda = 0.5);
Tensor hardshrink(const Tensor& x, double lambda = 0.5);           // 0 from -lambda to lambda, else x
Tensor threshold(const Tensor& x, double threshold, double value); // value where x <= threshold, else x

} // namespace reprise
