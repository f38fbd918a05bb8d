// Ops that work element by element and broadcast: a function for each row of the table, and those with numbers.
#pragma once
#include <optional>

#include <reprise/tensor.hpp>

namespace reprise {

// elementwise.def has each formula and derivative.  Inputs of different dtypes are promoted as in PyTorch;
// rows that are not for integers take them as f32; comparisons give bool.
#define UNARY(name, out, tx, f, dx, lo, hi) Tensor name(const Tensor& x);
#define BINARY(name, out, ta, tb, f, da, db, alo, ahi, blo, bhi)                                             \
    Tensor name(const Tensor& a, const Tensor& b);
#define TERNARY(name, out, ta, tb, tc, f, da, db, dc, alo, ahi, blo, bhi, clo, chi)                          \
    Tensor name(const Tensor& a, const Tensor& b, const Tensor& c);
#include <reprise/elementwise.def>

// PyTorch's short names, with tensors and with numbers.
Tensor add(const Tensor& a, double b, double alpha = 1); // a + alpha b
Tensor add(const Tensor& a, const Tensor& b, double alpha);
Tensor sub(const Tensor& a, double b, double alpha = 1); // a - alpha b
Tensor sub(const Tensor& a, const Tensor& b, double alpha);
Tensor mul(const Tensor& a, double b);
Tensor div(const Tensor& a, double b);
Tensor eq(const Tensor& a, double b);
Tensor ne(const Tensor& a, const Tensor& b); // not_equal
Tensor ne(const Tensor& a, double b);
Tensor lt(const Tensor& a, const Tensor& b); // less
Tensor lt(const Tensor& a, double b);
Tensor le(const Tensor& a, const Tensor& b); // less_equal
Tensor le(const Tensor& a, double b);
Tensor gt(const Tensor& a, const Tensor& b); // greater
Tensor gt(const Tensor& a, double b);
Tensor ge(const Tensor& a, const Tensor& b); // greater_equal
Tensor ge(const Tensor& a, double b);
// input + value a b and input + value a / b; all broadcast.
Tensor addcmul(const Tensor& input, const Tensor& a, const Tensor& b, double value = 1);
Tensor addcdiv(const Tensor& input, const Tensor& a, const Tensor& b, double value = 1);

// Whether |a - b| <= atol + rtol |b|, element by element (bool); equal infinities are close, NaN to NaN only with
// equal_nan.  Integers are compared as f32.
Tensor isclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8,
               bool equal_nan = false);
// Of all elements: waits for them, so Error(state) while recording.
bool allclose(const Tensor& a, const Tensor& b, double rtol = 1e-5, double atol = 1e-8,
              bool equal_nan = false);
// The same shape and the same elements; NaN equals nothing.  Waits as allclose; eq() compares element by element.
bool equal(const Tensor& a, const Tensor& b);

// with numbers in place of tensors
Tensor pow(const Tensor& a, double exponent);
Tensor pow(double base, const Tensor& exponent);
Tensor fmod(const Tensor& a, double b);
Tensor remainder(const Tensor& a, double b);
Tensor floor_divide(const Tensor& a, double b);
Tensor maximum(const Tensor& a, double b);
Tensor minimum(const Tensor& a, double b);
Tensor atan2(const Tensor& a, double b);
Tensor lerp(const Tensor& start, const Tensor& end, double weight);
Tensor where(const Tensor& condition, const Tensor& a, double b);
Tensor where(const Tensor& condition, double a, const Tensor& b);
Tensor where(const Tensor& condition, double a, double b);            // f32
Tensor affine(const Tensor& x, double scale, double shift);           // x * scale + shift
Tensor div(const Tensor& a, const Tensor& b, Rounding rounding_mode); // floor_divide, trunc_divide
Tensor leaky_relu(const Tensor&, double negative_slope = 0.01);
Tensor elu(const Tensor&, double alpha = 1.0);
Tensor celu(const Tensor&, double alpha = 1.0);
// a * scale for each channel's slope below 0: weight [C] beside x [N, C, ...], or of one element.
Tensor prelu(const Tensor& x, const Tensor& weight);
Tensor hardtanh(const Tensor&, double min = -1, double max = 1);
Tensor relu6(const Tensor&);                                          // hardtanh from 0 to 6
Tensor softplus(const Tensor& x, double beta, double threshold = 20); // log(1 + exp(beta x)) / beta
Tensor swish(const Tensor&);                                          // silu
Tensor logsigmoid(const Tensor&);                                     // log(sigmoid(x)), without overflow
Tensor glu(const Tensor&, std::int64_t dim = -1); // the first half times the sigmoid of the second
Tensor gelu(const Tensor&, GeluApproximation approximate = GeluApproximation::none);
// min(max(x, min), max); without a bound nothing is cut there.  The gradient passes strictly between the bounds; between
// tensors as bounds (the row clamp) an element at a bound shares it with the bound.
Tensor clamp(const Tensor&, std::optional<double> min, std::optional<double> max = std::nullopt);
Tensor clamp(const Tensor& x, const Tensor& min); // clamp_min
Tensor clamp_min(const Tensor&, double min);
Tensor clamp_min(const Tensor& x, const Tensor& min);
Tensor clamp_max(const Tensor&, double max);
Tensor clamp_max(const Tensor& x, const Tensor& max);
// To nearest even for f16 and bf16; toward zero, saturating, NaN to 0 for i32; not zero for bool.
Tensor cast(const Tensor&, DType);

// ---- made of rows; x is floating, or becomes f32 where PyTorch computes in f32 ----
Tensor exp2(const Tensor& x);
Tensor frac(const Tensor& x);    // x - trunc(x), with the sign of x
Tensor signbit(const Tensor& x); // bool: below 0, or -0; false for NaN
// The magnitude of a with the sign of b; the slope by a is 0 where a is 0, that by b is 0.
Tensor copysign(const Tensor& a, const Tensor& b);
Tensor copysign(const Tensor& a, double b);
Tensor hypot(const Tensor& a, const Tensor& b);      // sqrt(a^2 + b^2), which overflows where the result does
Tensor xlogy(const Tensor& a, const Tensor& b);      // a log(b), and 0 where a is 0 and b is not NaN
Tensor logaddexp(const Tensor& a, const Tensor& b);  // log(exp(a) + exp(b)), without overflow
Tensor logaddexp2(const Tensor& a, const Tensor& b); // the same of powers of 2
// 0 below 0, 1 above it, `values` at 0; NaN stays.  No gradient.
Tensor heaviside(const Tensor& x, const Tensor& values);
// The greater one and the lesser one; of a NaN and a number the number.
Tensor fmax(const Tensor& a, const Tensor& b);
Tensor fmin(const Tensor& a, const Tensor& b);
// Infinities become these, by default the dtype's largest and least finite numbers.  Slope 0 where replaced.
Tensor nan_to_num(const Tensor& x, double nan = 0, std::optional<double> posinf = std::nullopt,
                  std::optional<double> neginf = std::nullopt);
// log(x / (1 - x)); with eps x is clamped to [eps, 1 - eps] first.
Tensor logit(const Tensor& x, std::optional<double> eps = std::nullopt);
Tensor sinc(const Tensor& x); // sin(pi x) / (pi x), 1 at 0
Tensor deg2rad(const Tensor& x);
Tensor rad2deg(const Tensor& x);
Tensor tanhshrink(const Tensor& x);                                // x - tanh(x)
Tensor softshrink(const Tensor& x, double lambda = 0.5);           // nearer to 0 by lambda >= 0, at most to 0
Tensor hardshrink(const Tensor& x, double lambda = 0.5);           // 0 from -lambda to lambda
Tensor threshold(const Tensor& x, double threshold, double value); // value where x <= threshold

} // namespace reprise
