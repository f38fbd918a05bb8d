// Made by scripts/make_tensor_methods of the functions in include/reprise/ops/: change those.
// clang-format off
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/ops/sorting.hpp>

#include "graph/cell.hpp"

namespace reprise {

using graph::current;

Tensor Tensor::neg() const { return reprise::neg(*this); }
Tensor& Tensor::neg_() { return write("neg_", reprise::neg(current(*this))); }
Tensor Tensor::add(const Tensor& b) const { return reprise::add(*this, b); }
Tensor& Tensor::add_(const Tensor& b) { return write("add_", reprise::add(current(*this), b)); }
Tensor Tensor::sub(const Tensor& b) const { return reprise::sub(*this, b); }
Tensor& Tensor::sub_(const Tensor& b) { return write("sub_", reprise::sub(current(*this), b)); }
Tensor Tensor::mul(const Tensor& b) const { return reprise::mul(*this, b); }
Tensor& Tensor::mul_(const Tensor& b) { return write("mul_", reprise::mul(current(*this), b)); }
Tensor Tensor::div(const Tensor& b) const { return reprise::div(*this, b); }
Tensor& Tensor::div_(const Tensor& b) { return write("div_", reprise::div(current(*this), b)); }
Tensor Tensor::square() const { return reprise::square(*this); }
Tensor& Tensor::square_() { return write("square_", reprise::square(current(*this))); }
Tensor Tensor::reciprocal() const { return reprise::reciprocal(*this); }
Tensor& Tensor::reciprocal_() { return write("reciprocal_", reprise::reciprocal(current(*this))); }
Tensor Tensor::abs() const { return reprise::abs(*this); }
Tensor& Tensor::abs_() { return write("abs_", reprise::abs(current(*this))); }
Tensor Tensor::sign() const { return reprise::sign(*this); }
Tensor& Tensor::sign_() { return write("sign_", reprise::sign(current(*this))); }
Tensor Tensor::floor() const { return reprise::floor(*this); }
Tensor& Tensor::floor_() { return write("floor_", reprise::floor(current(*this))); }
Tensor Tensor::ceil() const { return reprise::ceil(*this); }
Tensor& Tensor::ceil_() { return write("ceil_", reprise::ceil(current(*this))); }
Tensor Tensor::round() const { return reprise::round(*this); }
Tensor& Tensor::round_() { return write("round_", reprise::round(current(*this))); }
Tensor Tensor::trunc() const { return reprise::trunc(*this); }
Tensor& Tensor::trunc_() { return write("trunc_", reprise::trunc(current(*this))); }
Tensor Tensor::fmod(const Tensor& b) const { return reprise::fmod(*this, b); }
Tensor& Tensor::fmod_(const Tensor& b) { return write("fmod_", reprise::fmod(current(*this), b)); }
Tensor Tensor::remainder(const Tensor& b) const { return reprise::remainder(*this, b); }
Tensor& Tensor::remainder_(const Tensor& b) { return write("remainder_", reprise::remainder(current(*this), b)); }
Tensor Tensor::floor_divide(const Tensor& b) const { return reprise::floor_divide(*this, b); }
Tensor& Tensor::floor_divide_(const Tensor& b) { return write("floor_divide_", reprise::floor_divide(current(*this), b)); }
Tensor Tensor::trunc_divide(const Tensor& b) const { return reprise::trunc_divide(*this, b); }
Tensor& Tensor::trunc_divide_(const Tensor& b) { return write("trunc_divide_", reprise::trunc_divide(current(*this), b)); }
Tensor Tensor::maximum(const Tensor& b) const { return reprise::maximum(*this, b); }
Tensor Tensor::minimum(const Tensor& b) const { return reprise::minimum(*this, b); }
Tensor Tensor::clamp(const Tensor& b, const Tensor& c) const { return reprise::clamp(*this, b, c); }
Tensor& Tensor::clamp_(const Tensor& b, const Tensor& c) { return write("clamp_", reprise::clamp(current(*this), b, c)); }
Tensor Tensor::clamp_scalar(const Tensor& b, const Tensor& c) const { return reprise::clamp_scalar(*this, b, c); }
Tensor& Tensor::clamp_scalar_(const Tensor& b, const Tensor& c) { return write("clamp_scalar_",
    reprise::clamp_scalar(current(*this), b, c)); }
Tensor Tensor::exp() const { return reprise::exp(*this); }
Tensor& Tensor::exp_() { return write("exp_", reprise::exp(current(*this))); }
Tensor Tensor::expm1() const { return reprise::expm1(*this); }
Tensor& Tensor::expm1_() { return write("expm1_", reprise::expm1(current(*this))); }
Tensor Tensor::log() const { return reprise::log(*this); }
Tensor& Tensor::log_() { return write("log_", reprise::log(current(*this))); }
Tensor Tensor::log1p() const { return reprise::log1p(*this); }
Tensor& Tensor::log1p_() { return write("log1p_", reprise::log1p(current(*this))); }
Tensor Tensor::log2() const { return reprise::log2(*this); }
Tensor& Tensor::log2_() { return write("log2_", reprise::log2(current(*this))); }
Tensor Tensor::log10() const { return reprise::log10(*this); }
Tensor& Tensor::log10_() { return write("log10_", reprise::log10(current(*this))); }
Tensor Tensor::sqrt() const { return reprise::sqrt(*this); }
Tensor& Tensor::sqrt_() { return write("sqrt_", reprise::sqrt(current(*this))); }
Tensor Tensor::rsqrt() const { return reprise::rsqrt(*this); }
Tensor& Tensor::rsqrt_() { return write("rsqrt_", reprise::rsqrt(current(*this))); }
Tensor Tensor::sin() const { return reprise::sin(*this); }
Tensor& Tensor::sin_() { return write("sin_", reprise::sin(current(*this))); }
Tensor Tensor::cos() const { return reprise::cos(*this); }
Tensor& Tensor::cos_() { return write("cos_", reprise::cos(current(*this))); }
Tensor Tensor::tan() const { return reprise::tan(*this); }
Tensor& Tensor::tan_() { return write("tan_", reprise::tan(current(*this))); }
Tensor Tensor::asin() const { return reprise::asin(*this); }
Tensor& Tensor::asin_() { return write("asin_", reprise::asin(current(*this))); }
Tensor Tensor::acos() const { return reprise::acos(*this); }
Tensor& Tensor::acos_() { return write("acos_", reprise::acos(current(*this))); }
Tensor Tensor::atan() const { return reprise::atan(*this); }
Tensor& Tensor::atan_() { return write("atan_", reprise::atan(current(*this))); }
Tensor Tensor::sinh() const { return reprise::sinh(*this); }
Tensor& Tensor::sinh_() { return write("sinh_", reprise::sinh(current(*this))); }
Tensor Tensor::cosh() const { return reprise::cosh(*this); }
Tensor& Tensor::cosh_() { return write("cosh_", reprise::cosh(current(*this))); }
Tensor Tensor::asinh() const { return reprise::asinh(*this); }
Tensor& Tensor::asinh_() { return write("asinh_", reprise::asinh(current(*this))); }
Tensor Tensor::acosh() const { return reprise::acosh(*this); }
Tensor& Tensor::acosh_() { return write("acosh_", reprise::acosh(current(*this))); }
Tensor Tensor::atanh() const { return reprise::atanh(*this); }
Tensor& Tensor::atanh_() { return write("atanh_", reprise::atanh(current(*this))); }
Tensor Tensor::tanh() const { return reprise::tanh(*this); }
Tensor& Tensor::tanh_() { return write("tanh_", reprise::tanh(current(*this))); }
Tensor Tensor::erf() const { return reprise::erf(*this); }
Tensor& Tensor::erf_() { return write("erf_", reprise::erf(current(*this))); }
Tensor Tensor::atan2(const Tensor& b) const { return reprise::atan2(*this, b); }
Tensor& Tensor::atan2_(const Tensor& b) { return write("atan2_", reprise::atan2(current(*this), b)); }
Tensor Tensor::pow(const Tensor& b) const { return reprise::pow(*this, b); }
Tensor& Tensor::pow_(const Tensor& b) { return write("pow_", reprise::pow(current(*this), b)); }
Tensor Tensor::less(const Tensor& b) const { return reprise::less(*this, b); }
Tensor& Tensor::less_(const Tensor& b) { return write("less_", reprise::less(current(*this), b)); }
Tensor Tensor::less_equal(const Tensor& b) const { return reprise::less_equal(*this, b); }
Tensor& Tensor::less_equal_(const Tensor& b) { return write("less_equal_", reprise::less_equal(current(*this), b)); }
Tensor Tensor::greater(const Tensor& b) const { return reprise::greater(*this, b); }
Tensor& Tensor::greater_(const Tensor& b) { return write("greater_", reprise::greater(current(*this), b)); }
Tensor Tensor::greater_equal(const Tensor& b) const { return reprise::greater_equal(*this, b); }
Tensor& Tensor::greater_equal_(const Tensor& b) { return write("greater_equal_", reprise::greater_equal(current(*this), b)); }
Tensor Tensor::eq(const Tensor& b) const { return reprise::eq(*this, b); }
Tensor& Tensor::eq_(const Tensor& b) { return write("eq_", reprise::eq(current(*this), b)); }
Tensor Tensor::not_equal(const Tensor& b) const { return reprise::not_equal(*this, b); }
Tensor& Tensor::not_equal_(const Tensor& b) { return write("not_equal_", reprise::not_equal(current(*this), b)); }
Tensor Tensor::logical_and(const Tensor& b) const { return reprise::logical_and(*this, b); }
Tensor& Tensor::logical_and_(const Tensor& b) { return write("logical_and_", reprise::logical_and(current(*this), b)); }
Tensor Tensor::logical_or(const Tensor& b) const { return reprise::logical_or(*this, b); }
Tensor& Tensor::logical_or_(const Tensor& b) { return write("logical_or_", reprise::logical_or(current(*this), b)); }
Tensor Tensor::logical_not() const { return reprise::logical_not(*this); }
Tensor& Tensor::logical_not_() { return write("logical_not_", reprise::logical_not(current(*this))); }
Tensor Tensor::logical_xor(const Tensor& b) const { return reprise::logical_xor(*this, b); }
Tensor& Tensor::logical_xor_(const Tensor& b) { return write("logical_xor_", reprise::logical_xor(current(*this), b)); }
Tensor Tensor::isnan() const { return reprise::isnan(*this); }
Tensor Tensor::isinf() const { return reprise::isinf(*this); }
Tensor Tensor::isfinite() const { return reprise::isfinite(*this); }
Tensor Tensor::bitwise_and(const Tensor& b) const { return reprise::bitwise_and(*this, b); }
Tensor& Tensor::bitwise_and_(const Tensor& b) { return write("bitwise_and_", reprise::bitwise_and(current(*this), b)); }
Tensor Tensor::bitwise_or(const Tensor& b) const { return reprise::bitwise_or(*this, b); }
Tensor& Tensor::bitwise_or_(const Tensor& b) { return write("bitwise_or_", reprise::bitwise_or(current(*this), b)); }
Tensor Tensor::bitwise_xor(const Tensor& b) const { return reprise::bitwise_xor(*this, b); }
Tensor& Tensor::bitwise_xor_(const Tensor& b) { return write("bitwise_xor_", reprise::bitwise_xor(current(*this), b)); }
Tensor Tensor::bitwise_not() const { return reprise::bitwise_not(*this); }
Tensor& Tensor::bitwise_not_() { return write("bitwise_not_", reprise::bitwise_not(current(*this))); }
Tensor Tensor::left_shift(const Tensor& b) const { return reprise::left_shift(*this, b); }
Tensor& Tensor::left_shift_(const Tensor& b) { return write("left_shift_", reprise::left_shift(current(*this), b)); }
Tensor Tensor::right_shift(const Tensor& b) const { return reprise::right_shift(*this, b); }
Tensor& Tensor::right_shift_(const Tensor& b) { return write("right_shift_", reprise::right_shift(current(*this), b)); }
Tensor Tensor::relu() const { return reprise::relu(*this); }
Tensor& Tensor::relu_() { return write("relu_", reprise::relu(current(*this))); }
Tensor Tensor::leaky_relu(const Tensor& b) const { return reprise::leaky_relu(*this, b); }
Tensor& Tensor::leaky_relu_(const Tensor& b) { return write("leaky_relu_", reprise::leaky_relu(current(*this), b)); }
Tensor Tensor::elu(const Tensor& b) const { return reprise::elu(*this, b); }
Tensor& Tensor::elu_(const Tensor& b) { return write("elu_", reprise::elu(current(*this), b)); }
Tensor Tensor::celu(const Tensor& b) const { return reprise::celu(*this, b); }
Tensor& Tensor::celu_(const Tensor& b) { return write("celu_", reprise::celu(current(*this), b)); }
Tensor Tensor::selu() const { return reprise::selu(*this); }
Tensor& Tensor::selu_() { return write("selu_", reprise::selu(current(*this))); }
Tensor Tensor::hardtanh(const Tensor& b, const Tensor& c) const { return reprise::hardtanh(*this, b, c); }
Tensor& Tensor::hardtanh_(const Tensor& b, const Tensor& c) { return write("hardtanh_", reprise::hardtanh(current(*this), b,
    c)); }
Tensor Tensor::hardsigmoid() const { return reprise::hardsigmoid(*this); }
Tensor& Tensor::hardsigmoid_() { return write("hardsigmoid_", reprise::hardsigmoid(current(*this))); }
Tensor Tensor::hardswish() const { return reprise::hardswish(*this); }
Tensor& Tensor::hardswish_() { return write("hardswish_", reprise::hardswish(current(*this))); }
Tensor Tensor::mish() const { return reprise::mish(*this); }
Tensor& Tensor::mish_() { return write("mish_", reprise::mish(current(*this))); }
Tensor Tensor::sigmoid() const { return reprise::sigmoid(*this); }
Tensor& Tensor::sigmoid_() { return write("sigmoid_", reprise::sigmoid(current(*this))); }
Tensor Tensor::silu() const { return reprise::silu(*this); }
Tensor& Tensor::silu_() { return write("silu_", reprise::silu(current(*this))); }
Tensor Tensor::softsign() const { return reprise::softsign(*this); }
Tensor& Tensor::softsign_() { return write("softsign_", reprise::softsign(current(*this))); }
Tensor Tensor::softplus() const { return reprise::softplus(*this); }
Tensor& Tensor::softplus_() { return write("softplus_", reprise::softplus(current(*this))); }
Tensor Tensor::lerp(const Tensor& b, const Tensor& c) const { return reprise::lerp(*this, b, c); }
Tensor& Tensor::lerp_(const Tensor& b, const Tensor& c) { return write("lerp_", reprise::lerp(current(*this), b, c)); }
Tensor Tensor::add(double b, double alpha) const { return reprise::add(*this, b, alpha); }
Tensor& Tensor::add_(double b, double alpha) { return write("add_", reprise::add(current(*this), b, alpha)); }
Tensor Tensor::add(const Tensor& b, double alpha) const { return reprise::add(*this, b, alpha); }
Tensor& Tensor::add_(const Tensor& b, double alpha) { return write("add_", reprise::add(current(*this), b, alpha)); }
Tensor Tensor::sub(double b, double alpha) const { return reprise::sub(*this, b, alpha); }
Tensor& Tensor::sub_(double b, double alpha) { return write("sub_", reprise::sub(current(*this), b, alpha)); }
Tensor Tensor::sub(const Tensor& b, double alpha) const { return reprise::sub(*this, b, alpha); }
Tensor& Tensor::sub_(const Tensor& b, double alpha) { return write("sub_", reprise::sub(current(*this), b, alpha)); }
Tensor Tensor::rsub(double b, double alpha) const { return reprise::rsub(*this, b, alpha); }
Tensor Tensor::rsub(const Tensor& b, double alpha) const { return reprise::rsub(*this, b, alpha); }
Tensor Tensor::mul(double b) const { return reprise::mul(*this, b); }
Tensor& Tensor::mul_(double b) { return write("mul_", reprise::mul(current(*this), b)); }
Tensor Tensor::div(double b) const { return reprise::div(*this, b); }
Tensor& Tensor::div_(double b) { return write("div_", reprise::div(current(*this), b)); }
Tensor Tensor::eq(double b) const { return reprise::eq(*this, b); }
Tensor& Tensor::eq_(double b) { return write("eq_", reprise::eq(current(*this), b)); }
Tensor Tensor::ne(const Tensor& b) const { return reprise::ne(*this, b); }
Tensor& Tensor::ne_(const Tensor& b) { return write("ne_", reprise::ne(current(*this), b)); }
Tensor Tensor::ne(double b) const { return reprise::ne(*this, b); }
Tensor& Tensor::ne_(double b) { return write("ne_", reprise::ne(current(*this), b)); }
Tensor Tensor::lt(const Tensor& b) const { return reprise::lt(*this, b); }
Tensor& Tensor::lt_(const Tensor& b) { return write("lt_", reprise::lt(current(*this), b)); }
Tensor Tensor::lt(double b) const { return reprise::lt(*this, b); }
Tensor& Tensor::lt_(double b) { return write("lt_", reprise::lt(current(*this), b)); }
Tensor Tensor::le(const Tensor& b) const { return reprise::le(*this, b); }
Tensor& Tensor::le_(const Tensor& b) { return write("le_", reprise::le(current(*this), b)); }
Tensor Tensor::le(double b) const { return reprise::le(*this, b); }
Tensor& Tensor::le_(double b) { return write("le_", reprise::le(current(*this), b)); }
Tensor Tensor::gt(const Tensor& b) const { return reprise::gt(*this, b); }
Tensor& Tensor::gt_(const Tensor& b) { return write("gt_", reprise::gt(current(*this), b)); }
Tensor Tensor::gt(double b) const { return reprise::gt(*this, b); }
Tensor& Tensor::gt_(double b) { return write("gt_", reprise::gt(current(*this), b)); }
Tensor Tensor::ge(const Tensor& b) const { return reprise::ge(*this, b); }
Tensor& Tensor::ge_(const Tensor& b) { return write("ge_", reprise::ge(current(*this), b)); }
Tensor Tensor::ge(double b) const { return reprise::ge(*this, b); }
Tensor& Tensor::ge_(double b) { return write("ge_", reprise::ge(current(*this), b)); }
Tensor Tensor::addcmul(const Tensor& a, const Tensor& b, double value) const { return reprise::addcmul(*this, a, b, value); }
Tensor& Tensor::addcmul_(const Tensor& a, const Tensor& b, double value) { return write("addcmul_",
    reprise::addcmul(current(*this), a, b, value)); }
Tensor Tensor::addcdiv(const Tensor& a, const Tensor& b, double value) const { return reprise::addcdiv(*this, a, b, value); }
Tensor& Tensor::addcdiv_(const Tensor& a, const Tensor& b, double value) { return write("addcdiv_",
    reprise::addcdiv(current(*this), a, b, value)); }
Tensor Tensor::isclose(const Tensor& b, double rtol, double atol, bool equal_nan) const { return reprise::isclose(*this, b,
    rtol, atol, equal_nan); }
bool Tensor::allclose(const Tensor& b, double rtol, double atol, bool equal_nan) const { return reprise::allclose(*this, b,
    rtol, atol, equal_nan); }
bool Tensor::equal(const Tensor& b) const { return reprise::equal(*this, b); }
Tensor Tensor::pow(double exponent) const { return reprise::pow(*this, exponent); }
Tensor& Tensor::pow_(double exponent) { return write("pow_", reprise::pow(current(*this), exponent)); }
Tensor Tensor::fmod(double b) const { return reprise::fmod(*this, b); }
Tensor& Tensor::fmod_(double b) { return write("fmod_", reprise::fmod(current(*this), b)); }
Tensor Tensor::remainder(double b) const { return reprise::remainder(*this, b); }
Tensor& Tensor::remainder_(double b) { return write("remainder_", reprise::remainder(current(*this), b)); }
Tensor Tensor::floor_divide(double b) const { return reprise::floor_divide(*this, b); }
Tensor& Tensor::floor_divide_(double b) { return write("floor_divide_", reprise::floor_divide(current(*this), b)); }
Tensor Tensor::maximum(double b) const { return reprise::maximum(*this, b); }
Tensor Tensor::minimum(double b) const { return reprise::minimum(*this, b); }
Tensor Tensor::atan2(double b) const { return reprise::atan2(*this, b); }
Tensor& Tensor::atan2_(double b) { return write("atan2_", reprise::atan2(current(*this), b)); }
Tensor Tensor::lerp(const Tensor& end, double weight) const { return reprise::lerp(*this, end, weight); }
Tensor& Tensor::lerp_(const Tensor& end, double weight) { return write("lerp_", reprise::lerp(current(*this), end, weight)); }
Tensor Tensor::div(const Tensor& b, Choice<Rounding> rounding_mode) const { return reprise::div(*this, b, rounding_mode); }
Tensor& Tensor::div_(const Tensor& b, Choice<Rounding> rounding_mode) { return write("div_", reprise::div(current(*this), b,
    rounding_mode)); }
Tensor Tensor::div(double b, Choice<Rounding> rounding_mode) const { return reprise::div(*this, b, rounding_mode); }
Tensor& Tensor::div_(double b, Choice<Rounding> rounding_mode) { return write("div_", reprise::div(current(*this), b,
    rounding_mode)); }
Tensor Tensor::bitwise_and(std::int64_t b) const { return reprise::bitwise_and(*this, b); }
Tensor& Tensor::bitwise_and_(std::int64_t b) { return write("bitwise_and_", reprise::bitwise_and(current(*this), b)); }
Tensor Tensor::bitwise_or(std::int64_t b) const { return reprise::bitwise_or(*this, b); }
Tensor& Tensor::bitwise_or_(std::int64_t b) { return write("bitwise_or_", reprise::bitwise_or(current(*this), b)); }
Tensor Tensor::bitwise_xor(std::int64_t b) const { return reprise::bitwise_xor(*this, b); }
Tensor& Tensor::bitwise_xor_(std::int64_t b) { return write("bitwise_xor_", reprise::bitwise_xor(current(*this), b)); }
Tensor Tensor::left_shift(std::int64_t b) const { return reprise::left_shift(*this, b); }
Tensor& Tensor::left_shift_(std::int64_t b) { return write("left_shift_", reprise::left_shift(current(*this), b)); }
Tensor Tensor::right_shift(std::int64_t b) const { return reprise::right_shift(*this, b); }
Tensor& Tensor::right_shift_(std::int64_t b) { return write("right_shift_", reprise::right_shift(current(*this), b)); }
Tensor Tensor::leaky_relu(double negative_slope) const { return reprise::leaky_relu(*this, negative_slope); }
Tensor& Tensor::leaky_relu_(double negative_slope) { return write("leaky_relu_", reprise::leaky_relu(current(*this),
    negative_slope)); }
Tensor Tensor::elu(double alpha) const { return reprise::elu(*this, alpha); }
Tensor& Tensor::elu_(double alpha) { return write("elu_", reprise::elu(current(*this), alpha)); }
Tensor Tensor::celu(double alpha) const { return reprise::celu(*this, alpha); }
Tensor& Tensor::celu_(double alpha) { return write("celu_", reprise::celu(current(*this), alpha)); }
Tensor Tensor::prelu(const Tensor& weight) const { return reprise::prelu(*this, weight); }
Tensor Tensor::hardtanh(double min, double max) const { return reprise::hardtanh(*this, min, max); }
Tensor& Tensor::hardtanh_(double min, double max) { return write("hardtanh_", reprise::hardtanh(current(*this), min, max)); }
Tensor Tensor::relu6() const { return reprise::relu6(*this); }
Tensor& Tensor::relu6_() { return write("relu6_", reprise::relu6(current(*this))); }
Tensor Tensor::softplus(double beta, double threshold) const { return reprise::softplus(*this, beta, threshold); }
Tensor& Tensor::softplus_(double beta, double threshold) { return write("softplus_", reprise::softplus(current(*this), beta,
    threshold)); }
Tensor Tensor::swish() const { return reprise::swish(*this); }
Tensor& Tensor::swish_() { return write("swish_", reprise::swish(current(*this))); }
Tensor Tensor::logsigmoid() const { return reprise::logsigmoid(*this); }
Tensor& Tensor::logsigmoid_() { return write("logsigmoid_", reprise::logsigmoid(current(*this))); }
Tensor Tensor::glu(std::int64_t dim) const { return reprise::glu(*this, dim); }
Tensor Tensor::gelu(Choice<GeluApproximation> approximate) const { return reprise::gelu(*this, approximate); }
Tensor& Tensor::gelu_(Choice<GeluApproximation> approximate) { return write("gelu_", reprise::gelu(current(*this),
    approximate)); }
Tensor Tensor::clamp(std::optional<double> min, std::optional<double> max) const { return reprise::clamp(*this, min, max); }
Tensor& Tensor::clamp_(std::optional<double> min, std::optional<double> max) { return write("clamp_",
    reprise::clamp(current(*this), min, max)); }
Tensor Tensor::clamp(const Tensor& min) const { return reprise::clamp(*this, min); }
Tensor& Tensor::clamp_(const Tensor& min) { return write("clamp_", reprise::clamp(current(*this), min)); }
Tensor Tensor::clip(std::optional<double> min, std::optional<double> max) const { return reprise::clip(*this, min, max); }
Tensor& Tensor::clip_(std::optional<double> min, std::optional<double> max) { return write("clip_",
    reprise::clip(current(*this), min, max)); }
Tensor Tensor::clamp_min(double min) const { return reprise::clamp_min(*this, min); }
Tensor& Tensor::clamp_min_(double min) { return write("clamp_min_", reprise::clamp_min(current(*this), min)); }
Tensor Tensor::clamp_min(const Tensor& min) const { return reprise::clamp_min(*this, min); }
Tensor& Tensor::clamp_min_(const Tensor& min) { return write("clamp_min_", reprise::clamp_min(current(*this), min)); }
Tensor Tensor::clamp_max(double max) const { return reprise::clamp_max(*this, max); }
Tensor& Tensor::clamp_max_(double max) { return write("clamp_max_", reprise::clamp_max(current(*this), max)); }
Tensor Tensor::clamp_max(const Tensor& max) const { return reprise::clamp_max(*this, max); }
Tensor& Tensor::clamp_max_(const Tensor& max) { return write("clamp_max_", reprise::clamp_max(current(*this), max)); }
Tensor Tensor::exp2() const { return reprise::exp2(*this); }
Tensor& Tensor::exp2_() { return write("exp2_", reprise::exp2(current(*this))); }
Tensor Tensor::frac() const { return reprise::frac(*this); }
Tensor& Tensor::frac_() { return write("frac_", reprise::frac(current(*this))); }
Tensor Tensor::signbit() const { return reprise::signbit(*this); }
Tensor& Tensor::signbit_() { return write("signbit_", reprise::signbit(current(*this))); }
Tensor Tensor::copysign(const Tensor& b) const { return reprise::copysign(*this, b); }
Tensor& Tensor::copysign_(const Tensor& b) { return write("copysign_", reprise::copysign(current(*this), b)); }
Tensor Tensor::copysign(double b) const { return reprise::copysign(*this, b); }
Tensor& Tensor::copysign_(double b) { return write("copysign_", reprise::copysign(current(*this), b)); }
Tensor Tensor::hypot(const Tensor& b) const { return reprise::hypot(*this, b); }
Tensor& Tensor::hypot_(const Tensor& b) { return write("hypot_", reprise::hypot(current(*this), b)); }
Tensor Tensor::xlogy(const Tensor& b) const { return reprise::xlogy(*this, b); }
Tensor& Tensor::xlogy_(const Tensor& b) { return write("xlogy_", reprise::xlogy(current(*this), b)); }
Tensor Tensor::logaddexp(const Tensor& b) const { return reprise::logaddexp(*this, b); }
Tensor& Tensor::logaddexp_(const Tensor& b) { return write("logaddexp_", reprise::logaddexp(current(*this), b)); }
Tensor Tensor::logaddexp2(const Tensor& b) const { return reprise::logaddexp2(*this, b); }
Tensor& Tensor::logaddexp2_(const Tensor& b) { return write("logaddexp2_", reprise::logaddexp2(current(*this), b)); }
Tensor Tensor::heaviside(const Tensor& values) const { return reprise::heaviside(*this, values); }
Tensor& Tensor::heaviside_(const Tensor& values) { return write("heaviside_", reprise::heaviside(current(*this), values)); }
Tensor Tensor::fmax(const Tensor& b) const { return reprise::fmax(*this, b); }
Tensor& Tensor::fmax_(const Tensor& b) { return write("fmax_", reprise::fmax(current(*this), b)); }
Tensor Tensor::fmin(const Tensor& b) const { return reprise::fmin(*this, b); }
Tensor& Tensor::fmin_(const Tensor& b) { return write("fmin_", reprise::fmin(current(*this), b)); }
Tensor Tensor::nan_to_num(double nan, std::optional<double> posinf, std::optional<double> neginf) const { return
    reprise::nan_to_num(*this, nan, posinf, neginf); }
Tensor& Tensor::nan_to_num_(double nan, std::optional<double> posinf, std::optional<double> neginf) { return
    write("nan_to_num_", reprise::nan_to_num(current(*this), nan, posinf, neginf)); }
Tensor Tensor::logit(std::optional<double> eps) const { return reprise::logit(*this, eps); }
Tensor& Tensor::logit_(std::optional<double> eps) { return write("logit_", reprise::logit(current(*this), eps)); }
Tensor Tensor::sinc() const { return reprise::sinc(*this); }
Tensor& Tensor::sinc_() { return write("sinc_", reprise::sinc(current(*this))); }
Tensor Tensor::deg2rad() const { return reprise::deg2rad(*this); }
Tensor& Tensor::deg2rad_() { return write("deg2rad_", reprise::deg2rad(current(*this))); }
Tensor Tensor::rad2deg() const { return reprise::rad2deg(*this); }
Tensor& Tensor::rad2deg_() { return write("rad2deg_", reprise::rad2deg(current(*this))); }
Tensor Tensor::tanhshrink() const { return reprise::tanhshrink(*this); }
Tensor& Tensor::tanhshrink_() { return write("tanhshrink_", reprise::tanhshrink(current(*this))); }
Tensor Tensor::softshrink(double lambda) const { return reprise::softshrink(*this, lambda); }
Tensor& Tensor::softshrink_(double lambda) { return write("softshrink_", reprise::softshrink(current(*this), lambda)); }
Tensor Tensor::hardshrink(double lambda) const { return reprise::hardshrink(*this, lambda); }
Tensor& Tensor::hardshrink_(double lambda) { return write("hardshrink_", reprise::hardshrink(current(*this), lambda)); }
Tensor Tensor::threshold(double threshold, double value) const { return reprise::threshold(*this, threshold, value); }
Tensor& Tensor::threshold_(double threshold, double value) { return write("threshold_", reprise::threshold(current(*this),
    threshold, value)); }
Tensor Tensor::index_select(std::int64_t dim, const Tensor& index) const { return reprise::index_select(*this, dim, index); }
Tensor Tensor::index_add(std::int64_t dim, const Tensor& index, const Tensor& source, double alpha) const { return
    reprise::index_add(*this, dim, index, source, alpha); }
Tensor& Tensor::index_add_(std::int64_t dim, const Tensor& index, const Tensor& source, double alpha) { return
    write("index_add_", reprise::index_add(current(*this), dim, index, source, alpha)); }
Tensor Tensor::index_fill(std::int64_t dim, const Tensor& index, double value) const { return reprise::index_fill(*this, dim,
    index, value); }
Tensor& Tensor::index_fill_(std::int64_t dim, const Tensor& index, double value) { return write("index_fill_",
    reprise::index_fill(current(*this), dim, index, value)); }
Tensor Tensor::index_copy(std::int64_t dim, const Tensor& index, const Tensor& source) const { return reprise::index_copy(*this,
    dim, index, source); }
Tensor& Tensor::index_copy_(std::int64_t dim, const Tensor& index, const Tensor& source) { return write("index_copy_",
    reprise::index_copy(current(*this), dim, index, source)); }
Tensor Tensor::index_reduce(std::int64_t dim, const Tensor& index, const Tensor& source, const std::string& reduce, bool
    include_self) const { return reprise::index_reduce(*this, dim, index, source, reduce, include_self); }
Tensor& Tensor::index_reduce_(std::int64_t dim, const Tensor& index, const Tensor& source, const std::string& reduce, bool
    include_self) { return write("index_reduce_", reprise::index_reduce(current(*this), dim, index, source, reduce,
    include_self)); }
Tensor Tensor::gather(std::int64_t dim, const Tensor& index) const { return reprise::gather(*this, dim, index); }
Tensor Tensor::scatter(std::int64_t dim, const Tensor& index, const Tensor& source) const { return reprise::scatter(*this, dim,
    index, source); }
Tensor& Tensor::scatter_(std::int64_t dim, const Tensor& index, const Tensor& source) { return write("scatter_",
    reprise::scatter(current(*this), dim, index, source)); }
Tensor Tensor::scatter(std::int64_t dim, const Tensor& index, double value) const { return reprise::scatter(*this, dim, index,
    value); }
Tensor& Tensor::scatter_(std::int64_t dim, const Tensor& index, double value) { return write("scatter_",
    reprise::scatter(current(*this), dim, index, value)); }
Tensor Tensor::scatter_add(std::int64_t dim, const Tensor& index, const Tensor& source) const { return
    reprise::scatter_add(*this, dim, index, source); }
Tensor& Tensor::scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& source) { return write("scatter_add_",
    reprise::scatter_add(current(*this), dim, index, source)); }
Tensor Tensor::scatter_reduce(std::int64_t dim, const Tensor& index, const Tensor& source, const std::string& reduce, bool
    include_self) const { return reprise::scatter_reduce(*this, dim, index, source, reduce, include_self); }
Tensor& Tensor::scatter_reduce_(std::int64_t dim, const Tensor& index, const Tensor& source, const std::string& reduce, bool
    include_self) { return write("scatter_reduce_", reprise::scatter_reduce(current(*this), dim, index, source, reduce,
    include_self)); }
Tensor Tensor::take(const Tensor& index) const { return reprise::take(*this, index); }
Tensor Tensor::masked_select(const Tensor& mask) const { return reprise::masked_select(*this, mask); }
Tensor Tensor::nonzero() const { return reprise::nonzero(*this); }
Tensor Tensor::argwhere() const { return reprise::argwhere(*this); }
std::vector<Tensor> Tensor::nonzero_as_tuple() const { return reprise::nonzero_as_tuple(*this); }
Tensor Tensor::bincount(const Tensor& weights, std::int64_t minlength) const { return reprise::bincount(*this, weights,
    minlength); }
Tensor Tensor::histc(std::int64_t bins, double min, double max) const { return reprise::histc(*this, bins, min, max); }
Tensor Tensor::masked_fill(const Tensor& mask, double value) const { return reprise::masked_fill(*this, mask, value); }
Tensor& Tensor::masked_fill_(const Tensor& mask, double value) { return write("masked_fill_",
    reprise::masked_fill(current(*this), mask, value)); }
Tensor Tensor::masked_fill(const Tensor& mask, const Tensor& value) const { return reprise::masked_fill(*this, mask, value); }
Tensor& Tensor::masked_fill_(const Tensor& mask, const Tensor& value) { return write("masked_fill_",
    reprise::masked_fill(current(*this), mask, value)); }
Tensor Tensor::masked_scatter(const Tensor& mask, const Tensor& source) const { return reprise::masked_scatter(*this, mask,
    source); }
Tensor& Tensor::masked_scatter_(const Tensor& mask, const Tensor& source) { return write("masked_scatter_",
    reprise::masked_scatter(current(*this), mask, source)); }
Tensor Tensor::tril(std::int64_t diagonal) const { return reprise::tril(*this, diagonal); }
Tensor& Tensor::tril_(std::int64_t diagonal) { return write("tril_", reprise::tril(current(*this), diagonal)); }
Tensor Tensor::triu(std::int64_t diagonal) const { return reprise::triu(*this, diagonal); }
Tensor& Tensor::triu_(std::int64_t diagonal) { return write("triu_", reprise::triu(current(*this), diagonal)); }
Tensor Tensor::matmul(const Tensor& other) const { return reprise::matmul(*this, other); }
Tensor Tensor::mm(const Tensor& other) const { return reprise::mm(*this, other); }
Tensor Tensor::mv(const Tensor& other) const { return reprise::mv(*this, other); }
Tensor Tensor::dot(const Tensor& other) const { return reprise::dot(*this, other); }
Tensor Tensor::outer(const Tensor& other) const { return reprise::outer(*this, other); }
Tensor Tensor::bmm(const Tensor& other) const { return reprise::bmm(*this, other); }
Tensor Tensor::addmm(const Tensor& a, const Tensor& b, double beta, double alpha) const { return reprise::addmm(*this, a, b,
    beta, alpha); }
Tensor& Tensor::addmm_(const Tensor& a, const Tensor& b, double beta, double alpha) { return write("addmm_",
    reprise::addmm(current(*this), a, b, beta, alpha)); }
Tensor Tensor::baddbmm(const Tensor& a, const Tensor& b, double beta, double alpha) const { return reprise::baddbmm(*this, a, b,
    beta, alpha); }
Tensor& Tensor::baddbmm_(const Tensor& a, const Tensor& b, double beta, double alpha) { return write("baddbmm_",
    reprise::baddbmm(current(*this), a, b, beta, alpha)); }
Tensor Tensor::diagonal(std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const { return reprise::diagonal(*this,
    offset, dim1, dim2); }
Tensor Tensor::diag(std::int64_t offset) const { return reprise::diag(*this, offset); }
Tensor Tensor::trace() const { return reprise::trace(*this); }
Tensor Tensor::tensordot(const Tensor& b, std::int64_t dims) const { return reprise::tensordot(*this, b, dims); }
Tensor Tensor::tensordot(const Tensor& b, const Dims& dims_a, const Dims& dims_b) const { return reprise::tensordot(*this, b,
    dims_a, dims_b); }
Tensor Tensor::kron(const Tensor& b) const { return reprise::kron(*this, b); }
Tensor Tensor::diag_embed(std::int64_t offset) const { return reprise::diag_embed(*this, offset); }
Tensor Tensor::diagflat(std::int64_t offset) const { return reprise::diagflat(*this, offset); }
Tensor Tensor::cross(const Tensor& b, std::int64_t dim) const { return reprise::cross(*this, b, dim); }
Tensor Tensor::sum(const Dims& dims, bool keepdim) const { return reprise::sum(*this, dims, keepdim); }
Tensor Tensor::mean(const Dims& dims, bool keepdim) const { return reprise::mean(*this, dims, keepdim); }
Tensor Tensor::sum(DType dtype) const { return reprise::sum(*this, dtype); }
Tensor Tensor::sum(const Dims& dims, bool keepdim, DType dtype) const { return reprise::sum(*this, dims, keepdim, dtype); }
Tensor Tensor::mean(DType dtype) const { return reprise::mean(*this, dtype); }
Tensor Tensor::mean(const Dims& dims, bool keepdim, DType dtype) const { return reprise::mean(*this, dims, keepdim, dtype); }
Tensor Tensor::amax(const Dims& dims, bool keepdim) const { return reprise::amax(*this, dims, keepdim); }
Tensor Tensor::max() const { return reprise::max(*this); }
Tensor Tensor::max(const Tensor& b) const { return reprise::max(*this, b); }
Tensor Tensor::min(const Tensor& b) const { return reprise::min(*this, b); }
std::pair<Tensor, Tensor> Tensor::max(std::int64_t dim, bool keepdim) const { return reprise::max(*this, dim, keepdim); }
Tensor Tensor::argmax(std::int64_t dim, bool keepdim, bool select_last_index) const { return reprise::argmax(*this, dim,
    keepdim, select_last_index); }
Tensor Tensor::argmax() const { return reprise::argmax(*this); }
Tensor Tensor::amin(const Dims& dims, bool keepdim) const { return reprise::amin(*this, dims, keepdim); }
Tensor Tensor::min() const { return reprise::min(*this); }
std::pair<Tensor, Tensor> Tensor::min(std::int64_t dim, bool keepdim) const { return reprise::min(*this, dim, keepdim); }
Tensor Tensor::argmin(std::int64_t dim, bool keepdim, bool select_last_index) const { return reprise::argmin(*this, dim,
    keepdim, select_last_index); }
Tensor Tensor::argmin() const { return reprise::argmin(*this); }
Tensor Tensor::prod(const Dims& dims, bool keepdim) const { return reprise::prod(*this, dims, keepdim); }
Tensor Tensor::prod(DType dtype) const { return reprise::prod(*this, dtype); }
Tensor Tensor::prod(const Dims& dims, bool keepdim, DType dtype) const { return reprise::prod(*this, dims, keepdim, dtype); }
Tensor Tensor::all(const Dims& dims, bool keepdim) const { return reprise::all(*this, dims, keepdim); }
Tensor Tensor::any(const Dims& dims, bool keepdim) const { return reprise::any(*this, dims, keepdim); }
Tensor Tensor::count_nonzero(const Dims& dims) const { return reprise::count_nonzero(*this, dims); }
Tensor Tensor::var(const Dims& dims, const VarOptions& options) const { return reprise::var(*this, dims, options); }
Tensor Tensor::std(const Dims& dims, const VarOptions& options) const { return reprise::std(*this, dims, options); }
Tensor Tensor::var(const Dims& dims, bool unbiased, bool keepdim) const { return reprise::var(*this, dims, unbiased, keepdim); }
Tensor Tensor::std(const Dims& dims, bool unbiased, bool keepdim) const { return reprise::std(*this, dims, unbiased, keepdim); }
std::pair<Tensor, Tensor> Tensor::var_mean(const Dims& dims, const VarOptions& options) const { return reprise::var_mean(*this,
    dims, options); }
std::pair<Tensor, Tensor> Tensor::var_mean(const Dims& dims, bool unbiased, bool keepdim) const { return
    reprise::var_mean(*this, dims, unbiased, keepdim); }
Tensor Tensor::norm(std::optional<double> p, const Dims& dims, bool keepdim) const { return reprise::norm(*this, p, dims,
    keepdim); }
Tensor Tensor::logsumexp(const Dims& dims, bool keepdim) const { return reprise::logsumexp(*this, dims, keepdim); }
Tensor Tensor::cumsum(std::int64_t dim, const ScanOptions& options) const { return reprise::cumsum(*this, dim, options); }
Tensor& Tensor::cumsum_(std::int64_t dim, const ScanOptions& options) { return write("cumsum_", reprise::cumsum(current(*this),
    dim, options)); }
Tensor Tensor::cumsum(std::int64_t dim, DType dtype) const { return reprise::cumsum(*this, dim, dtype); }
Tensor& Tensor::cumsum_(std::int64_t dim, DType dtype) { return write("cumsum_", reprise::cumsum(current(*this), dim, dtype)); }
Tensor Tensor::cumprod(std::int64_t dim, const ScanOptions& options) const { return reprise::cumprod(*this, dim, options); }
Tensor& Tensor::cumprod_(std::int64_t dim, const ScanOptions& options) { return write("cumprod_",
    reprise::cumprod(current(*this), dim, options)); }
Tensor Tensor::cumprod(std::int64_t dim, DType dtype) const { return reprise::cumprod(*this, dim, dtype); }
Tensor& Tensor::cumprod_(std::int64_t dim, DType dtype) { return write("cumprod_", reprise::cumprod(current(*this), dim,
    dtype)); }
std::pair<Tensor, Tensor> Tensor::cummax(std::int64_t dim) const { return reprise::cummax(*this, dim); }
std::pair<Tensor, Tensor> Tensor::cummin(std::int64_t dim) const { return reprise::cummin(*this, dim); }
Tensor Tensor::logcumsumexp(std::int64_t dim) const { return reprise::logcumsumexp(*this, dim); }
Tensor Tensor::diff(std::int64_t n, std::int64_t dim) const { return reprise::diff(*this, n, dim); }
Tensor Tensor::trapezoid(const Tensor& x, std::int64_t dim) const { return reprise::trapezoid(*this, x, dim); }
Tensor Tensor::trapezoid(double dx, std::int64_t dim) const { return reprise::trapezoid(*this, dx, dim); }
Tensor Tensor::nansum(const Dims& dims, bool keepdim) const { return reprise::nansum(*this, dims, keepdim); }
Tensor Tensor::nanmean(const Dims& dims, bool keepdim) const { return reprise::nanmean(*this, dims, keepdim); }
std::pair<Tensor, Tensor> Tensor::aminmax(const Dims& dims, bool keepdim) const { return reprise::aminmax(*this, dims, keepdim);
    }
Tensor Tensor::softmax(std::int64_t dim) const { return reprise::softmax(*this, dim); }
Tensor Tensor::softmax(std::int64_t dim, DType dtype) const { return reprise::softmax(*this, dim, dtype); }
Tensor Tensor::log_softmax(std::int64_t dim) const { return reprise::log_softmax(*this, dim); }
Tensor Tensor::log_softmax(std::int64_t dim, DType dtype) const { return reprise::log_softmax(*this, dim, dtype); }
Tensor Tensor::reshape(const Shape& shape) const { return reprise::reshape(*this, shape); }
Tensor Tensor::flatten(std::int64_t from, std::int64_t to) const { return reprise::flatten(*this, from, to); }
Tensor Tensor::transpose(std::int64_t a, std::int64_t b) const { return reprise::transpose(*this, a, b); }
Tensor Tensor::permute(const std::vector<std::int64_t>& dims) const { return reprise::permute(*this, dims); }
Tensor Tensor::expand(const Shape& shape) const { return reprise::expand(*this, shape); }
Tensor Tensor::squeeze() const { return reprise::squeeze(*this); }
Tensor Tensor::squeeze(std::int64_t dim) const { return reprise::squeeze(*this, dim); }
Tensor Tensor::squeeze(const Dims& dims) const { return reprise::squeeze(*this, dims); }
Tensor Tensor::unsqueeze(std::int64_t dim) const { return reprise::unsqueeze(*this, dim); }
Tensor Tensor::flip(const Dims& dims) const { return reprise::flip(*this, dims); }
Tensor Tensor::narrow(std::int64_t dim, const Dim& start, const Dim& length) const { return reprise::narrow(*this, dim, start,
    length); }
std::vector<Tensor> Tensor::split(const Shape& sizes, std::int64_t dim) const { return reprise::split(*this, sizes, dim); }
std::vector<Tensor> Tensor::split(std::int64_t size, std::int64_t dim) const { return reprise::split(*this, size, dim); }
std::vector<Tensor> Tensor::chunk(std::int64_t chunks, std::int64_t dim) const { return reprise::chunk(*this, chunks, dim); }
std::vector<Tensor> Tensor::unbind(std::int64_t dim) const { return reprise::unbind(*this, dim); }
Tensor Tensor::view(const Shape& shape) const { return reprise::view(*this, shape); }
Tensor Tensor::view_as(const Tensor& other) const { return reprise::view_as(*this, other); }
Tensor Tensor::reshape_as(const Tensor& other) const { return reprise::reshape_as(*this, other); }
Tensor Tensor::expand_as(const Tensor& other) const { return reprise::expand_as(*this, other); }
Tensor Tensor::ravel() const { return reprise::ravel(*this); }
Tensor Tensor::expand_dims(std::int64_t dim) const { return reprise::expand_dims(*this, dim); }
Tensor Tensor::swapaxes(std::int64_t a, std::int64_t b) const { return reprise::swapaxes(*this, a, b); }
Tensor Tensor::movedim(std::int64_t from, std::int64_t to) const { return reprise::movedim(*this, from, to); }
Tensor Tensor::select(std::int64_t dim, const Dim& index) const { return reprise::select(*this, dim, index); }
Tensor Tensor::slice(std::int64_t dim, const SliceRange& range) const { return reprise::slice(*this, dim, range); }
Tensor Tensor::slice(std::int64_t dim, const std::optional<Dim>& start, const std::optional<Dim>& end, std::int64_t step) const
    { return reprise::slice(*this, dim, start, end, step); }
Tensor Tensor::repeat(const DimVector& times) const { return reprise::repeat(*this, times); }
Tensor Tensor::repeat_interleave(std::int64_t times, std::int64_t dim) const { return reprise::repeat_interleave(*this, times,
    dim); }
Tensor Tensor::repeat_interleave(std::int64_t times) const { return reprise::repeat_interleave(*this, times); }
Tensor Tensor::repeat_interleave(const Tensor& repeats, std::optional<std::int64_t> dim) const { return
    reprise::repeat_interleave(*this, repeats, dim); }
Tensor Tensor::roll(std::int64_t shift, std::int64_t dim) const { return reprise::roll(*this, shift, dim); }
Tensor Tensor::roll(const std::vector<std::int64_t>& shifts, const Dims& dims) const { return reprise::roll(*this, shifts,
    dims); }
Tensor Tensor::roll(std::int64_t shift) const { return reprise::roll(*this, shift); }
Tensor Tensor::tile(const DimVector& times) const { return reprise::tile(*this, times); }
Tensor Tensor::unflatten(std::int64_t dim, const Shape& sizes) const { return reprise::unflatten(*this, dim, sizes); }
Tensor Tensor::movedim(const Dims& from, const Dims& to) const { return reprise::movedim(*this, from, to); }
Tensor Tensor::contiguous() const { return reprise::contiguous(*this); }
std::pair<Tensor, Tensor> Tensor::sort(std::int64_t dim, bool descending) const { return reprise::sort(*this, dim, descending);
    }
Tensor Tensor::argsort(std::int64_t dim, bool descending) const { return reprise::argsort(*this, dim, descending); }
std::pair<Tensor, Tensor> Tensor::topk(const Dim& k, const TopkOptions& options) const { return reprise::topk(*this, k,
    options); }
std::pair<Tensor, Tensor> Tensor::topk(const Dim& k, std::int64_t dim, bool largest, bool sorted) const { return
    reprise::topk(*this, k, dim, largest, sorted); }
std::pair<Tensor, Tensor> Tensor::kthvalue(const Dim& k, std::int64_t dim, bool keepdim) const { return reprise::kthvalue(*this,
    k, dim, keepdim); }
std::pair<Tensor, Tensor> Tensor::median(std::int64_t dim, bool keepdim) const { return reprise::median(*this, dim, keepdim); }
Tensor Tensor::median() const { return reprise::median(*this); }
std::pair<Tensor, Tensor> Tensor::mode(std::int64_t dim, bool keepdim) const { return reprise::mode(*this, dim, keepdim); }
Tensor Tensor::quantile(double q, std::int64_t dim, bool keepdim, Choice<QuantileInterpolation> interpolation) const { return
    reprise::quantile(*this, q, dim, keepdim, interpolation); }
Tensor Tensor::quantile(double q) const { return reprise::quantile(*this, q); }
Tensor Tensor::searchsorted(const Tensor& values, bool right) const { return reprise::searchsorted(*this, values, right); }
Tensor Tensor::bucketize(const Tensor& boundaries, bool right) const { return reprise::bucketize(*this, boundaries, right); }

} // namespace reprise
