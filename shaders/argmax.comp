#version 460
// The index of the largest element: the first of equal ones; the first NaN precedes all. An invocation reads the
// elements of one output, or of one run of them, in order.
//
//   RUNS       the first level: writes the values and indices of runs, [runs][outputs]
//   PARTIALS   the second level: computes the indices from those of the runs
//   count      elements per output, `stride` apart; the lists have the dimensions that are not reduced
//   groups     ceil(outputs / 64); with RUNS ceil(outputs * runs / 64)
// variants: argmax: ; argmax_runs: -DRUNS ; argmax_partials: -DPARTIALS
// variants: argmax_f64: -DDOUBLE ; argmax_runs_f64: -DDOUBLE -DRUNS ; argmax_partials_f64: -DDOUBLE -DPARTIALS
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/index.glsl"

layout(local_size_x = 64) in;

layout(constant_id = 0) const uint KEPT = 0; // number of dimensions that are not reduced

#if defined(PARTIALS)
RECORD(argmax_partials)
INPUT(values) INPUT(indices_of_runs) OUTPUT(indices)
INT(outputs) INT(runs)
END_RECORD
#elif defined(RUNS)
RECORD(argmax_runs)
INPUT(x) OUTPUT(values) OUTPUT(indices)
INT(outputs) INT(count) INT(stride) INT(runs) INT(run_size)
LIST(sizes) LIST(strides)
END_RECORD
#else
RECORD(argmax)
INPUT(x) OUTPUT(indices)
INT(outputs) INT(count) INT(stride)
LIST(sizes) LIST(strides)
END_RECORD
#endif

bool larger(REAL v, REAL best) { return v > best || (rp_is_nan(v) && !rp_is_nan(best)); }

void main()
{
    const uint outputs = uint(record.outputs);
    const uvec2 to = record.indices.address;
    const uint invocation = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
#ifdef PARTIALS
    const uint runs = uint(record.runs);
    const uvec2 values = record.values.address, of_runs = record.indices_of_runs.address;
    if (invocation >= outputs)
        return;
    uint at = invocation;
    REAL best = -rp_inf();
    int index = 0;
    for (uint run = 0u; run < runs; ++run) {
        const REAL v = Reals(values).v[at];
        const bool take = larger(v, best);
        best = take ? v : best;
        index = take || run == 0u ? Ints(of_runs).v[at] : index;
        at += outputs;
    }
    Ints(to).v[invocation] = index;
#else
    const uint count = uint(record.count), stride = uint(record.stride);
    const uvec2 from = record.x.address;
#ifdef RUNS
    const uint runs = uint(record.runs), run_size = uint(record.run_size);
    const uvec2 values = record.values.address;
#else
    const uint runs = 1u, run_size = count;
#endif
    uint size[MAX_RANK];
    int strides[MAX_RANK];
    for (uint d = 0u; d < KEPT; ++d) {
        size[d] = uint(record.lists[d]);
        strides[d] = record.lists[KEPT + d];
    }
    if (invocation >= outputs * runs)
        return;
    const uint run = quotient(invocation, outputs), o = invocation - run * outputs;
    const uint first = run * run_size, end = min(first + run_size, count);
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
