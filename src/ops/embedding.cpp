// embedding: gathers rows of a matrix by index; its gradient scatters and adds rows. last_positions: the last position
// at which each index occurs. reduce_rows: the product, maximum or minimum of the rows that have the same index.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/full.hpp"
#include "ops/index_check.hpp"
#include "ops/indices.hpp"
#include "ops/launch_where.hpp"
#include "ops/records.hpp"
#include "ops/reduce.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "ops/row_reduction.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

constexpr std::int64_t no_padding = -1;

// -- embedding: indices [N], weight [V, D] -> [N, D] --
TensorTypes infer(const Op& op, const InputTypes& in, const Attributes&)
{
    require_indices(op.name, "indices", in[0].dtype);
    return {{in[1].dtype, {in[0].shape[0], in[1].shape[1]}}};
}

std::vector<Tensor> vjp(const VjpArguments& a)
{
    return {{},
            graph::apply1(embedding_vjp_op, {a.cotangents[0], a.inputs[0]},
                          {{"rows", a.node.inputs[1].type().shape[0]},
                           {"padding", a.node.attributes.integer("padding")}})};
}

void lower(Lowering& l, const Node&)
{
    const View indices = l.indices(0), weight = l.input(1), to = l.output();
    const Dim &count = to.sizes()[0], &length = to.sizes()[1];
    const double unknown = is_floating(weight.dtype) ? std::numeric_limits<double>::quiet_NaN() : 0;
    const records::embedding record{.indices = indices,
                                    .weight = weight,
                                    .y = to,
                                    .count = count,
                                    .columns = length,
                                    .rows = weight.sizes()[0],
                                    .index_stride = indices.layout.strides[0],
                                    .row_stride = weight.layout.strides[0],
                                    .column_stride = weight.layout.strides[1],
                                    .unknown = bits_of(weight.dtype, unknown)};
    launch_with_texels(
        l, has_texel_rows(weight.layout),
        record.launch({.groups = ceil_div(count * ceil_div(length, 4), 64), .words = true, .moves = true}));
}

void reference(const ReferenceArguments& a)
{
    const HostTensor &indices = a.inputs[0], &weight = a.inputs[1], &to = a.outputs[0];
    for (std::int64_t i = 0, length = to.sizes[1]; i < to.count(); ++i) {
        const std::int64_t row = indices.get_whole(indices.offset(i / length));
        const bool valid = row >= 0 && row < weight.sizes[0];
        const std::int64_t at = (valid ? row : 0) * length + i % length;
        if (!is_floating(to.dtype))
            to.set_whole(to.offset(i), valid ? weight.get_whole(weight.offset(at)) : 0);
        else to.put(i, valid ? weight.at(at) : std::numeric_limits<double>::quiet_NaN());
    }
}

// -- embedding_vjp: dy [N, D], indices [N] -> [V, D]; linear in dy --
TensorTypes infer_vjp(const Op& op, const InputTypes& in, const Attributes& a)
{
    require_indices(op.name, "indices", in[1].dtype);
    return {{in[0].dtype, {a.get<Dim>("rows"), in[0].shape[1]}}};
}

std::vector<Tensor> vjp_vjp(const VjpArguments& a)
{
    const std::int64_t padding = a.node.attributes.integer("padding");
    Tensor rows = a.cotangents[0]; // [V, D]; the padding row has no gradient
    if (padding != no_padding) {
        const Tensor numbers = count_like(rows, rows.size(0));
        rows = where(unsqueeze(numbers, 1) == static_cast<double>(padding), number_like(rows, 0), rows);
    }
    return {graph::apply1(embedding_op, {a.inputs[1], rows}, {{"padding", padding}}), {}};
}

// The positions of each row index as circular linked lists in ascending order, built without atomics
// (shaders/embedding_vjp.comp).
struct Links {
    View tails; // [blocks, rows]; the first line has each row's last position, or -1 for none
    View next;  // [positions]
};
Links link(Lowering& l, const View& indices, const Dim& rows, std::int64_t padding)
{
    const Dim count = indices.sizes()[0], blocks = max(min(ceil_div(count, 256), 64), 1);
    const Links links{l.temporary(i32, {blocks, rows}), l.temporary(i32, {count})};
    launch_full(l, links.tails, Scalar(-1));
    const records::embedding_vjp_link to_rings{.indices = indices,
                                               .tails = links.tails,
                                               .next = links.next,
                                               .count = count,
                                               .rows = rows,
                                               .blocks = blocks,
                                               .block_size = ceil_div(count, blocks),
                                               .index_stride = indices.layout.strides[0],
                                               .padding = padding};
    constexpr std::int64_t most_of_groups = 64 * 1024; // positions: 1,024 in each of 64 blocks
    const Dim by_groups = l.groups_share_rows() ? 1 - is_at_least(count, most_of_groups + 1) : Dim(0);
    if (!same(by_groups, 0))
        l.when(by_groups,
               [&] { l.launch(to_rings.launch({.kernel = "embedding_vjp_link_group", .groups = blocks})); });
    if (!same(by_groups, 1))
        l.when(1 - by_groups, [&] { l.launch(to_rings.launch({.groups = ceil_div(blocks, 8)})); });
    const records::embedding_vjp_join joined{
        .tails = links.tails, .next = links.next, .rows = rows, .blocks = blocks};
    l.launch(joined.launch({.groups = ceil_div(rows, 64)}));
    return links;
}

// Launches the reduction of the rows with the same index, in the order of the linked lists, so that sums have a fixed
// order.
void join_rows(Lowering& l, const Node& n, std::int64_t padding, RowReduction how)
{
    const View dy = l.input(0), indices = l.indices(1), to = l.output();
    const bool whole = is_integer(dy.dtype);
    if (!whole) require_floating_kernel(n.op->name, dy.dtype);
    const Dim &length = to.sizes()[1], &rows = to.sizes()[0];
    const auto [tails, next] = link(l, indices, rows, padding);
    const records::embedding_vjp record{.dy = dy,
                                        .tails = tails,
                                        .next = next,
                                        .dw = to,
                                        .rows = rows,
                                        .columns = length,
                                        .row_stride = dy.layout.strides[0],
                                        .column_stride = dy.layout.strides[1]};
    launch_with_texels(l, !whole && has_texel_rows(dy.layout),
                       record.launch({.kernel = dy.dtype == i32 ? "embedding_vjp_i32" : "embedding_vjp",
                                      .constants = {static_cast<std::uint32_t>(how)},
                                      .groups = ceil_div(rows * ceil_div(length, 4), 64)}));
}

void lower_vjp(Lowering& l, const Node& n)
{
    join_rows(l, n, n.attributes.integer("padding"), RowReduction::sum);
}

// Reduces the rows with the same index by `join`, one after the other. Elements of an integer dtype are joined as
// Whole.
template <class Whole, class Join> void reference_join(const ReferenceArguments& a, std::int64_t padding,
                                                       Whole whole_start, double start, const Join& join)
{
    const HostTensor &rows = a.inputs[0], &indices = a.inputs[1], &to = a.outputs[0];
    const std::int64_t length = to.sizes[1];
    const auto join_all = [&](const auto first) {
        using Number = std::remove_const_t<decltype(first)>;
        std::vector<Number> all(static_cast<std::size_t>(to.count()), first);
        for (std::int64_t i = 0; i < rows.count(); ++i) {
            const auto row = indices.at_as<std::int64_t>(i / length);
            if (row < 0 || row >= to.sizes[0] || row == padding) continue;
            Number& one = all[static_cast<std::size_t>(row * length + i % length)];
            one = join(one, rows.at_as<Number>(i));
        }
        to.put_all(all);
    };
    if (is_integer(rows.dtype)) join_all(whole_start);
    else join_all(start);
}

void reference_vjp(const ReferenceArguments& a) // unsigned, so that integers wrap
{
    reference_join(a, a.attributes.integer("padding"), std::uint64_t{0}, 0, std::plus());
}

// -- reduce_rows: rows [N, D], indices [N] -> [V, D], with the types of embedding_vjp. The result for an index that
// does not occur is 1, -infinity or infinity (for integers the minimum or maximum of their dtype, i32 or i64) --
RowReduction how_of(const Attributes& a) { return static_cast<RowReduction>(a.integer("how")); }

void lower_reduce(Lowering& l, const Node& n) { join_rows(l, n, no_padding, how_of(n.attributes)); }

// For maximum and minimum, equal elements share the gradient. For a product, the gradient of a factor is the product of
// the others: the product divided by the factor if none is 0, else 0 except for a factor that is the only 0.
std::vector<Tensor> vjp_reduce(const VjpArguments& a)
{
    const Tensor &rows = a.inputs[0], &indices = a.inputs[1], &y = a.outputs[0], &dy = a.cotangents[0];
    const Dim count = a.node.attributes.get<Dim>("rows");
    const Tensor valid = logical_and(indices >= 0.0, less(indices, size_like(indices, count)));
    const auto at_rows = [&](const Tensor& t) { // 0 where the index is out of range
        return where(unsqueeze(valid, 1), embedding(indices, t), 0.0);
    };
    const auto added = [&](const Tensor& t) {
        return graph::apply1(embedding_vjp_op, {t, indices}, {{"rows", count}, {"padding", no_padding}});
    };
    if (how_of(a.node.attributes) != RowReduction::product) {
        const Tensor best = at_rows(y);
        const Tensor won =
            cast(logical_or(eq(rows, best), logical_and(isnan(rows), isnan(best))), rows.dtype());
        return {won * at_rows(dy / maximum(added(won), 1.0)), {}};
    }
    const Tensor zero = rows == 0.0, factors = where(zero, 1.0, rows);
    const Tensor product = at_rows(graph::apply1(reduce_rows_op, {factors, indices}, a.node.attributes)),
                 zeros = at_rows(added(cast(zero, rows.dtype())));
    const Tensor others = where(zeros == cast(zero, rows.dtype()), product / factors, 0.0);
    return {at_rows(dy) * others, {}};
}

// Integers are joined in 64 bits; the low bits agree with those of the kernels, which join narrow dtypes in i32.
void reference_reduce(const ReferenceArguments& a)
{
    const RowReduction how = how_of(a.attributes);
    if (how == RowReduction::product)
        return reference_join(a, no_padding, std::uint64_t{1}, 1, std::multiplies());
    using Limits = std::numeric_limits<std::int32_t>;
    using LongLimits = std::numeric_limits<std::int64_t>;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const bool largest = how == RowReduction::largest, wide = a.inputs[0].dtype == i64;
    const std::int64_t lowest = wide ? LongLimits::min() : Limits::min();
    const std::int64_t highest = wide ? LongLimits::max() : Limits::max();
    reference_join(a, no_padding, largest ? lowest : highest, largest ? -infinity : infinity,
                   [largest](auto had, auto v) {
                       return (largest ? v > had : v < had) || std::isnan(v) ? v : had; // NaN wins
                   });
}

// -- last_positions: indices [N] -> [rows]: the last position of each row index, or -1 if it does not occur --
TensorTypes infer_last(const Op& op, const InputTypes& in, const Attributes& a)
{
    require_indices(op.name, "indices", in[0].dtype);
    return {{i32, {a.get<Dim>("rows")}}};
}

void lower_last(Lowering& l, const Node&)
{
    const View indices = l.indices(0), to = l.output();
    View first = link(l, indices, to.sizes()[0], no_padding).tails;
    first.layout.sizes.erase(first.layout.sizes.begin());
    first.layout.strides.erase(first.layout.strides.begin());
    l.copy(first, to);
}

void reference_last(const ReferenceArguments& a)
{
    const HostTensor &indices = a.inputs[0], &to = a.outputs[0];
    for (std::int64_t r = 0; r < to.count(); ++r) to.put(r, -1);
    for (std::int64_t i = 0; i < indices.count(); ++i) {
        const auto row = static_cast<std::int64_t>(indices.at(i));
        if (row >= 0 && row < to.count()) to.put(row, static_cast<double>(i));
    }
}

} // namespace

const Op reduce_rows_op{.name = "reduce_rows",
                        .infer = infer_vjp,
                        .vjp = vjp_reduce,
                        .lower = lower_reduce,
                        .reference = reference_reduce,
                        .doubles = true};
const Op last_positions_op{
    .name = "last_positions", .infer = infer_last, .lower = lower_last, .reference = reference_last};
const Op embedding_op{
    .name = "embedding", .infer = infer, .vjp = vjp, .lower = lower, .reference = reference, .doubles = true};
const Op embedding_vjp_op{.name = "embedding_vjp",
                          .infer = infer_vjp,
                          .vjp = vjp_vjp,
                          .lower = lower_vjp,
                          .reference = reference_vjp,
                          .doubles = true};

} // namespace ops

Tensor embedding(const Tensor& indices, const Tensor& weight, std::optional<std::int64_t> padding_idx)
{
    const Shape rows = weight.shape();
    if (is_floating(indices.dtype()) && !is_floating(weight.dtype()))
        detail::fail(ErrorKind::argument, "embedding", "The indices are ", name_of(indices.dtype()),
                     to_string(indices.shape()), " and the weight is ", name_of(weight.dtype()),
                     to_string(rows), ": give the indices first, as in embedding(indices, weight).");
    if (rows.size() != 2)
        detail::fail(ErrorKind::shape, "embedding", "The weight's shape (", to_string(rows),
                     ") must be [rows, length].");
    std::int64_t padding = padding_idx.value_or(ops::no_padding);
    if (padding_idx) {
        const bool is_constant = rows[0].is_constant();
        if (padding < 0 && is_constant) padding += rows[0].value();
        if (padding < 0 || (is_constant && padding >= rows[0].value()))
            detail::fail(ErrorKind::argument, "embedding", "The padding_idx (", *padding_idx,
                         ") is none of the weight's (", rows[0], ") rows.");
    }
    ops::require_indices("embedding", "indices", indices.dtype());
    ops::check_indices({"embedding"}, indices, rows[0]);
    Shape shape = indices.shape();
    shape.push_back(rows[1]);
    const Tensor taken = graph::apply1(ops::embedding_op, {reshape(indices, {indices.numel()}), weight},
                                       {{"padding", padding}});
    return reshape(taken, shape);
}

} // namespace reprise
