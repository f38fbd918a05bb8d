// What the steps of optimizers share (ops/step.hpp has the record).  The including file defines OPERANDS,
// FLOATS, NUMBERS_AT (the operand of the first number) and, for loads and stores through the slab's views,
// TEXELS.  An invocation makes 4 elements; groups = ceil(count / 256).
layout(local_size_x = 64) in;

layout(constant_id = 0) const uint IN_MEMORY = 0; // bit k: number k is in memory

float number(uint k)
{
    float v = record.f[k];
    if ((IN_MEMORY >> k & 1u) != 0u)
        v = Floats(record.operand[NUMBERS_AT + k].address).v[0];
    return v;
}

#ifdef TEXELS
vec4 load(Operand from, uint group) { return texelFetch(slab, int(from.texel + group)); }
void store(Operand to, uint group, vec4 v)
{
    slab_window[WINDOW_OF(to.texel)].v[IN_WINDOW(to.texel) + group] = v;
}
#else
vec4 load(Operand from, uint group) { return Vec4s(from.address).v[group]; }
void store(Operand to, uint group, vec4 v) { Vec4s(to.address).v[group] = v; }
#endif
