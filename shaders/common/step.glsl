// Shared by the optimizer steps (ops/step.hpp describes the record).  One launch updates MEMBERS parameters: each
// member has operands, floats and two ints (its first workgroup, its number of elements); the operands of all members
// come first, then all floats, then all ints.  The including file defines OPERANDS and FLOATS (their numbers per
// member), NUMBERS_AT (the operand of a member's first number) and, for loads and stores through the slab's views,
// TEXELS.  A workgroup computes 4096 elements of one member.
layout(local_size_x = 64) in;

#ifdef DOUBLE
#define REAL_WORDS 2u
#else
#define REAL_WORDS 1u
#endif

layout(constant_id = 0) const uint MEMBERS = 1;
layout(constant_id = 1) const uint IN_MEMORY = 0; // bit k: number k is in memory

layout(buffer_reference, std430, buffer_reference_align = 16) readonly buffer Operands { Operand v[]; };

const uint ROUNDS = 16u; // texels per invocation: finding its member costs as much as several texels

uint member_int(uint m, uint k) { return uint(Ints(record).v[(4u * OPERANDS + REAL_WORDS * FLOATS) * MEMBERS + 2u * m + k]); }

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

// Where `skip`, the last number, is nonzero, a step writes the values that it has read.
REAL4 unless(bool skip, REAL4 before, REAL4 after) { return skip ? before : after; }

#ifdef TEXELS
REAL4 load(Operand from, uint at) { return texelFetch(slab, int(from.texel + at)); }
void store(Operand to, uint at, REAL4 v) { slab_window[WINDOW_OF(to.texel)].v[IN_WINDOW(to.texel) + at] = v; }
#elif defined(DOUBLE)
REAL4 load(Operand from, uint at)
{
    const uvec4 e = 4u * at + (2u * at + 1u < from.units ? uvec4(0u, 1u, 2u, 3u) : uvec4(0u, 1u, 0u, 0u));
    Reals r = Reals(from.address);
    return REAL4(r.v[e.x], r.v[e.y], r.v[e.z], r.v[e.w]);
}
void store(Operand to, uint at, REAL4 v)
{
    Reals r = Reals(to.address);
    r.v[4u * at] = v.x;
    r.v[4u * at + 1u] = v.y;
    if (2u * at + 1u >= to.units) return;
    r.v[4u * at + 2u] = v.z;
    r.v[4u * at + 3u] = v.w;
}
#else
REAL4 load(Operand from, uint at) { return Vec4s(from.address).v[at]; }
void store(Operand to, uint at, REAL4 v) { Vec4s(to.address).v[at] = v; }
#endif
