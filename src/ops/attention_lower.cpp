// The launches of attention by matrix products, and the choice between these and one pass.
#include "ops/attention_launch.hpp"
#include "ops/dropout.hpp"
#include "ops/full.hpp"
#include "ops/launch_where.hpp"
#include "ops/matmul.hpp"
#include "ops/records.hpp"
#include "ops/reduce.hpp"
#include "ops/registry.hpp"
#include "ops/rows.hpp"

namespace reprise::ops {

namespace {

View transposed(const View& v) { return swapped(v, 2, 3); }
View first_columns(View v, const Dim& count)
{
    v.layout.sizes.back() = count;
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

DimVector divided(DimVector strides, std::int64_t unit)
{
    for (Dim& stride : strides) stride = floor_div(stride, unit);
    return strides;
}

// Launches attention_softmax along the rows of a matrix of scores, which it overwrites: an invocation reads each
// element of its row before it writes it.
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

// Computes a rows^T, of two inputs that are not widened if the product reads them as they are; a is [B, H, T, E], or
// `turned` [B, T, H, E].
void product_of_inputs(Lowering& l, std::size_t a, bool turned, std::size_t rows, const View& to)
{
    const auto left = [&](const View& v) { return turned ? heads_first(v) : v; };
    if (l.factor(a).dtype == l.factor(rows).dtype) product_of_rows(l, left(l.factor(a)), l.factor(rows), to);
    else product_of_rows(l, left(l.input(a)), l.input(rows), to);
}

// Computes the weights before dropout, with the same bits for the forward pass and the gradient.
View weights_of(Lowering& l, std::size_t q, std::size_t k, const Mask& mask, const AttentionSizes& s,
                const Attributes& a)
{
    const View weights = matrix(l, s); // holds the products first
    product_of_inputs(l, q, false, k, weights);
    softmax_of_rows(l, weights, mask, s, a);
    return weights;
}

// Returns the mask of the weights as matrices, whose rows may be loaded as texels.
Mask mask_of_matrices(Lowering& l, const Attributes& a, std::size_t input)
{
    if (a.integer("masked") == 0) return {};
    const View mask = wide_mask(l, l.input(input));
    const bool vectors = l.texels() || l.groups_share_rows();
    return Mask(vectors ? mask_in_texels(l, mask) : mask, vectors);
}

// Computes output i, a b, by way of f32 where products don't write its dtype.
void product_to_output(Lowering& l, const View& a, const View& b, std::size_t i)
{
    const View to = l.output(i);
    if (l.products_write(to)) lower_product(l, a, b, heads_first(to));
    else {
        const View wide = l.temporary(f32, to.sizes());
        lower_product(l, a, b, heads_first(wide));
        l.copy(wide, to);
    }
    l.written(i);
}

void forward_by_matrices(Lowering& l, const Attributes& a, const AttentionSizes& s)
{
    const View weights = weights_of(l, 0, 1, mask_of_matrices(l, a, 3), s, a);
    product_to_output(l, first_columns(dropped(l, weights, s, a), s.keys), l.input(2), 0);
    launch_full(l, l.output(1), 0.0);
}

// Where products don't mix dtypes, widens one operand after the other and narrows each result at once, so that few f32
// copies exist at a time; v's gradient is the first, as the others overwrite the second matrix.
void gradient_by_matrices(Lowering& l, const Attributes& a, const AttentionSizes& s)
{
    const View weights = weights_of(l, 1, 2, mask_of_matrices(l, a, 6), s, a);
    product_to_output(l, transposed(first_columns(dropped(l, weights, s, a), s.keys)),
                      heads_first(l.input(0)), 2);
    const View dp = matrix(l, s);
    product_of_inputs(l, 0, true, 3, dp);
    const View ds = dropped(l, dp, s, a); // holds dp first
    softmax_vjp_of_rows(l, ds, weights, s, a);
    const View used = first_columns(ds, s.keys);
    product_to_output(l, used, l.input(2), 0);
    product_to_output(l, transposed(used), l.input(1), 1);
}

// Returns 1 where the weights are computed as matrices in memory, and 0 where one pass computes the result without
// storing them: a pure function of the sizes, the attributes and the kind of device, and not of which sizes are
// symbols. Matrices are faster on CPUs for few keys, and on GPUs for few queries, which would leave most of a tile's
// lanes idle.
Dim by_matrices(const Lowering& l, const AttentionSizes& s, const Attributes& a)
{
    constexpr std::int64_t max_keys = 512, min_queries_of_tiles = 16;
    const Dim ungrouped = 1 - min(1, s.heads - s.key_heads); // heads is a multiple of key_heads
    if (fits_tiles(l, a)) return ungrouped * (1 - is_at_least(s.queries, min_queries_of_tiles));
    return a.integer("wide") != 0 ? ungrouped : ungrouped * (1 - is_at_least(s.keys, max_keys + 1));
}

// Whether tiles can read the operands as they are: f16 or bf16 in whole texels.
bool tiles_take_halves(Lowering& l, const Node& n)
{
    if (!fits_tiles(l, n.attributes) || !l.half_access() ||
        (n.outputs[0].dtype != f16 && n.outputs[0].dtype != bf16))
        return false;
    const std::size_t count = n.inputs.size() - (n.attributes.integer("masked") != 0 ? 1 : 0);
    for (std::size_t i = 0; i < count; ++i)
        if (n.inputs[i].type().dtype == n.outputs[0].dtype && !has_texel_rows(l.input(i).layout))
            return false;
    return true;
}

// Emits the launches that serve these sizes, or both kinds, each with a condition, if the sizes are symbols.
using Way = void (*)(Lowering&, const Attributes&, const AttentionSizes&);
void choose(Lowering& l, const Node& n, const AttentionSizes& s, Way matrices, Way lanes, Way tiles)
{
    require_floating_kernel("scaled_dot_product_attention", n.outputs[0].dtype);
    const Dim by = by_matrices(l, s, n.attributes);
    const Way one_pass = fits_tiles(l, n.attributes) ? tiles : lanes;
    const auto run = [&](Way way) { way(l, n.attributes, s); };
    const auto emit = [&](const auto& by_matrices, const auto& in_one_pass) {
        if (!same(by, 0)) l.when(by, by_matrices);
        if (!same(by, 1)) l.when(1 - by, in_one_pass);
    };
    // Each way widens what it needs.
    const auto emit_way = [&](Way way, bool takes_halves) {
        if (takes_halves) run(way);
        else l.widened([&] { run(way); });
    };
    emit([&] { emit_way(matrices, l.products_mix_dtypes()); },
         [&] { emit_way(one_pass, tiles_take_halves(l, n)); });
}

} // namespace

void lower_attention(Lowering& l, const Node& n)
{
    const AttentionSizes s(l.input(0).sizes(), l.input(1).sizes(), l.input(2).sizes());
    choose(l, n, s, forward_by_matrices, forward_by_lanes, forward_by_tiles);
}

void lower_attention_vjp(Lowering& l, const Node& n)
{
    const AttentionSizes s(l.input(1).sizes(), l.input(2).sizes(), l.input(3).sizes());
    choose(l, n, s, gradient_by_matrices, gradient_by_lanes, gradient_by_tiles);
}

} // namespace reprise::ops
