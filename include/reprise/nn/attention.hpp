// Attention.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

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
    Tensor output{};
    // Before dropout, [N, T, S], or [N, heads, T, S] where not averaged.  Computed only where it is used.
    Tensor weights{};
};
// Attention of several heads between projections: query [T, N, E], key [S, N, kdim], value [S, N, vdim] -> [T, N, E],
// or all without N.  Parameters in_proj_weight [3 E, E], or q_proj_weight, k_proj_weight and v_proj_weight where kdim
// or vdim differ, in_proj_bias [3 E], out_proj.weight, out_proj.bias.
class MultiheadAttention : public Module {
public:
    using Options = MultiheadAttentionOptions;
    using Module::Module;
    MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads, const MultiheadAttentionOptions& = {});
    Tensor forward(Tensor x) override; // of x to itself
    MultiheadAttentionOutput forward(Tensor query, Tensor key, Tensor value, MultiheadAttentionMasks = {});
    using Module::operator();
    MultiheadAttentionOutput operator()(Tensor query, Tensor key, Tensor value, MultiheadAttentionMasks = {},
                                        Place where = Place(std::source_location::current()));
    Variable in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias; // undefined without
    Linear out_proj{nullptr};

private:
    struct Projected {
        Tensor query, key, value;
    };
    Projected projected(const Tensor& query, const Tensor& key, const Tensor& value) const;
    std::int64_t embed_dim_ = 0, num_heads_ = 0;
    double dropout_ = 0;
    bool batch_first_ = false;
};

struct RotaryEmbeddingOptions {
    double base = 10000;
    bool interleaved = false; // pairs of neighbouring features, not of halves
};
// x [..., T, dim], queries or keys of heads: the pair of features i at position t is turned by t / base^(2 i / dim).
class RotaryEmbedding : public Module {
public:
    using Options = RotaryEmbeddingOptions;
    using Module::Module;
    explicit RotaryEmbedding(std::int64_t dim, const RotaryEmbeddingOptions& = {});
    Tensor forward(Tensor x) override { return forward(std::move(x), 0); }
    Tensor forward(Tensor x, Dim offset);
    Tensor operator()(Tensor x, Dim offset = 0, // position of the first row
                      Place where = Place(std::source_location::current()));
    std::string extra_repr() const override;

private:
    std::int64_t dim_ = 0;
    bool interleaved_ = false;
    std::vector<float> values_; // base^(-i / dim) for i = 0, 2, ...
    Tensor frequencies_;        // the same on the device of the construction
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
    using Options = TransformerEncoderLayerOptions;
    using Module::Module;
    TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead,
                            const TransformerEncoderLayerOptions& = {});
    Tensor forward(Tensor x) override { return forward(std::move(x), MultiheadAttentionMasks{}); }
    Tensor forward(Tensor x, MultiheadAttentionMasks);
    Tensor operator()(Tensor x, MultiheadAttentionMasks masks = {},
                      Place where = Place(std::source_location::current()));
    MultiheadAttention self_attn{nullptr};
    Linear linear1{nullptr}, linear2{nullptr};
    LayerNorm norm1{nullptr}, norm2{nullptr};
    Dropout dropout, dropout1, dropout2;

private:
    TransformerActivation activation_ = TransformerActivation::relu;
    bool norm_first_ = false;
};

} // namespace reprise::nn
