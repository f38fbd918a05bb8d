#include <limits>
#include <type_traits>
#include <utility>

#include <reprise/nn/init.hpp>
#include <reprise/nn/transformer.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/shapes.hpp>

#include "nn/checks.hpp"

namespace reprise::nn {

namespace {

TransformerEncoderLayerSettings layer_options(const TransformerSettings& o)
{
    return {.dim_feedforward = o.dim_feedforward,
            .dropout = o.dropout,
            .activation = o.activation,
            .layer_norm_eps = o.layer_norm_eps,
            .batch_first = o.batch_first,
            .norm_first = o.norm_first,
            .bias = o.bias};
}

LayerNorm last_norm(const TransformerSettings& o)
{
    return LayerNorm(o.d_model, {.eps = o.layer_norm_eps, .bias = o.bias});
}

} // namespace

// ---- stacks ----

template <class Layer>
bases::TransformerStack<Layer>::TransformerStack(const Layer& layer, std::int64_t num_layers) : layers{}
{
    constexpr bool is_encoder = std::is_same_v<Layer, TransformerEncoderLayer>;
    check_at_least(is_encoder ? "TransformerEncoder" : "TransformerDecoder", "num_layers", num_layers, 1);
    for (std::int64_t i = 0; i < num_layers; ++i) layers.append(layer.copy());
    register_module("layers", layers);
}

template <class Layer>
bases::TransformerStack<Layer>::TransformerStack(const Layer& layer, std::int64_t num_layers, LayerNorm last)
    : TransformerStack(layer, num_layers)
{
    norm = std::move(last);
    register_module("norm", norm);
    has_norm_ = true;
}

template <class Layer> Tensor bases::TransformerStack<Layer>::normed(const Tensor& x)
{
    return has_norm_ ? norm(x) : x;
}

template class bases::TransformerStack<TransformerEncoderLayer>;
template class bases::TransformerStack<TransformerDecoderLayer>;

// ---- encoder ----

Tensor TransformerEncoder::operator()(Tensor src, Tensor src_mask, Tensor src_key_padding_mask, Place where)
{
    return called(
        where, [this](auto&... given) { return forward(given...); }, src, src_mask, src_key_padding_mask);
}

Tensor TransformerEncoder::forward(Tensor src, Tensor src_mask, Tensor src_key_padding_mask)
{
    for (const ModulePointer& layer : layers)
        src = (*layer.as<TransformerEncoderLayer>())(src, src_mask, src_key_padding_mask);
    return normed(src);
}

// ---- decoder ----

TransformerDecoderLayer::TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                                                 const TransformerDecoderLayerSettings& o)
    : self_attn(d_model, nhead, {.dropout = o.dropout, .bias = o.bias, .batch_first = o.batch_first}),
      multihead_attn(d_model, nhead, {.dropout = o.dropout, .bias = o.bias, .batch_first = o.batch_first}),
      linear1(d_model, o.dim_feedforward, {.bias = o.bias}),
      linear2(o.dim_feedforward, d_model, {.bias = o.bias}),
      norm1(d_model, {.eps = o.layer_norm_eps, .bias = o.bias}),
      norm2(d_model, {.eps = o.layer_norm_eps, .bias = o.bias}),
      norm3(d_model, {.eps = o.layer_norm_eps, .bias = o.bias}), dropout(o.dropout), dropout1(o.dropout),
      dropout2(o.dropout), dropout3(o.dropout), d_model_(d_model), nhead_(nhead), options_(o)
{
    register_module("self_attn", self_attn);
    register_module("multihead_attn", multihead_attn);
    register_module("linear1", linear1);
    register_module("dropout", dropout);
    register_module("linear2", linear2);
    register_module("norm1", norm1);
    register_module("norm2", norm2);
    register_module("norm3", norm3);
    register_module("dropout1", dropout1);
    register_module("dropout2", dropout2);
    register_module("dropout3", dropout3);
}

TransformerDecoderLayer TransformerDecoderLayer::copy() const
{
    if (!linear1.weight.defined())
        detail::fail(ErrorKind::state, "TransformerDecoderLayer",
                     "A quantised layer can't be copied: quantise it after the encoder or decoder is made.");
    TransformerDecoderLayer out(d_model_, nhead_, options_);
    out.to(linear1.weight.device(), linear1.weight.dtype());
    out.load_state_dict(state_dict());
    out.train(is_training());
    return out;
}

Tensor TransformerDecoderLayer::operator()(Tensor tgt, Tensor memory, Tensor tgt_mask, Tensor memory_mask,
                                           Tensor tgt_key_padding_mask, Tensor memory_key_padding_mask,
                                           Place where)
{
    return called(
        where, [this](auto&... given) { return forward(given...); }, tgt, memory, tgt_mask, memory_mask,
        tgt_key_padding_mask, memory_key_padding_mask);
}

Tensor TransformerDecoderLayer::forward(Tensor tgt, Tensor memory, Tensor tgt_mask, Tensor memory_mask,
                                        Tensor tgt_key_padding_mask, Tensor memory_key_padding_mask)
{
    const auto attend_self = [&](const Tensor& x) {
        return dropout1(std::get<0>(self_attn(
            x, x, x,
            MultiheadAttentionMasks{.key_padding_mask = tgt_key_padding_mask, .attn_mask = tgt_mask})));
    };
    const auto attend_memory = [&](const Tensor& x) {
        return dropout2(std::get<0>(multihead_attn(
            x, memory, memory,
            MultiheadAttentionMasks{.key_padding_mask = memory_key_padding_mask, .attn_mask = memory_mask})));
    };
    const auto feed = [&](const Tensor& x) {
        const Tensor wide = linear1(x);
        return dropout3(
            linear2(dropout(options_.activation == TransformerActivation::relu ? relu(wide) : gelu(wide))));
    };
    if (options_.norm_first) {
        tgt = tgt + attend_self(norm1(tgt));
        tgt = tgt + attend_memory(norm2(tgt));
        return tgt + feed(norm3(tgt));
    }
    tgt = norm1(tgt + attend_self(tgt));
    tgt = norm2(tgt + attend_memory(tgt));
    return norm3(tgt + feed(tgt));
}

Tensor TransformerDecoder::operator()(Tensor tgt, Tensor memory, Tensor tgt_mask, Tensor memory_mask,
                                      Tensor tgt_key_padding_mask, Tensor memory_key_padding_mask,
                                      Place where)
{
    return called(
        where, [this](auto&... given) { return forward(given...); }, tgt, memory, tgt_mask, memory_mask,
        tgt_key_padding_mask, memory_key_padding_mask);
}

Tensor TransformerDecoder::forward(Tensor tgt, Tensor memory, Tensor tgt_mask, Tensor memory_mask,
                                   Tensor tgt_key_padding_mask, Tensor memory_key_padding_mask)
{
    for (const ModulePointer& layer : layers)
        tgt = (*layer.as<TransformerDecoderLayer>())(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                                                     memory_key_padding_mask);
    return normed(tgt);
}

// ---- both ----

Transformer::Transformer(const TransformerSettings& o)
    : encoder(TransformerEncoderLayer(o.d_model, o.nhead, layer_options(o)), o.num_encoder_layers,
              last_norm(o)),
      decoder(TransformerDecoderLayer(o.d_model, o.nhead, layer_options(o)), o.num_decoder_layers,
              last_norm(o))
{
    register_module("encoder", encoder);
    register_module("decoder", decoder);
    for (const Variable& parameter : parameters())
        if (parameter.dim() > 1) init::xavier_uniform_(parameter);
}

Tensor Transformer::operator()(Tensor src, Tensor tgt, Tensor src_mask, Tensor tgt_mask, Tensor memory_mask,
                               Tensor src_key_padding_mask, Tensor tgt_key_padding_mask,
                               Tensor memory_key_padding_mask, Place where)
{
    return called(
        where, [this](auto&... given) { return forward(given...); }, src, tgt, src_mask, tgt_mask,
        memory_mask, src_key_padding_mask, tgt_key_padding_mask, memory_key_padding_mask);
}

Tensor Transformer::forward(Tensor src, Tensor tgt, Tensor src_mask, Tensor tgt_mask, Tensor memory_mask,
                            Tensor src_key_padding_mask, Tensor tgt_key_padding_mask,
                            Tensor memory_key_padding_mask)
{
    const Tensor memory = encoder(src, src_mask, src_key_padding_mask);
    return decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
}

Tensor Transformer::generate_square_subsequent_mask(const Dim& size)
{
    return triu(full({size, size}, -std::numeric_limits<double>::infinity()), 1);
}

} // namespace reprise::nn
