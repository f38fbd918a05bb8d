// y[e] = a[e] * y[e - 1] + b[e], with 0 before the first element, along one dimension; the dimensions on both sides
// are merged: [outer, n, inner]. An invocation computes a block of 256 elements of one line.
//
//   linear_scan_totals   for each block by itself: its last y, and the product of its a.
//                        groups  ceil(outer * blocks * inner / 64)
//   linear_scan_carry    replaces each last y by the y that precedes the block; groups ceil(outer * inner / 64)
//   linear_scan          does not read totals if there is one block; groups as for linear_scan_totals
// a, b and y are contiguous, totals [outer][blocks][inner][2].
// variants: linear_scan_f64: -DDOUBLE ; linear_scan_totals_f64: -DDOUBLE -DTOTALS
// variants: linear_scan_carry_f64: -DDOUBLE -DCARRY
// variants: linear_scan: ; linear_scan_totals: -DTOTALS ; linear_scan_carry: -DCARRY
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;
const uint BLOCK = 256u;

#if defined(CARRY)
RECORD(linear_scan_carry)
UPDATE(totals)
INT(outer) INT(n) INT(inner) INT(blocks)
END_RECORD
#elif defined(TOTALS)
RECORD(linear_scan_totals)
INPUT(a) INPUT(b) OUTPUT(totals)
INT(outer) INT(n) INT(inner) INT(blocks)
END_RECORD
#else
RECORD(linear_scan)
INPUT(a) INPUT(b) INPUT(totals) OUTPUT(y)
INT(outer) INT(n) INT(inner) INT(blocks)
END_RECORD
#endif

precise REAL next(REAL a, REAL y, REAL b)
{
    precise REAL product = a * y;
    return product + b;
}

void main()
{
    const uint outer = uint(record.outer), n = uint(record.n), inner = uint(record.inner),
               blocks = uint(record.blocks);
    const uint invocation = flat_group() * 64u + gl_LocalInvocationID.x;
    REAL value = 0.0;
#ifdef CARRY
    Reals totals = Reals(record.totals.address);
    if (invocation >= outer * inner)
        return;
    const uint o = quotient(invocation, inner), k = invocation - o * inner;
    for (uint b = 0u; b < blocks; ++b) {
        const uint at = ((o * blocks + b) * inner + k) * 2u;
        const REAL of_block = totals.v[at], product = totals.v[at + 1u];
        totals.v[at] = value;
        value = value == 0.0 ? of_block : next(product, value, of_block); // an infinite product times 0 would be NaN
    }
#else
    Reals factors = Reals(record.a.address), terms = Reals(record.b.address);
    Reals totals = Reals(record.totals.address);
#ifndef TOTALS
    Reals y = Reals(record.y.address);
#endif
    if (invocation >= outer * blocks * inner)
        return;
    const uint row = quotient(invocation, inner), k = invocation - row * inner;
    const uint o = quotient(row, blocks), b = row - o * blocks;
    const uint first = b * BLOCK, end = min(first + BLOCK, n);
#ifdef TOTALS
    precise REAL product = 1.0;
#else
    if (blocks > 1u)
        value = totals.v[invocation * 2u];
#endif
    for (uint e = first; e < end; ++e) {
        const uint at = (o * n + e) * inner + k;
        const REAL a = factors.v[at];
        value = next(a, value, terms.v[at]);
#ifdef TOTALS
        product = a == 0.0 || product == 0.0 ? 0.0 : product * a; // an infinite factor times 0 would be NaN
#else
        y.v[at] = value;
#endif
    }
#ifdef TOTALS
    totals.v[invocation * 2u] = value;
    totals.v[invocation * 2u + 1u] = product;
#endif
#endif
}
