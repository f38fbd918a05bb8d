#include "ops/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/losses.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/records.hpp"
#include "ops/reduce.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {

using graph::Attributes;
using graph::Node;
using graph::Op;
using graph::TensorType;
using graph::TensorTypes;
using graph::VjpArguments;

Tensor apply_along(const Op& op, const std::vector<Tensor>& inputs, std::int64_t dim)
{
    const std::size_t rank = inputs[0].shape().size(),
                      along = shape::normalize_dim(op.name, dim, std::max<std::size_t>(rank, 1));
    if (rank == 0) {
        std::vector<Tensor> lines;
        for (const Tensor& t : inputs) lines.push_back(reshape(t, {1}));
        return reshape(apply_along(op, lines, 0), {});
    }
    return graph::apply1(op, inputs, {{"dim", static_cast<std::int64_t>(along)}});
}

TensorTypes infer_rows(const Op& op, const graph::InputTypes& in, const Attributes&)
{
    for (std::size_t i = 0; i < in.size(); ++i) {
        const TensorType& t = in[i];
        require_floating(op.name, t.dtype);
        if (t != in[0])
            detail::fail(ErrorKind::internal, op.name, "The inputs' types differ: ", name_of(in[0].dtype),
                         to_string(in[0].shape), " and ", name_of(t.dtype), to_string(t.shape), ".");
    }
    return {in[0]};
}

namespace {

// The launch of an op's kernel, of one input or two.  Of the dimensions beside the row's: sizes, and strides by view.
LaunchSpec launch_of(const std::vector<View>& views, std::size_t dim, const Dim& rows, const Shape& sizes,
                     const std::vector<shape::Strides>& strides, LaunchSpec spec)
{
    const Dim& columns = views[0].sizes()[dim];
    const auto along = [&](std::size_t view) { return views[view].layout.strides[dim]; };
    if (views.size() == 2) {
        const records::log_softmax record{.x = views[0],
                                          .y = views[1],
                                          .columns = columns,
                                          .rows = rows,
                                          .x_along = along(0),
                                          .y_along = along(1),
                                          .sizes = sizes,
                                          .x_strides = strides[0],
                                          .y_strides = strides[1]};
        return record.launch(std::move(spec));
    }
    const records::log_softmax_vjp record{.dy = views[0],
                                          .y = views[1],
                                          .dx = views[2],
                                          .columns = columns,
                                          .rows = rows,
                                          .dy_along = along(0),
                                          .y_along = along(1),
                                          .dx_along = along(2),
                                          .sizes = sizes,
                                          .dy_strides = strides[0],
                                          .y_strides = strides[1],
                                          .dx_strides = strides[2]};
    return record.launch(std::move(spec));
}

// An invocation a row; `views`: the inputs and the output.
void launch_rows(Lowering& l, const Node& n, std::vector<View> views)
{
    const auto dim = static_cast<std::size_t>(n.attributes.integer("dim"));
    const auto collapsed = [&] {
        const Shape& sizes = views.back().sizes();
        Shape kept(sizes);
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(dim));
        std::vector<shape::Strides> strides;
        for (const View& v : views) {
            strides.push_back(v.layout.strides);
            strides.back().erase(strides.back().begin() + static_cast<std::ptrdiff_t>(dim));
        }
        return shape::collapse(kept, strides);
    };
    shape::Collapsed kept = collapsed();
    constexpr std::size_t max_rank = 6; // of kernels
    if (kept.sizes.size() > max_rank) {
        for (std::size_t i = 0; i < n.inputs.size(); ++i) views[i] = l.contiguous(views[i]);
        kept = collapsed();
    }

    const Dim length = views[0].sizes()[dim], rows = shape::element_count(kept.sizes);
    bool texels = l.texels() && length.divisible_by(4);
    for (std::size_t i = 0; i < views.size(); ++i) {
        texels = texels && same(views[i].layout.strides[dim], 1) && views[i].layout.offset.divisible_by(4);
        for (const Dim& stride : kept.strides[i]) texels = texels && stride.divisible_by(4);
    }
    const LaunchSpec common{.kernel = n.op->name,
                            .constants = {static_cast<std::uint32_t>(kept.sizes.size())},
                            .groups = ceil_div(rows, 64)};
    LaunchSpec addresses = launch_of(views, dim, rows, kept.sizes, kept.strides, common);
    if (!texels) return l.launch(std::move(addresses));
    for (shape::Strides& strides : kept.strides)
        for (Dim& stride : strides) stride = floor_div(stride, 4);
    LaunchSpec preferred = launch_of(views, dim, rows, kept.sizes, kept.strides, common);
    preferred.kernel += "_texel";
    preferred.texels = true;
    l.launch(std::move(preferred), std::move(addresses));
}

} // namespace

void lower_rows(Lowering& l, const Node& n, LongForm divided)
{
    const auto dim = static_cast<std::size_t>(n.attributes.integer("dim"));
    std::vector<View> views;
    for (std::size_t i = 0; i < n.inputs.size(); ++i) views.push_back(l.input(i));
    const View out = l.output();
    require_floating_kernel(n.op->name, out.dtype);
    constexpr std::int64_t longest = std::int64_t{1} << 19; // 3 passes, 32 elements an iteration
    Shape kept = out.sizes();
    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(dim));
    LongRows::choose(
        l, out.sizes()[dim], shape::element_count(kept), longest,
        [&] {
            std::vector<View> all = views;
            all.push_back(out);
            launch_rows(l, n, std::move(all));
        },
        [&] {
            LongRows rows(l, out.sizes(), dim);
            divided(rows, views, out);
        });
}

HostRows::HostRows(const HostTensor& t, std::size_t dim)
    : length(t.sizes[dim]), count(length == 0 ? 0 : t.count() / length), dim_(dim)
{}

std::int64_t HostRows::offset(const HostTensor& t, std::int64_t row) const
{
    std::int64_t at = 0;
    for (std::size_t d = t.sizes.size(); d-- > 0;) {
        if (d == dim_) continue;
        at += row % t.sizes[d] * t.strides[d];
        row /= t.sizes[d];
    }
    return at;
}

HostRows::Exponentials HostRows::exponentials(const HostTensor& t, std::int64_t row) const
{
    const std::int64_t at = offset(t, row), stride = t.strides[dim_];
    Exponentials sums{-std::numeric_limits<double>::infinity(), 0};
    for (std::int64_t e = 0; e < length; ++e) {
        const double v = t.get(at + e * stride);
        if (v > sums.largest || std::isnan(v)) sums.largest = v;
    }
    for (std::int64_t e = 0; e < length; ++e) sums.total += std::exp(t.get(at + e * stride) - sums.largest);
    return sums;
}

namespace {

std::vector<Tensor> vjp(const VjpArguments& a)
{
    return {apply_along(softmax_vjp_op, {a.cotangents[0], a.outputs[0]}, a.node.attributes.integer("dim"))};
}

std::vector<Tensor> decompose(const Node& n, std::span<const Tensor> in)
{
    const std::int64_t dim = n.attributes.integer("dim");
    if (same(in[0].size(dim), 0)) return {in[0]};
    const Tensor grown = exp(in[0] - amax(in[0], {dim}, true));
    return {grown / sum(grown, {dim}, true)};
}

void lower(Lowering& l, const Node& n)
{
    lower_rows(l, n, [](LongRows& rows, const std::vector<View>& in, const View& y) {
        const View shifted = rows.across("sub", {in[0], rows.reduced("amax", in[0])});
        const View grown = rows.across("exp", {shifted});
        rows.write(y, "div", {grown, rows.reduced("sum", grown)});
    });
}

void reference(const ReferenceArguments& a)
{
    const HostTensor &x = a.inputs[0], &y = a.outputs[0];
    const auto dim = static_cast<std::size_t>(a.attributes.integer("dim"));
    const HostRows rows(x, dim);
    for (std::int64_t row = 0; row < rows.count; ++row) {
        const auto [largest, total] = rows.exponentials(x, row);
        const std::int64_t at = rows.offset(x, row), out = rows.offset(y, row);
        for (std::int64_t e = 0; e < rows.length; ++e)
            y.set(out + e * y.strides[dim], std::exp(x.get(at + e * x.strides[dim]) - largest) / total);
    }
}

// -- softmax_vjp: dx = (dy - sum(dy * y)) * y --
std::vector<Tensor> decompose_vjp(const Node& n, std::span<const Tensor> in)
{
    const Tensor &dy = in[0], &y = in[1];
    return {(dy - sum(dy * y, {n.attributes.integer("dim")}, true)) * y};
}

void lower_vjp(Lowering& l, const Node& n)
{
    lower_rows(l, n, [](LongRows& rows, const std::vector<View>& in, const View& dx) {
        const View total = rows.reduced("sum", rows.across("mul", in));
        rows.write(dx, "mul", {rows.across("sub", {in[0], total}), in[1]});
    });
}

void reference_vjp(const ReferenceArguments& a)
{
    const HostTensor &dy = a.inputs[0], &y = a.inputs[1], &dx = a.outputs[0];
    const auto dim = static_cast<std::size_t>(a.attributes.integer("dim"));
    const HostRows rows(dx, dim);
    for (std::int64_t row = 0; row < rows.count; ++row) {
        const std::int64_t g = rows.offset(dy, row), v = rows.offset(y, row), out = rows.offset(dx, row);
        double total = 0;
        for (std::int64_t e = 0; e < rows.length; ++e)
            total += dy.get(g + e * dy.strides[dim]) * y.get(v + e * y.strides[dim]);
        for (std::int64_t e = 0; e < rows.length; ++e)
            dx.set(out + e * dx.strides[dim],
                   (dy.get(g + e * dy.strides[dim]) - total) * y.get(v + e * y.strides[dim]));
    }
}

} // namespace

const Op softmax_op{.name = "softmax",
                    .infer = infer_rows,
                    .vjp = vjp,
                    .decompose = decompose,
                    .lower = lower,
                    .reference = reference};
const Op softmax_vjp_op{.name = "softmax_vjp",
                        .infer = infer_rows,
                        .decompose = decompose_vjp,
                        .lower = lower_vjp,
                        .reference = reference_vjp};

} // namespace ops

Tensor softmax(const Tensor& x, std::int64_t dim) { return ops::apply_along(ops::softmax_op, {x}, dim); }

Tensor softmax(const Tensor& x, std::int64_t dim, DType dtype) { return softmax(cast(x, dtype), dim); }

} // namespace reprise
