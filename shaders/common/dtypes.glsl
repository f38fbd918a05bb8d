// Element types in memory.  Narrow types are packed: f16, bf16 and i16 two in a word, bool, i8 and u8 four.  Values are
// loaded as bits, then interpreted as float, int or bool; loads and stores convert any dtype into any other:
//   float -> f16, bf16   to nearest even          float -> i32   toward zero, saturating, NaN gives 0
//   integers -> float    to nearest                float, int -> i16, i8, u8   by i32, the low bits
//   bool -> number       0 or 1                   number -> bool  not zero; NaN is true
// Needs abi.glsl and vocabulary.glsl.
#ifndef COMMON_DTYPES
#define COMMON_DTYPES

// reprise::DType; i64 and f64 have separate kernels
const uint DTYPE_F32 = 0, DTYPE_F16 = 1, DTYPE_BF16 = 2, DTYPE_F64 = 3, DTYPE_I32 = 4, DTYPE_I64 = 5,
           DTYPE_I16 = 6, DTYPE_I8 = 7, DTYPE_U8 = 8, DTYPE_BOOL = 9;

bool is_word(uint dtype) { return dtype == DTYPE_F32 || dtype == DTYPE_I32; }
bool is_half(uint dtype) { return dtype == DTYPE_F16 || dtype == DTYPE_BF16; }
bool is_two_bytes(uint dtype) { return is_half(dtype) || dtype == DTYPE_I16; }

// Sign-extends the bits of an integer.
int extended(uint b, uint dtype)
{
    int v = int(b);
    if (dtype == DTYPE_I16) v = int(b << 16) >> 16;
    else if (dtype == DTYPE_I8) v = int(b << 24) >> 24;
    return v;
}

float float_of(uint b, uint dtype)
{
    float v;
    if (dtype == DTYPE_F32) v = uintBitsToFloat(b);
    else if (dtype == DTYPE_BF16) v = uintBitsToFloat(b << 16);
    else if (dtype == DTYPE_F16) v = rp_from_f16(b);
    else if (dtype == DTYPE_BOOL) v = b != 0u ? 1.0 : 0.0;
    else v = float(extended(b, dtype));
    return v;
}
int int_of(uint b, uint dtype)
{
    int v;
    if (dtype == DTYPE_F32 || is_half(dtype)) v = rp_to_i32(float_of(b, dtype));
    else if (dtype == DTYPE_BOOL) v = int(b != 0u);
    else v = extended(b, dtype);
    return v;
}
bool bool_of(uint b, uint dtype)
{
    uint sign = dtype == DTYPE_F32 ? 0x80000000u : (is_half(dtype) ? 0x8000u : 0u);
    return (b & ~sign) != 0u;
}

uint bits_of(float v, uint dtype)
{
    uint b;
    if (dtype == DTYPE_F32) b = floatBitsToUint(v);
    else if (dtype == DTYPE_BF16) b = rp_to_bf16(v);
    else if (dtype == DTYPE_F16) b = rp_to_f16(v);
    else if (dtype == DTYPE_BOOL) b = uint(rp_is_nonzero(v));
    else b = uint(rp_to_i32(v));
    return b;
}
uint bits_of(int v, uint dtype)
{
    uint b;
    if (dtype == DTYPE_F32 || is_half(dtype)) b = bits_of(float(v), dtype);
    else if (dtype == DTYPE_BOOL) b = uint(v != 0);
    else b = uint(v);
    return b;
}
uint bits_of(bool v, uint dtype) { return bits_of(int(v), dtype); }

// Conversions of four elements, by loops where unrolled code would make every kernel long.
vec4 floats_of(uvec4 b, uint dtype)
{
    vec4 v;
    if (dtype == DTYPE_F32) v = uintBitsToFloat(b);
    else for (uint j = 0; j < 4; ++j) v[j] = float_of(b[j], dtype);
    return v;
}
ivec4 ints_of(uvec4 b, uint dtype)
{
    ivec4 v;
    if (dtype == DTYPE_I32) v = ivec4(b);
    else for (uint j = 0; j < 4; ++j) v[j] = int_of(b[j], dtype);
    return v;
}
bvec4 bools_of(uvec4 b, uint dtype)
{
    return bvec4(bool_of(b.x, dtype), bool_of(b.y, dtype), bool_of(b.z, dtype), bool_of(b.w, dtype));
}
uvec4 bits_of(vec4 v, uint dtype)
{
    uvec4 b;
    if (dtype == DTYPE_F32) b = floatBitsToUint(v);
    else for (uint j = 0; j < 4; ++j) b[j] = bits_of(v[j], dtype);
    return b;
}
uvec4 bits_of(ivec4 v, uint dtype)
{
    uvec4 b;
    if (dtype == DTYPE_I32) b = uvec4(v);
    else for (uint j = 0; j < 4; ++j) b[j] = bits_of(v[j], dtype);
    return b;
}
uvec4 bits_of(bvec4 v, uint dtype)
{
    uint half_one = dtype == DTYPE_F16 ? 0x3C00u : 0x3F80u;
    return uvec4(v) * (dtype == DTYPE_F32 ? 0x3F800000u : (is_half(dtype) ? half_one : 1u));
}

// Loads element e of a tensor, whose first element may begin inside of a word.
uint load_bits(uvec2 address, uint dtype, uint e)
{
    uint inside = address.x & 3u;
    Words w = Words(uvec2(address.x & ~3u, address.y));
    uint bits;
    if (is_word(dtype)) {
        bits = w.v[e];
    } else if (is_two_bytes(dtype)) {
        e += inside >> 1;
        bits = (w.v[e >> 1] >> (16u * (e & 1u))) & 0xFFFFu;
    } else {
        e += inside;
        bits = (w.v[e >> 2] >> (8u * (e & 3u))) & 0xFFu;
    }
    return bits;
}
// Loads element e of a tensor of f16 or bf16; takes fewer registers than float_of(load_bits()).
float load_half(uvec2 address, uint dtype, uint e)
{
    e += (address.x & 3u) >> 1;
    const uint word = Words(uvec2(address.x & ~3u, address.y)).v[e >> 1];
    const uint bits = (word >> (16u * (e & 1u))) & 0xFFFFu;
    return dtype == DTYPE_BF16 ? uintBitsToFloat(bits << 16) : rp_from_f16(bits);
}
// A group is 4 neighbouring elements at a multiple of 4, in a tensor that starts 16-byte aligned: whole words.
uvec4 load4_bits(uvec2 address, uint dtype, uint group)
{
    uvec4 bits;
    if (is_word(dtype)) {
        bits = floatBitsToUint(Vec4s(address).v[group]);
    } else if (is_two_bytes(dtype)) {
        const uvec2 words = Longs(address).v[group];
        bits = uvec4(words.x, words.x >> 16, words.y, words.y >> 16) & 0xFFFFu;
    } else {
        bits = (uvec4(Words(address).v[group]) >> uvec4(0u, 8u, 16u, 24u)) & 0xFFu;
    }
    return bits;
}
void store4_bits(uvec2 address, uint dtype, uint group, uvec4 bits)
{
    if (is_word(dtype)) {
        Vec4s(address).v[group] = uintBitsToFloat(bits);
    } else if (is_two_bytes(dtype)) {
        bits &= 0xFFFFu;
        Longs(address).v[group] = uvec2(bits.x | bits.y << 16, bits.z | bits.w << 16);
    } else {
        bits &= 0xFFu;
        Words(address).v[group] = bits.x | (bits.y << 8) | (bits.z << 16) | (bits.w << 24);
    }
}
#endif
