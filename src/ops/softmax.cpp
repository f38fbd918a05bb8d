#include "ops/softmax.hpp"
#include "ops/autocast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/losses.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/records.hpp"
#include "ops/reduce.hpp"
#include "ops/registry.hpp"
#include "ops/rows.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {

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

namespace {

// Returns the launch of an op's kernel with one or two inputs.  `sizes` and `strides` (by view) are those of the
// dimensions other than the row's.
LaunchSpec launch_of(const std::vector<View>& views, std::size_t dim, const Dim& rows, const Shape& sizes,
                     const std::vector<shape::Strides>& strides, const Dim& lane_bits, LaunchSpec spec)
{
    const Dim& columns = views[0].sizes()[dim];
    const auto along = [&](std::size_t view) { return views[view].layout.strides[dim]; };
    if (views.size() == 2) {
        const records::log_softmax record{.x = views[0],
                                          .y = views[1],
                                          .columns = columns,
                                          .rows = rows,
                                          .lane_bits = lane_bits,
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
                                          .lane_bits = lane_bits,
                                          .dy_along = along(0),
                                          .y_along = along(1),
                                          .dx_along = along(2),
                                          .sizes = sizes,
                                          .dy_strides = strides[0],
                                          .y_strides = strides[1],
                                          .dx_strides = strides[2]};
    return record.launch(std::move(spec));
}

// Launches the op's kernel.  `views` are the inputs and the output.
void lower_short(Lowering& l, const Node& n, std::vector<View> views)
{
    const auto dim = static_cast<std::size_t>(n.attributes.integer("dim"));
    const auto collapsed = [&] {
        const Shape& sizes = views.back().sizes();
        Shape others(sizes);
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(dim));
        std::vector<shape::Strides> strides;
        for (const View& v : views) {
            strides.push_back(v.layout.strides);
            strides.back().erase(strides.back().begin() + static_cast<std::ptrdiff_t>(dim));
        }
        return shape::collapse(others, strides);
    };
    shape::Collapsed others = collapsed();
    constexpr std::size_t max_rank = 6; // of the kernels
    if (others.sizes.size() > max_rank) {
        for (std::size_t i = 0; i < n.inputs.size(); ++i) views[i] = l.contiguous(views[i]);
        others = collapsed();
    }

    const Dim length = views[0].sizes()[dim], rows = shape::element_count(others.sizes);
    bool aligned = length.divisible_by(4);
    for (std::size_t i = 0; i < views.size(); ++i) {
        aligned = aligned && same(views[i].layout.strides[dim], 1) && views[i].layout.offset.divisible_by(4);
        for (const Dim& stride : others.strides[i]) aligned = aligned && stride.divisible_by(4);
    }
    std::vector<Convertible> convertible;
    for (std::uint32_t i = 0; i < views.size(); ++i) convertible.push_back({i, views[i]});
    const Dim result_columns =
        dim + 1 == views.back().sizes().size() ? columns_if_whole(views.back()) : Dim(0);
    const auto launch = [&](const RowsDivision& division) {
        std::vector<shape::Strides> strides = others.strides;
        for (shape::Strides& of_view : strides)
            for (Dim& stride : of_view) stride = floor_div(stride, division.unit);
        return launch_of(views, dim, rows, others.sizes, strides, division.lane_bits,
                         {.kernel = n.op->name,
                          .constants = {static_cast<std::uint32_t>(others.sizes.size())},
                          .groups = division.groups,
                          .result_columns = result_columns});
    };
    launch_rows(l, length, rows, aligned, launch, convertible);
}

} // namespace

void lower_rows(Lowering& l, const Node& n, LongForm divided)
{
    const auto dim = static_cast<std::size_t>(n.attributes.integer("dim"));
    std::vector<View> views;
    for (std::size_t i = 0; i < n.inputs.size(); ++i) views.push_back(l.input(i));
    const View out = l.output();
    require_floating_kernel(n.op->name, out.dtype);
    constexpr std::int64_t longest = std::int64_t{1} << 19; // 3 passes with 32 elements per iteration
    Shape others = out.sizes();
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(dim));
    LongRows::choose(
        l, out.sizes()[dim], shape::element_count(others), longest,
        [&] {
            std::vector<View> all = views;
            all.push_back(out);
            lower_short(l, n, std::move(all));
        },
        [&] {
            LongRows rows(l, out.sizes(), dim);
            divided(rows, views, out);
        });
}

Exponentials::Exponentials(const HostTensor& row)
    : largest(-std::numeric_limits<double>::infinity()), total(0)
{
    for (std::int64_t e = 0; e < row.count(); ++e)
        if (const double v = row.at(e); v > largest || std::isnan(v)) largest = v;
    for (std::int64_t e = 0; e < row.count(); ++e) total += std::exp(row.at(e) - largest);
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
    for_each_row(a, [](std::span<const HostTensor> in, std::span<const HostTensor> out) {
        const Exponentials of(in[0]);
        for (std::int64_t e = 0; e < out[0].count(); ++e)
            out[0].put(e, std::exp(in[0].at(e) - of.largest) / of.total);
    });
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
    for_each_row(a, [](std::span<const HostTensor> in, std::span<const HostTensor> out) {
        const HostTensor &dy = in[0], &y = in[1];
        double total = 0;
        for (std::int64_t e = 0; e < y.count(); ++e) total += dy.at(e) * y.at(e);
        for (std::int64_t e = 0; e < y.count(); ++e) out[0].put(e, (dy.at(e) - total) * y.at(e));
    });
}

} // namespace

const Op softmax_op{.name = "softmax",
                    .infer = infer_one_type,
                    .vjp = vjp,
                    .decompose = decompose,
                    .lower = lower,
                    .reference = reference};
const Op softmax_vjp_op{.name = "softmax_vjp",
                        .infer = infer_one_type,
                        .decompose = decompose_vjp,
                        .lower = lower_vjp,
                        .reference = reference_vjp};

} // namespace ops

Tensor softmax(const Tensor& x, std::int64_t dim)
{
    if (const ops::Autocast to = ops::Autocast::f32({&x}); to) return softmax(to(x), dim);
    return ops::apply_along(ops::softmax_op, {x}, dim);
}

Tensor softmax(const Tensor& x, std::int64_t dim, DType dtype)
{
    const graph::NoAutocast in_this_dtype;
    return softmax(cast(x, dtype), dim);
}

} // namespace reprise
