// Normalisation and dropout.
#pragma once
#include <cstdint>
#include <optional>

#include <reprise/tensor.hpp>

namespace reprise {

// Drops with probability p and scales the rest by 1 / (1 - p); the mask is a function of a counter, not kept.
Tensor dropout(const Tensor&, double p = 0.5, bool training = true);
// The same for whole channels: [N, C, L] or [C, L]; [N, C, H, W] or [N, C, L]; [N, C, D, H, W] or [C, D, H,
// W].
Tensor dropout1d(const Tensor&, double p = 0.5, bool training = true);
Tensor dropout2d(const Tensor&, double p = 0.5, bool training = true);
Tensor dropout3d(const Tensor&, double p = 0.5, bool training = true);
// Drops to selu's lower limit, and scales and shifts so that mean 0 and variance 1 stay.
Tensor alpha_dropout(const Tensor&, double p = 0.5, bool training = true);
struct BatchNormOptions {
    bool training = true;
    double momentum = 0.1;
    double eps = 1e-5;
};
// x [N, C, ...].  In training by the statistics of the batch, and running_mean and running_var, where given, are
// assigned in place (the variance unbiased; those of an empty batch change nothing); else by the running ones.
Tensor batch_norm(const Tensor& x, Tensor running_mean, Tensor running_var, const Tensor& weight,
                  const Tensor& bias, const BatchNormOptions& = {});
// (x - mean) / sqrt(variance + eps) * weight + bias, mean and variance (biased) over the last dimensions, which
// normalized_shape repeats; weight and bias of that shape, or undefined.
Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);
// x / sqrt(mean of x^2 + eps) * weight over the last dimensions, as layer_norm.  eps: the dtype's epsilon.
Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {},
                std::optional<double> eps = std::nullopt);
// x [N, C, ...], in groups of C / groups channels, each normalised by its mean and variance (biased); then weight and
// bias of each channel [C], or undefined.  Throws Error(shape) where C is no multiple of groups, and where all images
// together have one value for each group.
Tensor group_norm(const Tensor& x, std::int64_t groups, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
struct InstanceNormOptions {
    bool use_input_stats = true; // false: by the running statistics, as batch_norm
    double momentum = 0.1;
    double eps = 1e-5;
};
// x [N, C, ...] (by running statistics [N, C] too), each channel of each image normalised by itself.  running_mean
// and running_var [C], where given, are assigned in place from the batch's averages (the variance unbiased).
Tensor instance_norm(const Tensor& x, Tensor running_mean = {}, Tensor running_var = {},
                     const Tensor& weight = {}, const Tensor& bias = {}, const InstanceNormOptions& = {});

// x divided by its norm of order p along dim, or by eps where that is larger.
Tensor normalize(const Tensor& x, double p = 2, std::int64_t dim = 1, double eps = 1e-12);
// x [N, C, ...] divided by (k + alpha times the mean of x^2 over `size` neighbouring channels)^beta, channels that do
// not exist counting as 0.  Error(shape) for fewer than three dimensions.
Tensor local_response_norm(const Tensor& x, std::int64_t size, double alpha = 1e-4, double beta = 0.75,
                           double k = 1);

} // namespace reprise
