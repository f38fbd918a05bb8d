// Declarations shared by the files that implement attention.
#pragma once
#include "ops/lowering.hpp"
#include "ops/reference.hpp"

namespace reprise::ops {

// q [B, H, T, E], k [B, G, S, E], v [B, G, S, F]: H / G query heads share each key head.
struct AttentionSizes {
    Dim batch, heads, key_heads, queries, keys, features, value_features;
    AttentionSizes(const Shape& q, const Shape& k, const Shape& v)
        : batch(q[0]), heads(q[1]), key_heads(k[1]), queries(q[2]), keys(k[2]), features(q[3]),
          value_features(v[3])
    {}
};

// Returns the number of columns of the weight matrices. Dropout numbers the weights by it, too.
inline Dim attention_pitch(const Dim& keys) { return round_up(keys, 4); }

void lower_attention(Lowering&, const graph::Node&);
void lower_attention_vjp(Lowering&, const graph::Node&);
void reference_attention(const ReferenceArguments&);
void reference_attention_vjp(const ReferenceArguments&);

} // namespace reprise::ops
