// devices: Vulkan, CUDA in f32
// variants: conv_tile_y: ; conv_tile_y_32: -DROWS=32u ; conv_tile_y_16: -DROWS=16u
// variants: conv_tile_x: -DOF_INPUT ; conv_tile_x_32: -DOF_INPUT -DROWS=32u ; conv_tile_x_16: -DOF_INPUT -DROWS=16u
// variants: conv_tile_weight: -DOF_WEIGHT ; conv_tile_weight_32: -DOF_WEIGHT -DROWS=32u
// variants: conv_tile_weight_16: -DOF_WEIGHT -DROWS=16u
// variants: conv_tile_y_half: -DHALF ; conv_tile_y_half_32: -DHALF -DROWS=32u ; conv_tile_y_half_16: -DHALF -DROWS=16u
// variants: conv_tile_x_half: -DHALF -DOF_INPUT ; conv_tile_x_half_32: -DHALF -DOF_INPUT -DROWS=32u
// variants: conv_tile_x_half_16: -DHALF -DOF_INPUT -DROWS=16u ; conv_tile_weight_half: -DHALF -DOF_WEIGHT
// variants: conv_tile_weight_half_32: -DHALF -DOF_WEIGHT -DROWS=32u
// variants: conv_tile_weight_half_16: -DHALF -DOF_WEIGHT -DROWS=16u
#version 460
// A convolution and its gradients on GPUs as implicit matrix products (implicit GEMM): the second matrix, the windows
// of an image, is never stored but read directly from the image.  For each group of channels:
//
//                   C            A                  windows of        k
//   y               [Co, P]      weight [Co, K]     x                 in channel, tap
//   x, per phase    [Ci, P]      weight^T           dy                out channel, tap that contributes to the phase
//   weight          [Co, K]      dy [Co, P]         x, transposed     position, within a part
//
// The P positions are (image, z, y, x) of the result, or for `weight` of y.  Numeric class: common/product_tile.glsl
// over ascending k; elements of windows outside of the image are 0.
//
// With a stride s, the gradient by the input has s phases per dimension: elements z = phase + s q get contributions
// from the taps with phase + padding - tap * dilation = s m, at q + m of y.  Each phase is a separate product, without
// zeros.
//
//   operands   with CHAIN also those of the chain;  y: weight, x, bias, y;  x: weight, dy, -, dx;  weight: dy, x, -,
//              [parts] sums
//   channels   per group
//   part_length  of `weight`: positions, a multiple of 16
//   ROWS       of C in a tile: 64, with 64 columns; 32 or 16, with 128 columns, for few channels
// HALF: the weight, x and dy are f16 or bf16, which are widened when they come from memory; C and the bias are f32.
//
//   constants  0: whether there is a bias; 1: STORE_VECTORS, if four columns from a multiple of 4 on are always 16
//              aligned bytes of C; 2: A_VECTORS, if four steps from a multiple of 4 on are always 16 aligned bytes of A
//   groups     groups * tiles of C;  x: times the phases, min(s, size) per dimension, each with the tiles of the
//              largest; weight: times the parts
//   requires   depth, height and width of the kernel add up to at most 31 (max_taps in kernels/conv_tile.cpp)
//              tensors below 2^31 elements: their numbers are not read, but writing them to the record checks this
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/windows.glsl"
#ifdef HALF
#define WIDENING_CONSTANT 3
#include "common/halves.glsl"
#include "common/widening.glsl"
#endif

layout(constant_id = 0) const uint BIAS = 0;
layout(constant_id = 1) const uint STORE_VECTORS = 0;
layout(constant_id = 2) const uint A_VECTORS = 0;
#ifdef HALF
#define LOADED uint // the bits of an element
#define LOADED4 uvec4
#define LOAD(address, at) uint(ReadHalves(address).v[at])
#define LOAD4(address, at) uvec4(ReadHalves4(address).v[(at) / 4u], 0u, 0u)
#define ELEMENT(loaded) widened(loaded)
#define ELEMENT4(loaded) widened((loaded).xy)
#else
#define LOADED float
#define LOADED4 vec4
#define LOAD(address, at) ReadFloats(address).v[at]
#define LOAD4(address, at) ReadVec4s(address).v[(at) / 4u]
#define ELEMENT(loaded) (loaded)
#define ELEMENT4(loaded) (loaded)
#endif
#ifndef ROWS
#define ROWS 64u
#endif
const uint COLUMNS = ROWS == 64u ? 64u : 128u, PER_LANE = 4u, STEPS = 16u, LANES = ROWS * COLUMNS / 16u;
layout(local_size_x = LANES) in;
#include "common/product_tile.glsl"

RECORD(conv_tile)
INPUT(a) INPUT(image) INPUT(bias) OUTPUT(c) CHAIN_OPERANDS
INT(images) INT(in_channels) INT(out_channels) INT(groups) MEMBER(Windows, windows) INT(parts) INT(part_length)
INT(x_elements) INT(y_elements) INT(weight_elements)
END_RECORD

const uint A_LOADS = ROWS * STEPS / LANES, B_LOADS = COLUMNS * STEPS / LANES;
const uint NOWHERE = 0xFFFFFFFFu;

// An element of a window is at a position plus a tap: `at` counts elements of the image.  `bits` of a position: one bit
// for each tap along depth, height and width, set if that tap is inside of the image.  `bits` of a tap: its three bits.
// The element is inside if the position has all three.
// The steps are those of a block of k, one for each lane.
struct Place {
    int at;
    uint bits;
};
const Place NO_TAP = Place(0, 0x80000000u); // in no position, which have 31 bits at most
const Place NO_POSITION = Place(0, 0u);
shared int step_at[LANES], column_at[COLUMNS];
shared uint step_bits[LANES], column_bits[COLUMNS];
shared uint step_a[LANES], column_c[COLUMNS]; // offsets of elements; step_a may be NOWHERE

uint volume(ivec3 size) { return uint(size[0] * size[1] * size[2]); }
uint take(inout uint left, uint size)
{
    const uint above = quotient(left, max(size, 1u)), digit = left - above * size;
    left = above;
    return digit;
}
// The digits of a number with the radices of `size`; the first one is the remaining quotient.
ivec4 digits_of(uint index, ivec3 size)
{
    ivec4 d;
    d.w = int(take(index, uint(size[2])));
    d.z = int(take(index, uint(size[1])));
    d.y = int(take(index, uint(size[0])));
    d.x = int(index);
    return d;
}

// A linear map of digits to an element: digit * scale + first in each dimension of an image.
struct Linear {
    ivec3 scale, first, size;
    uint front; // elements from one first digit to the next
};
int element(Linear map, ivec4 d)
{
    const ivec3 at = ivec3(d.y, d.z, d.w) * map.scale + map.first;
    return int(uint(d.x) * map.front + uint((at[0] * map.size[1] + at[1]) * map.size[2] + at[2]));
}

// The maps of positions and taps to elements, and the number of taps.
struct Window {
    Linear position, tap;
    ivec3 taps;
};
Place place_of_tap(Window w, ivec4 d)
{
    return Place(element(w.tap, d), 1u << d.y | 1u << (w.taps[0] + d.z) | 1u << (w.taps[0] + w.taps[1] + d.w));
}
Place place_of_position(Window w, ivec4 d)
{
    const ivec3 first = ivec3(d.y, d.z, d.w) * w.position.scale + w.position.first + w.tap.first;
    uint bits = 0u, bit = 1u;
    for (int i = 0; i < 3; ++i)
        for (int tap = 0; tap < w.taps[i]; ++tap) {
            if (uint(first[i] + tap * w.tap.scale[i]) < uint(w.position.size[i])) bits |= bit;
            bit <<= 1;
        }
    return Place(element(w.position, d), bits);
}

// A product: its sizes, the radices of its indices, and the maps of these to elements.
struct Product {
    uint rows, columns, first_k, end_k;
    ivec3 column_size, k_size;
    Window window;
    Linear a_of_k, c_of_column;
    uint row_of_a, row_of_c;
};

#ifdef OF_INPUT
// The taps of one dimension that contribute to a phase: first + i * step, i < count; tap i maps q to q + to - i * by.
struct Taps {
    int first, step, count, to, by;
};
Taps taps_of(int kernel, int stride, int padding, int dilation, int phase)
{
    int a = stride, b = dilation; // their greatest common divisor
    while (b != 0) {
        const int rest = a % b;
        a = b;
        b = rest;
    }
    Taps t = Taps(0, stride / a, 0, 0, dilation / a);
    for (int tap = 0; tap < min(kernel, t.step) && t.count == 0; ++tap) {
        const int meets = phase + padding - tap * dilation, to = meets / stride;
        if (to * stride != meets) continue; // % is undefined for negative operands, / is not
        t.first = tap;
        t.to = to;
        t.count = (kernel - 1 - tap) / t.step + 1;
    }
    return t;
}
#endif

Product product_of(ivec3 phase, uint part)
{
    const ivec3 in_size = THREE(record.windows.in_size), out_size = THREE(record.windows.out_size);
    const ivec3 kernel = THREE(record.windows.kernel), stride = THREE(record.windows.stride);
    const ivec3 padding = THREE(record.windows.padding), dilation = THREE(record.windows.dilation);
    const uint images = record.images, in_channels = record.in_channels, out_channels = record.out_channels;
    const uint groups = record.groups, taps = volume(kernel), x_plane = volume(in_size), y_plane = volume(out_size);
    const uint x_image = groups * in_channels * x_plane, y_image = groups * out_channels * y_plane;
    const ivec3 one = ivec3(1), zero = ivec3(0);
    Product p;
    p.first_k = 0u;
#if defined(OF_INPUT)
    ivec3 first, step, count, to, by;
    for (int i = 0; i < 3; ++i) {
        const Taps t = taps_of(kernel[i], stride[i], padding[i], dilation[i], phase[i]);
        first[i] = t.first;
        step[i] = t.step;
        count[i] = t.count;
        to[i] = t.to;
        by[i] = t.by;
    }
    p.rows = in_channels;
    p.column_size = (in_size - phase + stride - 1) / stride;
    p.columns = images * volume(p.column_size);
    p.k_size = count;
    p.end_k = out_channels * volume(count);
    p.window = Window(Linear(one, zero, out_size, y_image), Linear(-by, to, out_size, y_plane), count);
    p.a_of_k = Linear(step, first, kernel, in_channels * taps);
    p.c_of_column = Linear(stride, phase, in_size, x_image);
    p.row_of_a = taps;
    p.row_of_c = x_plane;
#else
    const Linear tap = Linear(one, zero, kernel, taps), position = Linear(one, zero, out_size, y_image);
    p.window = Window(Linear(stride, -padding, in_size, x_image), Linear(dilation, zero, in_size, x_plane), kernel);
    p.rows = out_channels;
#ifdef OF_WEIGHT
    p.columns = in_channels * taps;
    p.column_size = kernel;
    p.k_size = out_size;
    p.first_k = part * uint(record.part_length);
    p.end_k = min(images * y_plane, p.first_k + uint(record.part_length));
    p.a_of_k = position;
    p.c_of_column = tap;
    p.row_of_a = y_plane;
    p.row_of_c = p.columns;
#else
    p.columns = images * y_plane;
    p.column_size = out_size;
    p.k_size = kernel;
    p.end_k = in_channels * taps;
    p.a_of_k = tap;
    p.c_of_column = position;
    p.row_of_a = p.end_k;
    p.row_of_c = y_plane;
#endif
#endif
    if (volume(p.window.position.size) == 0u) p.end_k = 0u; // nothing but padding
    return p;
}

#ifdef OF_WEIGHT
#define PLACE_OF_STEP place_of_position
#define PLACE_OF_COLUMN place_of_tap
#define NO_STEP NO_POSITION
#else
#define PLACE_OF_STEP place_of_tap
#define PLACE_OF_COLUMN place_of_position
#define NO_STEP NO_TAP
#endif
// Computes the places of the steps of a block of k.
void prepare_steps(Product p, uint block)
{
    const uint i = gl_LocalInvocationIndex, k = block + i;
    Place place = NO_STEP;
    uint a = NOWHERE;
    if (k < p.end_k) {
        const ivec4 d = digits_of(k, p.k_size);
        place = PLACE_OF_STEP(p.window, d);
        a = uint(element(p.a_of_k, d));
    }
    step_at[i] = place.at;
    step_bits[i] = place.bits;
    step_a[i] = a;
}

// A lane's elements of a round, and where they go in the tile.  Neighbouring lanes read neighbours in memory: A along
// k; windows along columns, for `weight` along k.
uint a_step() { return A_VECTORS != 0u ? gl_LocalInvocationIndex % (STEPS / 4u) * 4u : gl_LocalInvocationIndex % STEPS; }
uint a_row(uint i)
{
    return A_VECTORS != 0u ? gl_LocalInvocationIndex / (STEPS / 4u)
                           : gl_LocalInvocationIndex / STEPS + i * (LANES / STEPS);
}
#ifdef OF_WEIGHT
const uint B_STEP_APART = 0u, B_COLUMN_APART = LANES / STEPS;
uint b_step() { return gl_LocalInvocationIndex % STEPS; }
uint b_column() { return gl_LocalInvocationIndex / STEPS; }
#else
const uint B_STEP_APART = LANES / COLUMNS, B_COLUMN_APART = 0u;
uint b_step() { return gl_LocalInvocationIndex / COLUMNS; }
uint b_column() { return gl_LocalInvocationIndex % COLUMNS; }
#endif
struct Loads {
    LOADED4 a; // A_LOADS elements, or a vector along k
    LOADED b[B_LOADS];
    bool exists, inside[B_LOADS]; // of the step of a, of the elements of b
};
Place column_place(uint i) { return Place(column_at[i], column_bits[i]); }
Place step_place(uint i) { return Place(step_at[i], step_bits[i]); }

// Loads the steps from `first` on, within the block.  Loads are not in branches, as compilers wait for such a load
// before the next one: elements outside are read at 0.
Loads load_round(uint first, uint a_rows[A_LOADS], Place my_column, uvec2 a, uvec2 image)
{
    Loads loads;
#ifdef OF_WEIGHT
    const Place position = step_place(first + b_step());
#else
    const Place position = my_column;
#endif
    uint at_b[B_LOADS];
    [[unroll]] for (uint i = 0u; i < B_LOADS; ++i) {
#ifdef OF_WEIGHT
        const Place tap = column_place(b_column() + i * B_COLUMN_APART);
#else
        const Place tap = step_place(first + b_step() + i * B_STEP_APART);
#endif
        loads.inside[i] = (position.bits & tap.bits) == tap.bits;
        at_b[i] = loads.inside[i] ? uint(position.at + tap.at) : 0u;
    }
    // The loads come last: NVK gives each one of six scoreboards, and a load from shared memory after them would wait
    // for one.
    const uint at = step_a[first + a_step()];
    [[unroll]] for (uint i = 0u; i < B_LOADS; ++i) loads.b[i] = LOAD(image, at_b[i]);
    loads.exists = at != NOWHERE;
    if (A_VECTORS != 0u) {
        loads.a = LOAD4(a, a_rows[0] + (loads.exists ? at : 0u));
    } else {
        [[unroll]] for (uint i = 0u; i < A_LOADS; ++i)
            loads.a[i] = LOAD(a, a_rows[i] + (loads.exists ? at : 0u));
    }
    return loads;
}
void store_round(Loads loads, uint half_index)
{
    const uint at_a = half_index * STEPS + a_step();
    if (A_VECTORS != 0u) {
        const uint row = a_row(0u);
        if (row < ROWS) {
            const vec4 elements = ELEMENT4(loads.a);
            [[unroll]] for (uint i = 0u; i < 4u; ++i)
                tile_a[(at_a + i) * PITCH_A + row / 4u][row % 4u] = loads.exists ? elements[i] : PADDING_OF_A;
        }
    } else {
        [[unroll]] for (uint i = 0u; i < A_LOADS; ++i)
            tile_a[at_a * PITCH_A + a_row(i) / 4u][a_row(i) % 4u] =
                loads.exists ? ELEMENT(loads.a[i]) : PADDING_OF_A;
    }
    [[unroll]] for (uint i = 0u; i < B_LOADS; ++i) {
        const uint step = half_index * STEPS + b_step() + i * B_STEP_APART, column = b_column() + i * B_COLUMN_APART;
        tile_b[step * PITCH_B + column / 4u][column % 4u] = loads.inside[i] ? ELEMENT(loads.b[i]) : PADDING_OF_B;
    }
}

// The tile that this group computes.
struct Tile {
    uint row, column, group, part; // row, column: the first ones
    ivec3 phase;
    uint a, image, c; // the first elements of the group's channels
};
Tile tile_of_group()
{
    const ivec3 in_size = THREE(record.windows.in_size), stride = THREE(record.windows.stride);
    const uint x_plane = volume(in_size), y_plane = volume(THREE(record.windows.out_size));
    const uint taps = volume(THREE(record.windows.kernel));
    const uint in_channels = record.in_channels, out_channels = record.out_channels;
#if defined(OF_INPUT)
    const uint rows = in_channels, columns = record.images * volume((in_size + stride - 1) / stride);
#elif defined(OF_WEIGHT)
    const uint rows = out_channels, columns = in_channels * taps;
#else
    const uint rows = out_channels, columns = record.images * y_plane;
#endif
    uint left = flat_group();
    Tile t;
    t.row = take(left, (rows + ROWS - 1u) / ROWS) * ROWS;
    t.column = take(left, (columns + COLUMNS - 1u) / COLUMNS) * COLUMNS;
    t.phase = ivec3(0);
    t.part = 0u;
#if defined(OF_INPUT)
    for (int i = 0; i < 3; ++i) t.phase[i] = int(take(left, uint(min(stride[i], in_size[i]))));
#elif defined(OF_WEIGHT)
    t.part = take(left, uint(record.parts));
#endif
    t.group = left;

    const uint in_at = t.group * in_channels * x_plane, out_at = t.group * out_channels * y_plane;
    const uint weights = out_channels * in_channels * taps, weight_at = t.group * weights;
#if defined(OF_INPUT)
    t.a = weight_at;
    t.image = out_at;
    t.c = in_at;
#elif defined(OF_WEIGHT)
    t.a = out_at;
    t.image = in_at;
    t.c = t.part * record.groups * weights + weight_at;
#else
    t.a = weight_at;
    t.image = in_at;
    t.c = out_at;
#endif
    return t;
}

// The column of C, from the tile's first one on, that a column of the tile has.  Where a lane stores its four columns
// one by one, neighbouring lanes have neighbouring columns of C.
uint column_of(uint i) { return STORE_VECTORS != 0u ? i : i % 4u * (COLUMNS / 4u) + i / 4u; }
// Computes the places of the tile's columns, and where the results of columns of C go.
void prepare_columns(Product p, Tile t)
{
    for (uint i = gl_LocalInvocationIndex; i < COLUMNS; i += LANES) {
        const ivec4 d = digits_of(min(t.column + column_of(i), p.columns - 1u), p.column_size);
        const Place place = PLACE_OF_COLUMN(p.window, d);
        column_at[i] = place.at + int(t.image);
        column_bits[i] = place.bits;
        column_c[column_of(i)] = uint(element(p.c_of_column, d));
    }
}

// Stores an element of C, or four of a row.
#ifdef CHAIN // kernels/fused_text.cpp: finish() computes a chain of an element of C and stores its results
#define STORE_ELEMENT(at, result) finish(at, 0u, result);
#define STORE_VECTOR(at, result) finish4(at, 0u, result);
#else
#define STORE_ELEMENT(at, result) Floats(record.c.address).v[at] = result;
#define STORE_VECTOR(at, result) Vec4s(record.c.address).v[(at) / 4u] = result;
#endif

#define STORE_ONE(e, result)                                                                    \
    if (t.column + column_of(column + e) < p.columns) { STORE_ELEMENT(to + column_c[column_of(column + e)], result) }
// A macro, as spirv-opt's copies of unrolled loops would lose NoContraction.
#define STORE_ROW(i)                                                                                                    \
    if (first_row + i < p.rows) {                                                                                       \
        const uint row = first_row + i, to = t.c + row * p.row_of_c;                                                    \
        precise vec4 v = sum[i][0];                                                                                     \
        if (BIAS != 0u) v += ReadFloats(record.bias.address).v[t.group * uint(record.out_channels) + row];              \
        if (STORE_VECTORS != 0u) {                                                                                      \
            if (t.column + column < p.columns) { STORE_VECTOR(to + column_c[column], v) }                               \
        } else {                                                                                                        \
            STORE_ONE(0u, v.x) STORE_ONE(1u, v.y) STORE_ONE(2u, v.z) STORE_ONE(3u, v.w)                                 \
        }                                                                                                               \
    }
void store_sums(Product p, Tile t)
{
    const uint column = lane_column() * 4u, first_row = t.row + lane_row() * 4u;
    STORE_ROW(0u) STORE_ROW(1u) STORE_ROW(2u) STORE_ROW(3u)
}

void main()
{
    const Tile t = tile_of_group();
    if (t.group >= uint(record.groups)) return;
    const Product p = product_of(t.phase, t.part);
    if (t.column >= p.columns) return; // the phase has fewer tiles than the largest one
    const uvec2 a = record.a.address, image = record.image.address;

    prepare_columns(p, t);
    uint a_rows[A_LOADS]; // first elements
    [[unroll]] for (uint i = 0u; i < A_LOADS; ++i) a_rows[i] = t.a + min(t.row + a_row(i), p.rows - 1u) * p.row_of_a;
    barrier();
    const Place my_column = column_place(b_column());
    clear_sums();
    for (uint block = p.first_k; block < p.end_k; block += LANES) {
        prepare_steps(p, block);
        barrier();
        store_round(load_round(0u, a_rows, my_column, a, image), 0u);
        barrier();
        const uint steps = min(LANES, p.end_k - block);
        for (uint first = 0u; first < steps; first += STEPS) {
            const bool more = first + STEPS < steps;
            const uint half_index = first / STEPS % 2u;
            Loads next;
            if (more) next = load_round(first + STEPS, a_rows, my_column, a, image);
            add_products(half_index);
            if (more) store_round(next, 1u - half_index);
            barrier();
        }
    }
    store_sums(p, t);
}
