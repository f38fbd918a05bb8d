#include <algorithm>

#include <reprise/autograd.hpp>
#include <reprise/error.hpp>
#include <reprise/nn/normalization.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/normalization.hpp>
#include <reprise/ops/shapes.hpp>

#include "nn/checks.hpp"
#include "nn/repr.hpp"

namespace reprise::nn {

namespace {

void check_momentum(const char* op, double momentum)
{
    if (!(momentum >= 0 && momentum <= 1))
        detail::fail(ErrorKind::argument, op, "The momentum (", momentum, ") must be from 0 to 1.");
}

void count_batch(Variable& batches)
{
    const no_grad guard;
    batches.assign(batches + 1);
}

Shape checked_shape(const char* op, const std::vector<std::int64_t>& sizes, double eps)
{
    if (sizes.empty()) detail::fail(ErrorKind::argument, op, "The normalized_shape names no dimension.");
    for (const std::int64_t size : sizes) check_at_least(op, "size", size, 1);
    if (!(eps >= 0)) detail::fail(ErrorKind::argument, op, "eps (", eps, ") must be at least 0.");
    return {sizes.begin(), sizes.end()};
}

} // namespace

ChannelNorm::ChannelNorm(const char* name, std::int64_t channels, double eps, bool affine,
                         bool track_running_stats)
    : name_(name), eps_(eps)
{
    check_at_least(name, "number of channels", channels, 1);
    if (!(eps > 0)) detail::fail(ErrorKind::argument, name, "eps (", eps, ") must be above 0.");
    if (affine) {
        weight = register_parameter("weight", Variable(ones({channels})));
        bias = register_parameter("bias", Variable(zeros({channels})));
    }
    if (track_running_stats) {
        running_mean = register_buffer("running_mean", Variable(zeros({channels}), false));
        running_var = register_buffer("running_var", Variable(ones({channels}), false));
        num_batches_tracked =
            register_buffer("num_batches_tracked", Variable(zeros({}, {.dtype = i32}), false));
    }
}

std::string ChannelNorm::extra_repr() const
{
    const Tensor& sized = weight.defined() ? weight : running_mean;
    Repr repr;
    if (sized.defined()) repr.value(sized.size(0).value());
    repr.option("eps", eps_);
    if (momentum()) repr.option("momentum", *momentum());
    return repr.option("affine", weight.defined())
        .option("track_running_stats", running_mean.defined())
        .text();
}

BatchNorm::BatchNorm(const char* name, std::int64_t channels, const BatchNormSettings& options,
                     std::vector<std::int64_t> ranks)
    : ChannelNorm(name, channels, options.eps, options.affine, options.track_running_stats),
      ranks_(std::move(ranks)), momentum_(options.momentum)
{
    if (momentum_) check_momentum(name, *momentum_);
}

// Normalises by the statistics of the batch. Without a momentum the running statistics become the average over all
// batches: they change by 1 / count of the difference.
Tensor BatchNorm::trained(const Tensor& x)
{
    if (!running_mean.defined()) return batch_norm(x, {}, {}, weight, bias, {.training = true, .eps = eps_});
    count_batch(num_batches_tracked);
    if (momentum_)
        return batch_norm(x, running_mean, running_var, weight, bias,
                          {.training = true, .momentum = *momentum_, .eps = eps_});
    Tensor mean = running_mean.detach(), variance = running_var.detach();
    Tensor y = batch_norm(x, mean, variance, weight, bias, {.training = true, .momentum = 1, .eps = eps_});
    const no_grad guard;
    const Tensor count = cast(num_batches_tracked, running_mean.dtype());
    running_mean.assign(running_mean + (mean - running_mean) / count);
    running_var.assign(running_var + (variance - running_var) / count);
    return y;
}

// Normalises by the statistics of all ranks' batches.
Tensor BatchNorm::trained_together(const Tensor& x)
{
    if (!is_floating(x.dtype()))
        detail::fail(ErrorKind::dtype, name_, "x is ", name_of(x.dtype()), ": give a floating tensor.");
    if (const Tensor& sized = weight.defined() ? weight : running_mean;
        sized.defined() && !same(x.size(1), sized.size(0)))
        detail::fail(ErrorKind::shape, name_, "The shape (", to_string(x.shape()), ") has not the (",
                     sized.size(0), ") channels of the layer.");
    const DType wide = x.dtype() == f64 ? f64 : f32;
    const Tensor values = cast(x, wide);
    const Statistics s = statistics_(values);
    Shape by_channel(x.dim(), Dim(1)); // [1, C, 1, ...]
    by_channel[1] = x.shape()[1];
    if (running_mean.defined()) {
        count_batch(num_batches_tracked);
        const no_grad guard;
        const DType kept = running_mean.dtype();
        const Tensor part = momentum_ ? full({}, *momentum_, {.dtype = wide, .device = x.device()})
                                      : 1 / cast(num_batches_tracked, wide);
        const auto move = [&](Variable& running, const Tensor& to) {
            const Tensor before = cast(running, wide);
            running.assign(cast(before + (to - before) * part, kept));
        };
        move(running_mean, s.mean.detach());
        move(running_var, s.variance.detach() * s.count / clamp_min(s.count - 1, 1));
    }
    Tensor y = (values - reshape(s.mean, by_channel)) * rsqrt(reshape(s.variance, by_channel) + eps_);
    if (weight.defined())
        y = y * cast(reshape(weight, by_channel), wide) + cast(reshape(bias, by_channel), wide);
    return cast(y, x.dtype());
}

Tensor BatchNorm::forward(Tensor x)
{
    if (std::find(ranks_.begin(), ranks_.end(), x.dim()) == ranks_.end())
        detail::fail(ErrorKind::shape, name_, "The shape (", to_string(x.shape()), ") has (", x.dim(),
                     ") dimensions: give (", ranks_.front(),
                     ranks_.size() > 2   ? ") to (" + std::to_string(ranks_.back())
                     : ranks_.size() > 1 ? ") or (" + std::to_string(ranks_.back())
                                         : std::string(),
                     ").");
    if (is_training() && statistics_) return trained_together(x);
    if (is_training() || !running_mean.defined()) return trained(x);
    return batch_norm(x, running_mean, running_var, weight, bias, {.training = false, .eps = eps_});
}

InstanceNorm::InstanceNorm(const char* name, std::int64_t channels, const InstanceNormSettings& options,
                           std::int64_t rank)
    : ChannelNorm(name, channels, options.eps, options.affine, options.track_running_stats), rank_(rank),
      momentum_(options.momentum)
{
    check_momentum(name, momentum_);
}

Tensor InstanceNorm::forward(Tensor x)
{
    if (x.dim() != rank_ && x.dim() != rank_ - 1)
        detail::fail(ErrorKind::shape, name_, "The shape (", to_string(x.shape()), ") has (", x.dim(),
                     ") dimensions: give (", rank_, "), or one less for one image.");
    const bool one = x.dim() != rank_;
    const Tensor y = instance_norm(
        one ? unsqueeze(x, 0) : x, running_mean, running_var, weight, bias,
        {.use_input_stats = is_training() || !running_mean.defined(), .momentum = momentum_, .eps = eps_});
    return one ? squeeze(y, 0) : y;
}

GroupNorm::GroupNorm(std::int64_t num_groups, std::int64_t num_channels, const GroupNormSettings& options)
    : num_groups_(num_groups), eps_(options.eps)
{
    check_at_least("GroupNorm", "number of groups", num_groups, 1);
    check_at_least("GroupNorm", "number of channels", num_channels, 1);
    if (num_channels % num_groups != 0)
        detail::fail(ErrorKind::argument, "GroupNorm", "The (", num_channels, ") channels do not make (",
                     num_groups, ") groups.");
    if (!(eps_ >= 0)) detail::fail(ErrorKind::argument, "GroupNorm", "eps (", eps_, ") must be at least 0.");
    if (!options.affine) return;
    weight = register_parameter("weight", Variable(ones({num_channels})));
    bias = register_parameter("bias", Variable(zeros({num_channels})));
}

std::string GroupNorm::extra_repr() const
{
    Repr repr;
    repr.value(num_groups_);
    if (weight.defined()) repr.value(weight.size(0).value());
    return repr.option("eps", eps_).option("affine", weight.defined()).text();
}

Tensor GroupNorm::forward(Tensor x) { return group_norm(x, num_groups_, weight, bias, eps_); }

LayerNorm::LayerNorm(std::vector<std::int64_t> normalized_shape, const LayerNormSettings& options)
    : normalized_shape_(checked_shape("LayerNorm", normalized_shape, options.eps)), eps_(options.eps)
{
    if (!options.elementwise_affine) return;
    weight = register_parameter("weight", Variable(ones(normalized_shape_)));
    if (options.bias) bias = register_parameter("bias", Variable(zeros(normalized_shape_)));
}

std::string LayerNorm::extra_repr() const
{
    return Repr()
        .shape(normalized_shape_)
        .option("eps", eps_)
        .option("elementwise_affine", weight.defined())
        .unless("bias", bias.defined() || !weight.defined(), true)
        .text();
}

Tensor LayerNorm::forward(Tensor x) { return layer_norm(x, normalized_shape_, weight, bias, eps_); }

RMSNorm::RMSNorm(std::vector<std::int64_t> normalized_shape, const RMSNormOptions& options)
    : normalized_shape_(checked_shape("RMSNorm", normalized_shape, options.eps.value_or(0))),
      eps_(options.eps)
{
    if (options.elementwise_affine) weight = register_parameter("weight", Variable(ones(normalized_shape_)));
}

std::string RMSNorm::extra_repr() const
{
    Repr repr;
    repr.shape(normalized_shape_);
    if (eps_) repr.option("eps", *eps_);
    return repr.option("elementwise_affine", weight.defined()).text();
}

Tensor RMSNorm::forward(Tensor x) { return rms_norm(x, normalized_shape_, weight, eps_); }

LocalResponseNorm::LocalResponseNorm(const LocalResponseNormSettings& options) : options_(options)
{
    check_at_least("LocalResponseNorm", "size", options.size, 1);
}

std::string LocalResponseNorm::extra_repr() const
{
    return Repr()
        .value(options_.size)
        .option("alpha", options_.alpha)
        .option("beta", options_.beta)
        .option("k", options_.k)
        .text();
}

Tensor LocalResponseNorm::forward(Tensor x)
{
    return local_response_norm(x, options_.size, options_.alpha, options_.beta, options_.k);
}

} // namespace reprise::nn
