#include "ops/channels.hpp"

#include <algorithm>

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/records.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"

namespace reprise::ops {

bool has_f32_parameters(const Tensor& x, std::initializer_list<const Tensor*> parameters)
{
    const auto is_f32 = [](const Tensor* t) { return t->defined() && t->dtype() == f32; };
    return (x.dtype() == f16 || x.dtype() == bf16) &&
           std::any_of(parameters.begin(), parameters.end(), is_f32);
}

void check_channels(const char* op, const char* name, const Shape& shape, const Dim& channels)
{
    shape::require_same(op, shape, {channels}, [&] {
        return std::string("The ") + name + " has the shape (" + to_string(shape) + ") for (" +
               channels.text() + ") channels: give one number for each.";
    });
}

const Dim& channels_of(const char* op, const TensorType& x)
{
    require_floating(op, x.dtype);
    if (x.shape.size() < 2)
        detail::fail(ErrorKind::shape, op, "The shape (", to_string(x.shape),
                     ") has no channels: give [N, C, ...].");
    return x.shape[1];
}

void require_several(const char* op, const char* part, const Dim& count, const Shape& x)
{
    shape::require_at_least(op, max(count - 1, 1 - count), 1, [&] {
        return "There is one value for each " + std::string(part) + " in the shape (" + to_string(x) +
               "), its own mean: statistics need more.";
    });
}

Dims all_but_channels(const Shape& x)
{
    Dims dims{0};
    for (std::size_t d = 2; d < x.size(); ++d) dims.push_back(static_cast<std::int64_t>(d));
    return dims;
}

Tensor by_channel(const Tensor& t, const Shape& x)
{
    Shape shape(x.size(), Dim(1));
    shape[1] = x[1];
    return reshape(t, shape);
}

void update_running(Tensor& mean, Tensor& variance, const Tensor& found_mean, const Tensor& found_variance,
                    double momentum, const Dim& count)
{
    // No kernel takes f64 together with another dtype.
    const auto found_for = [](const Tensor& running, const Tensor& found) {
        return running.dtype() == f64 || found.dtype() == f64 ? cast(found, running.dtype()) : found;
    };
    const std::vector<Tensor> updated =
        graph::apply(batch_norm_update_op,
                     {mean, variance, found_for(mean, found_mean), found_for(variance, found_variance)},
                     {{"momentum", momentum}, {"count", count}});
    mean.assign(updated[0]);
    variance.assign(updated[1]);
}

namespace {

// Numeric classes: shaders/common/batch_norm.glsl and batch_norm_group.glsl.  In the second one, lanes of a group read
// neighbouring elements of a channel, which pays if these are neighbours in memory: 8 of them are a sector of a GPU's
// cache.
constexpr std::int64_t block = 256, max_partials = 1024;
constexpr std::int64_t block_of_group = 2048, max_partials_of_groups = 256, least_image_of_groups = 8;

Dim by_groups(const Lowering& l, const ChannelProblem& p) // 1 or 0
{
    return l.groups_share_rows() ? is_at_least(p.image, least_image_of_groups) : Dim(0);
}

View partials_of(Lowering& l, const ChannelProblem& p)
{
    const Dim of_groups = by_groups(l, p);
    const Dim count = of_groups * min(ceil_div(p.count(), block_of_group), max_partials_of_groups) +
                      (1 - of_groups) * min(ceil_div(p.count(), block), max_partials);
    return l.temporary(f32, {count, p.channels, 4});
}

// `aligned`: all operands [N, C, image] start 16-byte aligned.
void launch_first(Lowering& l, const ChannelProblem& p, const View& partials, bool aligned,
                  const LaunchSpec& spec)
{
    const Dim of_groups = by_groups(l, p), all = p.channels * partials.sizes()[0];
    if (!same(of_groups, 0))
        l.when(of_groups, [&] {
            LaunchSpec by_group = spec;
            by_group.kernel += aligned && p.image.divisible_by(4) ? "_group_vec4" : "_group";
            by_group.groups = all;
            l.launch(std::move(by_group));
        });
    if (same(of_groups, 1)) return;
    l.when(1 - of_groups, [&] {
        LaunchSpec by_lane = spec;
        by_lane.groups = ceil_div(all, 64);
        launch_with_texels(l, p.in_texels(), std::move(by_lane));
    });
}

bool is_aligned(const View& v) { return v.layout.offset.divisible_by(4); }

void launch_each(Lowering& l, const ChannelProblem& p, LaunchSpec spec)
{
    const Dim planes = p.images * p.channels;
    spec.groups = ceil_div(planes * p.image, 64);
    LaunchSpec texel = texel_variant(spec);
    texel.groups = ceil_div(planes * ceil_div(p.image, 32), 64);
    launch_where(l, p.in_texels(), std::move(texel), std::move(spec));
}

} // namespace

ChannelProblem::ChannelProblem(const Shape& x) : images(x[0]), channels(x[1]), image(1)
{
    for (std::size_t d = 2; d < x.size(); ++d) image *= x[d];
}

View launch_sums(Lowering& l, const ChannelProblem& p, const View& x)
{
    const View partials = partials_of(l, p);
    const records::batch_norm_sums record{.x = x,
                                          .partials = partials,
                                          .images = p.images,
                                          .channels = p.channels,
                                          .image = p.image,
                                          .partial_count = partials.sizes()[0]};
    launch_first(l, p, partials, is_aligned(x), record.launch());
    return partials;
}

View launch_vjp_sums(Lowering& l, const ChannelProblem& p, const View& dy, const View& x, const View& mean,
                     const Dim& sharing)
{
    const View partials = partials_of(l, p);
    const records::batch_norm_vjp_sums record{.dy = dy,
                                              .x = x,
                                              .mean = mean,
                                              .partials = partials,
                                              .images = p.images,
                                              .channels = p.channels,
                                              .image = p.image,
                                              .partial_count = partials.sizes()[0],
                                              .sharing = sharing};
    launch_first(l, p, partials, is_aligned(dy) && is_aligned(x), record.launch());
    return partials;
}

void launch_finish(Lowering& l, LaunchSpec spec, const ChannelProblem& p)
{
    spec.groups = ceil_div(p.channels, 64);
    launch_with_texels(l, 1, std::move(spec));
}

void launch_elements(Lowering& l, const ChannelProblem& p, const View& x, const View& affine, const View& y)
{
    const records::batch_norm record{.x = x,
                                     .affine = affine,
                                     .y = y,
                                     .planes = p.images * p.channels,
                                     .channels = p.channels,
                                     .image = p.image};
    launch_each(l, p, record.launch());
}

void launch_vjp_elements(Lowering& l, const ChannelProblem& p, const View& dy, const View& x,
                         const View& coefficients, const View& dx)
{
    const records::batch_norm_vjp record{.dy = dy,
                                         .x = x,
                                         .coefficients = coefficients,
                                         .dx = dx,
                                         .planes = p.images * p.channels,
                                         .channels = p.channels,
                                         .image = p.image};
    launch_each(l, p, record.launch());
}

ChannelOperand channel_operand(Lowering& l, std::size_t input)
{
    Scalar number;
    if (l.scalar(input, number)) return {records::Absent{}, number, 0};
    return {l.contiguous(l.input(input)), number, 1};
}

} // namespace reprise::ops
