// Attention.
#pragma once
#include <cstdint>
#include <optional>

#include <reprise/nn/dropout.hpp>
#include <reprise/nn/linear.hpp>
#include <reprise/nn/module.hpp>
#include <reprise/nn/normalization.hpp>

namespace reprise::nn {

struct MultiheadAttentionOptions {
    double dropout = 0; // of the weights, in training
    bool bias = true;
    std::optional<std::int64_t> kdim = std::nullopt, vdim = std::nullopt; // embed_dim
    bool batch_first = false; // inputs and outputs are [N, T, E], not [T, N, E]
};
struct MultiheadAttentionMasks {
    Tensor key_padding_mask = {}; // [N, S] or [S]: bool, true takes NO part; or numbers to be added
    Tensor attn_mask = {};        // [T, S] or [N heads, T, S]: the same
    bool is_causal = false;       // query t sees keys 0 to t
    bool average_attn_weights = true;
};
struct MultiheadAttentionOutput {
    Tensor output;
    // Before dropout, [N, T, S], or [N, heads, T, S] where not averaged.  Computed only where it is used.
    Tensor weights;
};
// Attention of several heads between projections: query [T, N, E], key [S, N, kdim], value [S, N, vdim] -> [T, N, E],
// or all without N.  Parameters in_proj_weight [3 E, E], or q_proj_weight, k_proj_weight and v_proj_weight where kdim
// or vdim differ, in_proj_bias [3 E], out_proj.weight, out_proj.bias.
class MultiheadAttention : public Module {
public:
    MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads, const MultiheadAttentionOptions& = {});
    Tensor forward(Tensor x) override; // of x to itself
    using Module::operator();
    MultiheadAttentionOutput operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                        const MultiheadAttentionMasks& = {});
    Variable in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias; // undefined without
    Linear out_proj;

private:
    struct Projected {
        Tensor query, key, value;
    };
    Projected projected(const Tensor& query, const Tensor& key, const Tensor& value) const;
    std::int64_t embed_dim_, num_heads_;
    double dropout_;
    bool batch_first_;
};

struct RotaryEmbeddingOptions {
    double base = 10000;
    bool interleaved = false; // pairs of neighbouring features, not of halves
};
// x [..., T, dim], queries or keys of heads: the pair of features i at position t is turned by t / base^(2 i / dim).
class RotaryEmbedding : public Module {
public:
    explicit RotaryEmbedding(std::int64_t dim, const RotaryEmbeddingOptions& = {});
    Tensor forward(Tensor x) override { return (*this)(x, 0); }
    using Module::operator();
    Tensor operator()(const Tensor& x, const Dim& offset) const; // position of the first row

private:
    std::int64_t dim_;
    bool interleaved_;
    Tensor frequencies_; // [dim / 2]
};

enum class TransformerActivation { relu, gelu };
struct TransformerEncoderLayerOptions {
    std::int64_t dim_feedforward = 2048;
    double dropout = 0.1;
    TransformerActivation activation = TransformerActivation::relu;
    double layer_norm_eps = 1e-5;
    bool batch_first = false;
    bool norm_first = false; // before each part, not behind its residual sum
    bool bias = true;
};
// Self-attention and two linear maps, each with dropout, a residual sum and a norm: [T, N, d_model] to the same.
class TransformerEncoderLayer : public Module {
public:
    TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                            const TransformerEncoderLayerOptions& = {});
    Tensor forward(Tensor x) override { return (*this)(x, MultiheadAttentionMasks{}); }
    Tensor operator()(const Tensor& x, const MultiheadAttentionMasks& masks);
    using Module::operator();
    MultiheadAttention self_attn;
    Linear linear1, linear2;
    LayerNorm norm1, norm2;
    Dropout dropout, dropout1, dropout2;

private:
    TransformerActivation activation_;
    bool norm_first_;
};

} // namespace reprise::nn
