// batch_norm: with the batch's statistics it is an op, which returns them as outputs; with given statistics it is
// composed of other ops. A separate op updates the running statistics, so that recomputing the forward op in a backward
// pass writes no state.
#include <algorithm>
#include <cmath>

#include <reprise/grad_mode.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/normalization.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/accumulated.hpp"
#include "ops/channels.hpp"
#include "ops/records.hpp"
#include "ops/reduce.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

// -- shapes --

// x, weight, bias -> y, mean, variance
TensorTypes infer(const Op& op, const InputTypes& in, const Attributes&)
{
    const Dim& channels = channels_of(op.name, in[0]);
    const char* const names[] = {"weight", "bias"};
    for (std::size_t i = 0; i < 2; ++i) {
        check_channels(op.name, names[i], in[1 + i].shape, channels);
        check_dtype(op.name, names[i], in[1 + i].dtype, in[0].dtype);
    }
    const TensorType statistic{accumulated(in[0].dtype), {channels}};
    return {in[0], statistic, statistic};
}

// dy, x, mean, variance, weight -> dx, dweight, dbias
TensorTypes infer_vjp(const Op& op, const InputTypes& in, const Attributes&)
{
    if (in[0] != in[1])
        detail::fail(ErrorKind::internal, op.name, "The output's gradient ", to_string(in[0].shape),
                     " is not like the input ", to_string(in[1].shape), ".");
    const TensorType channel{in[1].dtype, {channels_of(op.name, in[1])}};
    return {in[1], channel, channel};
}

// running mean, running variance, found mean, found variance -> running mean, running variance
TensorTypes infer_update(const Op& op, const InputTypes& in, const Attributes&)
{
    const char* const names[] = {"running mean", "running variance"};
    for (std::size_t i = 0; i < 2; ++i) {
        check_channels(op.name, names[i], in[i].shape, in[2].shape[0]);
        require_floating(op.name, in[i].dtype);
    }
    return {in[0], in[1]};
}

Dim count_of(const Shape& x) { return reduced_count(x, all_but_channels(x)); } // elements per channel

// -- derivatives --

std::vector<Tensor> vjp(const VjpArguments& v)
{
    const Tensor &x = v.inputs[0], &mean = v.outputs[1], &dy = v.cotangents[0], &dmean = v.cotangents[1],
                 &dvariance = v.cotangents[2];
    std::vector<Tensor> d(3);
    if (dy.defined())
        d = graph::apply(batch_norm_vjp_op, {dy, x, mean, v.outputs[2], v.inputs[1]},
                         {{"eps", v.node.attributes.number("eps")}});
    if (!v.wanted[0]) return d;
    const auto add = [&](const Tensor& more) { d[0] = d[0].defined() ? d[0] + more : more; };
    const Tensor count = size_like(mean, count_of(x.shape()));
    if (dmean.defined()) add(expand(by_channel(dmean / count, x.shape()), x.shape()));
    if (dvariance.defined())
        add((x - by_channel(mean, x.shape())) * by_channel(dvariance * 2 / count, x.shape()));
    d[0] = cast(d[0], x.dtype());
    return d;
}

std::vector<Tensor> decompose(const Node& n, std::span<const Tensor> in)
{
    const Shape& shape = in[0].shape();
    const Dims dims = all_but_channels(shape);
    const Tensor center = mean(in[0], dims), shifted = in[0] - by_channel(center, shape);
    const Tensor variance = mean(square(shifted), dims);
    const Tensor scale = rsqrt(variance + n.attributes.number("eps")) * in[1];
    return {shifted * by_channel(scale, shape) + by_channel(in[2], shape), center, variance};
}

std::vector<Tensor> decompose_vjp(const Node& n, std::span<const Tensor> in)
{
    const Tensor &dy = in[0], &x = in[1], &weight = in[4];
    const Shape& shape = x.shape();
    const Dims dims = all_but_channels(shape);
    const Tensor count = size_like(in[2], count_of(shape)), centered = x - by_channel(in[2], shape);
    const Tensor inverse = rsqrt(in[3] + n.attributes.number("eps"));
    const Tensor total = sum(accumulated(dy), dims), product = sum(dy * centered, dims);
    const Tensor slope = by_channel(square(inverse) * (product / count), shape);
    const Tensor dx =
        (dy - by_channel(total / count, shape) - centered * slope) * by_channel(weight * inverse, shape);
    return {cast(dx, x.dtype()), cast(product * inverse, x.dtype()), cast(total, x.dtype())};
}

// -- launches --

void lower(Lowering& l, const Node& node)
{
    const View x = l.contiguous(l.input(0)), y = l.output(0);
    const ChannelProblem p(x.sizes());
    const View partials = launch_sums(l, p, x);
    const View affine = l.temporary(f32, {p.channels, 4});
    const ChannelOperand weight = channel_operand(l, 1), bias = channel_operand(l, 2);
    const records::batch_norm_finish finish{.partials = partials,
                                            .weight = weight.memory,
                                            .bias = bias.memory,
                                            .mean = l.output(1),
                                            .variance = l.output(2),
                                            .affine = affine,
                                            .one_weight = weight.number,
                                            .one_bias = bias.number,
                                            .eps = node.attributes.number("eps"),
                                            .channels = p.channels,
                                            .partial_count = partials.sizes()[0]};
    launch_finish(l, finish.launch({.constants = {weight.in_memory | bias.in_memory << 1}}), p);
    launch_elements(l, p, x, affine, y);
}

void lower_vjp(Lowering& l, const Node& node)
{
    const View dy = l.contiguous(l.input(0)), x = l.contiguous(l.input(1)), mean = l.contiguous(l.input(2)),
               variance = l.contiguous(l.input(3));
    const ChannelProblem p(x.sizes());
    const View partials = launch_vjp_sums(l, p, dy, x, mean, 1);
    const View coefficients = l.temporary(f32, {p.channels, 4});
    const ChannelOperand weight = channel_operand(l, 4);
    const records::batch_norm_vjp_finish finish{.partials = partials,
                                                .mean = mean,
                                                .variance = variance,
                                                .weight = weight.memory,
                                                .coefficients = coefficients,
                                                .dweight = l.output(1),
                                                .dbias = l.output(2),
                                                .one_weight = weight.number,
                                                .eps = node.attributes.number("eps"),
                                                .channels = p.channels,
                                                .partial_count = partials.sizes()[0],
                                                .count = p.count()};
    launch_finish(l, finish.launch({.constants = {weight.in_memory}}), p);
    launch_vjp_elements(l, p, dy, x, coefficients, l.output(0));
}

void lower_update(Lowering& l, const Node& node)
{
    const Dim& channels = node.outputs[0].shape[0];
    const double momentum = node.attributes.number("momentum");
    const records::batch_norm_update record{.mean = l.contiguous(l.input(0)),
                                            .variance = l.contiguous(l.input(1)),
                                            .found_mean = l.contiguous(l.input(2)),
                                            .found_variance = l.contiguous(l.input(3)),
                                            .new_mean = l.output(0),
                                            .new_variance = l.output(1),
                                            .keep = 1 - momentum,
                                            .momentum = momentum,
                                            .channels = channels,
                                            .count = node.attributes.get<Dim>("count")};
    l.launch(record.launch({.groups = ceil_div(channels, 64), .in_place = true}));
}

// -- the reference implementation --

// Calls visit(row-major index) for the elements of a channel.
template <class Visit> void each_element(const HostTensor& x, std::int64_t channel, const Visit& visit)
{
    std::int64_t image = 1;
    for (std::size_t d = 2; d < x.sizes.size(); ++d) image *= x.sizes[d];
    for (std::int64_t n = 0; n < x.sizes[0]; ++n)
        for (std::int64_t e = 0; e < image; ++e) visit((n * x.sizes[1] + channel) * image + e);
}

double per_channel(const HostTensor& x)
{
    return x.sizes[1] == 0 ? 0 : static_cast<double>(x.count()) / static_cast<double>(x.sizes[1]);
}

void reference(const ReferenceArguments& a)
{
    const HostTensor& x = a.inputs[0];
    const double n = std::max(per_channel(x), 1.0), eps = a.attributes.number("eps");
    for (std::int64_t c = 0; c < x.sizes[1]; ++c) {
        double mean = 0, variance = 0;
        each_element(x, c, [&](std::int64_t i) { mean += x.at(i); });
        mean /= n;
        each_element(x, c, [&](std::int64_t i) { variance += (x.at(i) - mean) * (x.at(i) - mean); });
        variance /= n;
        each_element(x, c, [&](std::int64_t i) {
            a.outputs[0].put(i, (x.at(i) - mean) / std::sqrt(variance + eps) * a.inputs[1].at(c) +
                                    a.inputs[2].at(c));
        });
        a.outputs[1].put(c, mean);
        a.outputs[2].put(c, variance);
    }
}

void reference_vjp(const ReferenceArguments& a)
{
    const HostTensor &dy = a.inputs[0], &x = a.inputs[1];
    const double n = per_channel(x), eps = a.attributes.number("eps");
    for (std::int64_t c = 0; c < x.sizes[1]; ++c) {
        const double mean = a.inputs[2].at(c), inverse = 1 / std::sqrt(a.inputs[3].at(c) + eps);
        double total = 0, product = 0;
        each_element(x, c, [&](std::int64_t i) {
            total += dy.at(i);
            product += dy.at(i) * (x.at(i) - mean);
        });
        const double slope = inverse * inverse * product / n;
        each_element(x, c, [&](std::int64_t i) {
            a.outputs[0].put(i,
                             (dy.at(i) - total / n - (x.at(i) - mean) * slope) * inverse * a.inputs[4].at(c));
        });
        a.outputs[1].put(c, product * inverse);
        a.outputs[2].put(c, total);
    }
}

void reference_update(const ReferenceArguments& a)
{
    const double momentum = a.attributes.number("momentum"), n = static_cast<double>(a.dims[0]);
    for (std::int64_t c = 0, channels = a.outputs[0].count(); c < channels; ++c) {
        const double mean = a.inputs[0].at(c), var = a.inputs[1].at(c);
        const double unbiased = a.inputs[3].at(c) * (n / (n - 1));
        a.outputs[0].put(c, n == 0 ? mean : mean * (1 - momentum) + a.inputs[2].at(c) * momentum);
        a.outputs[1].put(c, n == 0 ? var : var * (1 - momentum) + unbiased * momentum);
    }
}

} // namespace

const Op batch_norm_op{.name = "batch_norm",
                       .infer = infer,
                       .vjp = vjp,
                       .decompose = decompose,
                       .lower = lower,
                       .reference = reference};
const Op batch_norm_vjp_op{.name = "batch_norm_vjp",
                           .infer = infer_vjp,
                           .decompose = decompose_vjp,
                           .lower = lower_vjp,
                           .reference = reference_vjp};
const Op batch_norm_update_op{.name = "batch_norm_update",
                              .infer = infer_update,
                              .lower = lower_update,
                              .reference = reference_update,
                              .doubles = true};

} // namespace ops

namespace {

constexpr const char* op = "batch_norm";

// Normalizes with given statistics.
Tensor evaluated(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& weight,
                 const Tensor& bias, double eps)
{
    const auto shaped = [&](const Tensor& t) { return ops::by_channel(t, x.shape()); };
    Tensor scale = rsqrt(variance + eps);
    if (weight.defined()) scale = scale * weight;
    const Tensor y = (x - shaped(mean)) * shaped(scale);
    return bias.defined() ? y + shaped(bias) : y;
}

} // namespace

Tensor batch_norm(const Tensor& x, Tensor running_mean, Tensor running_var, const Tensor& weight,
                  const Tensor& bias, const BatchNormOpOptions& options)
{
    if (ops::has_f32_parameters(x, {&running_mean, &running_var, &weight, &bias}))
        return cast(batch_norm(cast(x, f32), running_mean, running_var, weight, bias, options), x.dtype());
    const graph::NoAutocast in_its_dtype;
    const Shape& sizes = x.shape();
    const Dim& channels = ops::channels_of(op, ops::type_of(x));
    const auto check = [&](const char* name, const Tensor& t) {
        if (t.defined()) ops::check_channels(op, name, t.shape(), channels);
    };
    check("running mean", running_mean);
    check("running variance", running_var);
    check("weight", weight);
    check("bias", bias);
    const bool running = running_mean.defined() && running_var.defined();
    if (!options.training) {
        if (!running)
            detail::fail(
                ErrorKind::argument, op,
                "There are no running statistics: give a running mean and variance, or set training.");
        return evaluated(x, running_mean, running_var, weight, bias, options.eps);
    }
    const Dim count = ops::count_of(sizes);
    ops::require_several(op, "channel", count, sizes);
    const auto all = [&](const Tensor& t, double value) {
        return t.defined() ? t : ops::full_on(ops::evaluator_of(x), {channels}, value, x.dtype());
    };
    const std::vector<Tensor> out =
        graph::apply(ops::batch_norm_op, {x, all(weight, 1), all(bias, 0)}, {{"eps", options.eps}});
    if (running) {
        const no_grad guard;
        ops::update_running(running_mean, running_var, out[1], out[2], options.momentum, count);
    }
    return out[0];
}

} // namespace reprise
