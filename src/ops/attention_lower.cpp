// The launches of attention: products of matrices for few keys, else one pass over all keys (and queries).
#include <cmath>
#include <utility>

#include "ops/attention.hpp"
#include "ops/matmul.hpp"
#include "ops/random.hpp"
#include "ops/reduce.hpp"
#include "shape/rules.hpp"

namespace reprise::ops {

namespace {

using graph::Attributes;
using graph::Node;

View swapped(View v, std::size_t a, std::size_t b)
{
    std::swap(v.layout.sizes[a], v.layout.sizes[b]);
    std::swap(v.layout.strides[a], v.layout.strides[b]);
    return v;
}
View heads_outside(const View& v) { return swapped(v, 1, 2); } // [B, T, H, E] as [B, H, T, E]
View transposed(const View& v) { return swapped(v, 2, 3); }
View first_columns(View v, const Dim& count)
{
    v.layout.sizes.back() = count;
    return v;
}

double kept_scale(const Attributes& a)
{
    const double p = a.number("p");
    return p < 1 ? 1 / (1 - p) : 0;
}
std::int64_t threshold(const Attributes& a) { return std::llround(std::ldexp(a.number("p"), 24)); }

// -- by matrices: [B, H, T, pitch], zero beyond the keys --

View matrix(Lowering& l, const AttentionSizes& s)
{
    return l.temporary(f32, {s.batch, s.heads, s.queries, attention_pitch(s.keys)});
}

// a b^T for rows [B, H, ., E], with zeros behind those of b where `to` has more columns.
void product_of_rows(Lowering& l, const View& a, const View& rows, const View& to)
{
    const View turned = transposed(rows);
    const Dim columns = to.sizes().back(), length = turned.sizes()[2];
    const auto as_it_is = [&] {
        View b = turned;
        b.layout.sizes.back() = columns; // the same
        lower_product(l, a, b, to);
    };
    const auto filled_up = [&] {
        const View filled = l.packed(turned, length, columns);
        View b = turned;
        b.value = filled.value;
        b.layout = {{b.sizes()[0], b.sizes()[1], length, columns}, {}, filled.layout.offset};
        b.layout.strides = shape::contiguous_strides(b.layout.sizes);
        lower_product(l, a, b, to);
    };
    // A library's bits depend on the request, so it is the same at a call as where the sizes are known.
    const Dim fills = l.texels() ? Dim(same(turned.sizes().back(), columns) ? 0 : 1)
                                 : min(columns - turned.sizes().back(), 1);
    if (!same(fills, 1)) l.when(1 - fills, as_it_is);
    if (!same(fills, 0)) l.when(fills, filled_up);
}

// attention_softmax or its gradient, along rows of matrices.  The result may lie over the first operand: an invocation
// reads each element of its row before it writes it.
void rows_of(Lowering& l, const char* kernel, const std::vector<View>& views, const AttentionSizes& s,
             const Attributes& a)
{
    const Dim pitch = attention_pitch(s.keys), rows = s.batch * s.heads * s.queries;
    LaunchSpec spec{.kernel = kernel,
                    .constants = {1, static_cast<std::uint32_t>(a.integer("causal"))},
                    .operands = {},
                    .floats = {a.number("scale")},
                    .ints = {pitch, rows},
                    .groups = ceil_div(rows, 64),
                    .in_place = true};
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
    for (LaunchSpec* each : {&spec, &preferred}) each->ints.insert(each->ints.end(), {s.queries, s.keys});
    if (!l.texels()) return l.launch(std::move(spec));
    preferred.kernel += "_texel";
    preferred.texels = true;
    l.launch(std::move(preferred), std::move(spec));
}

// What dropout leaves of a matrix.
View dropped(Lowering& l, const View& from, const AttentionSizes& s, const Attributes& a)
{
    if (a.number("p") == 0) return from;
    const View to = matrix(l, s);
    const Dim count = shape::element_count(to.sizes());
    DimVector ints = random_ints(a);
    ints.insert(ints.begin(), {count, threshold(a)});
    LaunchSpec addresses{.kernel = "dropout",
                         .constants = {static_cast<std::uint32_t>(f32)},
                         .operands = {{from, Use::read}, {to, Use::write}},
                         .floats = {kept_scale(a)},
                         .ints = std::move(ints),
                         .groups = ceil_div(count, 256),
                         .words = true,
                         .in_place = true};
    if (!l.texels()) {
        l.launch(std::move(addresses));
        return to;
    }
    LaunchSpec texels = addresses;
    texels.kernel = "dropout_texel";
    texels.texels = true;
    l.launch(std::move(texels), std::move(addresses));
    return to;
}

// Before dropout; the same bits for the forward pass and its gradient.
View weights_of(Lowering& l, const View& q, const View& k, const AttentionSizes& s, const Attributes& a)
{
    const View weights = matrix(l, s); // first of all the scores
    product_of_rows(l, q, k, weights);
    rows_of(l, "attention_softmax", {weights, weights}, s, a);
    return weights;
}

void forward_by_matrices(Lowering& l, const Attributes& a, const AttentionSizes& s)
{
    const View weights = weights_of(l, l.input(0), l.input(1), s, a);
    lower_product(l, first_columns(dropped(l, weights, s, a), s.keys), l.input(2),
                  heads_outside(l.output(0)));
}

void gradient_by_matrices(Lowering& l, const Attributes& a, const AttentionSizes& s)
{
    const View dy = heads_outside(l.input(0)), weights = weights_of(l, l.input(1), l.input(2), s, a);
    const View dp = matrix(l, s);
    product_of_rows(l, dy, l.input(3), dp);
    const View ds = dropped(l, dp, s, a); // first of all dp
    rows_of(l, "attention_softmax_vjp", {ds, weights, ds}, s, a);
    const View used = first_columns(ds, s.keys);
    lower_product(l, used, l.input(2), heads_outside(l.output(0)));
    lower_product(l, transposed(used), l.input(1), heads_outside(l.output(1)));
    lower_product(l, transposed(first_columns(dropped(l, weights, s, a), s.keys)), dy,
                  heads_outside(l.output(2)));
}

// -- in one pass --

constexpr std::size_t row_dims = 3; // batch, head, row

// Rows as whole texels: where they are none, a copy with zeros behind each.
View in_texels(Lowering& l, const View& v)
{
    bool ready =
        same(v.layout.strides[3], 1) && v.sizes()[3].divisible_by(4) && v.layout.offset.divisible_by(4);
    for (std::size_t d = 0; d < row_dims; ++d) ready = ready && v.layout.strides[d].divisible_by(4);
    if (ready) return v;
    const Dim columns = round_up(v.sizes()[3], 4);
    const View filled = l.packed(v, v.sizes()[2], columns);
    View out = v;
    out.value = filled.value;
    out.layout = {{v.sizes()[0], v.sizes()[1], v.sizes()[2], columns}, {}, filled.layout.offset};
    out.layout.strides = shape::contiguous_strides(out.layout.sizes);
    return out;
}

void add_strides(DimVector& ints, const View& v, std::size_t dims, std::int64_t unit = 1)
{
    for (std::size_t d = 0; d < dims; ++d) ints.push_back(floor_div(v.layout.strides[d], unit));
}

// What all three kernels take (shaders/common/attention.glsl); the mask is their operand 3.
struct Pass {
    LaunchSpec spec;
    LaunchOperand mask{.view = {}, .use = Use::read, .absent = true};

    Pass(Lowering& l, const char* kernel, const Attributes& a, const AttentionSizes& s,
         std::size_t mask_input)
    {
        const auto fours = [](const Dim& d) { return static_cast<std::uint32_t>(ceil_div(d, 4).value()); };
        const bool masked = a.integer("masked") != 0;
        std::uint32_t kind = 0;
        if (masked) {
            mask.view = l.input(mask_input);
            mask.absent = false;
            kind = is_floating(mask.view.dtype) ? 2 : 1;
        }
        spec.kernel = kernel;
        spec.constants = {fours(s.features), fours(s.value_features),
                          static_cast<std::uint32_t>(a.integer("causal")), kind,
                          a.number("p") != 0 ? 1u : 0u};
        spec.floats = {a.number("scale"), kept_scale(a)};
        spec.ints = {s.queries,  s.keys,           s.heads,          s.key_heads,
                     s.features, s.value_features, s.batch * s.heads};
        if (masked) add_strides(spec.ints, mask.view, 4);
        else spec.ints.insert(spec.ints.end(), 4, Dim(0));
        spec.ints.push_back(threshold(a));
        if (a.number("p") != 0) {
            const DimVector random = random_ints(a);
            spec.ints.insert(spec.ints.end(), random.begin(), random.end());
        } else spec.ints.insert(spec.ints.end(), 4, Dim(0));
        spec.groups = s.batch * s.heads * ceil_div(s.queries, 64);
        spec.words = true;
    }
    void launch(Lowering& l)
    {
        if (!l.texels()) return l.launch(std::move(spec));
        LaunchSpec preferred = spec;
        preferred.kernel += "_texel";
        preferred.texels = true;
        l.launch(std::move(preferred), std::move(spec));
    }
};

void forward_in_one_pass(Lowering& l, const Attributes& a, const AttentionSizes& s)
{
    const View q = l.input(0), k = in_texels(l, l.input(1)), v = in_texels(l, l.input(2)),
               out = heads_outside(l.output(0));
    Pass pass(l, "attention", a, s, 3);
    pass.spec.operands = {
        {q, Use::read},           {k, Use::read}, {v, Use::read}, pass.mask, {l.output(0), Use::write},
        {l.output(1), Use::write}};
    add_strides(pass.spec.ints, q, 4);
    add_strides(pass.spec.ints, k, row_dims, 4);
    add_strides(pass.spec.ints, v, row_dims, 4);
    add_strides(pass.spec.ints, out, row_dims);
    pass.spec.flops = s.batch * s.heads * s.queries * s.keys * (s.features + s.value_features) * 2;
    pass.launch(l);
}

void gradient_in_one_pass(Lowering& l, const Attributes& a, const AttentionSizes& s)
{
    const View dy = heads_outside(l.input(0)), q = l.input(1), k = l.input(2), v = l.input(3),
               out = l.contiguous(l.input(4)), lse = l.contiguous(l.input(5));
    const View share = l.temporary(f32, {s.batch, s.heads, s.queries});
    const View k_rows = in_texels(l, k), v_rows = in_texels(l, v);
    const Dim products = s.batch * s.heads * s.queries * s.keys * 2;
    Pass by_query(l, "attention_vjp_query", a, s, 6);
    by_query.spec.operands = {{q, Use::read},   {k_rows, Use::read}, {v_rows, Use::read},
                              by_query.mask,    {dy, Use::read},     {out, Use::read},
                              {lse, Use::read}, {share, Use::write}, {l.output(0), Use::write}};
    add_strides(by_query.spec.ints, q, 4);
    add_strides(by_query.spec.ints, dy, 4);
    add_strides(by_query.spec.ints, k_rows, row_dims, 4);
    add_strides(by_query.spec.ints, v_rows, row_dims, 4);
    add_strides(by_query.spec.ints, heads_outside(out), row_dims);
    add_strides(by_query.spec.ints, heads_outside(l.output(0)), row_dims);
    by_query.spec.flops = products * (s.features * 2 + s.value_features);
    by_query.launch(l);

    const View q_rows = in_texels(l, q), dy_rows = in_texels(l, dy);
    Pass by_key(l, "attention_vjp_key", a, s, 6);
    by_key.spec.operands = {
        {q_rows, Use::read},      {k, Use::read},   {v, Use::read},     by_key.mask,
        {dy_rows, Use::read},     {lse, Use::read}, {share, Use::read}, {l.output(1), Use::write},
        {l.output(2), Use::write}};
    add_strides(by_key.spec.ints, q_rows, row_dims, 4);
    add_strides(by_key.spec.ints, dy_rows, row_dims, 4);
    add_strides(by_key.spec.ints, k, 4);
    add_strides(by_key.spec.ints, v, 4);
    add_strides(by_key.spec.ints, heads_outside(l.output(1)), row_dims);
    add_strides(by_key.spec.ints, heads_outside(l.output(2)), row_dims);
    by_key.spec.ints[6] = s.batch * s.key_heads;
    by_key.spec.groups = s.batch * s.key_heads * ceil_div(s.keys, 64);
    by_key.spec.flops = products * (s.features + s.value_features) * 2;
    by_key.launch(l);
}

// Emits what serves at these sizes, both where they are not known.
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
