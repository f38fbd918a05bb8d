// Attention, and positions for it.
#pragma once
#include <optional>

#include <reprise/tensor.hpp>

namespace reprise {

struct AttentionOptions {
    Tensor attn_mask = {};  // broadcasts to [..., T, S]: bool, true takes part; or numbers to be added
    double dropout_p = 0;   // of the weights
    bool is_causal = false; // query t sees keys 0 to t; not beside attn_mask
    std::optional<double> scale = std::nullopt; // 1 / sqrt(features)
    bool enable_gqa = false; // [..., heads, length, features]: several heads of queries share one of keys
};
// softmax(scale * query key^T + mask) value: [..., T, E], [..., S, E], [..., S, F] -> [..., T, F]; leading
// dimensions broadcast.  A query that no key is left for gives zeros.  In memory the last leading dimension (the
// heads) lies inside of T, so that transposing and flattening them copies nothing.
//
// Beyond 512 keys, and with a mask or with grouped heads, no matrix of T x S weights is made, neither here nor for the
// gradient, if the features are at most 128; the gradient by an added mask and second gradients make some.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& = {});

// Turns pairs of features by angles whose cosines and sines are given: (a, b) -> (a cos - b sin, b cos + a sin).
// x [..., D] with D even; cos and sin broadcast to [..., D / 2].  Pair i is features i and i + D / 2, or interleaved
// 2 i and 2 i + 1.
Tensor rotary_embedding(const Tensor& x, const Tensor& cos, const Tensor& sin, bool interleaved = false);

} // namespace reprise
