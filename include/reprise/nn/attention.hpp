// Attention, position embeddings and an encoder layer of the transformer.
#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <reprise/choice.hpp>
#include <reprise/nn/dropout.hpp>
#include <reprise/nn/linear.hpp>
#include <reprise/nn/module.hpp>
#include <reprise/nn/normalization.hpp>

namespace reprise::nn {

// Options of MultiheadAttention.
struct MultiheadAttentionSettings {
    double dropout = 0; // probability with which an attention weight is dropped in training
    bool bias = true;   // whether the projections have biases
    std::optional<std::int64_t> kdim = std::nullopt, // features of the key; default: embed_dim
        vdim = std::nullopt;                         // features of the value; default: embed_dim
    bool batch_first = false;                        // inputs and outputs are [N, T, E], not [T, N, E]
};
// The keys that a query may attend to.  In a bool mask, true marks keys that are masked OUT, as in PyTorch; a
// mask of the query's dtype is added to the scores.
struct MultiheadAttentionMasks {
    Tensor key_padding_mask = {};     // [N, S], or [S] without a batch: keys that no query attends to
    Tensor attn_mask = {};            // [T, S], or [N heads, T, S] with one for each head of each sequence
    bool is_causal = false;           // query t attends to keys 0 to t only
    bool average_attn_weights = true; // the weights that are returned are the mean over the heads
};
// The result of a call of MultiheadAttention: the output, of the query's shape, and the attention weights
// without dropout, [N, T, S], or [N, heads, T, S] where not averaged; without the N for inputs without a
// batch.  The weights are computed only if they are used.
using MultiheadAttentionOutput = std::tuple<Tensor, Tensor>;
// Multi-head attention (Vaswani et al., 2017) of query [T, N, E], key [S, N, kdim] and value [S, N, vdim] for E =
// embed_dim: projects them, applies scaled_dot_product_attention in each head and projects the result to [T, N, E].  N
// may be absent in all inputs.  Throws Error(shape) and Error(dtype) where inputs or masks do not fit.
//
// If all keys of a query are masked out, the heads return zeros for it.
class MultiheadAttention : public Module {
public:
    REPRISE_LAYER(MultiheadAttention)
    using Options = MultiheadAttentionSettings; // for make()
    using Module::Module;
    // Each head has embed_dim / num_heads features.  The weights of the inputs' projections are initialised
    // as by xavier_uniform_, that of out_proj as in Linear, and biases with 0.  Throws Error(argument) where
    // embed_dim is not a multiple of num_heads, a size is below 1 or the dropout is not from 0 to 1.
    MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads,
                       const MultiheadAttentionSettings& = {});
    // Self-attention without masks: the output for x as query, key and value.
    Tensor forward(Tensor x) override;
    // Returns the output and the attention weights.
    MultiheadAttentionOutput forward(Tensor query, Tensor key, Tensor value, MultiheadAttentionMasks = {});
    // The same with PyTorch's arguments in their order; without need_weights the weights are undefined.
    MultiheadAttentionOutput forward(Tensor query, Tensor key, Tensor value, Tensor key_padding_mask,
                                     bool need_weights, Tensor attn_mask = {},
                                     bool average_attn_weights = true);
    // The same with a key_padding_mask only.
    template <std::derived_from<Tensor> Mask>
    MultiheadAttentionOutput forward(Tensor query, Tensor key, Tensor value, const Mask& key_padding_mask)
    {
        return forward(query, key, value, key_padding_mask, true);
    }
    using Module::operator();
    // Calls forward(query, key, value, masks) with the module's hooks.
    MultiheadAttentionOutput operator()(Tensor query, Tensor key, Tensor value, MultiheadAttentionMasks = {},
                                        Place where = Place(std::source_location::current()));
    // The same with PyTorch's arguments in their order; without need_weights the weights are undefined.
    MultiheadAttentionOutput operator()(Tensor query, Tensor key, Tensor value, Tensor key_padding_mask,
                                        bool need_weights, Tensor attn_mask = {},
                                        bool average_attn_weights = true,
                                        Place where = Place(std::source_location::current()));
    // The same with a key_padding_mask only.
    template <std::derived_from<Tensor> Mask>
    MultiheadAttentionOutput operator()(Tensor query, Tensor key, Tensor value, const Mask& key_padding_mask,
                                        Place where = Place(std::source_location::current()))
    {
        return (*this)(query, key, value, key_padding_mask, true, Tensor(), true, where);
    }
    // Registers hook(module, x, y, first), which runs after each product with in_proj_weight and may return a
    // tensor that replaces y.  x [N, T, E] is the query, the key or the value, or all of them where they are one
    // tensor; y [N, T, E or 3 E] are the features from `first` on of the 3 E.
    using InProjHook = Tensor(const MultiheadAttention&, const Tensor& x, const Tensor& y,
                              std::int64_t first);
    HookHandle register_in_proj_hook(std::function<InProjHook> hook); // the handle can remove it

    // Freezes in_proj_weight in few bits, as quantize() of Linear does; out_proj is quantised by itself.  Throws
    // Error(shape) where embed_dim is no multiple of block_size(), and Error(state) without an in_proj_weight or while
    // a program is recorded.
    void quantize(QuantizedFormat);
    // The same with a given matrix [3 E, E]; `shared` as in Linear::quantize().  Throws Error(shape) where the matrix
    // has another shape.
    void quantize(const QuantizedTensor&, bool shared = false);

    Variable in_proj_weight, // [3 E, E]; undefined for another kdim or vdim, and once quantised
        q_proj_weight,       // [E, E]; defined for another kdim or vdim
        k_proj_weight,       // [E, kdim]; defined for another kdim or vdim
        v_proj_weight,       // [E, vdim]; defined for another kdim or vdim
        in_proj_bias;        // [3 E]; undefined without biases
    QuantizedTensor quantized_in_proj_weight; // [3 E, E]; undefined unless quantize() was called
    Linear out_proj{nullptr};                 // E to E, applied to the heads' joined results

private:
    struct Projected {
        Tensor query, key, value;
    };
    Projected projected(const Tensor& query, const Tensor& key, const Tensor& value) const;
    std::int64_t embed_dim_ = 0, num_heads_ = 0;
    double dropout_ = 0;
    bool batch_first_ = false;
    std::shared_ptr<detail::HookList<InProjHook>> in_proj_hooks_; // null: none
};

// Options of RotaryEmbedding.
struct RotaryEmbeddingOptions {
    double base = 10000;      // above 0; pair i turns by base^(-2 i / dim) per position
    bool interleaved = false; // pair i is features 2 i and 2 i + 1, not i and i + dim / 2
};
// Rotary position embedding (Su et al., 2021) of queries or keys x [..., T, dim]: rotates pair i of the
// features at position t by the angle t / base^(2 i / dim), computed in f32.  The result has x's shape and
// dtype.  Throws Error(shape) where the last size is not dim, and Error(device) where x is not on the device
// that was the default one when the module was created.
class RotaryEmbedding : public Module {
public:
    REPRISE_LAYER(RotaryEmbedding)
    using Options = RotaryEmbeddingOptions; // for make()
    using Module::Module;
    // Throws Error(argument) where `dim` is odd or below 2, or the base is not above 0.
    explicit RotaryEmbedding(std::int64_t dim, const RotaryEmbeddingOptions& = {});
    Tensor forward(Tensor x) override { return forward(std::move(x), 0); }
    Tensor forward(Tensor x, Dim offset); // offset: the position of x's first row
    // Calls forward(x, offset) with the module's hooks.
    Tensor operator()(Tensor x, Dim offset = 0, // position of the first row
                      Place where = Place(std::source_location::current()));
    std::string extra_repr() const override;

private:
    std::int64_t dim_ = 0;
    bool interleaved_ = false;
    std::vector<float> values_; // base^(-i / dim) for i = 0, 2, ...
    Tensor frequencies_;        // the same on the device of the construction
};

// The activation between the linear layers of a TransformerEncoderLayer; gelu is the exact one.
enum class TransformerActivation { relu, gelu };
// PyTorch's names of them, for Choice.
inline constexpr ChoiceNames<TransformerActivation, 2> names_of_choices(TransformerActivation)
{
    using enum TransformerActivation;
    return {{{"relu", relu}, {"gelu", gelu}}};
}
// Options of TransformerEncoderLayer.
struct TransformerEncoderLayerSettings {
    std::int64_t dim_feedforward = 2048; // features between the two linear layers
    double dropout = 0.1;                // probability of all dropouts, that of the attention weights too
    Choice<TransformerActivation> activation = TransformerActivation::relu; // between the two linear layers
    double layer_norm_eps = 1e-5;                                           // eps of both LayerNorms
    bool batch_first = false; // inputs and outputs are [N, T, d_model], not [T, N, d_model]
    bool norm_first = false;  // normalises the input of each part, not its residual sum
    bool bias = true;         // whether linear layers, projections and norms have biases
};
// An encoder layer of the transformer (Vaswani et al., 2017), of x [T, N, d_model] or [T, d_model]; the
// result has x's shape.  It is norm2(y + feed(y)) for y = norm1(x + dropout1(self_attn(x))), with feed(y) =
// dropout2(linear2(dropout(activation(linear1(y))))).  With norm_first it is y + feed(norm2(y)) for y = x +
// dropout1(self_attn(norm1(x))).
class TransformerEncoderLayer : public Module {
public:
    REPRISE_LAYER(TransformerEncoderLayer)
    using Options = TransformerEncoderLayerSettings; // for make()
    using Module::Module;
    // nhead: the number of attention heads.  Throws Error(argument) as MultiheadAttention and Linear do.
    TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                            const TransformerEncoderLayerSettings& = {});
    Tensor forward(Tensor x) override { return forward(std::move(x), MultiheadAttentionMasks{}); }
    Tensor forward(Tensor x, MultiheadAttentionMasks); // with masks for the self-attention
    // The same with PyTorch's arguments in their order: masks as attn_mask and key_padding_mask.
    Tensor forward(Tensor x, Tensor src_mask, Tensor src_key_padding_mask);
    // The same with an attn_mask only.
    template <std::derived_from<Tensor> Mask> Tensor forward(Tensor x, const Mask& src_mask)
    {
        return forward(x, src_mask, Tensor());
    }
    // Calls forward(x, masks) with the module's hooks.
    Tensor operator()(Tensor x, MultiheadAttentionMasks masks = {},
                      Place where = Place(std::source_location::current()));
    // The same with PyTorch's arguments in their order: masks as attn_mask and key_padding_mask.
    Tensor operator()(Tensor x, Tensor src_mask, Tensor src_key_padding_mask,
                      Place where = Place(std::source_location::current()));
    // The same with an attn_mask only.
    template <std::derived_from<Tensor> Mask>
    Tensor operator()(Tensor x, const Mask& src_mask, Place where = Place(std::source_location::current()))
    {
        return (*this)(x, src_mask, Tensor(), where);
    }
    // Returns a layer of the same options with copies of the parameters' present values.
    TransformerEncoderLayer copy() const;
    MultiheadAttention self_attn{nullptr}; // of x to itself
    Linear linear1{nullptr},               // d_model to dim_feedforward
        linear2{nullptr};                  // dim_feedforward to d_model
    LayerNorm norm1{nullptr},              // of the self-attention
        norm2{nullptr};                    // of the linear layers
    Dropout dropout,                       // after the activation
        dropout1,                          // after self_attn
        dropout2;                          // after linear2

private:
    std::int64_t d_model_ = 0, nhead_ = 0;
    TransformerEncoderLayerSettings options_;
};

} // namespace reprise::nn
