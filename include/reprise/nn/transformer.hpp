// The transformer (Vaswani et al., 2017): stacks of encoder and decoder layers.
//
// Sequences are [T, N, d_model], or [N, T, d_model] with batch_first; N may be absent.  Masks are those of
// MultiheadAttention: in a bool mask true marks what is masked out, a floating one is added to the scores;
// undefined ones mask nothing.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include <reprise/nn/attention.hpp>
#include <reprise/nn/containers.hpp>

namespace reprise::nn {

using TransformerDecoderLayerSettings = TransformerEncoderLayerSettings; // of TransformerDecoderLayer

namespace bases { // of modules that share options

// The base class of TransformerEncoder and TransformerDecoder: a stack of layers, each called with the result
// of the previous one, and a norm at the end, if given.
template <class Layer> class TransformerStack : public Module {
public:
    using Module::Module;
    // Creates num_layers copies of the layer, which have the same parameter values at first.  Throws
    // Error(argument) for num_layers below 1.
    TransformerStack(const Layer& layer, std::int64_t num_layers);
    // The same with a norm, which is moved into this module.
    TransformerStack(const Layer& layer, std::int64_t num_layers, LayerNorm norm);
    ModuleList layers{nullptr}; // the layers
    LayerNorm norm{nullptr};    // empty where there is none

protected:
    Tensor normed(const Tensor& x); // by the norm, if there is one

private:
    bool has_norm_ = false;
};

} // namespace bases

// A stack of encoder layers.
class TransformerEncoder : public bases::TransformerStack<TransformerEncoderLayer> {
public:
    REPRISE_LAYER(TransformerEncoder)
    using TransformerStack::TransformerStack;
    Tensor forward(Tensor src) override { return forward(std::move(src), Tensor(), Tensor()); }
    // src_mask: an attn_mask, [T, T]; src_key_padding_mask: [N, T].
    Tensor forward(Tensor src, Tensor src_mask, Tensor src_key_padding_mask = {});
    // Calls forward(src, src_mask, src_key_padding_mask) with the module's hooks.
    Tensor operator()(Tensor src, Tensor src_mask = {}, Tensor src_key_padding_mask = {},
                      Place where = Place(std::source_location::current()));
};

// A decoder layer: self-attention of the target, attention of the target to the memory, which is the output
// of an encoder, and two linear layers, each with a residual sum and a norm as in TransformerEncoderLayer.
class TransformerDecoderLayer : public Module {
public:
    REPRISE_LAYER(TransformerDecoderLayer)
    using Options = TransformerDecoderLayerSettings; // for make()
    using Module::Module;
    // nhead: the number of attention heads.  Throws Error(argument) as MultiheadAttention and Linear do.
    TransformerDecoderLayer(std::int64_t d_model, std::int64_t nhead,
                            const TransformerDecoderLayerSettings& = {});
    using Module::forward;
    // The result has the target's shape.  tgt_mask [T, T] and tgt_key_padding_mask [N, T] are for the
    // self-attention, memory_mask [T, S] and memory_key_padding_mask [N, S] for the attention to the memory.
    Tensor forward(Tensor tgt, Tensor memory, Tensor tgt_mask = {}, Tensor memory_mask = {},
                   Tensor tgt_key_padding_mask = {}, Tensor memory_key_padding_mask = {});
    // Calls forward() with the module's hooks.
    Tensor operator()(Tensor tgt, Tensor memory, Tensor tgt_mask = {}, Tensor memory_mask = {},
                      Tensor tgt_key_padding_mask = {}, Tensor memory_key_padding_mask = {},
                      Place where = Place(std::source_location::current()));
    // Returns a layer of the same options with copies of the parameters' present values.
    TransformerDecoderLayer copy() const;
    MultiheadAttention self_attn{nullptr}, // of the target to itself
        multihead_attn{nullptr};           // of the target to the memory
    Linear linear1{nullptr},               // d_model to dim_feedforward
        linear2{nullptr};                  // dim_feedforward to d_model
    LayerNorm norm1{nullptr},              // of the self-attention
        norm2{nullptr},                    // of the attention to the memory
        norm3{nullptr};                    // of the linear layers
    Dropout dropout,                       // after the activation
        dropout1,                          // after self_attn
        dropout2,                          // after multihead_attn
        dropout3;                          // after linear2

private:
    std::int64_t d_model_ = 0, nhead_ = 0;
    TransformerDecoderLayerSettings options_;
};

// A stack of decoder layers.
class TransformerDecoder : public bases::TransformerStack<TransformerDecoderLayer> {
public:
    REPRISE_LAYER(TransformerDecoder)
    using Module::forward;
    using TransformerStack::TransformerStack;
    // Arguments are those of TransformerDecoderLayer::forward().
    Tensor forward(Tensor tgt, Tensor memory, Tensor tgt_mask = {}, Tensor memory_mask = {},
                   Tensor tgt_key_padding_mask = {}, Tensor memory_key_padding_mask = {});
    // Calls forward() with the module's hooks.
    Tensor operator()(Tensor tgt, Tensor memory, Tensor tgt_mask = {}, Tensor memory_mask = {},
                      Tensor tgt_key_padding_mask = {}, Tensor memory_key_padding_mask = {},
                      Place where = Place(std::source_location::current()));
};

// Options of Transformer.
struct TransformerSettings {
    std::int64_t d_model = 512;          // features
    std::int64_t nhead = 8;              // attention heads of each layer
    std::int64_t num_encoder_layers = 6; // layers of the encoder
    std::int64_t num_decoder_layers = 6; // layers of the decoder
    std::int64_t dim_feedforward = 2048; // features between the linear layers
    double dropout = 0.1;                // probability of all dropouts
    Choice<TransformerActivation> activation = TransformerActivation::relu; // between the linear layers
    double layer_norm_eps = 1e-5;                                           // eps of all norms
    bool batch_first = false; // sequences are [N, T, d_model], not [T, N, d_model]
    bool norm_first = false;  // normalises the input of each part, not its residual sum
    bool bias = true;         // whether linear layers, projections and norms have biases
};
// An encoder and a decoder, each with a norm at its end: encodes src and decodes tgt with the result as
// memory.  Weights are initialised as by xavier_uniform_.
class Transformer : public Module {
public:
    REPRISE_LAYER(Transformer)
    using Options = TransformerSettings; // for make()
    using Module::Module;
    Transformer() : Transformer(TransformerSettings{}) {} // of the default sizes
    // Throws Error(argument) as the layers do, and for numbers of layers below 1.
    explicit Transformer(const TransformerSettings&);
    // The same with the first two as arguments.
    Transformer(std::int64_t d_model, std::int64_t nhead, TransformerSettings options = {})
        : Transformer((options.d_model = d_model, options.nhead = nhead, options))
    {}
    using Module::forward;
    // src [S, N, d_model] and tgt [T, N, d_model] -> [T, N, d_model].
    Tensor forward(Tensor src, Tensor tgt, Tensor src_mask = {}, Tensor tgt_mask = {},
                   Tensor memory_mask = {}, Tensor src_key_padding_mask = {},
                   Tensor tgt_key_padding_mask = {}, Tensor memory_key_padding_mask = {});
    // Calls forward() with the module's hooks.
    Tensor operator()(Tensor src, Tensor tgt, Tensor src_mask = {}, Tensor tgt_mask = {},
                      Tensor memory_mask = {}, Tensor src_key_padding_mask = {},
                      Tensor tgt_key_padding_mask = {}, Tensor memory_key_padding_mask = {},
                      Place where = Place(std::source_location::current()));
    // Returns the causal mask [size, size] for a sequence: row t is 0 up to position t, and -infinity at
    // later positions.
    static Tensor generate_square_subsequent_mask(const Dim& size);
    TransformerEncoder encoder{nullptr}; // of src
    TransformerDecoder decoder{nullptr}; // of tgt, with the encoder's result as memory
};

} // namespace reprise::nn
