#version 460
// Partial sums over rows of dy * (x - mean) * rstd and of dy: [partial_count][columns] each. Partial p sums the blocks
// p, p + partial_count, ... of 64 rows; a block is summed in order, starting at +0, and then added to the partial.
// With GROUP, for GPUs, partials and lanes are those of common/reduce_group.glsl.
//
//   mean, rstd  [rows]
//   groups     ceil(partial_count * ceil(columns / 4) / 64): an invocation computes 4 columns of a partial;
//              GROUP: ceil(partial_count * ceil(columns / 4) * lanes / 256)
//   lane_bits, part_length  of GROUP: log2 of the lanes of 4 columns; rows of a partial
//   constants  0, 1: dtypes of dy and x, with DTYPES; f16 and bf16 only if both are contiguous and columns is a
//              multiple of 4
//   TEXELS     columns and the row strides are multiples of 4, the column strides are 1
//   VEC4       the same, by address
// variants: layer_norm_weight_vjp: ; layer_norm_weight_vjp_texel: -DTEXELS
// variants: layer_norm_weight_vjp_group: -DGROUP ; layer_norm_weight_vjp_group_vec4: -DGROUP -DVEC4
// variants: layer_norm_weight_vjp_group_vec4_dtypes: -DGROUP -DVEC4 -DDTYPES
// not on CUDA: layer_norm_weight_vjp
#ifdef TEXELS
#define SLAB
#endif
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"

#ifdef GROUP
#include "common/tree.glsl"
layout(local_size_x = 256) in;
shared vec4 of_lanes[256];
#else
layout(local_size_x = 64) in;
#endif

RECORD(layer_norm_weight_vjp)
INPUT(dy) INPUT(x) INPUT(mean) INPUT(rstd) OUTPUT(weight_partials) OUTPUT(bias_partials)
INT(rows) INT(columns) INT(partial_count)
INT(dy_row_stride) INT(dy_column_stride) INT(x_row_stride) INT(x_column_stride)
INT(lane_bits) INT(part_length)
END_RECORD

const uint BLOCK = 64u;

#if !defined(GROUP)
#define DTYPES
#endif
#ifdef DTYPES
#include "common/vocabulary.glsl"
#include "common/dtypes.glsl"
layout(constant_id = 0) const uint DY = 0; // dtype
layout(constant_id = 1) const uint X = 0;
#endif

#if defined(TEXELS)
#define LOAD_F32(operand, row, stride) texelFetch(slab, int(operand.texel + (row) * uint(stride.x / 4) + column / 4u))
#elif defined(VEC4)
#define LOAD_F32(operand, row, stride) ReadVec4s(operand.address).v[(row) * uint(stride.x / 4) + column / 4u]
#else
#define LOAD_F32(operand, row, stride) four(Floats(operand.address), int(row) * stride.x + columns * stride.y)
vec4 four(Floats from, ivec4 at) { return vec4(from.v[at.x], from.v[at.y], from.v[at.z], from.v[at.w]); }
#endif

#ifndef DTYPES
#define LOAD(operand, row, stride, dtype) LOAD_F32(operand, row, stride)
#else
#define LOAD(operand, row, stride, dtype)                                                                    \
    (dtype == DTYPE_F32 ? LOAD_F32(operand, row, stride)                                                     \
                        : floats_of(load4_bits(operand.address, dtype, ((row) * uint(stride.x) + column) / 4u), dtype))
#endif

// Stores the sums of 4 columns of a partial.
void store(Operand to, uint partial, uint column, uint length, vec4 total)
{
#ifdef TEXELS
    slab_window[WINDOW_OF(to.texel)].v[IN_WINDOW(to.texel) + partial * (length / 4u) + column / 4u] = total;
#else
    Floats sums = Floats(to.address);
    for (uint i = column; i < min(column + 4u, length); ++i) sums.v[partial * length + i] = total[i - column];
#endif
}

#ifdef GROUP
// Adds the sums of the lanes of 4 columns as a tree; neighbouring invocations have neighbouring columns.
precise vec4 sum_of_lanes(vec4 mine, uint lane, uint lanes, uint teams)
{
    const uint i = gl_LocalInvocationIndex;
    barrier(); // the previous sum has been read
    of_lanes[i] = mine;
    barrier();
    COMBINE_LANES(added, i, lane, lanes, teams)
    return of_lanes[i];
}
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
#ifdef GROUP
    const uint bits = uint(record.lane_bits), lanes = 1u << bits, teams = 256u >> bits;
    const uint lane = gl_LocalInvocationIndex >> (8u - bits);
    const uint number = flat_group() * teams + (gl_LocalInvocationIndex & (teams - 1u));
    const bool exists = number < partials * quads;
    const uint quad = min(number, partials * quads - 1u);
#else
    const uint quad = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (quad >= partials * quads)
        return;
#endif
    const uint partial = quotient(quad, quads), column = (quad - partial * quads) * 4u;
#if !defined(TEXELS) && !defined(VEC4)
    const ivec4 columns = ivec4(min(uvec4(0u, 1u, 2u, 3u) + column, length - 1u));
#endif

#ifdef GROUP
    const uint begin = partial * uint(record.part_length), end = exists ? min(begin + uint(record.part_length), rows) : begin;
    vec4 of_weight[4], of_bias[4]; // accumulators of every fourth row
    for (uint i = 0u; i < 4u; ++i) of_weight[i] = of_bias[i] = vec4(0.0);
    for (uint first = begin + 4u * lane; first < end; first += 4u * lanes) {
        // A row from `end` on is a copy of the last one, so that no load is in a branch.
#define ADD(i)                                                                                               \
        const uint row##i = min(first + i, end - 1u);                                                        \
        const vec4 g##i = LOAD(dy, row##i, dy_stride, DY);                                                   \
        precise vec4 z##i = (LOAD(x, row##i, x_stride, X) - means.v[row##i]) * rstds.v[row##i];              \
        precise vec4 w##i = of_weight[i] + g##i * z##i, b##i = of_bias[i] + g##i;                            \
        if (first + i < end) {                                                                               \
            of_weight[i] = w##i;                                                                             \
            of_bias[i] = b##i;                                                                               \
        }
        ADD(0)
        ADD(1)
        ADD(2)
        ADD(3)
    }
    precise vec4 of_weights = (of_weight[0] + of_weight[1]) + (of_weight[2] + of_weight[3]);
    precise vec4 of_biases = (of_bias[0] + of_bias[1]) + (of_bias[2] + of_bias[3]);
    const vec4 weight_total = sum_of_lanes(of_weights, lane, lanes, teams);
    const vec4 bias_total = sum_of_lanes(of_biases, lane, lanes, teams);
    if (!exists || lane > 0u) return;
#else
    precise vec4 weight_total = vec4(0.0), bias_total = vec4(0.0);
    for (uint block = partial * BLOCK; block < rows; block += partials * BLOCK) {
        precise vec4 weight_sum = vec4(0.0), bias_sum = vec4(0.0);
        const uint end = min(block + BLOCK, rows);
        for (uint row = block; row < end; ++row) {
            const vec4 g = LOAD(dy, row, dy_stride, DY);
            precise vec4 z = (LOAD(x, row, x_stride, X) - means.v[row]) * rstds.v[row];
            weight_sum += g * z;
            bias_sum += g;
        }
        weight_total += weight_sum;
        bias_total += bias_sum;
    }
#endif
    store(to_weight, partial, column, length, weight_total);
    store(to_bias, partial, column, length, bias_total);
}
