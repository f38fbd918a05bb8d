// The launches of attention: matrix products for few keys, else one pass over all keys (or queries).
#include <utility>

#include "ops/attention.hpp"
#include "ops/dropout.hpp"
#include "ops/launch_where.hpp"
#include "ops/matmul.hpp"
#include "ops/random.hpp"
#include "ops/records.hpp"
#include "ops/reduce.hpp"
#include "ops/registry.hpp"
#include "ops/rows.hpp"
#include "shape/rules.hpp"

namespace reprise::ops {

namespace {

View swapped(View v, std::size_t a, std::size_t b)
{
    std::swap(v.layout.sizes[a], v.layout.sizes[b]);
    std::swap(v.layout.strides[a], v.layout.strides[b]);
    return v;
}
View heads_first(const View& v) { return swapped(v, 1, 2); } // [B, T, H, E] as [B, H, T, E]
View transposed(const View& v) { return swapped(v, 2, 3); }
View first_columns(View v, const Dim& count)
{
    v.layout.sizes.back() = count;
    return v;
}

// Returns a copy whose rows are padded with zeros to `columns`.
View padded(Lowering& l, View v, const Dim& columns)
{
    const View filled = l.packed(v, v.sizes()[2], columns);
    v.value = filled.value;
    v.layout = {{v.sizes()[0], v.sizes()[1], v.sizes()[2], columns}, {}, filled.layout.offset};
    v.layout.strides = shape::contiguous_strides(v.layout.sizes);
    return v;
}

// -- with weights as matrices [B, H, T, pitch], zero beyond the keys --

View matrix(Lowering& l, const AttentionSizes& s)
{
    return l.temporary(f32, {s.batch, s.heads, s.queries, attention_pitch(s.keys)});
}

// Computes a rows^T for a and rows [B, H, ., E]. If `to` has more columns than there are rows, the others become zero.
void product_of_rows(Lowering& l, const View& a, const View& rows, const View& to)
{
    const View right = transposed(rows);
    const Dim columns = to.sizes().back();
    const auto without_padding = [&] {
        lower_product(l, a, first_columns(right, columns), to);
    }; // all columns
    const auto with_padding = [&] { lower_product(l, a, padded(l, right, columns), to); };
    // The bits of a library's product depend on the problem, so a symbolic size leads to the same one as a constant.
    const Dim needs_padding = l.texels() ? Dim(same(right.sizes().back(), columns) ? 0 : 1)
                                         : min(columns - right.sizes().back(), 1);
    if (!same(needs_padding, 1)) l.when(1 - needs_padding, without_padding);
    if (!same(needs_padding, 0)) l.when(needs_padding, with_padding);
}

// Returns the mask [B, H, T, S] with rows of whole texels, as a copy if it has none.
View mask_in_texels(Lowering& l, const View& mask)
{
    if (has_texel_rows(mask.layout)) return mask;
    const Dim &keys = mask.sizes()[3], pitch = attention_pitch(keys);
    return first_columns(copied_once(mask, 3, [&](const View& once) { return padded(l, once, pitch); }),
                         keys);
}

// The mask of a problem, which may be absent.
struct Mask {
    LaunchOperand operand{View(), Use::read, true};
    DimVector strides{0, 0, 0, 0};
    std::uint32_t kind = 0; // the constant MASK of the kernels: 1: truth, 2: numbers
    bool texels = true;     // whether its rows are whole texels

    Mask() = default;
    explicit Mask(const View& v, bool in_texels = false)
        : operand(v, Use::read), strides(v.layout.strides.begin(), v.layout.strides.end()),
          kind(is_floating(v.dtype) ? 2 : 1), texels(in_texels)
    {}
};
Mask mask_of(Lowering& l, const Attributes& a, std::size_t input)
{
    return a.integer("masked") != 0 ? Mask(l.input(input)) : Mask();
}

DimVector divided(DimVector strides, std::int64_t unit)
{
    for (Dim& stride : strides) stride = floor_div(stride, unit);
    return strides;
}

// Launches attention_softmax along the rows of a matrix of scores, which it overwrites: an invocation reads each element
// of its row before it writes it.
void softmax_of_rows(Lowering& l, const View& scores, const Mask& mask, const AttentionSizes& s,
                     const Attributes& a)
{
    const Dim pitch = attention_pitch(s.keys), rows = s.batch * s.heads * s.queries;
    const bool masked = mask.kind != 0;
    const DimVector sizes = masked ? DimVector{s.batch, s.heads, s.queries} : DimVector{rows};
    const DimVector strides =
        masked ? DimVector{s.heads * s.queries * pitch, s.queries * pitch, pitch} : DimVector{pitch};
    const DimVector of_mask(mask.strides.begin(), mask.strides.begin() + static_cast<long>(sizes.size()));
    const DimVector queries{s.queries}, keys{s.keys};
    launch_rows(l, pitch, rows, mask.texels, [&](const RowsDivision& division) {
        const DimVector in_units = divided(strides, division.unit),
                        mask_in_units = divided(of_mask, division.unit);
        const records::attention_softmax record{.x = scores,
                                                .mask = mask.operand,
                                                .y = scores,
                                                .scale = a.number("scale"),
                                                .columns = pitch,
                                                .rows = rows,
                                                .lane_bits = division.lane_bits,
                                                .x_along = 1,
                                                .mask_along = masked ? mask.strides[3] : Dim(1),
                                                .y_along = 1,
                                                .sizes = sizes,
                                                .x_strides = in_units,
                                                .mask_strides = mask_in_units,
                                                .y_strides = in_units,
                                                .queries = queries,
                                                .keys = keys};
        return record.launch({.kernel = "attention_softmax",
                              .constants = {static_cast<std::uint32_t>(sizes.size()),
                                            static_cast<std::uint32_t>(a.integer("causal")), mask.kind},
                              .groups = division.groups,
                              .in_place = true});
    });
}

// Launches attention_softmax_vjp along the rows of the gradient by the weights, which it overwrites.
void softmax_vjp_of_rows(Lowering& l, const View& dy, const View& weights, const AttentionSizes& s,
                         const Attributes& a)
{
    const Dim pitch = attention_pitch(s.keys), rows = s.batch * s.heads * s.queries;
    const DimVector sizes{rows}, queries{s.queries}, keys{s.keys};
    launch_rows(l, pitch, rows, true, [&](const RowsDivision& division) {
        const DimVector strides{floor_div(pitch, division.unit)};
        const records::attention_softmax_vjp record{.dy = dy,
                                                    .y = weights,
                                                    .dx = dy,
                                                    .scale = a.number("scale"),
                                                    .columns = pitch,
                                                    .rows = rows,
                                                    .lane_bits = division.lane_bits,
                                                    .dy_along = 1,
                                                    .y_along = 1,
                                                    .dx_along = 1,
                                                    .sizes = sizes,
                                                    .dy_strides = strides,
                                                    .y_strides = strides,
                                                    .dx_strides = strides,
                                                    .queries = queries,
                                                    .keys = keys};
        return record.launch({.kernel = "attention_softmax_vjp",
                              .constants = {1, static_cast<std::uint32_t>(a.integer("causal"))},
                              .groups = division.groups,
                              .in_place = true});
    });
}

// Returns a matrix after dropout.
View dropped(Lowering& l, const View& from, const AttentionSizes& s, const Attributes& a)
{
    if (a.number("p") == 0) return from;
    const View to = matrix(l, s);
    launch_dropout(l, a, from, to);
    return to;
}

// Computes the weights before dropout, with the same bits for the forward pass and the gradient.
View weights_of(Lowering& l, const View& q, const View& k, const Mask& mask, const AttentionSizes& s,
                const Attributes& a)
{
    const View weights = matrix(l, s); // holds the products first
    product_of_rows(l, q, k, weights);
    softmax_of_rows(l, weights, mask, s, a);
    return weights;
}

// Returns the mask of the weights as matrices, whose rows may be loaded as texels.
Mask mask_of_matrices(Lowering& l, const Attributes& a, std::size_t input)
{
    if (a.integer("masked") == 0) return {};
    const bool in_texels = l.texels() || l.groups_share_rows();
    return Mask(in_texels ? mask_in_texels(l, l.input(input)) : l.input(input), in_texels);
}

void forward_by_matrices(Lowering& l, const Attributes& a, const AttentionSizes& s)
{
    const View weights = weights_of(l, l.input(0), l.input(1), mask_of_matrices(l, a, 3), s, a);
    lower_product(l, first_columns(dropped(l, weights, s, a), s.keys), l.input(2), heads_first(l.output(0)));
}

void gradient_by_matrices(Lowering& l, const Attributes& a, const AttentionSizes& s)
{
    const View dy = heads_first(l.input(0));
    const View weights = weights_of(l, l.input(1), l.input(2), mask_of_matrices(l, a, 6), s, a);
    const View dp = matrix(l, s);
    product_of_rows(l, dy, l.input(3), dp);
    const View ds = dropped(l, dp, s, a); // holds dp first
    softmax_vjp_of_rows(l, ds, weights, s, a);
    const View used = first_columns(ds, s.keys);
    lower_product(l, used, l.input(2), heads_first(l.output(0)));
    lower_product(l, transposed(used), l.input(1), heads_first(l.output(1)));
    lower_product(l, transposed(first_columns(dropped(l, weights, s, a), s.keys)), dy,
                  heads_first(l.output(2)));
}

// -- in one pass --

// Returns v if its rows are whole texels, else a copy with rows padded with zeros.
View in_texels(Lowering& l, const View& v)
{
    return has_texel_rows(v.layout) ? v : padded(l, v, round_up(v.sizes()[3], 4));
}

// Strides in units of `unit` elements.
records::Strides strides(const View& v, std::int64_t unit = 1)
{
    const auto& s = v.layout.strides;
    return {.batch = floor_div(s[0], unit),
            .head = floor_div(s[1], unit),
            .row = floor_div(s[2], unit),
            .column = floor_div(s[3], unit)};
}
records::RowStrides row_strides(const View& v, std::int64_t unit = 1)
{
    const auto& s = v.layout.strides;
    return {.batch = floor_div(s[0], unit), .head = floor_div(s[1], unit), .row = floor_div(s[2], unit)};
}

records::AttentionSizes sizes_of(const AttentionSizes& s, const Dim& all_heads)
{
    return {.queries = s.queries,
            .keys = s.keys,
            .heads = s.heads,
            .key_heads = s.key_heads,
            .features = s.features,
            .value_features = s.value_features,
            .all_heads = all_heads};
}

// The arguments that all three kernels share.
struct Pass {
    LaunchOperand mask;
    records::Strides mask_strides;
    records::RandomState random{0, 0, 0, 0};
    std::vector<std::uint32_t> constants;

    Pass(Lowering& l, const Attributes& a, const AttentionSizes& s, std::size_t mask_input)
        : Pass(a, s, mask_of(l, a, mask_input))
    {}

private:
    Pass(const Attributes& a, const AttentionSizes& s, const Mask& m)
        : mask(m.operand), mask_strides{.batch = m.strides[0],
                                        .head = m.strides[1],
                                        .row = m.strides[2],
                                        .column = m.strides[3]}
    {
        const auto fours = [](const Dim& d) { return static_cast<std::uint32_t>(ceil_div(d, 4).value()); };
        const bool drops = a.number("p") != 0;
        if (drops) random = random_state(a);
        constants = {fours(s.features), fours(s.value_features),
                     static_cast<std::uint32_t>(a.integer("causal")), m.kind, drops ? 1u : 0u};
    }
};

void forward_in_one_pass(Lowering& l, const Attributes& a, const AttentionSizes& s)
{
    const View q = l.input(0), k = in_texels(l, l.input(1)), v = in_texels(l, l.input(2));
    const Pass pass(l, a, s, 3);
    const Dim all_heads = s.batch * s.heads;
    const records::attention record{.q = q,
                                    .k = k,
                                    .v = v,
                                    .mask = pass.mask,
                                    .y = l.output(0),
                                    .lse = l.output(1),
                                    .scale = a.number("scale"),
                                    .kept_scale = dropout_scale(a),
                                    .sizes = sizes_of(s, all_heads),
                                    .mask_strides = pass.mask_strides,
                                    .threshold = dropout_threshold(a),
                                    .random = pass.random,
                                    .q_strides = strides(q),
                                    .k_strides = row_strides(k, 4),
                                    .v_strides = row_strides(v, 4),
                                    .y_strides = row_strides(heads_first(l.output(0)))};
    launch_with_texels(
        l, 1,
        record.launch({.constants = pass.constants,
                       .groups = all_heads * ceil_div(s.queries, 64),
                       .words = true,
                       .flops = all_heads * s.queries * s.keys * (s.features + s.value_features) * 2}));
}

void gradient_by_query(Lowering& l, const Attributes& a, const AttentionSizes& s, const View& dy,
                       const View& y, const View& lse, const View& share)
{
    const View q = l.input(1), k = in_texels(l, l.input(2)), v = in_texels(l, l.input(3));
    const Pass pass(l, a, s, 6);
    const Dim all_heads = s.batch * s.heads;
    const records::attention_vjp_query record{.q = q,
                                              .k = k,
                                              .v = v,
                                              .mask = pass.mask,
                                              .dy = dy,
                                              .y = y,
                                              .lse = lse,
                                              .share = share,
                                              .dq = l.output(0),
                                              .scale = a.number("scale"),
                                              .kept_scale = dropout_scale(a),
                                              .sizes = sizes_of(s, all_heads),
                                              .mask_strides = pass.mask_strides,
                                              .threshold = dropout_threshold(a),
                                              .random = pass.random,
                                              .q_strides = strides(q),
                                              .dy_strides = strides(dy),
                                              .k_strides = row_strides(k, 4),
                                              .v_strides = row_strides(v, 4),
                                              .y_strides = row_strides(heads_first(y)),
                                              .dq_strides = row_strides(heads_first(l.output(0)))};
    launch_with_texels(
        l, 1,
        record.launch({.constants = pass.constants,
                       .groups = all_heads * ceil_div(s.queries, 64),
                       .words = true,
                       .flops = all_heads * s.queries * s.keys * 2 * (s.features * 2 + s.value_features)}));
}

void gradient_by_key(Lowering& l, const Attributes& a, const AttentionSizes& s, const View& dy_rows,
                     const View& lse, const View& share)
{
    const View q = in_texels(l, l.input(1)), dy = in_texels(l, dy_rows), k = l.input(2), v = l.input(3);
    const Pass pass(l, a, s, 6);
    const Dim all_heads = s.batch * s.key_heads;
    const records::attention_vjp_key record{.q = q,
                                            .k = k,
                                            .v = v,
                                            .mask = pass.mask,
                                            .dy = dy,
                                            .lse = lse,
                                            .share = share,
                                            .dk = l.output(1),
                                            .dv = l.output(2),
                                            .scale = a.number("scale"),
                                            .kept_scale = dropout_scale(a),
                                            .sizes = sizes_of(s, all_heads),
                                            .mask_strides = pass.mask_strides,
                                            .threshold = dropout_threshold(a),
                                            .random = pass.random,
                                            .q_strides = row_strides(q, 4),
                                            .dy_strides = row_strides(dy, 4),
                                            .k_strides = strides(k),
                                            .v_strides = strides(v),
                                            .dk_strides = row_strides(heads_first(l.output(1))),
                                            .dv_strides = row_strides(heads_first(l.output(2)))};
    launch_with_texels(l, 1,
                       record.launch({.constants = pass.constants,
                                      .groups = all_heads * ceil_div(s.keys, 64),
                                      .words = true,
                                      .flops = s.batch * s.heads * s.queries * s.keys * 2 *
                                               (s.features + s.value_features) * 2}));
}

void gradient_in_one_pass(Lowering& l, const Attributes& a, const AttentionSizes& s)
{
    const View dy = heads_first(l.input(0)), y = l.contiguous(l.input(4)), lse = l.contiguous(l.input(5));
    const View share = l.temporary(f32, {s.batch, s.heads, s.queries});
    gradient_by_query(l, a, s, dy, y, lse, share);
    gradient_by_key(l, a, s, dy, lse, share);
}

// Emits the launches that serve these sizes, or both kinds, each with a condition, if the sizes are symbols.
template <class Matrices, class Pass>
void choose(Lowering& l, const Node& n, const AttentionSizes& s, const Matrices& matrices, const Pass& pass)
{
    require_floating_kernel("scaled_dot_product_attention", n.outputs[0].dtype);
    const Dim by = by_matrices(s, n.attributes);
    if (!same(by, 0)) l.when(by, [&] { matrices(l, n.attributes, s); });
    if (!same(by, 1)) l.when(1 - by, [&] { pass(l, n.attributes, s); });
}

} // namespace

void lower_attention(Lowering& l, const Node& n)
{
    const AttentionSizes s(l.input(0).sizes(), l.input(1).sizes(), l.input(2).sizes());
    choose(l, n, s, forward_by_matrices, forward_in_one_pass);
}

void lower_attention_vjp(Lowering& l, const Node& n)
{
    const AttentionSizes s(l.input(1).sizes(), l.input(2).sizes(), l.input(3).sizes());
    choose(l, n, s, gradient_by_matrices, gradient_in_one_pass);
}

} // namespace reprise::ops
