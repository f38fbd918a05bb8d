// Attention.
#pragma once
#include <optional>

#include <reprise/tensor.hpp>

namespace reprise {

struct AttentionOptions {
    Tensor attn_mask = {};  // broadcasts to [..., T, S]: bool, true takes part; or numbers to be added
    double dropout_p = 0;   // of the weights
    bool is_causal = false; // query t sees keys 0 to t; not beside attn_mask
    std::optional<double> scale = std::nullopt; // 1 / sqrt(features)
};
// softmax(scale * query key^T + mask) value: [..., T, E], [..., S, E], [..., S, F] -> [..., T, F]; leading
// dimensions broadcast.  A query that no key is left for gives zeros.  In memory the last leading dimension (the
// heads) lies inside of T, so that transposing and flattening them copies nothing.
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const AttentionOptions& = {});

} // namespace reprise
