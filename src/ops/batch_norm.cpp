// batch_norm, made of other ops.  The running statistics are assigned apart from what is differentiated, so
// that nothing writes state when a part of the backward is replayed.
#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>

#include "ops/reduce.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"

namespace reprise {

namespace {

constexpr const char* op = "batch_norm";

void check_channels(const char* name, const Tensor& t, const Dim& channels)
{
    if (!t.defined()) return;
    const auto sentence = [&] {
        return std::string("The ") + name + " has the shape (" + to_string(t.shape()) + ") for (" +
               channels.text() + ") channels: give one number for each.";
    };
    if (t.shape().size() != 1) detail::fail(ErrorKind::shape, op, sentence());
    shape::require_equal(op, t.shape()[0], channels, sentence);
}

void blend(Tensor running, const Tensor& found, double momentum)
{
    running.assign(running * (1 - momentum) + reshape(found, running.shape()) * momentum);
}

} // namespace

Tensor batch_norm(const Tensor& x, Tensor running_mean, Tensor running_var, const Tensor& weight,
                  const Tensor& bias, const BatchNormOptions& options)
{
    const Shape& sizes = x.shape();
    ops::require_floating(op, x.dtype());
    if (sizes.size() < 2)
        detail::fail(ErrorKind::shape, op, "The shape (", to_string(sizes),
                     ") has no channels: give [N, C, ...].");
    const Dim& channels = sizes[1];
    check_channels("running mean", running_mean, channels);
    check_channels("running variance", running_var, channels);
    check_channels("weight", weight, channels);
    check_channels("bias", bias, channels);

    Dims dims{0};
    for (std::size_t d = 2; d < sizes.size(); ++d) dims.push_back(static_cast<std::int64_t>(d));
    Shape per_channel(sizes.size(), Dim(1));
    per_channel[1] = channels;
    const auto shaped = [&](const Tensor& t) { return reshape(t, per_channel); };

    const bool running = running_mean.defined() && running_var.defined();
    Tensor centered, variance;
    if (options.training || !running) {
        const Dim count = ops::reduced_count(sizes, dims);
        if (options.training && count == 1)
            detail::fail(ErrorKind::shape, op, "There is one value for each channel in the shape (",
                         to_string(sizes), "): training needs more.");
        const Tensor average = mean(x, dims, true);
        centered = x - average;
        const Tensor squares = sum(square(centered), dims, true);
        variance = squares / ops::size_like(x, count);
        if (options.training && running) {
            const no_grad guard;
            blend(running_mean, average, options.momentum);
            blend(running_var, squares / ops::size_like(x, count - 1), options.momentum);
        }
    } else {
        centered = x - shaped(running_mean);
        variance = shaped(running_var);
    }
    Tensor scale = rsqrt(variance + options.eps);
    if (weight.defined()) scale = scale * shaped(weight);
    const Tensor y = centered * scale;
    return bias.defined() ? y + shaped(bias) : y;
}

} // namespace reprise
