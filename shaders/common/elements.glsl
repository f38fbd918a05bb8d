// Loads and stores elements of an operand as bits.  A group is 4 neighbouring elements at a multiple of 4, in a tensor
// that starts 16-byte aligned.  With SLAB the including file defines PATH: 0 loads and stores by address, 1 uses the
// slab's views if elements have 4 bytes.  Needs abi.glsl, dtypes.glsl.
#ifndef COMMON_ELEMENTS
#define COMMON_ELEMENTS
#ifdef SLAB
bool by_views(uint dtype) { return PATH == 1 && is_word(dtype); }
#endif

uvec4 load_group(Operand o, uint dtype, uint group)
{
    uvec4 bits;
#ifdef SLAB
    if (by_views(dtype)) bits = floatBitsToUint(texelFetch(slab, int(o.texel + group)));
    else
#endif
        bits = load4_bits(o.address, dtype, group);
    return bits;
}
uint load_element(Operand o, uint dtype, uint e)
{
    uint bits;
#ifdef SLAB
    if (by_views(dtype)) {
        e += (o.address.x >> 2) & 3u; // a view may begin inside of a texel
        uvec4 texel = floatBitsToUint(texelFetch(slab, int(o.texel + (e >> 2))));
        uvec2 half_texel = (e & 2u) != 0u ? texel.zw : texel.xy;
        bits = (e & 1u) != 0u ? half_texel.y : half_texel.x;
    } else
#endif
        bits = load_bits(o.address, dtype, e);
    return bits;
}
void store_group(Operand o, uint dtype, uint group, uvec4 bits)
{
#ifdef SLAB
    if (by_views(dtype))
        slab_window[WINDOW_OF(o.texel)].v[IN_WINDOW(o.texel + group)] = uintBitsToFloat(bits);
    else
#endif
        store4_bits(o.address, dtype, group, bits);
}
#endif
