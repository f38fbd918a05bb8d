#version 460
// The index of the largest element: the first of equal ones, the first NaN before all.  An invocation goes
// through the elements of one output, or of one run of them, in order.
//
//   argmax            operands x, indices
//                     ints     outputs, n, stride, sizes[KEPT], strides[KEPT]
//   argmax_runs       operands x, values and indices of runs: [runs][outputs]
//                     ints     outputs, n, stride, runs, length of a run, sizes[KEPT], strides[KEPT]
//   argmax_partials   operands values and indices of runs, indices
//                     ints     outputs, runs
//   groups            ceil(outputs / 64); of argmax_runs ceil(outputs * runs / 64)
// variants: argmax: ; argmax_runs: -DRUNS ; argmax_partials: -DPARTIALS
// variants: argmax_f64: -DDOUBLE ; argmax_runs_f64: -DDOUBLE -DRUNS ; argmax_partials_f64: -DDOUBLE -DPARTIALS
#if defined(RUNS) || defined(PARTIALS)
#define OPERANDS 3
#else
#define OPERANDS 2
#endif
#define FLOATS 0
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/index.glsl"

layout(local_size_x = 64) in;

layout(constant_id = 0) const uint KEPT = 0; // dimensions

bool larger(REAL v, REAL best) { return v > best || (rp_is_nan(v) && !rp_is_nan(best)); }

void main()
{
    const uint outputs = uint(record.n[0]), n = uint(record.n[1]);
    const uvec2 from = record.operand[0].address;
    const uint invocation = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
#ifdef PARTIALS
    const uvec2 of_runs = record.operand[1].address, to = record.operand[2].address;
    if (invocation >= outputs)
        return;
    uint at = invocation;
    REAL best = -rp_inf();
    int index = 0;
    for (uint run = 0u; run < n; ++run) {
        const REAL v = Reals(from).v[at];
        const bool take = larger(v, best);
        best = take ? v : best;
        index = take || run == 0u ? Ints(of_runs).v[at] : index;
        at += outputs;
    }
    Ints(to).v[invocation] = index;
#else
    const uint stride = uint(record.n[2]);
#ifdef RUNS
    const uint sizes_at = 5u, runs = uint(record.n[3]), length = uint(record.n[4]);
    const uvec2 values = record.operand[1].address, to = record.operand[2].address;
#else
    const uint sizes_at = 3u, runs = 1u, length = n;
    const uvec2 to = record.operand[1].address;
#endif
    uint size[MAX_RANK];
    int strides[MAX_RANK];
    for (uint d = 0u; d < KEPT; ++d) {
        size[d] = uint(record.n[sizes_at + d]);
        strides[d] = record.n[sizes_at + KEPT + d];
    }
    if (invocation >= outputs * runs)
        return;
    const uint run = quotient(invocation, outputs), o = invocation - run * outputs;
    const uint first = run * length, end = min(first + length, n);
    uint at = first * stride;
    uint c[MAX_RANK];
    if (KEPT > 0u) {
        coordinates(o, KEPT, size, c);
        at += offset(KEPT, c, strides);
    }
    REAL best = -rp_inf();
    uint index = first;
    for (uint e = first; e < end; ++e) {
        const REAL v = Reals(from).v[at];
        const bool take = larger(v, best);
        best = take ? v : best;
        index = take ? e : index;
        at += stride;
    }
    Ints(to).v[invocation] = int(index);
#ifdef RUNS
    Reals(values).v[invocation] = best;
#endif
#endif
}
