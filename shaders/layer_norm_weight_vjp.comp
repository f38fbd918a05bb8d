#version 460
// Partial sums over rows of dy * (x - mean) * rstd and of dy: [partial_count][columns] each. Partial p sums the blocks
// p, p + partial_count, ... of 64 rows; a block is summed in order, starting at +0, and then added to the partial.
//
//   mean, rstd  [rows]
//   groups     ceil(partial_count * ceil(columns / 4) / 64): an invocation computes 4 columns of a partial
//   TEXELS     columns and the row strides are multiples of 4, the column strides are 1
// variants: layer_norm_weight_vjp: ; layer_norm_weight_vjp_texel: -DTEXELS
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"

layout(local_size_x = 64) in;

RECORD(layer_norm_weight_vjp)
INPUT(dy) INPUT(x) INPUT(mean) INPUT(rstd) OUTPUT(weight_partials) OUTPUT(bias_partials)
INT(rows) INT(columns) INT(partial_count)
INT(dy_row_stride) INT(dy_column_stride) INT(x_row_stride) INT(x_column_stride)
END_RECORD

const uint BLOCK = 64u;

#ifdef TEXELS
#define LOAD(operand, row, stride) texelFetch(slab, int(operand.texel + (row) * uint(stride.x / 4) + column / 4u))
#else
#define LOAD(operand, row, stride) four(Floats(operand.address), int(row) * stride.x + columns * stride.y)
vec4 four(Floats from, ivec4 at) { return vec4(from.v[at.x], from.v[at.y], from.v[at.z], from.v[at.w]); }
#endif

void main()
{
    const uint rows = uint(record.rows), length = uint(record.columns), partials = uint(record.partial_count);
    const ivec2 dy_stride = ivec2(record.dy_row_stride, record.dy_column_stride);
    const ivec2 x_stride = ivec2(record.x_row_stride, record.x_column_stride);
    const Operand dy = record.dy, x = record.x;
    Floats means = Floats(record.mean.address), rstds = Floats(record.rstd.address);
    const Operand to_weight = record.weight_partials, to_bias = record.bias_partials;
    const uint quads = (length + 3u) / 4u;
    const uint quad = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (quad >= partials * quads)
        return;
    const uint partial = quotient(quad, quads), column = (quad - partial * quads) * 4u;
#ifndef TEXELS
    const ivec4 columns = ivec4(min(uvec4(0u, 1u, 2u, 3u) + column, length - 1u));
#endif

    precise vec4 weight_total = vec4(0.0), bias_total = vec4(0.0);
    for (uint block = partial * BLOCK; block < rows; block += partials * BLOCK) {
        precise vec4 weight_sum = vec4(0.0), bias_sum = vec4(0.0);
        const uint end = min(block + BLOCK, rows);
        for (uint row = block; row < end; ++row) {
            const vec4 g = LOAD(dy, row, dy_stride);
            precise vec4 z = (LOAD(x, row, x_stride) - means.v[row]) * rstds.v[row];
            weight_sum += g * z;
            bias_sum += g;
        }
        weight_total += weight_sum;
        bias_total += bias_sum;
    }
#ifdef TEXELS
    slab_window[WINDOW_OF(to_weight.texel)].v[IN_WINDOW(to_weight.texel) + quad] = weight_total;
    slab_window[WINDOW_OF(to_bias.texel)].v[IN_WINDOW(to_bias.texel) + quad] = bias_total;
#else
    Floats weight = Floats(to_weight.address), bias = Floats(to_bias.address);
    for (uint i = column; i < min(column + 4u, length); ++i) {
        weight.v[partial * length + i] = weight_total[i - column];
        bias.v[partial * length + i] = bias_total[i - column];
    }
#endif
}
