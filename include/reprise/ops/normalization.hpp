// Normalisation and dropout.  x is floating and the result has its shape and dtype; Error(dtype) for another
// dtype.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>

#include <reprise/tensor.hpp>

namespace reprise {

// Sets each element to 0 with probability p and divides the others by 1 - p; x itself unless training.  Which
// elements are dropped is computed from the random generator's state (random.hpp), so that no mask is saved
// for backward.  Error(argument) for a p outside [0, 1], as for all functions of dropout.
Tensor dropout(const Tensor&, double p = 0.5, bool training = true);
// dropout() of whole channels: [N, C, L] or [C, L].
Tensor dropout1d(const Tensor&, double p = 0.5, bool training = true);
// dropout() of whole channels: [N, C, H, W] or [N, C, L].
Tensor dropout2d(const Tensor&, double p = 0.5, bool training = true);
// dropout() of whole channels: [N, C, D, H, W] or [C, D, H, W].
Tensor dropout3d(const Tensor&, double p = 0.5, bool training = true);
// Sets each element with probability p to selu's lower limit, about -1.758, then scales and shifts all
// elements so that mean 0 and variance 1 are preserved (Klambauer et al., 2017); x itself unless training.
// nn::functional::alpha_dropout() without this argument does not train, as in PyTorch.
Tensor alpha_dropout(const Tensor&, double p, bool training);
// Options of batch_norm().
struct BatchNormOpOptions {
    bool training = false; // whether to use the statistics of the batch instead of the running ones
    double momentum = 0.1; // the part of the batch's statistics in the new running ones
    double eps = 1e-5;     // added to the variance
};
// (x - mean) / sqrt(variance + eps) * weight + bias for each channel of x [N, C, ...] (Ioffe and Szegedy,
// 2015); weight and bias are [C] or undefined, of x's dtype or, for x of f16 or bf16, both f32.  In training,
// mean and biased variance are those of the batch.  running_mean and running_var [C], where both are given,
// are then assigned (1 - momentum) running + momentum batch, with the unbiased variance; an empty batch
// leaves them unchanged.  Otherwise the running ones are used: Error(argument) without them.  Error(shape)
// where a channel has a single value in training.
Tensor batch_norm(const Tensor& x, Tensor running_mean, Tensor running_var, const Tensor& weight = {},
                  const Tensor& bias = {}, const BatchNormOpOptions& = {});
// The same with ATen's arguments in their order; cudnn_enabled has no effect.
inline Tensor batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor running_mean,
                         Tensor running_var, bool training, double momentum, double eps, bool cudnn_enabled)
{
    static_cast<void>(cudnn_enabled);
    return batch_norm(x, std::move(running_mean), std::move(running_var), weight, bias,
                      BatchNormOpOptions{training, momentum, eps});
}
// (x - mean) / sqrt(variance + eps) * weight + bias with mean and biased variance over the last dimensions,
// whose sizes are normalized_shape (Ba et al., 2016); weight and bias have that shape and x's dtype, or
// are undefined.
Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {},
                  const Tensor& bias = {}, double eps = 1e-5);
// x / sqrt(mean of x^2 + eps) * weight over the last dimensions (Zhang and Sennrich, 2019), with arguments as
// for layer_norm().  Without eps it is the dtype's epsilon.
Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight = {},
                std::optional<double> eps = std::nullopt);
// Normalises each image of x [N, C, ...] in groups of C / groups channels by their mean and biased variance,
// then applies weight and bias of each channel, [C] or undefined (Wu and He, 2018).  Error(shape) where C is
// no multiple of groups, and where all images together have one value for each group.
Tensor group_norm(const Tensor& x, std::int64_t groups, const Tensor& weight = {}, const Tensor& bias = {},
                  double eps = 1e-5);
// Options of instance_norm().
struct InstanceNormOpOptions {
    bool use_input_stats = true; // false: use the running statistics, as batch_norm() does
    double momentum = 0.1;       // the part of the batch's statistics in the new running ones
    double eps = 1e-5;           // added to the variance
};
// Normalises each channel of each image of x [N, C, ...] by its own mean and biased variance, then applies
// weight and bias of each channel, [C] or undefined, in dtypes as for batch_norm().  running_mean and
// running_var [C], where both are given, are assigned as by batch_norm(), from the averages over the batch.
// With running statistics x may be [N, C].
// Error(shape) where a channel of an image has a single value.
Tensor instance_norm(const Tensor& x, Tensor running_mean = {}, Tensor running_var = {},
                     const Tensor& weight = {}, const Tensor& bias = {}, const InstanceNormOpOptions& = {});

// The same with ATen's arguments in their order; cudnn_enabled has no effect.
inline Tensor instance_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, Tensor running_mean,
                            Tensor running_var, bool use_input_stats, double momentum, double eps,
                            bool cudnn_enabled)
{
    static_cast<void>(cudnn_enabled);
    return instance_norm(x, std::move(running_mean), std::move(running_var), weight, bias,
                         InstanceNormOpOptions{use_input_stats, momentum, eps});
}

// x divided by its p-norm along dim, or by eps where that is larger.
Tensor normalize(const Tensor& x, double p = 2, std::int64_t dim = 1, double eps = 1e-12);
// x [N, C, ...] divided by (k + alpha times the mean of x^2 over `size` neighbouring channels)^beta; channels
// that do not exist count as 0.  Error(shape) for fewer than three dimensions; Error(argument) for a size
// below 1.
Tensor local_response_norm(const Tensor& x, std::int64_t size, double alpha = 1e-4, double beta = 0.75,
                           double k = 1);

} // namespace reprise
