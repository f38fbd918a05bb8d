// Reductions for GPUs: several invocations of a workgroup, its lanes, reduce the elements of an output, or of a part of
// it.  Included by common/reduce.glsl.
//
// Numeric class, a pure function of n and the number of outputs: the same bits in every variant, for any strides.
//   part      c of C: `length` consecutive elements, a multiple of 4 * lanes
//   lane      l of L takes the fours l, l + L, ... of a part.  Elements i of its fours are added to accumulator i, in
//             order; the four are added (0 + 1) + (2 + 3).
//   tree      the sums of lanes i and i + L / 2 are added, then those of i and i + L / 4, ...
//   output    if C > 1, the results of the parts are reduced by a launch of their own, with n = C
//
//   lane_bits  log2 of L
//   groups     ceil(outputs * C * L / 256)
#include "common/tree.glsl"
layout(local_size_x = 256) in;

shared VALUE of_lanes[256];

// Returns the element of a value that is loaded for element e, or the identity from `end` on.
#ifdef ROWS
VALUE inside(VALUE v, uint e, uint end)
{
    if (RAGGED == 0u) return v;
    return VALUE(v.x, e + 1u < end ? v.y : IDENTITY, e + 2u < end ? v.z : IDENTITY, e + 3u < end ? v.w : IDENTITY);
}
#endif

void main()
{
    const uint n = uint(record.n[0]), outputs = uint(record.n[1]), parts = uint(record.n[2]);
    const uint bits = uint(record.n[3]), length = uint(record.n[4]);
    const Operand x = record.operand[0], result = record.operand[OPERANDS - 1];
#ifdef CHAIN
    start_chain();
#endif
    const Dims kept = read_dims(5u, KEPT), reduced = read_dims(5u + 2u * KEPT, REDUCED);
    const uint i = gl_LocalInvocationIndex, lanes = 1u << bits, teams = 256u >> bits;
    const bool adjacent = OUTPUTS_ADJACENT != 0u; // neighbouring invocations: outputs, or lanes
    const uint lane = adjacent ? i >> (8u - bits) : i & (lanes - 1u), team = adjacent ? i & (teams - 1u) : i >> bits;
    const uint index = flat_group() * teams + team;
    const bool exists = index < outputs * parts;
    const uint major = quotient(min(index, outputs * parts - 1u), adjacent ? outputs : parts);
    const uint minor = min(index, outputs * parts - 1u) - major * (adjacent ? outputs : parts);
    const uint o = adjacent ? minor : major, part = adjacent ? major : minor;
    const uint begin = part * length, end = exists ? min(begin + length, n) : begin;

    const uint origin = origin_of(o, kept);
    VALUE a0 = VALUE(IDENTITY);
#ifdef ROWS
    for (uint e = begin + 4u * lane; e < end; e += 4u * lanes) {
        const Walk w = walk_from(origin, e, reduced);
        a0 = combine(a0, inside(LOAD(w.at), e, end));
    }
    ELEMENT total = combine(combine(a0.x, a0.y), combine(a0.z, a0.w));
#else
    VALUE a1 = a0, a2 = a0, a3 = a0;
    for (uint e = begin + 4u * lane; e < end; e += 4u * lanes) {
        Walk w = walk_from(origin, e, reduced);
        // An element from `end` on is a copy of the last one, so that no load is in a branch.
#define LOAD_INSIDE(i)                                       \
        const VALUE t##i = LOAD(w.at);                       \
        const bool is_inside##i = e + uint(i) < end;         \
        if (e + uint(i) + 1u < end) advance(w, reduced);
        LOAD_INSIDE(0)
        LOAD_INSIDE(1)
        LOAD_INSIDE(2)
        LOAD_INSIDE(3)
#define COMBINE_INSIDE(i) a##i = combine(a##i, is_inside##i ? t##i : VALUE(IDENTITY));
        COMBINE_INSIDE(0)
        COMBINE_INSIDE(1)
        COMBINE_INSIDE(2)
        COMBINE_INSIDE(3)
    }
    VALUE total = combine(combine(a0, a1), combine(a2, a3));
#endif

    of_lanes[i] = VALUE(total);
    barrier();
    COMBINE_LANES(combine, i, lane, lanes, adjacent ? teams : 1u)
    if (exists && lane == 0u) store(result, part * outputs + o, n == 0u ? VALUE(EMPTY) : of_lanes[i]);
}
