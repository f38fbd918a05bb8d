#include <reprise/nn.hpp>
#include <reprise/ops/convolution.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/normalization.hpp>
#include <reprise/ops/shapes.hpp>

#include "nn/init.hpp"

namespace reprise::nn {

namespace {

void check_at_least(const char* op, const char* what, std::int64_t value, std::int64_t least)
{
    if (value < least)
        detail::fail(ErrorKind::argument, op, "The ", what, " (", value, ") must be at least ", least, ".");
}

void check_at_least(const char* op, const char* what, Size2d value, std::int64_t least)
{
    check_at_least(op, what, value.height, least);
    check_at_least(op, what, value.width, least);
}

} // namespace

Linear::Linear(std::int64_t in_features, std::int64_t out_features, const LinearOptions& options)
{
    check_at_least("Linear", "number of inputs", in_features, 1);
    check_at_least("Linear", "number of outputs", out_features, 1);
    weight = register_parameter("weight", uniform_by_fan_in({out_features, in_features}, in_features));
    if (options.bias) bias = register_parameter("bias", uniform_by_fan_in({out_features}, in_features));
}

Tensor Linear::forward(Tensor x) { return linear(x, weight, bias); }

Conv2d::Conv2d(std::int64_t in_channels, std::int64_t out_channels, const Conv2dOptions& options)
    : stride_(options.stride), padding_(options.padding)
{
    const Size2d kernel = options.kernel_size;
    check_at_least("Conv2d", "number of input channels", in_channels, 1);
    check_at_least("Conv2d", "number of output channels", out_channels, 1);
    check_at_least("Conv2d", "kernel_size", kernel, 1);
    check_at_least("Conv2d", "stride", stride_, 1);
    check_at_least("Conv2d", "padding", padding_, 0);
    const std::int64_t fan_in = in_channels * kernel.height * kernel.width;
    weight = register_parameter(
        "weight", uniform_by_fan_in({out_channels, in_channels, kernel.height, kernel.width}, fan_in));
    if (options.bias) bias = register_parameter("bias", uniform_by_fan_in({out_channels}, fan_in));
}

Tensor Conv2d::forward(Tensor x)
{
    return conv2d(x, weight, bias, {.stride = stride_.array(), .padding = padding_.array()});
}

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

Embedding::Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, const EmbeddingOptions& options)
    : padding_idx_(options.padding_idx)
{
    check_at_least("Embedding", "number of embeddings", num_embeddings, 1);
    check_at_least("Embedding", "embedding_dim", embedding_dim, 1);
    Tensor rows = randn({num_embeddings, embedding_dim});
    if (padding_idx_) {
        if (*padding_idx_ < -num_embeddings || *padding_idx_ >= num_embeddings)
            detail::fail(ErrorKind::argument, "Embedding", "The padding_idx (", *padding_idx_,
                         ") is none of the (", num_embeddings, ") rows.");
        const std::int64_t row = *padding_idx_ < 0 ? *padding_idx_ + num_embeddings : *padding_idx_;
        rows = masked_fill(rows, unsqueeze(arange(num_embeddings), 1) == static_cast<double>(row), 0);
    }
    weight = register_parameter("weight", Variable(rows));
}

Tensor Embedding::forward(Tensor indices) { return embedding(indices, weight, padding_idx_); }

MaxPool2d::MaxPool2d(Size2d kernel_size, const MaxPool2dOptions& options)
    : kernel_size_(kernel_size), stride_(options.stride), padding_(options.padding)
{
    check_at_least("MaxPool2d", "kernel_size", kernel_size, 1);
    check_at_least("MaxPool2d", "stride", stride_, 0);
    check_at_least("MaxPool2d", "padding", padding_, 0);
}

Tensor MaxPool2d::forward(Tensor x)
{
    return max_pool2d(
        x, {.kernel_size = kernel_size_.array(), .stride = stride_.array(), .padding = padding_.array()});
}

Tensor ReLU::forward(Tensor x) { return relu(x); }

Tensor GELU::forward(Tensor x) { return gelu(x, approximate_); }

Dropout::Dropout(double p) : p_(p)
{
    if (!(p >= 0 && p <= 1))
        detail::fail(ErrorKind::argument, "Dropout", "The probability (", p, ") must be from 0 to 1.");
}

Tensor Dropout::forward(Tensor x) { return dropout(x, p_, is_training()); }

Tensor Flatten::forward(Tensor x) { return flatten(x, from_, to_); }

Tensor Sequential::forward(Tensor x)
{
    for (const auto& module : modules_) x = (*module)(std::move(x));
    return x;
}

void Sequential::push_back(std::shared_ptr<Module> module)
{
    register_module(std::to_string(modules_.size()), module);
    modules_.push_back(std::move(module));
}

Module& Sequential::at(std::size_t index) const
{
    if (index >= modules_.size())
        detail::fail(ErrorKind::argument, "Sequential", "There is no module (", index, "): it has ",
                     modules_.size(), ".");
    return *modules_[index];
}

} // namespace reprise::nn
