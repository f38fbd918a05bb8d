// Inclusive scans (sums and products) along one dimension of [outer, n, inner], where the other dimensions are merged.
// An invocation scans a block of 256 elements of one line.  Numeric class: a sum is two floats (its value and the
// accumulated rounding error, by Knuth's two-sum), so that its error is a few ulp at any n; a product is one float;
// integers wrap around.  The kernels of products also combine by maximum or minimum.
//
//   cumsum_totals   the total of each block; groups ceil(outer * blocks * inner / 64)
//   cumsum_carry    replaces each total by that of all blocks before it; groups ceil(outer * inner / 64)
//   cumsum          does not read totals if there is one block; groups as for cumsum_totals
//   constants       0: whether the elements of x are i32 (variants of i64); 1: how variants of products combine
//                   (0: product, 1: largest, 2: smallest)
// x and y are contiguous, totals [outer][blocks][inner][2].  For integers x is i64 or i32, all others are i64.
// variants: cumsum: ; cumsum_totals: -DTOTALS ; cumsum_carry: -DCARRY
// variants: cumsum_i64: -DLONG ; cumsum_totals_i64: -DLONG -DTOTALS ; cumsum_carry_i64: -DLONG -DCARRY
// variants: cumsum_f64: -DDOUBLE ; cumsum_totals_f64: -DDOUBLE -DTOTALS ; cumsum_carry_f64: -DDOUBLE -DCARRY
// variants: cumprod_f64: -DDOUBLE -DPRODUCT ; cumprod_totals_f64: -DDOUBLE -DPRODUCT -DTOTALS
// variants: cumprod_carry_f64: -DDOUBLE -DPRODUCT -DCARRY
// variants: cumprod: -DPRODUCT ; cumprod_totals: -DPRODUCT -DTOTALS ; cumprod_carry: -DPRODUCT -DCARRY
// variants: cumprod_i64: -DPRODUCT -DLONG ; cumprod_totals_i64: -DPRODUCT -DLONG -DTOTALS
// variants: cumprod_carry_i64: -DPRODUCT -DLONG -DCARRY
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;
const uint BLOCK = 256u;

#if defined(CARRY)
RECORD(cumsum_carry)
UPDATE(totals)
INT(outer) INT(n) INT(inner) INT(blocks)
END_RECORD
#elif defined(TOTALS)
RECORD(cumsum_totals)
INPUT(x) OUTPUT(totals)
INT(outer) INT(n) INT(inner) INT(blocks)
END_RECORD
#else
RECORD(cumsum)
INPUT(x) INPUT(totals) OUTPUT(y)
INT(outer) INT(n) INT(inner) INT(blocks)
END_RECORD
#endif

#ifdef LONG
#include "common/i64.glsl"
layout(constant_id = 0) const uint WORDS = 0; // the elements of x are i32
#define ELEMENT uvec2
#define Elements Longs
#define LOAD(at) load_long(x, WORDS, at)
#else
#define ELEMENT REAL
#define Elements Reals
#define LOAD(at) Elements(x).v[at]
#endif
#ifdef PRODUCT
layout(constant_id = 1) const uint HOW = 0;
const uint MULTIPLY = 0, LARGEST = 1, LEAST = 2;
#endif

ELEMENT value, rest; // the result so far: the sum value + rest, or the product in value

void combine(ELEMENT v)
{
#if defined(PRODUCT)
#ifdef LONG
    value = HOW == MULTIPLY ? rp_mul(value, v) : (HOW == LARGEST ? rp_max(value, v) : rp_min(value, v));
#else
    precise REAL product = value * v;
    const bool better = HOW == LARGEST ? v > value : v < value;
    value = HOW == MULTIPLY ? product : (better || rp_is_nan(v) ? v : value); // NaN stays
#endif
#elif defined(LONG)
    value = rp_add(value, v);
#else
    precise REAL sum = value + v;
    precise REAL added = sum - value;
    precise REAL left = (value - (sum - added)) + (v - added);
    precise REAL more = rest + left;
    const bool finite = !rp_is_nan(sum) && !rp_is_inf(sum);
    value = sum;
    rest = finite ? more : 0.0;
#endif
}

// Returns the identity of combine().
ELEMENT identity()
{
#if !defined(PRODUCT)
    return ELEMENT(0);
#elif defined(LONG)
    if (HOW == MULTIPLY) return uvec2(1u, 0u);
    // Selected word by word: lavapipe selects only the first word of a vector by a specialization constant.
    return uvec2(HOW == LARGEST ? 0u : 0xFFFFFFFFu, HOW == LARGEST ? 0x80000000u : 0x7FFFFFFFu);
#else
    const float infinite = rp_inf();
    return HOW == MULTIPLY ? ELEMENT(1) : ELEMENT(HOW == LARGEST ? -infinite : infinite);
#endif
}

ELEMENT result()
{
#if defined(PRODUCT) || defined(LONG)
    return value;
#else
    precise REAL sum = value + rest;
    return sum;
#endif
}

void main()
{
    const uint outer = uint(record.outer), n = uint(record.n), inner = uint(record.inner),
               blocks = uint(record.blocks);
    const uint invocation = flat_group() * 64u + gl_LocalInvocationID.x;
    value = identity();
    rest = ELEMENT(0);
#ifdef CARRY
    Elements totals = Elements(record.totals.address);
    if (invocation >= outer * inner)
        return;
    const uint o = quotient(invocation, inner), k = invocation - o * inner;
    for (uint b = 0u; b < blocks; ++b) {
        const uint at = ((o * blocks + b) * inner + k) * 2u;
        const ELEMENT of_block = totals.v[at], rest_of_block = totals.v[at + 1u];
        totals.v[at] = value;
        totals.v[at + 1u] = rest;
        combine(of_block);
#if !defined(PRODUCT) && !defined(LONG)
        precise REAL more = rest + rest_of_block;
        rest = more;
#endif
    }
#else
    const uvec2 x = record.x.address;
    Elements totals = Elements(record.totals.address);
    if (invocation >= outer * blocks * inner)
        return;
    const uint row = quotient(invocation, inner), k = invocation - row * inner;
    const uint o = quotient(row, blocks), b = row - o * blocks;
    const uint first = b * BLOCK, end = min(first + BLOCK, n);
#ifdef TOTALS
    for (uint e = first; e < end; ++e) combine(LOAD((o * n + e) * inner + k));
    totals.v[invocation * 2u] = value;
    totals.v[invocation * 2u + 1u] = rest;
#else
    Elements y = Elements(record.y.address);
    if (blocks > 1u) {
        value = totals.v[invocation * 2u];
        rest = totals.v[invocation * 2u + 1u];
    }
    for (uint e = first; e < end; ++e) {
        const uint at = (o * n + e) * inner + k;
        combine(LOAD(at));
        y.v[at] = result();
    }
#endif
#endif
}
