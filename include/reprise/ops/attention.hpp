// Attention, and positions for it.
#pragma once
#include <concepts>
#include <optional>
#include <utility>

#include <reprise/tensor.hpp>

namespace reprise {

enum class CausalAlignment { upper_left, lower_right };
struct AttentionOptions {
    // Broadcasts to [..., T, S]: numbers of the query's dtype to be added; or bool or integers, true or not 0 takes part.
    Tensor attn_mask = {};
    double dropout_p = 0;   // of the weights
    bool is_causal = false; // query t sees keys 0 to t; beside attn_mask it sees what both let it see
    std::optional<double> scale = std::nullopt; // 1 / sqrt(features)
    bool enable_gqa = false; // [..., heads, length, features]: several heads of queries share one of keys
    // Which keys is_causal counts from: the first ones (PyTorch), or the last one, so that the last query sees all keys,
    // as a part of a sequence beside the keys of all of it (a cache) asks for: query t sees keys 0 to t + S - T.
    CausalAlignment causal_alignment = CausalAlignment::upper_left;
    double softcap = 0; // c > 0: scores become c tanh(scores / c), before the mask
};
// softmax(scale * query key^T + mask) value: [..., T, E], [..., S, E], [..., S, F] -> [..., T, F]; leading
// dimensions broadcast.  A query that no key is left for gives zeros.  In memory the last leading dimension (the
// heads) lies inside of T, so that transposing and flattening them copies nothing.
//
// Beyond 512 keys, and with a mask or with grouped heads, no matrix of T x S weights is made, neither here nor for the
// gradient, if the features are at most 128; the gradient by an added mask and second gradients make some.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& = {});
// The same with PyTorch's arguments in their order.
inline Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                           const Tensor& attn_mask, double dropout_p, bool is_causal = false,
                                           std::optional<double> scale = std::nullopt,
                                           bool enable_gqa = false)
{
    return scaled_dot_product_attention(query, key, value,
                                        AttentionOptions{attn_mask, dropout_p, is_causal, scale, enable_gqa});
}
template <std::derived_from<Tensor> Mask>
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Mask& attn_mask)
{
    return scaled_dot_product_attention(query, key, value, attn_mask, 0.0);
}

// The same beside scores [..., T, S]: the products of queries and keys times the scale, the same after softcap, after
// the masks too (-infinity where nothing takes part), or the weights, before dropout.  Makes that matrix.
enum class AttentionScores { products, capped, masked, weights };
std::pair<Tensor, Tensor> scaled_dot_product_attention_with_scores(
    const Tensor& query, const Tensor& key, const Tensor& value, const AttentionOptions& = {},
    AttentionScores = AttentionScores::weights);

// Turns pairs of features by angles whose cosines and sines are given: (a, b) -> (a cos - b sin, b cos + a sin).
// x [..., D] with D even; cos and sin broadcast to [..., D / 2].  Pair i is features i and i + D / 2, or interleaved
// 2 i and 2 i + 1.
Tensor rotary_embedding(const Tensor& x, const Tensor& cos, const Tensor& sin, bool interleaved = false);

} // namespace reprise
