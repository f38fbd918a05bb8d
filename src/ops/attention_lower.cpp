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

// Launches attention_softmax or its gradient along the rows of matrices. The result may overwrite the first operand: an
// invocation reads each element of its row before it writes it.
void rows_of(Lowering& l, const char* kernel, const std::vector<View>& views, const AttentionSizes& s,
             const Attributes& a)
{
    const Dim pitch = attention_pitch(s.keys), rows = s.batch * s.heads * s.queries;
    const double scale = a.number("scale");
    launch_rows(l, pitch, rows, true, [&](const RowsDivision& division) {
        const DimVector sizes{rows}, strides{floor_div(pitch, division.unit)}, queries{s.queries},
            keys{s.keys};
        LaunchSpec spec{.kernel = kernel,
                        .constants = {1, static_cast<std::uint32_t>(a.integer("causal"))},
                        .groups = division.groups,
                        .in_place = true};
        if (views.size() == 2) {
            const records::attention_softmax record{.x = views[0],
                                                    .y = views[1],
                                                    .scale = scale,
                                                    .columns = pitch,
                                                    .rows = rows,
                                                    .lane_bits = division.lane_bits,
                                                    .x_along = 1,
                                                    .y_along = 1,
                                                    .sizes = sizes,
                                                    .x_strides = strides,
                                                    .y_strides = strides,
                                                    .queries = queries,
                                                    .keys = keys};
            return record.launch(std::move(spec));
        }
        const records::attention_softmax_vjp record{.dy = views[0],
                                                    .y = views[1],
                                                    .dx = views[2],
                                                    .scale = scale,
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
        return record.launch(std::move(spec));
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
View weights_of(Lowering& l, const View& q, const View& k, const AttentionSizes& s, const Attributes& a)
{
    const View weights = matrix(l, s); // holds the scores first
    product_of_rows(l, q, k, weights);
    rows_of(l, "attention_softmax", {weights, weights}, s, a);
    return weights;
}

void forward_by_matrices(Lowering& l, const Attributes& a, const AttentionSizes& s)
{
    const View weights = weights_of(l, l.input(0), l.input(1), s, a);
    lower_product(l, first_columns(dropped(l, weights, s, a), s.keys), l.input(2), heads_first(l.output(0)));
}

void gradient_by_matrices(Lowering& l, const Attributes& a, const AttentionSizes& s)
{
    const View dy = heads_first(l.input(0)), weights = weights_of(l, l.input(1), l.input(2), s, a);
    const View dp = matrix(l, s);
    product_of_rows(l, dy, l.input(3), dp);
    const View ds = dropped(l, dp, s, a); // holds dp first
    rows_of(l, "attention_softmax_vjp", {ds, weights, ds}, s, a);
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
    LaunchOperand mask{View(), Use::read, true};
    records::Strides mask_strides{0, 0, 0, 0};
    records::RandomState random{0, 0, 0, 0};
    std::vector<std::uint32_t> constants;

    Pass(Lowering& l, const Attributes& a, const AttentionSizes& s, std::size_t mask_input)
    {
        const auto fours = [](const Dim& d) { return static_cast<std::uint32_t>(ceil_div(d, 4).value()); };
        std::uint32_t kind = 0;
        if (a.integer("masked") != 0) {
            const View view = l.input(mask_input);
            mask = {view, Use::read};
            mask_strides = strides(view);
            kind = is_floating(view.dtype) ? 2 : 1;
        }
        const bool drops = a.number("p") != 0;
        if (drops) random = random_state(a);
        constants = {fours(s.features), fours(s.value_features),
                     static_cast<std::uint32_t>(a.integer("causal")), kind, drops ? 1u : 0u};
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
