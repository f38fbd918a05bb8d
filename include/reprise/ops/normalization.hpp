// Normalisation and dropout.
#pragma once
#include <reprise/tensor.hpp>

namespace reprise {

// Drops with probability p and scales the rest by 1 / (1 - p); the mask is a function of a counter, not kept.
Tensor dropout(const Tensor&, double p = 0.5, bool training = true);
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

} // namespace reprise
