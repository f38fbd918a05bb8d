#include <cmath>
#include <limits>

#include <reprise/nn/attention.hpp>
#include <reprise/ops/attention.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/losses.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "nn/checks.hpp"
#include "nn/quantized_weight.hpp"
#include "nn/repr.hpp"
#include "nn/weights.hpp"

namespace reprise::nn {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Converts a bool mask to one that is added to the scores: 0, and -infinity where masked out.
Tensor additive_mask(const Tensor& mask, const Tensor& like)
{
    if (mask.dtype() != boolean) return mask;
    return masked_fill(zeros(mask.shape(), {.dtype = like.dtype(), .device = like.device()}), mask,
                       -infinity);
}

// Combines the masks to one that broadcasts to [N, heads, T, S]: bool, true where a query attends to a key, or numbers
// to be added to the scores. It is undefined without masks.
Tensor combined(const MultiheadAttentionMasks& masks, const Tensor& q, const Tensor& k, bool causal)
{
    const Dim batch = q.size(0), heads = q.size(1), queries = q.size(2), keys = k.size(2);
    Tensor mask; // bool: true is masked out
    const auto join = [&](const Tensor& more) {
        if (!mask.defined()) mask = more;
        else if (mask.dtype() == boolean && more.dtype() == boolean) mask = mask | more;
        else mask = additive_mask(mask, q) + additive_mask(more, q);
    };
    if (masks.key_padding_mask.defined()) join(reshape(masks.key_padding_mask, {batch, 1, 1, keys}));
    if (masks.attn_mask.defined())
        join(masks.attn_mask.dim() == 3 ? reshape(masks.attn_mask, {batch, heads, queries, keys})
                                        : masks.attn_mask);
    if (causal) join(triu(ones({queries, keys}, {.dtype = boolean, .device = q.device()}), 1));
    return mask.defined() && mask.dtype() == boolean ? ~mask : mask;
}

} // namespace

MultiheadAttention::MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads,
                                       const MultiheadAttentionSettings& options)
    : out_proj(embed_dim, embed_dim, {.bias = options.bias}), embed_dim_(embed_dim), num_heads_(num_heads),
      dropout_(options.dropout), batch_first_(options.batch_first)
{
    constexpr const char* op = "MultiheadAttention";
    check_at_least(op, "number of heads", num_heads, 1);
    if (embed_dim % num_heads != 0)
        detail::fail(ErrorKind::argument, op, "embed_dim (", embed_dim, ") is no multiple of the (",
                     num_heads, ") heads.");
    if (!(options.dropout >= 0 && options.dropout <= 1))
        detail::fail(ErrorKind::argument, op, "The probability (", options.dropout, ") must be from 0 to 1.");
    const std::int64_t kdim = options.kdim.value_or(embed_dim), vdim = options.vdim.value_or(embed_dim);
    check_at_least(op, "kdim", kdim, 1);
    check_at_least(op, "vdim", vdim, 1);
    const auto add = [&](const char* name, std::int64_t out, std::int64_t in) {
        return register_parameter(name, xavier_uniform(out, in));
    };
    if (kdim == embed_dim && vdim == embed_dim)
        in_proj_weight = add("in_proj_weight", 3 * embed_dim, embed_dim);
    else {
        q_proj_weight = add("q_proj_weight", embed_dim, embed_dim);
        k_proj_weight = add("k_proj_weight", embed_dim, kdim);
        v_proj_weight = add("v_proj_weight", embed_dim, vdim);
    }
    if (options.bias) {
        in_proj_bias = register_parameter("in_proj_bias", Variable(zeros({3 * embed_dim})));
        out_proj.bias.assign(zeros({embed_dim}));
    }
    register_module("out_proj", out_proj);
}

void MultiheadAttention::quantize(QuantizedFormat format) { quantize(rounded(in_proj_weight, format)); }

void MultiheadAttention::quantize(const QuantizedTensor& q, bool shared)
{
    const QuantizedTensor here = replacement(in_proj_weight, quantized_in_proj_weight, q, shared);
    quantized_in_proj_weight = {replace_parameter("in_proj_weight", name_of(q.format()), here.bytes()),
                                q.format()};
    in_proj_weight = Variable();
}

HookHandle MultiheadAttention::register_in_proj_hook(std::function<InProjHook> hook)
{
    if (!in_proj_hooks_) in_proj_hooks_ = std::make_shared<detail::HookList<InProjHook>>();
    return {in_proj_hooks_, in_proj_hooks_->add(std::move(hook))};
}

// Projects [N, T, E] to [N, heads, T, features]: in one matrix product if the three are the same tensor.
MultiheadAttention::Projected MultiheadAttention::projected(const Tensor& query, const Tensor& key,
                                                            const Tensor& value) const
{
    const auto heads = [&](const Tensor& t) {
        return transpose(reshape(t, {t.size(0), t.size(1), num_heads_, embed_dim_ / num_heads_}), 1, 2);
    };
    const QuantizedTensor& q = quantized_in_proj_weight;
    // The product with rows [first, first + count) of the joint weight, or with a weight of the input's own.
    const auto product = [&](const Tensor& x, const Tensor& own, std::int64_t first, std::int64_t count) {
        const auto rows = [&](const Tensor& t) {
            return t.defined() && count < 3 * embed_dim_ ? narrow(t, 0, first, count) : t;
        };
        const Tensor bias = rows(in_proj_bias);
        if (own.defined()) return linear(x, own, bias);
        Tensor y = q.defined() ? linear(x, QuantizedTensor(rows(q.bytes()), q.format()), bias)
                               : linear(x, rows(in_proj_weight), bias);
        if (in_proj_hooks_)
            for (const auto& hook : in_proj_hooks_->hooks())
                if (Tensor changed = hook(*this, x, y, first); changed.defined()) y = std::move(changed);
        return y;
    };
    if (!q_proj_weight.defined() && query.cell() == key.cell() && key.cell() == value.cell()) {
        const std::vector<Tensor> all = chunk(product(query, {}, 0, 3 * embed_dim_), 3, -1);
        return {heads(all[0]), heads(all[1]), heads(all[2])};
    }
    const auto part = [&](const Tensor& x, const Tensor& own, std::int64_t i) {
        return heads(product(x, own, i * embed_dim_, embed_dim_));
    };
    return {part(query, q_proj_weight, 0), part(key, k_proj_weight, 1), part(value, v_proj_weight, 2)};
}

Tensor MultiheadAttention::forward(Tensor x) { return std::get<0>(forward(x, x, x)); }

MultiheadAttentionOutput MultiheadAttention::forward(Tensor query, Tensor key, Tensor value,
                                                     Tensor key_padding_mask, bool need_weights,
                                                     Tensor attn_mask, bool average_attn_weights)
{
    MultiheadAttentionOutput out =
        forward(query, key, value,
                MultiheadAttentionMasks{.key_padding_mask = key_padding_mask,
                                        .attn_mask = attn_mask,
                                        .average_attn_weights = average_attn_weights});
    if (!need_weights) std::get<1>(out) = Tensor();
    return out;
}

MultiheadAttentionOutput MultiheadAttention::operator()(Tensor query, Tensor key, Tensor value,
                                                        Tensor key_padding_mask, bool need_weights,
                                                        Tensor attn_mask, bool average_attn_weights,
                                                        Place where)
{
    return called(
        where,
        [&](Tensor& q, Tensor& k, Tensor& v, Tensor& padding, Tensor& mask) {
            return forward(q, k, v, padding, need_weights, mask, average_attn_weights);
        },
        query, key, value, key_padding_mask, attn_mask);
}

MultiheadAttentionOutput MultiheadAttention::operator()(Tensor query, Tensor key, Tensor value,
                                                        MultiheadAttentionMasks masks, Place where)
{
    return called(
        where,
        [this](Tensor& q, Tensor& k, Tensor& v, MultiheadAttentionMasks& m) { return forward(q, k, v, m); },
        query, key, value, masks);
}

MultiheadAttentionOutput MultiheadAttention::forward(Tensor query, Tensor key, Tensor value,
                                                     MultiheadAttentionMasks masks)
{
    for (const Tensor* t : {&query, &key, &value})
        if (t->dim() != query.dim() || (t->dim() != 2 && t->dim() != 3))
            detail::fail(ErrorKind::shape, "MultiheadAttention", "The shape (", to_string(t->shape()),
                         ") must be [T, E], or of a batch of them, and of one rank for all.");
    const bool one = query.dim() == 2;
    const auto batched = [&](const Tensor& t) {
        return one ? unsqueeze(t, 0) : batch_first_ ? t : transpose(t, 0, 1);
    };
    for (const Tensor* mask : {&masks.key_padding_mask, &masks.attn_mask})
        if (mask->defined() && mask->dtype() != boolean && !mask->is_floating_point())
            detail::fail(
                ErrorKind::dtype, "MultiheadAttention", "A mask of (", name_of(mask->dtype()),
                ") could mean either kind: cast it to bool (true takes no part), or to a floating dtype "
                "(numbers to be added).");
    const Tensor first = batched(query), second = key.cell() == query.cell() ? first : batched(key);
    const auto [q, k, v] = projected(first, second, value.cell() == key.cell() ? second : batched(value));

    const bool alone = !masks.key_padding_mask.defined() && !masks.attn_mask.defined();
    const Tensor mask = combined(masks, q, k, masks.is_causal && !alone);
    const double p = is_training() ? dropout_ : 0;
    Tensor y = scaled_dot_product_attention(
        q, k, v, {.attn_mask = mask, .dropout_p = p, .is_causal = masks.is_causal && alone});
    y = out_proj(reshape(transpose(y, 1, 2), {q.size(0), q.size(2), embed_dim_}));

    // With an identity matrix as the values, the op returns its attention weights, for any masks.
    const Tensor unit = cast(unsqueeze(arange(k.size(2), {.dtype = i32, .device = q.device()}), 1) ==
                                 arange(k.size(2), {.dtype = i32, .device = q.device()}),
                             q.dtype());
    Tensor weights =
        scaled_dot_product_attention(q, k, expand(unit, {q.size(0), num_heads_, k.size(2), k.size(2)}),
                                     {.attn_mask = mask, .is_causal = masks.is_causal && alone});
    if (masks.average_attn_weights) weights = mean(weights, {1});
    if (one) return {squeeze(y, 0), squeeze(weights, 0)};
    return {batch_first_ ? y : transpose(y, 0, 1), weights};
}

RotaryEmbedding::RotaryEmbedding(std::int64_t dim, const RotaryEmbeddingOptions& options)
    : dim_(dim), interleaved_(options.interleaved)
{
    check_at_least("RotaryEmbedding", "number of features", dim, 2);
    if (dim % 2 != 0)
        detail::fail(ErrorKind::argument, "RotaryEmbedding", "The (", dim, ") features do not make pairs.");
    if (!(options.base > 0))
        detail::fail(ErrorKind::argument, "RotaryEmbedding", "The base (", options.base,
                     ") must be above 0.");
    for (std::int64_t i = 0; i < dim; i += 2)
        values_.push_back(
            static_cast<float>(std::pow(options.base, -static_cast<double>(i) / static_cast<double>(dim))));
    frequencies_ = from_vector(values_);
}

std::string RotaryEmbedding::extra_repr() const
{
    return Repr().value(dim_).unless("interleaved", interleaved_, false).text();
}

Tensor RotaryEmbedding::operator()(Tensor x, Dim offset, Place where)
{
    return called(
        where, [this](Tensor& in, Dim& from) { return forward(in, from); }, x, offset);
}

Tensor RotaryEmbedding::forward(Tensor x, Dim offset)
{
    if (x.dim() < 2 || !same(x.size(-1), Dim(dim_)))
        detail::fail(ErrorKind::shape, "RotaryEmbedding", "The shape (", to_string(x.shape()),
                     ") is not [..., length, ", dim_, "].");
    const Dim end = offset + x.size(-2);
    const Tensor places = narrow(arange(end, {.dtype = i32, .device = x.device()}), 0, offset, x.size(-2));
    const Tensor frequencies = x.device() == frequencies_.device()
                                   ? frequencies_
                                   : from_vector(values_, frequencies_.shape(), {.device = x.device()});
    const Tensor angles = unsqueeze(cast(places, f32), 1) * frequencies;
    return rotary_embedding(x, cast(cos(angles), x.dtype()), cast(sin(angles), x.dtype()), interleaved_);
}

TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 const TransformerEncoderLayerSettings& o)
    : self_attn(d_model, nhead, {.dropout = o.dropout, .bias = o.bias, .batch_first = o.batch_first}),
      linear1(d_model, o.dim_feedforward, {.bias = o.bias}),
      linear2(o.dim_feedforward, d_model, {.bias = o.bias}),
      norm1(d_model, {.eps = o.layer_norm_eps, .bias = o.bias}),
      norm2(d_model, {.eps = o.layer_norm_eps, .bias = o.bias}), dropout(o.dropout), dropout1(o.dropout),
      dropout2(o.dropout), d_model_(d_model), nhead_(nhead), options_(o)
{
    register_module("self_attn", self_attn);
    register_module("linear1", linear1);
    register_module("dropout", dropout);
    register_module("linear2", linear2);
    register_module("norm1", norm1);
    register_module("norm2", norm2);
    register_module("dropout1", dropout1);
    register_module("dropout2", dropout2);
}

Tensor TransformerEncoderLayer::operator()(Tensor x, MultiheadAttentionMasks masks, Place where)
{
    return called(
        where, [this](Tensor& in, MultiheadAttentionMasks& m) { return forward(in, m); }, x, masks);
}

Tensor TransformerEncoderLayer::operator()(Tensor x, Tensor src_mask, Tensor src_key_padding_mask,
                                           Place where)
{
    return (*this)(std::move(x),
                   MultiheadAttentionMasks{.key_padding_mask = src_key_padding_mask, .attn_mask = src_mask},
                   where);
}

Tensor TransformerEncoderLayer::forward(Tensor x, Tensor src_mask, Tensor src_key_padding_mask)
{
    return forward(std::move(x),
                   MultiheadAttentionMasks{.key_padding_mask = src_key_padding_mask, .attn_mask = src_mask});
}

TransformerEncoderLayer TransformerEncoderLayer::copy() const
{
    if (!linear1.weight.defined() || !self_attn.in_proj_weight.defined())
        detail::fail(ErrorKind::state, "TransformerEncoderLayer",
                     "A quantised layer can't be copied: quantise it after the encoder or decoder is made.");
    TransformerEncoderLayer out(d_model_, nhead_, options_);
    out.to(linear1.weight.device(), linear1.weight.dtype());
    out.load_state_dict(state_dict());
    out.train(is_training());
    return out;
}

Tensor TransformerEncoderLayer::forward(Tensor x, MultiheadAttentionMasks masks)
{
    const auto attend = [&](const Tensor& t) { return dropout1(std::get<0>(self_attn(t, t, t, masks))); };
    const auto feed = [&](const Tensor& t) {
        const Tensor wide = linear1(t);
        return dropout2(
            linear2(dropout(options_.activation == TransformerActivation::relu ? relu(wide) : gelu(wide))));
    };
    if (options_.norm_first) {
        const Tensor between = x + attend(norm1(x));
        return between + feed(norm2(between));
    }
    const Tensor between = norm1(x + attend(x));
    return norm2(between + feed(between));
}

} // namespace reprise::nn
