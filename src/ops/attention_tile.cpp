// The launches of attention in one pass by tiles, on GPUs: shaders/common/attention_tile.glsl.
#include <algorithm>
#include <string>

#include "ops/attention_launch.hpp"
#include "ops/dropout.hpp"
#include "ops/registry.hpp"

namespace reprise::ops {

namespace {

constexpr std::int64_t side = 64; // rows of a tile
constexpr std::uint32_t shared_bytes = 26112;

std::int64_t features_of(const AttentionSizes& s)
{
    return std::max(s.features.value(), s.value_features.value());
}

// The suffix of the kernels for the dtype and the number of features.
std::string suffix_of(const View& q, const AttentionSizes& s)
{
    const std::int64_t features = features_of(s);
    return (q.dtype == f32 ? std::string() : "_half") + (features <= 32    ? "_32"
                                                         : features <= 64  ? "_64"
                                                         : features <= 128 ? "_128"
                                                                           : "_256");
}

// Of products that take a number of features together.
Dim flops_of(const AttentionSizes& s, const Attributes& a, const Dim& features)
{
    const Dim keys = a.integer("causal") ? floor_div(min(s.queries, s.keys) + side, 2) : s.keys; // on average
    return 2 * s.batch * s.heads * s.queries * keys * features;
}

// STORE_VECTORS, and of f16 and bf16 WIDENING.
void add_constants(const Lowering& l, PassArguments& pass, const View& to)
{
    pass.constants.push_back(has_texel_rows(to.layout) ? 1u : 0u);
    if (to.dtype != f32) pass.constants.push_back(l.widening(to.dtype));
}

void launch_query(Lowering& l, const Attributes& a, const AttentionSizes& s, PassArguments pass,
                  const View& dy, const View& lse, const View& share)
{
    const View q = in_texels(l, l.input(1)), k = in_texels(l, l.input(2)), v = in_texels(l, l.input(3)),
               y = in_texels(l, heads_first(l.input(4))), dq = heads_first(l.output(0));
    add_constants(l, pass, dq);
    const Dim all_heads = s.batch * s.heads;
    const records::attention_tile_vjp_query record{.q = q,
                                                   .k = k,
                                                   .v = v,
                                                   .mask = pass.mask,
                                                   .dy = dy,
                                                   .y = y,
                                                   .lse = lse,
                                                   .share = share,
                                                   .dq = dq,
                                                   .scale = a.number("scale"),
                                                   .kept_scale = dropout_scale(a),
                                                   .sizes = sizes_of(s, all_heads),
                                                   .mask_strides = pass.mask_strides,
                                                   .threshold = dropout_threshold(a),
                                                   .random = pass.random,
                                                   .q_strides = row_strides(q, 4),
                                                   .k_strides = row_strides(k, 4),
                                                   .v_strides = row_strides(v, 4),
                                                   .dy_strides = row_strides(dy, 4),
                                                   .y_strides = row_strides(y, 4),
                                                   .dq_strides = row_strides(dq)};
    l.launch(record.launch({.kernel = "attention_tile_vjp_query" + suffix_of(q, s),
                            .constants = pass.constants,
                            .groups = all_heads * ceil_div(s.queries, side),
                            .words = true,
                            .flops = flops_of(s, a, 2 * s.features + s.value_features)}));
}

void launch_key(Lowering& l, const Attributes& a, const AttentionSizes& s, const PassArguments& arguments,
                const View& dy, const View& lse, const View& share)
{
    const View q = in_texels(l, l.input(1)), k = in_texels(l, l.input(2)), v = in_texels(l, l.input(3)),
               dk = heads_first(l.output(1)), dv = heads_first(l.output(2));
    const Dim all_heads = s.batch * s.key_heads;
    const auto launch = [&](const char* kernel, const records::Output& to_k, const records::Output& to_v,
                            const View& stored, const Dim& features) {
        PassArguments pass = arguments;
        add_constants(l, pass, stored);
        const records::attention_tile_vjp_key record{.q = q,
                                                     .k = k,
                                                     .v = v,
                                                     .mask = pass.mask,
                                                     .dy = dy,
                                                     .lse = lse,
                                                     .share = share,
                                                     .dk = to_k,
                                                     .dv = to_v,
                                                     .scale = a.number("scale"),
                                                     .kept_scale = dropout_scale(a),
                                                     .sizes = sizes_of(s, all_heads),
                                                     .mask_strides = pass.mask_strides,
                                                     .threshold = dropout_threshold(a),
                                                     .random = pass.random,
                                                     .q_strides = row_strides(q, 4),
                                                     .k_strides = row_strides(k, 4),
                                                     .v_strides = row_strides(v, 4),
                                                     .dy_strides = row_strides(dy, 4),
                                                     .dk_strides = row_strides(dk),
                                                     .dv_strides = row_strides(dv)};
        l.launch(record.launch({.kernel = kernel + suffix_of(q, s),
                                .constants = pass.constants,
                                .groups = all_heads * ceil_div(s.keys, side),
                                .words = true,
                                .flops = flops_of(s, a, features)}));
    };
    const Dim &e = s.features, &f = s.value_features;
    if (features_of(s) <= side)
        return launch("attention_tile_vjp_key", dk, dv, has_texel_rows(dk.layout) ? dv : dk, 2 * e + 2 * f);
    launch("attention_tile_vjp_key", dk, records::Absent{dv}, dk, 2 * e + f);
    launch("attention_tile_vjp_value", records::Absent{dk}, dv, dv, e + f);
}

} // namespace

bool fits_tiles(const Lowering& l, const Attributes& a)
{
    return l.group_memory() >= shared_bytes && a.integer("wide") < 2;
}

void forward_by_tiles(Lowering& l, const Attributes& a, const AttentionSizes& s)
{
    const View q = in_texels(l, l.input(0)), k = in_texels(l, l.input(1)), v = in_texels(l, l.input(2)),
               y = heads_first(l.output(0));
    PassArguments pass(l, a, 3);
    add_constants(l, pass, y);
    const Dim all_heads = s.batch * s.heads;
    const records::attention_tile record{.q = q,
                                         .k = k,
                                         .v = v,
                                         .mask = pass.mask,
                                         .y = y,
                                         .lse = l.output(1),
                                         .scale = a.number("scale"),
                                         .kept_scale = dropout_scale(a),
                                         .sizes = sizes_of(s, all_heads),
                                         .mask_strides = pass.mask_strides,
                                         .threshold = dropout_threshold(a),
                                         .random = pass.random,
                                         .q_strides = row_strides(q, 4),
                                         .k_strides = row_strides(k, 4),
                                         .v_strides = row_strides(v, 4),
                                         .y_strides = row_strides(y)};
    l.launch(record.launch({.kernel = "attention_tile" + suffix_of(q, s),
                            .constants = pass.constants,
                            .groups = all_heads * ceil_div(s.queries, side),
                            .words = true,
                            .flops = flops_of(s, a, s.features + s.value_features)}));
}

void gradient_by_tiles(Lowering& l, const Attributes& a, const AttentionSizes& s)
{
    const View dy = in_texels(l, heads_first(l.input(0))), lse = l.contiguous(l.input(5));
    const View share = l.temporary(f32, {s.batch, s.heads, s.queries});
    const PassArguments pass(l, a, 6);
    launch_query(l, a, s, pass, dy, lse, share);
    launch_key(l, a, s, pass, dy, lse, share);
}

} // namespace reprise::ops
