#include "ops/channels.hpp"

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/registry.hpp"
#include "shape/guard.hpp"

namespace reprise::ops {

using graph::TensorType;

void check_channels(const char* op, const char* name, const Shape& shape, const Dim& channels)
{
    const auto sentence = [&] {
        return std::string("The ") + name + " has the shape (" + to_string(shape) + ") for (" +
               channels.text() + ") channels: give one number for each.";
    };
    if (shape.size() != 1) detail::fail(ErrorKind::shape, op, sentence());
    shape::require_equal(op, shape[0], channels, sentence);
}

const Dim& channels_of(const char* op, const TensorType& x)
{
    require_floating(op, x.dtype);
    if (x.shape.size() < 2)
        detail::fail(ErrorKind::shape, op, "The shape (", to_string(x.shape),
                     ") has no channels: give [N, C, ...].");
    return x.shape[1];
}

void check_dtype(const char* op, const char* name, DType dtype, DType of_input)
{
    if (dtype != of_input)
        detail::fail(ErrorKind::dtype, op, "The ", name, "'s dtype (", name_of(dtype),
                     ") is not the input's (", name_of(of_input), "): cast one of them.");
}

void require_several(const char* op, const char* part, const Dim& count, const Shape& x)
{
    shape::require_at_least(op, max(count - 1, 1 - count), 1, [&] {
        return "There is one value for each " + std::string(part) + " in the shape (" + to_string(x) +
               "), its own mean: statistics need more.";
    });
}

Tensor found_for(const Tensor& running, const Tensor& found)
{
    return running.dtype() == f64 || found.dtype() == f64 ? cast(found, running.dtype()) : found;
}

Tensor by_channel(const Tensor& t, const Shape& x)
{
    Shape shape(x.size(), Dim(1));
    shape[1] = x[1];
    return reshape(t, shape);
}

namespace {
constexpr std::int64_t block = 256, most_partials = 1024; // of shaders/common/batch_norm.glsl
}

ChannelProblem::ChannelProblem(const Shape& x) : images(x[0]), channels(x[1]), image(1)
{
    for (std::size_t d = 2; d < x.size(); ++d) image *= x[d];
}

Dim ChannelProblem::partials() const { return min(ceil_div(count(), block), most_partials); }

View launch_sums(Lowering& l, const std::string& kernel, const ChannelProblem& p,
                 std::vector<LaunchOperand> operands, const DimVector& more_ints)
{
    const View partials = l.temporary(f32, {p.partials(), p.channels, 4});
    operands.push_back({partials, Use::write});
    LaunchSpec spec{.kernel = kernel,
                    .operands = std::move(operands),
                    .ints = {p.images, p.channels, p.image, p.partials()},
                    .groups = ceil_div(p.channels * p.partials(), 64)};
    spec.ints.insert(spec.ints.end(), more_ints.begin(), more_ints.end());
    LaunchSpec texel = spec;
    texel.kernel += "_texel";
    launch_where(l, p.in_texels(), std::move(texel), spec);
    return partials;
}

void launch_finish(Lowering& l, LaunchSpec spec, const ChannelProblem& p)
{
    spec.groups = ceil_div(p.channels, 64);
    LaunchSpec texel = spec;
    texel.kernel += "_texel";
    launch_where(l, 1, std::move(texel), std::move(spec));
}

void launch_elements(Lowering& l, const std::string& kernel, const ChannelProblem& p,
                     std::vector<LaunchOperand> operands)
{
    const Dim planes = p.images * p.channels;
    const LaunchSpec spec{.kernel = kernel,
                          .operands = std::move(operands),
                          .ints = {planes, p.channels, p.image},
                          .groups = ceil_div(planes * p.image, 64)};
    LaunchSpec texel = spec;
    texel.kernel += "_texel";
    texel.groups = ceil_div(planes * ceil_div(p.image, 32), 64);
    launch_where(l, p.in_texels(), std::move(texel), spec);
}

bool channel_operand(Lowering& l, std::size_t input, LaunchSpec& spec)
{
    Scalar number;
    const bool known = l.scalar(input, number);
    if (known) spec.operands.push_back({.view = {}, .use = Use::read, .absent = true});
    else spec.operands.push_back({l.contiguous(l.input(input)), Use::read});
    spec.floats.push_back(number);
    return !known;
}

} // namespace reprise::ops
