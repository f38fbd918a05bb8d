// The launches of attention in one pass with a row for each lane: shaders/common/attention_lane.glsl.
#include "ops/attention_launch.hpp"
#include "ops/dropout.hpp"
#include "ops/launch_where.hpp"
#include "ops/registry.hpp"

namespace reprise::ops {

namespace {

// Strides in units of `unit` elements.
records::Strides strides(const View& v, std::int64_t unit = 1)
{
    const auto& s = v.layout.strides;
    return {.batch = floor_div(s[0], unit),
            .head = floor_div(s[1], unit),
            .row = floor_div(s[2], unit),
            .column = floor_div(s[3], unit)};
}

PassArguments arguments(Lowering& l, const Attributes& a, const AttentionSizes& s, std::size_t mask_input)
{
    PassArguments found(l, a, mask_input);
    for (const Dim& d : {s.features, s.value_features})
        found.constants.push_back(static_cast<std::uint32_t>(ceil_div(d, 4).value()));
    return found;
}

void gradient_by_query(Lowering& l, const Attributes& a, const AttentionSizes& s, const View& dy,
                       const View& y, const View& lse, const View& share)
{
    const View q = l.input(1), k = in_texels(l, l.input(2)), v = in_texels(l, l.input(3));
    const PassArguments pass = arguments(l, a, s, 6);
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
    const PassArguments pass = arguments(l, a, s, 6);
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

} // namespace

void forward_by_lanes(Lowering& l, const Attributes& a, const AttentionSizes& s)
{
    const View q = l.input(0), k = in_texels(l, l.input(1)), v = in_texels(l, l.input(2));
    const PassArguments pass = arguments(l, a, s, 3);
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

void gradient_by_lanes(Lowering& l, const Attributes& a, const AttentionSizes& s)
{
    const View dy = heads_first(l.input(0)), y = l.contiguous(l.input(4)), lse = l.contiguous(l.input(5));
    const View share = l.temporary(f32, {s.batch, s.heads, s.queries});
    gradient_by_query(l, a, s, dy, y, lse, share);
    gradient_by_key(l, a, s, dy, lse, share);
}

} // namespace reprise::ops
