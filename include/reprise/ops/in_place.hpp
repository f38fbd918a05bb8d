// Elementwise functions that write their result into their argument.
// Made by scripts/make_tensor_methods of the functions in include/reprise/ops/: change those.
// clang-format off
#pragma once
#include <reprise/ops/elementwise.hpp>

namespace reprise {

// x.neg_()
inline Tensor& neg_(Tensor& x) { return x.neg_(); }
// x.square_()
inline Tensor& square_(Tensor& x) { return x.square_(); }
// x.reciprocal_()
inline Tensor& reciprocal_(Tensor& x) { return x.reciprocal_(); }
// x.abs_()
inline Tensor& abs_(Tensor& x) { return x.abs_(); }
// x.sign_()
inline Tensor& sign_(Tensor& x) { return x.sign_(); }
// x.floor_()
inline Tensor& floor_(Tensor& x) { return x.floor_(); }
// x.ceil_()
inline Tensor& ceil_(Tensor& x) { return x.ceil_(); }
// x.round_()
inline Tensor& round_(Tensor& x) { return x.round_(); }
// x.trunc_()
inline Tensor& trunc_(Tensor& x) { return x.trunc_(); }
// x.exp_()
inline Tensor& exp_(Tensor& x) { return x.exp_(); }
// x.expm1_()
inline Tensor& expm1_(Tensor& x) { return x.expm1_(); }
// x.log_()
inline Tensor& log_(Tensor& x) { return x.log_(); }
// x.log1p_()
inline Tensor& log1p_(Tensor& x) { return x.log1p_(); }
// x.log2_()
inline Tensor& log2_(Tensor& x) { return x.log2_(); }
// x.log10_()
inline Tensor& log10_(Tensor& x) { return x.log10_(); }
// x.sqrt_()
inline Tensor& sqrt_(Tensor& x) { return x.sqrt_(); }
// x.rsqrt_()
inline Tensor& rsqrt_(Tensor& x) { return x.rsqrt_(); }
// x.sin_()
inline Tensor& sin_(Tensor& x) { return x.sin_(); }
// x.cos_()
inline Tensor& cos_(Tensor& x) { return x.cos_(); }
// x.tan_()
inline Tensor& tan_(Tensor& x) { return x.tan_(); }
// x.asin_()
inline Tensor& asin_(Tensor& x) { return x.asin_(); }
// x.acos_()
inline Tensor& acos_(Tensor& x) { return x.acos_(); }
// x.atan_()
inline Tensor& atan_(Tensor& x) { return x.atan_(); }
// x.sinh_()
inline Tensor& sinh_(Tensor& x) { return x.sinh_(); }
// x.cosh_()
inline Tensor& cosh_(Tensor& x) { return x.cosh_(); }
// x.asinh_()
inline Tensor& asinh_(Tensor& x) { return x.asinh_(); }
// x.acosh_()
inline Tensor& acosh_(Tensor& x) { return x.acosh_(); }
// x.atanh_()
inline Tensor& atanh_(Tensor& x) { return x.atanh_(); }
// x.tanh_()
inline Tensor& tanh_(Tensor& x) { return x.tanh_(); }
// x.erf_()
inline Tensor& erf_(Tensor& x) { return x.erf_(); }
// x.logical_not_()
inline Tensor& logical_not_(Tensor& x) { return x.logical_not_(); }
// x.bitwise_not_()
inline Tensor& bitwise_not_(Tensor& x) { return x.bitwise_not_(); }
// x.relu_()
inline Tensor& relu_(Tensor& x) { return x.relu_(); }
// x.selu_()
inline Tensor& selu_(Tensor& x) { return x.selu_(); }
// x.hardsigmoid_()
inline Tensor& hardsigmoid_(Tensor& x) { return x.hardsigmoid_(); }
// x.hardswish_()
inline Tensor& hardswish_(Tensor& x) { return x.hardswish_(); }
// x.mish_()
inline Tensor& mish_(Tensor& x) { return x.mish_(); }
// x.sigmoid_()
inline Tensor& sigmoid_(Tensor& x) { return x.sigmoid_(); }
// x.silu_()
inline Tensor& silu_(Tensor& x) { return x.silu_(); }
// x.softsign_()
inline Tensor& softsign_(Tensor& x) { return x.softsign_(); }
// x.softplus_()
inline Tensor& softplus_(Tensor& x) { return x.softplus_(); }
// x.add_()
inline Tensor& add_(Tensor& x, double b, double alpha = 1) { return x.add_(b, alpha); }
// x.sub_()
inline Tensor& sub_(Tensor& x, double b, double alpha = 1) { return x.sub_(b, alpha); }
// x.mul_()
inline Tensor& mul_(Tensor& x, double b) { return x.mul_(b); }
// x.div_()
inline Tensor& div_(Tensor& x, double b) { return x.div_(b); }
// x.eq_()
inline Tensor& eq_(Tensor& x, double b) { return x.eq_(b); }
// x.ne_()
inline Tensor& ne_(Tensor& x, double b) { return x.ne_(b); }
// x.lt_()
inline Tensor& lt_(Tensor& x, double b) { return x.lt_(b); }
// x.le_()
inline Tensor& le_(Tensor& x, double b) { return x.le_(b); }
// x.gt_()
inline Tensor& gt_(Tensor& x, double b) { return x.gt_(b); }
// x.ge_()
inline Tensor& ge_(Tensor& x, double b) { return x.ge_(b); }
// x.pow_()
inline Tensor& pow_(Tensor& x, double exponent) { return x.pow_(exponent); }
// x.fmod_()
inline Tensor& fmod_(Tensor& x, double b) { return x.fmod_(b); }
// x.remainder_()
inline Tensor& remainder_(Tensor& x, double b) { return x.remainder_(b); }
// x.floor_divide_()
inline Tensor& floor_divide_(Tensor& x, double b) { return x.floor_divide_(b); }
// x.atan2_()
inline Tensor& atan2_(Tensor& x, double b) { return x.atan2_(b); }
// x.div_()
inline Tensor& div_(Tensor& x, double b, Choice<Rounding> rounding_mode) { return x.div_(b, rounding_mode); }
// x.bitwise_and_()
inline Tensor& bitwise_and_(Tensor& x, std::int64_t b) { return x.bitwise_and_(b); }
// x.bitwise_or_()
inline Tensor& bitwise_or_(Tensor& x, std::int64_t b) { return x.bitwise_or_(b); }
// x.bitwise_xor_()
inline Tensor& bitwise_xor_(Tensor& x, std::int64_t b) { return x.bitwise_xor_(b); }
// x.left_shift_()
inline Tensor& left_shift_(Tensor& x, std::int64_t b) { return x.left_shift_(b); }
// x.right_shift_()
inline Tensor& right_shift_(Tensor& x, std::int64_t b) { return x.right_shift_(b); }
// x.leaky_relu_()
inline Tensor& leaky_relu_(Tensor& x, double negative_slope = 0.01) { return x.leaky_relu_(negative_slope); }
// x.elu_()
inline Tensor& elu_(Tensor& x, double alpha = 1.0) { return x.elu_(alpha); }
// x.celu_()
inline Tensor& celu_(Tensor& x, double alpha = 1.0) { return x.celu_(alpha); }
// x.hardtanh_()
inline Tensor& hardtanh_(Tensor& x, double min = -1, double max = 1) { return x.hardtanh_(min, max); }
// x.relu6_()
inline Tensor& relu6_(Tensor& x) { return x.relu6_(); }
// x.softplus_()
inline Tensor& softplus_(Tensor& x, double beta, double threshold = 20) { return x.softplus_(beta, threshold);
    }
// x.swish_()
inline Tensor& swish_(Tensor& x) { return x.swish_(); }
// x.logsigmoid_()
inline Tensor& logsigmoid_(Tensor& x) { return x.logsigmoid_(); }
// x.gelu_()
inline Tensor& gelu_(Tensor& x, Choice<GeluApproximation> approximate = GeluApproximation::none) { return
    x.gelu_(approximate); }
// x.clamp_()
inline Tensor& clamp_(Tensor& x, std::optional<double> min, std::optional<double> max = std::nullopt) { return
    x.clamp_(min, max); }
// x.clip_()
inline Tensor& clip_(Tensor& x, std::optional<double> min, std::optional<double> max = std::nullopt) { return
    x.clip_(min, max); }
// x.clamp_min_()
inline Tensor& clamp_min_(Tensor& x, double min) { return x.clamp_min_(min); }
// x.clamp_max_()
inline Tensor& clamp_max_(Tensor& x, double max) { return x.clamp_max_(max); }
// x.exp2_()
inline Tensor& exp2_(Tensor& x) { return x.exp2_(); }
// x.frac_()
inline Tensor& frac_(Tensor& x) { return x.frac_(); }
// x.signbit_()
inline Tensor& signbit_(Tensor& x) { return x.signbit_(); }
// x.copysign_()
inline Tensor& copysign_(Tensor& x, double b) { return x.copysign_(b); }
// x.nan_to_num_()
inline Tensor& nan_to_num_(Tensor& x, double nan = 0, std::optional<double> posinf = std::nullopt,
    std::optional<double> neginf = std::nullopt) { return x.nan_to_num_(nan, posinf, neginf); }
// x.logit_()
inline Tensor& logit_(Tensor& x, std::optional<double> eps = std::nullopt) { return x.logit_(eps); }
// x.sinc_()
inline Tensor& sinc_(Tensor& x) { return x.sinc_(); }
// x.deg2rad_()
inline Tensor& deg2rad_(Tensor& x) { return x.deg2rad_(); }
// x.rad2deg_()
inline Tensor& rad2deg_(Tensor& x) { return x.rad2deg_(); }
// x.tanhshrink_()
inline Tensor& tanhshrink_(Tensor& x) { return x.tanhshrink_(); }
// x.softshrink_()
inline Tensor& softshrink_(Tensor& x, double lambda = 0.5) { return x.softshrink_(lambda); }
// x.hardshrink_()
inline Tensor& hardshrink_(Tensor& x, double lambda = 0.5) { return x.hardshrink_(lambda); }
// x.threshold_()
inline Tensor& threshold_(Tensor& x, double threshold, double value) { return x.threshold_(threshold, value);
    }

} // namespace reprise
