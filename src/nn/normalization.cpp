#include <reprise/error.hpp>
#include <reprise/nn/normalization.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/normalization.hpp>

#include "nn/checks.hpp"

namespace reprise::nn {

BatchNorm2d::BatchNorm2d(std::int64_t channels, const BatchNorm2dOptions& options)
    : eps_(options.eps), momentum_(options.momentum)
{
    check_at_least("BatchNorm2d", "number of channels", channels, 1);
    if (!(eps_ > 0)) detail::fail(ErrorKind::argument, "BatchNorm2d", "eps (", eps_, ") must be above 0.");
    if (!(momentum_ >= 0 && momentum_ <= 1))
        detail::fail(ErrorKind::argument, "BatchNorm2d", "The momentum (", momentum_,
                     ") must be from 0 to 1.");
    weight = Variable(ones({channels}), options.affine);
    bias = Variable(zeros({channels}), options.affine);
    if (options.affine) {
        register_parameter("weight", weight);
        register_parameter("bias", bias);
    }
    running_mean = register_buffer("running_mean", Variable(zeros({channels}), false));
    running_var = register_buffer("running_var", Variable(ones({channels}), false));
}

Tensor BatchNorm2d::forward(Tensor x)
{
    return batch_norm(x, running_mean, running_var, weight, bias,
                      {.training = is_training(), .momentum = momentum_, .eps = eps_});
}

LayerNorm::LayerNorm(std::vector<std::int64_t> normalized_shape, const LayerNormOptions& options)
    : normalized_shape_(normalized_shape.begin(), normalized_shape.end()), eps_(options.eps)
{
    if (normalized_shape.empty())
        detail::fail(ErrorKind::argument, "LayerNorm", "The normalized_shape names no dimension.");
    for (const std::int64_t size : normalized_shape) check_at_least("LayerNorm", "size", size, 1);
    if (!(eps_ >= 0)) detail::fail(ErrorKind::argument, "LayerNorm", "eps (", eps_, ") must be at least 0.");
    if (!options.elementwise_affine) return;
    weight = register_parameter("weight", Variable(ones(normalized_shape_)));
    if (options.bias) bias = register_parameter("bias", Variable(zeros(normalized_shape_)));
}

Tensor LayerNorm::forward(Tensor x) { return layer_norm(x, normalized_shape_, weight, bias, eps_); }

} // namespace reprise::nn
