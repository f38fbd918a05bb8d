// group_norm: divides the channels of an image into groups and normalises each by its own mean and variance.
// instance_norm: each channel is a group. Sums and elements are computed by batch_norm's kernels, with each plane (one
// channel of one image) as a channel.
#include <cmath>

#include <reprise/grad_mode.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/normalization.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/accumulated.hpp"
#include "ops/autocast.hpp"
#include "ops/channels.hpp"
#include "ops/records.hpp"
#include "ops/reduce.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

// x [N, C, image]; the channels of a group are contiguous.
struct Groups {
    Dim images, channels, image, count, members; // count: groups per image; members: channels per group
    Groups(const Shape& x, const Dim& groups)
        : images(x[0]), channels(x[1]), image(x[2]), count(groups),
          members(floor_div(x[1], max(groups, 1))) // instance_norm with no channels has no groups
    {}
    Dim planes() const { return images * channels; }
    Dim all() const { return images * count; }
    Dim elements() const { return members * image; } // per group
};
Groups groups_of(const Shape& x, const Node& n) { return {x, n.attributes.get<Dim>("groups")}; }

// -- group_norm: x [N, C, image], weight [C], bias [C] -> y, mean and variance (biased) [N, groups] --
TensorTypes infer(const Op& op, const InputTypes& in, const Attributes& a)
{
    require_floating(op.name, in[0].dtype);
    const TensorType statistic{accumulated(in[0].dtype), {in[0].shape[0], a.get<Dim>("groups")}};
    return {in[0], statistic, statistic};
}

// -- group_norm_vjp: dy, x, weight, mean, variance -> dx, gradients of weight and bias per image [N, C] --
TensorTypes infer_vjp(const Op&, const InputTypes& in, const Attributes&)
{
    const TensorType planes{accumulated(in[1].dtype), {in[1].shape[0], in[1].shape[1]}};
    return {in[1], planes, planes};
}

std::vector<Tensor> vjp(const VjpArguments& v)
{
    std::vector<Tensor> d(3);
    if (!v.cotangents[0].defined()) return d;
    const std::vector<Tensor> all = graph::apply(
        group_norm_vjp_op, {v.cotangents[0], v.inputs[0], v.inputs[1], v.outputs[1], v.outputs[2]},
        v.node.attributes);
    d[0] = all[0];
    for (const std::size_t i : {1, 2})
        if (v.wanted[i]) d[i] = cast(sum(all[i], {0}), v.inputs[i].dtype());
    return d;
}

std::vector<Tensor> decompose(const Node& n, std::span<const Tensor> in)
{
    const Shape shape = in[0].shape();
    const Groups g = groups_of(shape, n);
    const Tensor x = reshape(in[0], {g.images, g.count, g.elements()});
    const Tensor center = mean(x, {2}), shifted = x - unsqueeze(center, 2),
                 variance = mean(square(shifted), {2});
    const Tensor z = shifted * unsqueeze(rsqrt(variance + n.attributes.number("eps")), 2);
    return {reshape(z, shape) * by_channel(in[1], shape) + by_channel(in[2], shape), center, variance};
}

// Recomputes mean and variance from x, so that they are differentiated as functions of it.
std::vector<Tensor> decompose_vjp(const Node& n, std::span<const Tensor> in)
{
    const Shape shape = in[1].shape();
    const Groups g = groups_of(shape, n);
    const auto grouped = [&](const Tensor& t) { return reshape(t, {g.images, g.count, g.members, g.image}); };
    const auto average = [](const Tensor& t) { return mean(t, {2, 3}, true); };
    const Tensor x = grouped(in[1]), shifted = x - average(x);
    const Tensor rstd = rsqrt(average(square(shifted)) + n.attributes.number("eps")), z = shifted * rstd;
    const Tensor weighted = grouped(in[0] * by_channel(in[2], shape));
    const Tensor dx = (weighted - average(weighted) - z * average(weighted * z)) * rstd;
    const Tensor dy = accumulated(in[0]);
    return {reshape(dx, shape), sum(dy * reshape(z, shape), {2}), sum(dy, {2})};
}

// -- launches --

void lower(Lowering& l, const Node& node)
{
    const View x = l.contiguous(l.input(0)), y = l.output(0);
    const Groups g = groups_of(x.sizes(), node);
    const ChannelProblem wholes(1, g.all(), g.elements());
    const View partials = launch_sums(l, wholes, x);
    const View by_group = l.temporary(f32, {g.all(), 4});
    const records::batch_norm_finish finish{.partials = partials,
                                            .weight = records::Absent{},
                                            .bias = records::Absent{},
                                            .mean = l.output(1),
                                            .variance = l.output(2),
                                            .affine = by_group,
                                            .one_weight = 1,
                                            .one_bias = 0,
                                            .eps = node.attributes.number("eps"),
                                            .channels = wholes.channels,
                                            .partial_count = partials.sizes()[0]};
    launch_finish(l, finish.launch({.constants = {0}}), wholes);

    const View by_plane = l.temporary(f32, {g.planes(), 4});
    const ChannelOperand weight = channel_operand(l, 1), bias = channel_operand(l, 2);
    const records::group_norm_affine affine{.statistics = by_group,
                                            .weight = weight.memory,
                                            .bias = bias.memory,
                                            .affine = by_plane,
                                            .one_weight = weight.number,
                                            .one_bias = bias.number,
                                            .planes = g.planes(),
                                            .channels = g.channels,
                                            .members = g.members};
    l.launch(affine.launch(
        {.constants = {weight.in_memory | bias.in_memory << 1}, .groups = ceil_div(g.planes(), 64)}));
    launch_elements(l, {1, g.planes(), g.image}, x, by_plane, y);
}

void lower_vjp(Lowering& l, const Node& node)
{
    const View dy = l.contiguous(l.input(0)), x = l.contiguous(l.input(1)), mean = l.contiguous(l.input(3)),
               variance = l.contiguous(l.input(4));
    const Groups g = groups_of(x.sizes(), node);
    const ChannelProblem planes(1, g.planes(), g.image);
    const double eps = node.attributes.number("eps");
    const View partials = launch_vjp_sums(l, planes, dy, x, mean, g.members);
    const View totals = l.temporary(f32, {g.planes(), 4}), coefficients = l.temporary(f32, {g.planes(), 4});
    const records::group_norm_vjp_planes of_planes{.partials = partials,
                                                   .variance = variance,
                                                   .totals = totals,
                                                   .dweight = l.output(1),
                                                   .dbias = l.output(2),
                                                   .eps = eps,
                                                   .planes = g.planes(),
                                                   .partial_count = partials.sizes()[0],
                                                   .members = g.members};
    l.launch(of_planes.launch({.groups = ceil_div(g.planes(), 64)}));
    const ChannelOperand weight = channel_operand(l, 2);
    const records::group_norm_vjp_finish finish{.totals = totals,
                                                .mean = mean,
                                                .variance = variance,
                                                .weight = weight.memory,
                                                .coefficients = coefficients,
                                                .one_weight = weight.number,
                                                .eps = eps,
                                                .planes = g.planes(),
                                                .channels = g.channels,
                                                .members = g.members,
                                                .count = g.elements()};
    l.launch(finish.launch({.constants = {weight.in_memory}, .groups = ceil_div(g.planes(), 64)}));
    launch_vjp_elements(l, planes, dy, x, coefficients, l.output(0));
}

// -- the reference implementation --

struct HostGroups {
    std::int64_t channels, image, groups, members;
    explicit HostGroups(const ReferenceArguments& a, const HostTensor& x)
        : channels(x.sizes[1]), image(x.sizes[2]), groups(a.dims[0]),
          members(groups == 0 ? 0 : channels / groups)
    {}
    std::int64_t elements() const { return members * image; }
    std::int64_t channel(std::int64_t group, std::int64_t element) const // group: counted over all images
    {
        return group % groups * members + element / image;
    }
};

void reference(const ReferenceArguments& a)
{
    const HostTensor &x = a.inputs[0], &y = a.outputs[0];
    const HostGroups g(a, x);
    const std::int64_t n = g.elements();
    for (std::int64_t group = 0; group < x.sizes[0] * g.groups; ++group) {
        double mean = 0, variance = 0;
        const std::int64_t first = group * n;
        for (std::int64_t e = 0; e < n; ++e) mean += x.at(first + e) / static_cast<double>(n);
        for (std::int64_t e = 0; e < n; ++e)
            variance += (x.at(first + e) - mean) * (x.at(first + e) - mean) / static_cast<double>(n);
        const double rstd = 1 / std::sqrt(variance + a.attributes.number("eps"));
        for (std::int64_t e = 0; e < n; ++e) {
            const std::int64_t c = g.channel(group, e);
            y.put(first + e, (x.at(first + e) - mean) * rstd * a.inputs[1].at(c) + a.inputs[2].at(c));
        }
        a.outputs[1].put(group, mean);
        a.outputs[2].put(group, variance);
    }
}

void reference_vjp(const ReferenceArguments& a)
{
    const HostTensor &dy = a.inputs[0], &x = a.inputs[1];
    const HostGroups g(a, x);
    const std::int64_t n = g.elements();
    for (std::int64_t group = 0; group < x.sizes[0] * g.groups; ++group) {
        const double mean = a.inputs[3].at(group),
                     rstd = 1 / std::sqrt(a.inputs[4].at(group) + a.attributes.number("eps"));
        const std::int64_t first = group * n;
        const auto z = [&](std::int64_t e) { return (x.at(first + e) - mean) * rstd; };
        const auto weighted = [&](std::int64_t e) {
            return dy.at(first + e) * a.inputs[2].at(g.channel(group, e));
        };
        double total = 0, product = 0;
        for (std::int64_t k = 0; k < g.members; ++k) {
            double weight = 0, bias = 0;
            for (std::int64_t e = k * g.image; e < (k + 1) * g.image; ++e) {
                total += weighted(e) / static_cast<double>(n);
                product += weighted(e) * z(e) / static_cast<double>(n);
                weight += dy.at(first + e) * z(e);
                bias += dy.at(first + e);
            }
            a.outputs[1].put(group * g.members + k, weight);
            a.outputs[2].put(group * g.members + k, bias);
        }
        for (std::int64_t e = 0; e < n; ++e)
            a.outputs[0].put(first + e, (weighted(e) - total - z(e) * product) * rstd);
    }
}

} // namespace

const Op group_norm_op{.name = "group_norm",
                       .infer = infer,
                       .vjp = vjp,
                       .decompose = decompose,
                       .lower = lower,
                       .reference = reference};
const Op group_norm_vjp_op{.name = "group_norm_vjp",
                           .infer = infer_vjp,
                           .decompose = decompose_vjp,
                           .lower = lower_vjp,
                           .reference = reference_vjp};

namespace {

// Returns y, with the shape of x, mean and variance.
std::vector<Tensor> by_groups(const char* op, const Tensor& x, const Dim& groups, const Tensor& weight,
                              const Tensor& bias, double eps)
{
    const Shape& sizes = x.shape();
    const Dim channels = channels_of(op, type_of(x));
    if (!(eps >= 0)) detail::fail(ErrorKind::argument, op, "eps (", eps, ") must be at least 0.");
    const auto parameter = [&](const char* name, const Tensor& t, double value) {
        if (!t.defined()) return full_on(evaluator_of(x), {channels}, value, x.dtype());
        check_channels(op, name, t.shape(), channels);
        check_dtype(op, name, t.dtype(), x.dtype());
        return t;
    };
    const Dim image = shape::element_count({sizes.begin() + 2, sizes.end()});
    std::vector<Tensor> out = graph::apply(
        group_norm_op,
        {reshape(x, {sizes[0], channels, image}), parameter("weight", weight, 1), parameter("bias", bias, 0)},
        {{"groups", groups}, {"eps", eps}});
    out[0] = reshape(out[0], sizes);
    return out;
}

} // namespace
} // namespace ops

Tensor group_norm(const Tensor& x, std::int64_t groups, const Tensor& weight, const Tensor& bias, double eps)
{
    if (const ops::Autocast to = ops::Autocast::f32({&x, &weight, &bias}); to)
        return group_norm(to(x), groups, to(weight), to(bias), eps);
    constexpr const char* op = "group_norm";
    const Dim channels = ops::channels_of(op, ops::type_of(x));
    if (groups < 1)
        detail::fail(ErrorKind::argument, op, "The number of groups (", groups, ") must be at least 1.");
    shape::require_multiple(op, channels, groups, [&] {
        return "The (" + channels.text() + ") channels do not make (" + std::to_string(groups) + ") groups.";
    });
    const Shape& sizes = x.shape();
    // Counts the values of a group over all images, as PyTorch does.
    ops::require_several(op, "group", floor_div(shape::element_count(sizes), groups), sizes);
    return ops::by_groups(op, x, groups, weight, bias, eps)[0];
}

Tensor instance_norm(const Tensor& x, Tensor running_mean, Tensor running_var, const Tensor& weight,
                     const Tensor& bias, const InstanceNormOpOptions& options)
{
    if (ops::has_f32_parameters(x, {&running_mean, &running_var, &weight, &bias}))
        return cast(instance_norm(cast(x, f32), running_mean, running_var, weight, bias, options), x.dtype());
    const graph::NoAutocast in_its_dtype;
    constexpr const char* op = "instance_norm";
    const Dim channels = ops::channels_of(op, ops::type_of(x));
    const Shape& sizes = x.shape();
    if (!options.use_input_stats)
        return batch_norm(x, running_mean, running_var, weight, bias,
                          {.training = false, .momentum = options.momentum, .eps = options.eps});
    if (sizes.size() < 3)
        detail::fail(ErrorKind::shape, op, "The shape (", to_string(sizes),
                     ") has no image: give [N, C, ...].");
    const Dim image = shape::element_count({sizes.begin() + 2, sizes.end()});
    ops::require_several(op, "channel of an image", image, sizes);
    const std::vector<Tensor> out = ops::by_groups(op, x, channels, weight, bias, options.eps);
    if (running_mean.defined() && running_var.defined()) {
        const no_grad guard;
        // An empty batch has no statistics: its count is 0.
        const Tensor found_mean = mean(out[1], {0}), found_variance = mean(out[2], {0});
        ops::update_running(running_mean, running_var, found_mean, found_variance, options.momentum,
                            image * min(sizes[0], 1));
    }
    return out[0];
}

} // namespace reprise
