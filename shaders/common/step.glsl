// Shared by the optimizer steps (ops/step.hpp describes the record).  One launch updates MEMBERS parameters: each
// member has operands, floats and ints; the operands of all members come first, then all floats, then all ints.  The
// ints are the first workgroup and the number of elements, with STOCHASTIC then seed and ordinal, low words first.  The
// including file defines OPERANDS and FLOATS (their numbers per member), NUMBERS_AT (the operand of a member's first
// number) and, for loads and stores through the slab's views, TEXELS.  A workgroup computes 4096 elements of one
// member, in f32 also for narrow dtypes.  Needs abi.glsl.
#include "common/vocabulary.glsl"
#include "common/philox.glsl"
#include "common/dtypes.glsl"
layout(local_size_x = 64) in;

#ifdef DOUBLE
#define REAL_WORDS 2u
#else
#define REAL_WORDS 1u
#endif

layout(constant_id = 0) const uint MEMBERS = 1;
layout(constant_id = 1) const uint IN_MEMORY = 0; // bit k: number k is in memory
// Dtypes of the parameter, its gradient and its moments, which are u8 where they are blocks of ops/dynamic8.inc.
layout(constant_id = 2) const uint PARAM = 0;
layout(constant_id = 3) const uint GRAD = 0;
layout(constant_id = 4) const uint MOMENTS = 0;
layout(constant_id = 5) const uint STOCHASTIC = 0; // rounds results of bf16 stochastically
layout(constant_id = 6) const uint NON_NEGATIVE = 0; // bit 1 + i: moment i is an average of squares
layout(constant_id = 7) const uint LOW = 0; // dtype of the parameter in 16 bits, whose master copy is updated; 0: none

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Operands { Operand v[]; };

const uint ROUNDS = 16u; // texels per invocation: finding its member costs as much as several texels
const uint MAIN_INTS = 2u, RANDOM_INTS = 4u;

uint member_int(uint m, uint k)
{
    const uint ints = MAIN_INTS + (STOCHASTIC != 0u ? RANDOM_INTS : 0u);
    return uint(Ints(record).v[(4u * OPERANDS + REAL_WORDS * FLOATS) * MEMBERS + ints * m + k]);
}

// Binary search: returns the last member whose first workgroup is at most this one; empty members have no workgroups.
uint find_member(uint workgroup)
{
    uint low = 0u, high = MEMBERS;
    while (high - low > 1u) {
        const uint middle = (low + high) >> 1;
        const bool before = member_int(middle, 0u) <= workgroup;
        low = before ? middle : low;
        high = before ? high : middle;
    }
    return low;
}

struct Part {
    uint member, first, count; // first texel of this invocation; the next ones are gl_WorkGroupSize.x apart
};
Part find_part()
{
    const uint workgroup = flat_group();
    Part p;
    p.member = find_member(workgroup);
    p.first = (workgroup - member_int(p.member, 0u)) * gl_WorkGroupSize.x * ROUNDS + gl_LocalInvocationID.x;
    p.count = member_int(p.member, 1u);
    return p;
}

Operand operand(Part p, uint k) { return Operands(record).v[p.member * OPERANDS + k]; }
REAL scalar(Part p, uint k)
{
    return Reals(record).v[4u / REAL_WORDS * OPERANDS * MEMBERS + p.member * FLOATS + k];
}
REAL number(Part p, uint k)
{
    REAL v = scalar(p, k);
    if ((IN_MEMORY >> k & 1u) != 0u)
        v = Reals(operand(p, NUMBERS_AT + k).address).v[0];
    return v;
}

// Loads and stores of the texel `at`: four elements.
#ifdef DOUBLE
dvec4 load(Operand from, uint at, uint dtype)
{
    const uvec4 e = 4u * at + (2u * at + 1u < from.units ? uvec4(0u, 1u, 2u, 3u) : uvec4(0u, 1u, 0u, 0u));
    Reals r = Reals(from.address);
    return dvec4(r.v[e.x], r.v[e.y], r.v[e.z], r.v[e.w]);
}
void store(Operand to, uint at, uint dtype, dvec4 v)
{
    Reals r = Reals(to.address);
    r.v[4u * at] = v.x;
    r.v[4u * at + 1u] = v.y;
    if (2u * at + 1u >= to.units) return;
    r.v[4u * at + 2u] = v.z;
    r.v[4u * at + 3u] = v.w;
}
#else
vec4 load(Operand from, uint at, uint dtype)
{
    vec4 v;
#ifdef TEXELS
    if (dtype == DTYPE_F32) v = texelFetch(slab, int(from.texel + at));
    else
#endif
        v = floats_of(load4_bits(from.address, dtype, at), dtype);
    return v;
}
void store_bits(Operand to, uint at, uint dtype, uvec4 bits)
{
#ifdef TEXELS
    if (dtype == DTYPE_F32) slab_window[WINDOW_OF(to.texel)].v[IN_WINDOW(to.texel) + at] = uintBitsToFloat(bits);
    else
#endif
        store4_bits(to.address, dtype, at, bits);
}
void store(Operand to, uint at, uint dtype, vec4 v) { store_bits(to, at, dtype, bits_of(v, dtype)); }
#endif
