// Attention and rotary embeddings.
#include <cmath>
#include <limits>

#include "onnx/call.hpp"

namespace reprise::onnx {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// [B, T, H D] -> [B, H, T, D].
Tensor split_heads(const Call& call, const Tensor& x, std::int64_t heads)
{
    if (heads < 1) call.fail("The number of heads (", heads, ") is below 1.");
    const Dim features = floor_div(x.size(2), Dim(heads));
    return transpose(reshape(x, Shape{x.size(0), x.size(1), heads, features}), 1, 2);
}

// The mask with as many keys as there are: those that it lacks do not take part.
Tensor whole_mask(const Tensor& mask, const Dim& keys)
{
    const Dim missing = keys - mask.size(-1);
    if (same(missing, Dim(0))) return mask;
    return pad(mask, DimVector{0, missing}, mask.dtype() == boolean ? 0 : -infinity);
}

Tensor both(const Tensor& a, const Tensor& b)
{
    if (!a.defined()) return b;
    if (a.dtype() == boolean) return logical_and(a, b);
    return where(b, a, full_like(a, -infinity));
}

// Masks of bools, and added ones, of all kinds together.
Tensor mask_of(const Call& call, const Tensor& query, const Tensor& key, const Dim& past)
{
    const Dim keys = key.size(2);
    const CreationOptions options{.dtype = i64, .device = call.device};
    Tensor mask = call.has(3) ? whole_mask(call[3], keys) : Tensor();
    const bool plain_causal = call.flag("is_causal") && same(past, Dim(0)); // an option of attention
    if (call.flag("is_causal") && !plain_causal) {
        const Tensor last = unsqueeze(arange(past, past + query.size(2), options), 1);
        mask = both(mask, le(arange(keys, options), last));
    }
    if (call.has(6)) {
        const Tensor lengths = reshape(call[6].to(i64), Shape{-1, 1, 1, 1});
        mask = both(mask, lt(arange(keys, options), lengths));
    }
    return mask;
}

Values attention(Call& call)
{
    Tensor q = call[0], k = call[1], v = call[2];
    const bool packed = q.dim() == 3;
    if (packed) {
        const std::int64_t heads = call.integer("kv_num_heads");
        q = split_heads(call, q, call.integer("q_num_heads"));
        k = split_heads(call, k, heads);
        v = split_heads(call, v, heads);
    }
    if (q.dim() != 4)
        call.fail("The query has the shape ", to_string(q.shape()), ", of neither 3 nor 4 dimensions.");
    Dim past = 0;
    if (call.has(4)) {
        past = call[4].size(2);
        k = cat({call[4], k}, 2);
        v = cat({call[5], v}, 2);
    }
    AttentionOptions options;
    options.attn_mask = mask_of(call, q, k, past);
    if (options.attn_mask.defined() && options.attn_mask.dtype() != boolean)
        options.attn_mask = options.attn_mask.to(q.dtype());
    options.is_causal = call.flag("is_causal") && same(past, Dim(0));
    if (call.has_attribute("scale")) options.scale = call.real("scale", 1);
    options.softcap = call.real("softcap", 0);
    options.enable_gqa = !same(q.size(1), k.size(1));
    Tensor y, scores;
    if (call.wants(3)) {
        const std::int64_t mode = call.integer("qk_matmul_output_mode", 0);
        if (mode < 0 || mode > 3) call.fail("The attribute qk_matmul_output_mode is (", mode, ").");
        std::tie(y, scores) =
            scaled_dot_product_attention_with_scores(q, k, v, options, static_cast<AttentionScores>(mode));
    } else {
        y = scaled_dot_product_attention(q, k, v, options);
    }
    if (packed) y = reshape(transpose(y, 1, 2), Shape{y.size(0), y.size(2), -1});
    return {Value(y), Value(k), Value(v), Value(scores)};
}

// Attention whose scores and weights pass through graphs of the node.
Value flex_attention(Call& call)
{
    const Tensor q = call[0];
    Tensor k = call[1], v = call[2];
    const DType dtype = q.dtype(), wide = dtype == f64 ? f64 : f32;
    const ElementType* precision = find_element_type(static_cast<int>(call.integer("softmax_precision", 0)));
    const DType softmax_dtype = precision && precision->is_floating() ? precision->held : wide;
    if (!same(q.size(1), k.size(1))) {
        const std::int64_t group = q.size(1).value() / k.size(1).value();
        k = repeat_interleave(k, group, 1);
        v = repeat_interleave(v, group, 1);
    }
    const double scale = call.has_attribute("scale") ? call.real("scale", 1)
                                                     : 1 / std::sqrt(static_cast<double>(q.size(3).value()));
    const auto modified = [&](const char* name, const Tensor& x) {
        if (!call.has_attribute(name)) return x;
        const Values results = call.run(call.subgraph(name), {Value(x)});
        if (results.size() != 1 || !results[0].present())
            call.fail("The graph (", name, ") has not one result.");
        return results[0].tensor(call.device);
    };
    Tensor scores = mul(matmul(q.to(softmax_dtype), transpose(k.to(softmax_dtype), 2, 3)), scale);
    scores = softmax(modified("score_mod", scores), -1);
    return matmul(modified("prob_mod", scores), v.to(softmax_dtype)).to(dtype);
}

Value rotary(Call& call)
{
    Tensor x = call[0], cos = call[1], sin = call[2];
    const bool packed = x.dim() == 3;
    if (packed) x = split_heads(call, x, call.integer("num_heads"));
    if (call.has(3)) {
        const Tensor index = call[3];
        const Shape shape{index.size(0), index.size(1), cos.size(-1)};
        const auto rows_at = [&](const Tensor& table) {
            return reshape(index_select(table, 0, reshape(index, Shape{-1})), shape);
        };
        cos = rows_at(cos);
        sin = rows_at(sin);
    }
    cos = unsqueeze(cos, 1); // the same for all heads
    sin = unsqueeze(sin, 1);
    const std::int64_t part = call.integer("rotary_embedding_dim", 0);
    const bool interleaved = call.flag("interleaved");
    Tensor y;
    if (part > 0 && !same(x.size(3), Dim(part))) {
        const Tensor turned = rotary_embedding(narrow(x, 3, 0, part), cos, sin, interleaved);
        y = cat({turned, narrow(x, 3, part, x.size(3) - part)}, 3);
    } else {
        y = rotary_embedding(x, cos, sin, interleaved);
    }
    return packed ? reshape(transpose(y, 1, 2), call.shape(0)) : y;
}

// One step after the other: the state S [B, H, dk, dv] is decayed, and the step's product of key and value is added.
Values linear_attention(Call& call)
{
    const std::int64_t heads = call.integer("q_num_heads"), shared = call.integer("kv_num_heads");
    const Tensor q = split_heads(call, call[0], heads), k = split_heads(call, call[1], shared);
    const Tensor v = split_heads(call, call[2], shared);
    const std::string rule = call.text("update_rule", "gated_delta");
    const bool gated = rule == "gated" || rule == "gated_delta",
               delta = rule == "delta" || rule == "gated_delta";
    if (!gated && !delta && rule != "linear") call.fail("The update rule (", rule, ") is not known.");
    const DType dtype = q.dtype();
    double scale = call.real("scale", 0);
    if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(q.size(3).value()));
    const Tensor decay =
        gated ? exp(split_heads(call, call[4].to(f32), shared)) : Tensor(); // [B, H, T, dk or 1]
    Tensor beta;
    if (delta) {
        beta = transpose(call[5].to(f32), 1, 2); // [B, H or 1, T]
        beta = unsqueeze(beta, -1);
    }
    const Shape shape{q.size(0), shared, k.size(3), v.size(3)};
    Tensor state = call.has(3) ? call[3].to(f32) : zeros(shape, {.dtype = f32, .device = call.device});
    std::vector<Tensor> steps;
    for (std::int64_t t = 0; t < q.size(2).value(); ++t) {
        const auto at = [&](const Tensor& x) { return select(x.to(f32), 2, t); }; // [B, H, d]
        if (gated) state = mul(state, unsqueeze(at(decay), -1));
        Tensor added = at(v);
        if (delta) {
            const Tensor known = squeeze(matmul(unsqueeze(at(k), 2), state), 2);
            added = mul(sub(added, known), at(beta));
        }
        state = add(state, mul(unsqueeze(at(k), -1), unsqueeze(added, 2)));
        const Tensor of_heads = heads == shared ? state : repeat_interleave(state, heads / shared, 1);
        steps.push_back(mul(squeeze(matmul(unsqueeze(at(q), 2), of_heads), 2), scale)); // [B, Hq, dv]
    }
    const Tensor y = stack(steps, 1); // [B, T, Hq, dv]
    const DType state_dtype = call.has(3) ? call[3].dtype() : dtype;
    return {Value(reshape(y, Shape{y.size(0), y.size(1), -1}).to(dtype)), Value(state.to(state_dtype))};
}

const Operator rows[] = {
    {"Attention", attention, {.limits = "softmax_precision is not used; a query without keys gives zeros"}},
    {"FlexAttention",
     flex_attention,
     {.limits = "the size of a head must be constant", .domain = "ai.onnx.preview"}},
    {"LinearAttention", linear_attention, {.limits = "the number of steps must be constant"}},
    {"RotaryEmbedding", rotary},
};

} // namespace

Operators attention_operators() { return rows; }

} // namespace reprise::onnx
