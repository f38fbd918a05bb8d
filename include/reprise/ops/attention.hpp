// Scaled dot product attention and rotary position embedding.
#pragma once
#include <concepts>
#include <optional>
#include <utility>

#include <reprise/tensor.hpp>

namespace reprise {

// Which corner of the [T, S] matrix the causal mask starts from when there are T queries and S keys.
// upper_left: query t sees keys 0 to t, as in PyTorch.  lower_right: query t sees keys 0 to t + S - T, so
// that the last query sees all keys, as needed when the keys of earlier positions come from a cache.
enum class CausalAlignment { upper_left, lower_right };
// Options of scaled_dot_product_attention().
struct AttentionOptions {
    // Broadcasts to [..., T, S].  A mask of the query's dtype is added to the scores.  With bools or integers a
    // key takes part where the mask is true or not 0.
    Tensor attn_mask = {};
    double dropout_p = 0; // the probability with which a weight is dropped
    // Adds a causal mask; with attn_mask too, a key takes part where both masks allow it.
    bool is_causal = false;
    std::optional<double> scale = std::nullopt; // factor of the scores; nullopt: 1 / sqrt(features)
    // Grouped queries: the inputs are [..., heads, length, features], and the number of the query's heads is
    // a multiple of that of the key's and value's; consecutive heads of the query share a head of key and
    // value.
    bool enable_gqa = false;
    CausalAlignment causal_alignment = CausalAlignment::upper_left; // of is_causal
    double softcap = 0; // c > 0: scores become c tanh(scores / c) before the masks; 0: unchanged
};
// softmax(scale query key^T + mask) value (Vaswani et al., 2017): query [..., T, E], key [..., S, E], value
// [..., S, F] -> [..., T, F], of the inputs' one floating dtype; leading dimensions broadcast.  A query whose
// keys are all masked gives zeros.  In memory the result is ordered as [..., T, heads, F], so that merging
// the heads after a transpose copies nothing.  Errors: shape, dtype; argument for dropout_p outside [0, 1],
// softcap below 0, and a symbolic E without scale.
//
// A matrix of T x S weights is stored, here and for the gradient,
//   - on CPUs: with at most 512 keys, or more than 128 features;
//   - on GPUs: with fewer than 16 queries, or more than 256 features;
//   - on all: with a symbolic number of features, and with grouped heads of more than 128 features.
// Grouped heads of at most 128 features store none.  Softcap, second gradients and the gradient of an added
// mask store such matrices, too.
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
// The same with a mask only.
template <std::derived_from<Tensor> Mask>
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const Mask& attn_mask)
{
    return scaled_dot_product_attention(query, key, value, attn_mask, 0.0);
}

// Which matrix scaled_dot_product_attention_with_scores() returns: the products of queries and keys times the
// scale; the same after softcap; the same after the masks too (-infinity where a key does not take part); or
// the weights before dropout.
enum class AttentionScores { products, capped, masked, weights };
// scaled_dot_product_attention() and the chosen scores [..., T, S].  Always stores that matrix.
std::pair<Tensor, Tensor> scaled_dot_product_attention_with_scores(
    const Tensor& query, const Tensor& key, const Tensor& value, const AttentionOptions& = {},
    AttentionScores = AttentionScores::weights);

// Rotary position embedding (Su et al., 2021): rotates pairs of features,
// (a, b) -> (a cos - b sin, b cos + a sin).  x [..., D] of a floating dtype, D even; cos and sin broadcast to
// [..., D / 2].  Pair i is features i and i + D / 2, or with `interleaved` 2 i and 2 i + 1.  Error(shape)
// where the shapes do not fit.
Tensor rotary_embedding(const Tensor& x, const Tensor& cos, const Tensor& sin, bool interleaved = false);

} // namespace reprise
