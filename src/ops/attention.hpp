// What the files of attention share.
#pragma once
#include "ops/lowering.hpp"
#include "ops/reference.hpp"

namespace reprise::ops {

// q [B, H, T, E], k [B, G, S, E], v [B, G, S, F]: H / G heads of queries share one of keys.
struct AttentionSizes {
    Dim batch, heads, key_heads, queries, keys, features, value_features;
    AttentionSizes(const Shape& q, const Shape& k, const Shape& v)
        : batch(q[0]), heads(q[1]), key_heads(k[1]), queries(q[2]), keys(k[2]), features(q[3]),
          value_features(v[3])
    {}
};

// A Dim of 1 where the weights are made as matrices, which is faster for few keys; 0 where they never lie in memory.
// A pure function of sizes and of what the call is.
Dim by_matrices(const AttentionSizes&, const graph::Attributes&);

// The weights are matrices with this many columns; also the numbers that dropout counts.
inline Dim attention_pitch(const Dim& keys) { return round_up(keys, 4); }

void lower_attention(Lowering&, const graph::Node&);
void lower_attention_vjp(Lowering&, const graph::Node&);
void reference_attention(const ReferenceArguments&);
void reference_attention_vjp(const ReferenceArguments&);

} // namespace reprise::ops
