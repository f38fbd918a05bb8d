#version 460
// Quantises a matrix to a format of common/quantized.glsl (src/ops/quantize.inc).  An invocation writes whole words:
// two blocks of q8_0 or q4_0, a block of q4_k, or a row of int8.
//
//   x, y       contiguous
//   blocks     all of them; of int8 rows
//   columns    of a row
//   constant   0: the format
//   groups     ceil(blocks / 64), of q8_0 and q4_0 ceil(blocks / 128)
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/vocabulary.glsl"
#define FORMAT_CONSTANT 0
#include "common/quantized.glsl"
layout(local_size_x = 64) in;

RECORD(quantize)
INPUT(x) OUTPUT(y)
INT(blocks) INT(columns)
END_RECORD

uint word, written, at; // the word under construction, the bytes written, and the next word's index in y

float rp_element(uint i) { return ReadFloats(record.x.address).v[i]; }
void rp_put(uint byte)
{
    word |= byte << (written % 4u * 8u);
    ++written;
    if (written % 4u == 0u) {
        Words(record.y.address).v[at] = word;
        ++at;
        word = 0u;
    }
}
#include "ops/quantize.inc"

void main()
{
    const uint blocks = uint(record.blocks), columns = uint(record.columns);
    const uint each = FORMAT == Q8_0 || FORMAT == Q4_0 ? 2u : 1u;
    const uint length = FORMAT == INT8 ? columns : FORMAT == Q4_K ? 256u : 32u;
    const uint first = (flat_group() * 64u + gl_LocalInvocationID.x) * each;
    if (first >= blocks) return;
    word = written = 0u;
    at = block_of(first * length, columns) / 4u;
    for (uint b = first; b < min(first + each, blocks); ++b) {
        if (FORMAT == Q8_0) rp_put_q8_0(b * length);
        else if (FORMAT == Q4_0) rp_put_q4_0(b * length);
        else if (FORMAT == Q4_K) rp_put_q4_k(b * length);
        else rp_put_int8(b * length, columns);
    }
    if (written % 4u != 0u) Words(record.y.address).v[at] = word; // memory is padded to 16 bytes
}
