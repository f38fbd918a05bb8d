// Attention in four steps: scores, softmax of scaled and masked scores, dropout, values.  Scores lie in rows of a
// multiple of 4 elements, zero beyond the keys, so that any number of keys has the kernels of whole texels.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <reprise/ops/attention.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/losses.hpp>
#include <reprise/ops/normalization.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/matmul.hpp"
#include "ops/reduce.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

using graph::Attributes;
using graph::Node;
using graph::Op;
using graph::TensorType;
using graph::VjpArguments;

Tensor matrix_transposed(const Tensor& t) { return transpose(t, -1, -2); }
Tensor first_columns(const Tensor& t, const Dim& count)
{
    return t.size(-1) == count ? t : narrow(t, -1, 0, count);
}

template <class Layout> Layout transposed(Layout l)
{
    std::swap(l.sizes[l.sizes.size() - 2], l.sizes[l.sizes.size() - 1]);
    std::swap(l.strides[l.strides.size() - 2], l.strides[l.strides.size() - 1]);
    return l;
}

// -- attention_scores: q [..., T, E], k [..., S, E] -> q k^T [..., T, round_up(S, 4)] --
std::vector<TensorType> infer_scores(const Op& op, std::span<const TensorType> in, const Attributes&)
{
    require_floating(op.name, in[0].dtype);
    TensorType out = in[0];
    out.shape.back() = round_up(in[1].shape[in[1].shape.size() - 2], 4);
    return {out};
}

std::vector<Tensor> vjp_scores(const VjpArguments& a)
{
    const Tensor &q = a.inputs[0], &k = a.inputs[1];
    const Tensor dy = first_columns(a.cotangents[0], k.size(-2));
    std::vector<Tensor> d(2);
    if (a.wanted[0]) d[0] = matmul_rows_outside(dy, k);
    if (a.wanted[1]) d[1] = matmul_rows_outside(matrix_transposed(dy), q);
    return d;
}

void lower_scores(Lowering& l, const Node&)
{
    const View q = l.input(0), to = l.output();
    View k = l.input(1);
    k.layout = transposed(k.layout); // [..., E, S]
    const std::size_t rank = k.sizes().size();
    const Dim &columns = to.sizes().back(), &length = k.sizes()[rank - 2];
    if (k.sizes().back() != columns) { // zeros behind the keys
        const auto batch = [&] {
            const auto end = static_cast<std::ptrdiff_t>(rank - 2);
            const std::vector<shape::Strides> strides = {
                {k.layout.strides.begin(), k.layout.strides.begin() + end}};
            return shape::collapse({k.sizes().begin(), k.sizes().begin() + end}, strides);
        };
        shape::Collapsed c = batch();
        if (c.sizes.size() > 2) {
            k = l.contiguous(k);
            c = batch();
        }
        c.sizes.resize(2, Dim(1));
        c.strides[0].resize(2, Dim(0));
        View matrices = k;
        matrices.layout.sizes = {c.sizes[0], c.sizes[1], length, k.sizes().back()};
        matrices.layout.strides = {c.strides[0][0], c.strides[0][1], k.layout.strides[rank - 2],
                                   k.layout.strides[rank - 1]};
        const View filled = l.packed(matrices, length, columns);
        k.value = filled.value;
        k.layout.sizes.back() = columns;
        k.layout.strides = shape::contiguous_strides(k.sizes());
        k.layout.offset = filled.layout.offset;
    }
    lower_product(l, q, k, to);
}

void reference_scores(const ReferenceArguments& a)
{
    HostTensor to = a.outputs[0];
    for (std::int64_t i = 0; i < to.count(); ++i) to.put(i, 0);
    to.sizes.back() = a.inputs[1].sizes[a.inputs[1].sizes.size() - 2];
    multiply(a.inputs[0], transposed(a.inputs[1]), to);
}

// -- attention_softmax: scores [..., T, C] -> along each row softmax(scale * x) of the first `length` elements, where
// causal of those up to the diagonal; zeros elsewhere --
std::vector<TensorType> infer_softmax(const Op& op, std::span<const TensorType> in, const Attributes&)
{
    require_floating(op.name, in[0].dtype);
    return {in[0]};
}

std::vector<Tensor> vjp_softmax(const VjpArguments& a)
{
    return {graph::apply1(attention_softmax_vjp_op, {a.cotangents[0], a.outputs[0]}, a.node.attributes)};
}

void lower_softmax(Lowering& l, const Node& n)
{
    std::vector<View> views;
    for (std::size_t i = 0; i < n.inputs.size(); ++i) views.push_back(l.contiguous(l.input(i)));
    views.push_back(l.output());
    require_f32_kernel(n.op->name, views[0].dtype);
    const Shape& sizes = views[0].sizes();
    const Dim pitch = sizes.back(), queries = sizes[sizes.size() - 2];
    const Dim rows = shape::element_count({sizes.begin(), sizes.end() - 1});
    LaunchSpec spec{.kernel = n.op->name,
                    .constants = {1, static_cast<std::uint32_t>(n.attributes.integer("causal"))},
                    .floats = {n.attributes.number("scale")},
                    .ints = {pitch, rows},
                    .groups = ceil_div(rows, 64)};
    for (const View& v : views) {
        spec.operands.push_back({v, Use::read});
        spec.ints.push_back(1);
    }
    spec.operands.back().use = Use::write;
    spec.ints.push_back(rows);
    LaunchSpec preferred = spec;
    for (std::size_t i = 0; i < views.size(); ++i) {
        spec.ints.push_back(pitch);
        preferred.ints.push_back(floor_div(pitch, 4));
    }
    for (LaunchSpec* s : {&spec, &preferred})
        s->ints.insert(s->ints.end(), {queries, n.attributes.get<Dim>("length")});
    if (!l.texels() || !pitch.divisible_by(4)) return l.launch(std::move(spec));
    preferred.kernel += "_texel";
    preferred.texels = true;
    l.launch(std::move(preferred), std::move(spec));
}

// Calls row(first element, number of elements that count) for each row.
template <class Row> void for_each_row(const ReferenceArguments& a, const Row& row)
{
    const HostTensor& x = a.inputs[0];
    const std::int64_t pitch = x.sizes.back(), queries = x.sizes[x.sizes.size() - 2], length = a.dims[0];
    if (pitch == 0) return;
    for (std::int64_t r = 0; r < x.count() / pitch; ++r)
        row(r * pitch, a.attributes.integer("causal") ? std::min(length, r % queries + 1) : length);
}

void reference_softmax(const ReferenceArguments& a)
{
    const HostTensor &x = a.inputs[0], &y = a.outputs[0];
    const double scale = a.attributes.number("scale");
    for_each_row(a, [&](std::int64_t first, std::int64_t count) {
        double largest = -std::numeric_limits<double>::infinity(), total = 0;
        for (std::int64_t e = 0; e < count; ++e) {
            const double v = x.at(first + e) * scale;
            if (v > largest || std::isnan(v)) largest = v;
        }
        for (std::int64_t e = 0; e < count; ++e) total += std::exp(x.at(first + e) * scale - largest);
        for (std::int64_t e = 0; e < x.sizes.back(); ++e)
            y.put(first + e, e < count ? std::exp(x.at(first + e) * scale - largest) / total : 0);
    });
}

// -- attention_softmax_vjp: dy, y -> scale * (dy - sum(dy * y)) * y; y is 0 where nothing counts --
std::vector<Tensor> decompose_softmax_vjp(const Node& n, std::span<const Tensor> in)
{
    const Tensor &dy = in[0], &y = in[1];
    return {(dy - sum(dy * y, {-1}, true)) * y * n.attributes.number("scale")};
}

void reference_softmax_vjp(const ReferenceArguments& a)
{
    const HostTensor &dy = a.inputs[0], &y = a.inputs[1], &dx = a.outputs[0];
    const double scale = a.attributes.number("scale");
    for_each_row(a, [&](std::int64_t first, std::int64_t count) {
        double total = 0;
        for (std::int64_t e = 0; e < count; ++e) total += dy.at(first + e) * y.at(first + e);
        for (std::int64_t e = 0; e < dy.sizes.back(); ++e)
            dx.put(first + e, e < count ? (dy.at(first + e) - total) * y.at(first + e) * scale : 0);
    });
}

// -- attention_values: p [..., h, T, C], v [..., h, S, E] -> p v [..., T, h, E]; columns of p beyond S are not read --
std::vector<TensorType> infer_values(const Op& op, std::span<const TensorType> in, const Attributes&)
{
    require_floating(op.name, in[0].dtype);
    TensorType out = in[0];
    out.shape.back() = in[1].shape.back();
    std::swap(out.shape[out.shape.size() - 3], out.shape[out.shape.size() - 2]);
    return {out};
}

std::vector<Tensor> vjp_values(const VjpArguments& a)
{
    const Tensor &p = a.inputs[0], &v = a.inputs[1], dy = transpose(a.cotangents[0], -3, -2);
    std::vector<Tensor> d(2);
    if (a.wanted[0]) d[0] = first_columns(graph::apply1(attention_scores_op, {dy, v}), p.size(-1));
    if (a.wanted[1]) d[1] = matmul_rows_outside(matrix_transposed(first_columns(p, v.size(-2))), dy);
    return d;
}

template <class Layout> void swap_outer(Layout& l) // of rows: [..., T, h, E] as [..., h, T, E]
{
    const std::size_t rank = l.sizes.size();
    std::swap(l.sizes[rank - 3], l.sizes[rank - 2]);
    std::swap(l.strides[rank - 3], l.strides[rank - 2]);
}

void lower_values(Lowering& l, const Node&)
{
    View p = l.input(0), to = l.output();
    const View v = l.input(1);
    p.layout.sizes.back() = v.sizes()[v.sizes().size() - 2];
    swap_outer(to.layout);
    lower_product(l, p, v, to);
}

void reference_values(const ReferenceArguments& a)
{
    HostTensor to = a.outputs[0];
    swap_outer(to);
    multiply(a.inputs[0], a.inputs[1], to);
}

void check(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o)
{
    constexpr const char* op = "scaled_dot_product_attention";
    for (const Tensor* t : {&q, &k, &v}) {
        require_floating(op, t->dtype());
        if (t->dim() < 2)
            detail::fail(ErrorKind::shape, op, "The shape (", to_string(t->shape()),
                         ") is not [..., length, features].");
        if (t->dtype() != q.dtype())
            detail::fail(ErrorKind::dtype, op, "The dtypes (", name_of(q.dtype()), " and ",
                         name_of(t->dtype()), ") differ: cast one of the inputs.");
    }
    shape::require_equal(op, q.size(-1), k.size(-1), [&] {
        return "The query has (" + q.size(-1).text() + ") features but the key (" + k.size(-1).text() + ").";
    });
    shape::require_equal(op, k.size(-2), v.size(-2), [&] {
        return "There are (" + k.size(-2).text() + ") keys but (" + v.size(-2).text() + ") values.";
    });
    if (o.attn_mask.defined() && o.is_causal)
        detail::fail(ErrorKind::argument, op,
                     "There is an attn_mask although is_causal is set: give one of both.");
    if (o.attn_mask.defined() && o.attn_mask.dtype() != boolean && o.attn_mask.dtype() != q.dtype())
        detail::fail(ErrorKind::dtype, op, "The attn_mask's dtype (", name_of(o.attn_mask.dtype()),
                     ") must be bool or the query's (", name_of(q.dtype()), ").");
    if (!o.scale && !q.size(-1).is_constant())
        detail::fail(ErrorKind::argument, op, "The number of features (", q.size(-1),
                     ") is not known before the call: give the scale.");
}

// A row of which all is masked gives zeros, as in PyTorch.
Tensor masked_weights(const Tensor& q, const Tensor& k, const Tensor& mask, double scale)
{
    const Tensor all = matmul(q, matrix_transposed(k)) * scale;
    shape::require_broadcastable("scaled_dot_product_attention", mask.shape(), all.shape());
    constexpr double inf = std::numeric_limits<double>::infinity();
    const Tensor scores = mask.dtype() == boolean ? where(mask, all, number_like(all, -inf)) : all + mask;
    const Tensor hidden = sum(scores != number_like(all, -inf), {-1}, true) == 0, zero = number_like(all, 0);
    return where(hidden, zero, softmax(where(hidden, zero, scores), -1));
}

} // namespace

const Op attention_scores_op{.name = "attention_scores",
                             .infer = infer_scores,
                             .vjp = vjp_scores,
                             .lower = lower_scores,
                             .reference = reference_scores,
                             .cost = graph::Cost::compute};
const Op attention_softmax_op{.name = "attention_softmax",
                              .infer = infer_softmax,
                              .vjp = vjp_softmax,
                              .lower = lower_softmax,
                              .reference = reference_softmax};
const Op attention_softmax_vjp_op{.name = "attention_softmax_vjp",
                                  .infer = infer_softmax,
                                  .decompose = decompose_softmax_vjp,
                                  .lower = lower_softmax,
                                  .reference = reference_softmax_vjp};
const Op attention_values_op{.name = "attention_values",
                             .infer = infer_values,
                             .vjp = vjp_values,
                             .lower = lower_values,
                             .reference = reference_values,
                             .cost = graph::Cost::compute};

} // namespace ops

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& options)
{
    ops::check(query, key, value, options);
    const auto leading = [](const Tensor& t) {
        const Shape sizes = t.shape();
        return Shape(sizes.begin(), sizes.end() - 2);
    };
    Shape batch = shape::broadcast("scaled_dot_product_attention",
                                   std::vector{leading(query), leading(key), leading(value)});
    const bool alone = batch.empty();
    if (alone) batch = {1};
    const auto widened = [&](const Tensor& t) {
        Shape sizes = batch;
        sizes.insert(sizes.end(), {t.size(-2), t.size(-1)});
        return expand(t, sizes);
    };
    const Tensor q = widened(query), k = widened(key), v = widened(value);
    const double scale =
        options.scale ? *options.scale
                      : 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(q.size(-1).value(), 1)));
    Tensor weights;
    if (options.attn_mask.defined()) weights = ops::masked_weights(q, k, options.attn_mask, scale);
    else
        weights = graph::apply1(
            ops::attention_softmax_op, {graph::apply1(ops::attention_scores_op, {q, k})},
            {{"length", k.size(-2)}, {"scale", scale}, {"causal", std::int64_t{options.is_causal}}});
    if (options.dropout_p != 0) weights = dropout(weights, options.dropout_p);
    const Tensor out = transpose(graph::apply1(ops::attention_values_op, {weights, v}), -3, -2);
    return alone ? squeeze(out, 0) : out;
}

} // namespace reprise
