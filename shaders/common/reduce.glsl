// Reductions over any dimensions of a strided tensor.  The including file defines
//   ELEMENT, VECTOR4      float and vec4, or int and ivec4; with LONG they are two words, defined here
//   IDENTITY              of the operation; EMPTY: the result without elements, if it is another
//   combine(a, b)         on ELEMENT and on VECTOR4
// and one of these, or none:
//   ROWS                  4 neighbouring elements of one output lie in a texel (16 bytes)
//   COLUMNS               the same element of 4 neighbouring outputs lies in a texel
//   PARTIALS              the second level
// With TEXELS loads and stores use the slab's views, else addresses.  With GROUP, for GPUs, common/reduce_group.glsl
// has the class, the groups and the kernel; there are two more ints.  With DTYPES, for ROWS and COLUMNS, x may be f16
// or bf16, and with COLUMNS so may the result; the sums are f32.
//
// Numeric class, a pure function of n, the number of elements per output (counted row-major over the reduced
// dimensions): the same bits in every variant, for any strides and any placement.
//   block     256 consecutive elements: element e is added to accumulator e % 8, in order; the 8 are added
//             ((0 + 4) + (1 + 5)) + ((2 + 6) + (3 + 7)).  An accumulator starts as the identity.
//   partial   c of C = min(ceil(n / 256), 4096) adds blocks c, c + C, c + 2C, ... in order.
//   output    adds the partials 16 by 16: sums of 16 in order, of 16 such sums in order, and these in order.
// The library may choose C = 1 for extrema of up to 16 blocks: their partials are added one after the other, too.
// The identity changes no bit of its other operand, so a single partial is the output, and a single element its sum.
//
//   operands   x, result: [C][outputs], which is the output where C = 1
//   ints       n, outputs, C, with GROUP lane_bits and length, sizes and strides of the kept dimensions, then of the
//              reduced ones, outermost first.  ROWS, COLUMNS: all strides count texels, and so do the innermost size of
//              the dimensions that texels run along and, with COLUMNS, `outputs`; n counts elements.
//   groups     ceil(outputs * C / 64)
//   CHAIN:     the operands of the chain in place of x
//   PARTIALS:  partials [C][outputs], result; outputs, C; groups ceil(outputs / 64)
//
// Repeated code is written as macros, not as loops: the loop unroller of spirv-opt drops NoContraction from its copies.
#include "common/index.glsl"
#include "common/repeat.glsl"

#ifndef GROUP
layout(local_size_x = 64) in;
#endif

#ifdef LONG
#define ELEMENT uvec2
#define VECTOR4 uvec4 // there are no whole texels
#define Elements Longs
layout(constant_id = 4) const uint WORDS = 0; // the elements of x are i32
#endif
#ifndef EMPTY
#define EMPTY IDENTITY
#endif
const uint BLOCK = 256u;

#if defined(ROWS) || defined(COLUMNS)
#define VALUE VECTOR4
#else
#define VALUE ELEMENT
#endif

#ifdef PARTIALS

const uint FAN = 16u;

void main()
{
    const uint outputs = uint(record.n[0]), count = uint(record.n[1]);
    Elements from = Elements(record.operand[0].address), to = Elements(record.operand[1].address);
    const uint o = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (o >= outputs)
        return;
    VALUE total = count == 0u ? EMPTY : IDENTITY;
    for (uint i = 0u; i < count; i += FAN * FAN) {
        VALUE middle = IDENTITY;
        const uint middle_end = min(i + FAN * FAN, count);
        for (uint j = i; j < middle_end; j += FAN) {
            VALUE inner = IDENTITY;
            const uint end = min(j + FAN, middle_end);
            for (uint k = j; k < end; ++k)
                inner = combine(inner, from.v[k * outputs + o]);
            middle = combine(middle, inner);
        }
        total = combine(total, middle);
    }
    to.v[o] = total;
}

#else

layout(constant_id = 0) const uint KEPT = 0;    // number of kept dimensions, those of the outputs
layout(constant_id = 1) const uint REDUCED = 0;
layout(constant_id = 2) const uint OUTPUTS_ADJACENT = 0; // neighbouring invocations: 1: outputs, 0: partials
layout(constant_id = 3) const uint RAGGED = 1;           // n may not be a multiple of 8 (ROWS: 32)
#ifdef DTYPES
#include "common/vocabulary.glsl"
#include "common/dtypes.glsl"
layout(constant_id = 4) const uint X = 0; // dtype of x: f32, f16 or bf16
layout(constant_id = 5) const uint RESULT = 0;
#endif

// The kept or the reduced dimensions.
struct Dims {
    uint size[MAX_RANK];
    int stride[MAX_RANK];
};
// Reads the sizes, and then the strides, of `rank` dimensions from the record's ints.
Dims read_dims(uint from, uint rank)
{
    Dims dims;
    for (uint d = 0u; d < rank; ++d) {
        dims.size[d] = uint(record.n[from + d]);
        dims.stride[d] = record.n[from + rank + d];
    }
    return dims;
}

// Returns the offset of the first element of an output.
uint origin_of(uint output_index, Dims kept)
{
    uint origin = 0u;
    uint c[MAX_RANK];
    if (KEPT > 0u) {
        coordinates(output_index, KEPT, kept.size, c);
        origin = offset(KEPT, c, kept.stride);
    }
    return origin;
}

#ifdef ROWS
const uint STEP = 4u; // elements per step of a walk
#else
const uint STEP = 1u;
#endif

// A position in the reduced dimensions.
struct Walk {
    uint at;
    uint c[MAX_RANK];
};
// Returns the position of an element of the output whose elements start at `origin`.
Walk walk_from(uint origin, uint element, Dims reduced)
{
    Walk w;
    w.at = origin;
    if (REDUCED == 1u) {
        w.at += (element / STEP) * uint(reduced.stride[0]);
    } else if (REDUCED > 1u) {
        coordinates(element / STEP, REDUCED, reduced.size, w.c);
        w.at += offset(REDUCED, w.c, reduced.stride);
    }
    return w;
}
void advance(inout Walk w, Dims reduced)
{
    const uint inner = max(REDUCED, 1u) - 1u;
    w.at += uint(reduced.stride[inner]);
    if (REDUCED > 1u) {
        ++w.c[inner];
        for (uint d = inner; d > 0u; --d) {
            const bool over = w.c[d] == reduced.size[d];
            w.at += over ? uint(reduced.stride[d - 1u]) - reduced.size[d] * uint(reduced.stride[d]) : 0u;
            w.c[d] = over ? 0u : w.c[d];
            w.c[d - 1u] += over ? 1u : 0u;
        }
    }
}

#ifdef CHAIN // kernels/fused_text.cpp: chain() computes an element in place of its load, at the same offset
#define LOAD(at) chain(at)
#elif defined(TEXELS)
#define LOAD(at) texelFetch(slab, int(x.texel + (at)))
#elif defined(DTYPES) // with ROWS or COLUMNS
#define LOAD(at) floats_of(load4_bits(x.address, X, at), X)
#elif defined(ROWS) || defined(COLUMNS)
#define LOAD(at) Vec4s(x.address).v[at]
#elif defined(LONG)
#define LOAD(at) load_long(x.address, WORDS, at)
#else
#define LOAD(at) Elements(x.address).v[at]
#endif
#define LOAD_NEXT(i)               \
    const VALUE t##i = LOAD(w.at); \
    advance(w, reduced);

void store(Operand result, uint place, VALUE total)
{
#ifdef ROWS
    Elements(result.address).v[place] = total.x;
#elif defined(COLUMNS) && defined(TEXELS)
    slab_window[WINDOW_OF(result.texel)].v[IN_WINDOW(result.texel + place)] = total;
#elif defined(COLUMNS) && defined(DTYPES)
    store4_bits(result.address, RESULT, place, bits_of(total, RESULT));
#elif defined(COLUMNS)
    Vec4s(result.address).v[place] = total;
#else
    Elements(result.address).v[place] = total;
#endif
}

#ifdef GROUP
#include "common/reduce_group.glsl"
#else

// Adds a block of `left` elements, from w on, to `total`.
#if defined(ROWS)
VALUE add_block(VALUE total, Operand x, Walk w, uint left, Dims reduced)
{
    VALUE a0 = VALUE(IDENTITY), a1 = a0; // accumulators 0 to 3 and 4 to 7
#ifdef CHAIN // the same order with less code
    while (left >= 8u) {
        LOAD_NEXT(0)
        LOAD_NEXT(1)
        a0 = combine(a0, t0);
        a1 = combine(a1, t1);
        left -= 8u;
    }
#endif
    while (left >= 32u) {
        EACH_8(LOAD_NEXT)
        a0 = combine(a0, t0);
        a1 = combine(a1, t1);
        a0 = combine(a0, t2);
        a1 = combine(a1, t3);
        a0 = combine(a0, t4);
        a1 = combine(a1, t5);
        a0 = combine(a0, t6);
        a1 = combine(a1, t7);
        left -= 32u;
    }
    if (RAGGED != 0u) {
#define INSIDE(t, i) VALUE(left > i ? t.x : IDENTITY, left > i + 1u ? t.y : IDENTITY, \
                           left > i + 2u ? t.z : IDENTITY, left > i + 3u ? t.w : IDENTITY)
        while (left > 0u) {
            const VALUE t0 = LOAD(w.at);
            if (left > 4u)
                advance(w, reduced);
            const VALUE t1 = LOAD(w.at);
            advance(w, reduced);
            a0 = combine(a0, INSIDE(t0, 0u));
            a1 = combine(a1, INSIDE(t1, 4u));
            left -= min(left, 8u);
        }
    }
    const VALUE a = combine(a0, a1);
    total.x = combine(total.x, combine(combine(a.x, a.y), combine(a.z, a.w)));
    return total;
}
#elif defined(LONG)
// Any order gives the same integer; SwiftShader takes a minute to compile eight accumulators of them.
VALUE add_block(VALUE total, Operand x, Walk w, uint left, Dims reduced)
{
    while (left > 0u) {
        total = combine(total, LOAD(w.at));
        advance(w, reduced);
        --left;
    }
    return total;
}
#else
VALUE add_block(VALUE total, Operand x, Walk w, uint left, Dims reduced)
{
#define CLEAR(i) VALUE a##i = VALUE(IDENTITY);
#define COMBINE(i) a##i = combine(a##i, t##i);
    EACH_8(CLEAR)
    while (left >= 8u) {
        EACH_8(LOAD_NEXT)
        EACH_8(COMBINE)
        left -= 8u;
    }
    if (RAGGED != 0u) {
#define COMBINE_LAST(i)                        \
    if (left > i) {                            \
        a##i = combine(a##i, LOAD(w.at));      \
        advance(w, reduced);                   \
    }
        EACH_8(COMBINE_LAST)
    }
    const VALUE b0 = combine(a0, a4), b1 = combine(a1, a5), b2 = combine(a2, a6), b3 = combine(a3, a7);
    return combine(total, combine(combine(b0, b1), combine(b2, b3)));
}
#endif

void main()
{
    const uint n = uint(record.n[0]), outputs = uint(record.n[1]), partials = uint(record.n[2]);
    const Operand x = record.operand[0], result = record.operand[OPERANDS - 1];
#ifdef CHAIN
    start_chain();
#endif
    const Dims kept = read_dims(3u, KEPT), reduced = read_dims(3u + 2u * KEPT, REDUCED);
    const uint invocation = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (invocation >= outputs * partials)
        return;
    const uint major = quotient(invocation, OUTPUTS_ADJACENT != 0u ? outputs : partials);
    const uint minor = invocation - major * (OUTPUTS_ADJACENT != 0u ? outputs : partials);
    const uint o = OUTPUTS_ADJACENT != 0u ? minor : major;
    const uint first_block = OUTPUTS_ADJACENT != 0u ? major : minor;

    const uint origin = origin_of(o, kept);
    VALUE total = VALUE(n == 0u ? EMPTY : IDENTITY);
    for (uint first = first_block * BLOCK; first < n; first += partials * BLOCK) {
        const Walk w = walk_from(origin, first, reduced);
        total = add_block(total, x, w, min(BLOCK, n - first), reduced);
    }
    store(result, first_block * outputs + o, total);
}

#endif
#endif
