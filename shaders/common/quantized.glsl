// Matrices of QuantizedTensor (include/reprise/quantized.hpp), as their formats lay them out.  Rows follow each other
// without gaps, so that the place of an element follows from its row-major index e.  `columns` is the length of a row.
// The including file defines FORMAT_CONSTANT, the number of the specialization constant for the format.
//
//   Q8_0   34 bytes for 32 elements: scale (f16), 32 i8
//   Q4_0   18 bytes for 32 elements: scale (f16), 16 bytes; byte j has element j in its low half, j + 16 in its high
//          half
//   Q4_K   144 bytes for 256 elements: scale and minimum (f16); 12 bytes with a scale and a minimum of 6 bits for each
//          32 elements; 128 bytes, 32 for each 64 elements, with the first 32 in the low halves
//   INT8   a scale (f32) and a row of i8
//
// Four elements from a multiple of 4 on have one scale and neighbouring bytes.  Needs abi.glsl, index.glsl and
// vocabulary.glsl.
#ifndef COMMON_QUANTIZED
#define COMMON_QUANTIZED
const uint Q8_0 = 0u, Q4_0 = 1u, Q4_K = 2u, INT8 = 3u; // reprise::QuantizedFormat
layout(constant_id = FORMAT_CONSTANT) const uint FORMAT = Q8_0;

layout(buffer_reference, std430, buffer_reference_align = 4) readonly restrict buffer ReadWords { uint v[]; };

// Functions have one return each, as the branches of others remain in the code of SwiftShader.
uint byte_of(uint e, uint columns)
{
    uint byte;
    if (FORMAT == Q8_0) byte = e / 32u * 34u + 2u + e % 32u;
    else if (FORMAT == Q4_0) byte = e / 32u * 18u + 2u + e % 16u;
    else if (FORMAT == Q4_K) byte = e / 256u * 144u + 16u + e % 256u / 64u * 32u + e % 32u;
    else byte = (quotient(e, columns) + 1u) * 4u + e;
    return byte;
}
// The first byte of the block that has the scale of an element.
uint block_of(uint e, uint columns)
{
    uint byte;
    if (FORMAT == Q8_0) byte = e / 32u * 34u;
    else if (FORMAT == Q4_0) byte = e / 32u * 18u;
    else if (FORMAT == Q4_K) byte = e / 256u * 144u;
    else byte = quotient(e, columns) * (columns + 4u);
    return byte;
}

// An element is scale * q - minimum.
struct Scale {
    float scale, minimum;
};
// The words that have the scale of an element.
uvec4 load_scale(uvec2 address, uint e, uint columns)
{
    ReadWords from = ReadWords(address);
    const uint word = block_of(e, columns) / 4u;
    uvec4 words = uvec4(from.v[word]);
    if (FORMAT == Q4_K) words = uvec4(words.x, from.v[word + 1u], from.v[word + 2u], from.v[word + 3u]);
    return words;
}
Scale scale_of(uvec4 words, uint e)
{
    Scale s;
    s.minimum = 0.0;
    if (FORMAT == INT8) {
        s.scale = uintBitsToFloat(words.x);
    } else if (FORMAT == Q4_K) {
        const uint part = e % 256u / 32u, shift = part % 4u * 8u;
        const uint low = words.y >> shift, middle = words.z >> shift, high = words.w >> shift; // low bytes count
        const bool first = part < 4u;
        const uint scale = first ? low & 63u : (high & 15u) | (low & 0xC0u) >> 2;
        const uint minimum = first ? middle & 63u : (high & 0xF0u) >> 4 | (middle & 0xC0u) >> 2;
        precise float d = rp_from_f16(words.x & 0xFFFFu) * float(scale);
        precise float m = rp_from_f16(words.x >> 16) * float(minimum);
        s.scale = d;
        s.minimum = m;
    } else {
        const uint shift = block_of(e, 1u) % 4u * 8u; // blocks begin at even bytes
        s.scale = rp_from_f16(words.x >> shift & 0xFFFFu);
    }
    return s;
}

// The words that have four elements from e, a multiple of 4, on; they begin in the first one.
uvec2 load_four(uvec2 address, uint e, uint columns)
{
    ReadWords from = ReadWords(address);
    const uint byte = byte_of(e, columns);
    uvec2 words = uvec2(from.v[byte / 4u]);
    if (FORMAT == Q8_0 || FORMAT == Q4_0) words.y = from.v[(byte + 3u) / 4u];
    return words;
}
// The whole numbers of four bytes, those of i8 or halves of bytes.
vec4 whole_numbers(uint bytes, uint e)
{
    ivec4 q;
    if (FORMAT == Q8_0 || FORMAT == INT8) {
        q = ivec4(int(bytes << 24), int(bytes << 16), int(bytes << 8), int(bytes)) >> ivec4(24);
    } else {
        const bool is_high = FORMAT == Q4_0 ? e % 32u >= 16u : e % 64u >= 32u;
        const uint halves = is_high ? bytes >> 4 : bytes;
        q = ivec4(uvec4(halves, halves >> 8, halves >> 16, halves >> 24) & uvec4(15u));
        if (FORMAT == Q4_0) q = q - ivec4(8);
    }
    return vec4(q);
}
// The elements of the four bytes that element e begins.
vec4 dequantized(uint bytes, Scale s, uint e)
{
    precise vec4 v = vec4(s.scale) * whole_numbers(bytes, e);
    if (FORMAT == Q4_K) v = v - vec4(s.minimum);
    return v;
}
uint joined(uvec2 four, uint e) // the four bytes of load_four()
{
    uint bytes = four.x;
    if (FORMAT == Q8_0 || FORMAT == Q4_0) // begins at an even byte
        bytes = byte_of(e, 1u) % 4u == 0u ? four.x : four.x >> 16 | four.y << 16;
    return bytes;
}
// The bytes of 16 elements from e, a multiple of 16 in its row, on.
uvec4 load_sixteen(uvec2 address, uint e, uint columns)
{
    ReadWords from = ReadWords(address);
    const uint byte = byte_of(e, columns), word = byte / 4u;
    uvec4 words = uvec4(from.v[word], from.v[word + 1u], from.v[word + 2u], from.v[word + 3u]);
    if (FORMAT == Q8_0 || FORMAT == Q4_0) {
        const uvec4 next = uvec4(words.y, words.z, words.w, from.v[(byte + 15u) / 4u]);
        words = byte % 4u == 0u ? words : words >> uvec4(16u) | next << uvec4(16u);
    }
    return words;
}
vec4 dequantized_four(uvec2 address, uint e, uint columns)
{
    const Scale s = scale_of(load_scale(address, e, columns), e);
    return dequantized(joined(load_four(address, e, columns), e), s, e);
}
float dequantized_one(uvec2 address, uint e, uint columns)
{
    const uint byte = byte_of(e, columns);
    const uint bits = ReadWords(address).v[byte / 4u] >> byte % 4u * 8u;
    const Scale s = scale_of(load_scale(address, e, columns), e);
    precise float v = s.scale * whole_numbers(bits, e).x;
    if (FORMAT == Q4_K) v = v - s.minimum;
    return v;
}
#endif
