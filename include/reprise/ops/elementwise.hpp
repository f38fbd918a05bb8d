// Ops that work element by element and broadcast: a function for each row of the table, and those with numbers.
#pragma once
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

// with numbers in place of tensors
Tensor pow(const Tensor& a, double exponent);
Tensor pow(double base, const Tensor& exponent);
Tensor fmod(const Tensor& a, double b);
Tensor remainder(const Tensor& a, double b);
Tensor floor_divide(const Tensor& a, double b);
Tensor maximum(const Tensor& a, double b);
Tensor minimum(const Tensor& a, double b);
Tensor lerp(const Tensor& start, const Tensor& end, double weight);
Tensor where(const Tensor& condition, const Tensor& a, double b);
Tensor where(const Tensor& condition, double a, const Tensor& b);
Tensor affine(const Tensor& x, double scale, double shift); // x * scale + shift
enum class Rounding { floor, trunc };
Tensor div(const Tensor& a, const Tensor& b, Rounding); // floor_divide, trunc_divide
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
enum class GeluApproximation { none, tanh };
Tensor gelu(const Tensor&, GeluApproximation = GeluApproximation::none);
Tensor clamp(const Tensor&, double min, double max); // the gradient passes at the bounds
Tensor clamp_min(const Tensor&, double min);
Tensor clamp_max(const Tensor&, double max);
// To nearest even for f16 and bf16; toward zero, saturating, NaN to 0 for i32; not zero for bool.
Tensor cast(const Tensor&, DType);

} // namespace reprise
