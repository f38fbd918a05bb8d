// variants: conv_depthwise: ; conv_depthwise_input: -DOF_INPUT; conv_depthwise_weight: -DOF_WEIGHT
// variants: conv_depthwise_dtypes: -DDTYPES ; conv_depthwise_input_dtypes: -DOF_INPUT -DDTYPES
// variants: conv_depthwise_weight_dtypes: -DOF_WEIGHT -DDTYPES
// not on CUDA: conv_depthwise_input_dtypes
// Depthwise convolutions, with M windows for each channel, and their gradients: y[n][c M + m] is the sum over the taps
// k (ascending) of weight[c M + m][k] times the element of x[n][c] at that tap.
//
//   x         [N, C, D, H, W], weight [C M][taps], bias [C M], y [N, C M, OD, OH, OW]
//   M         the multiplier
//   conv_depthwise_input   dx: sums over m, and within it over k
//   conv_depthwise_weight  sums [parts][C M][taps]: part p sums over the `share` output positions of [N, OD, OH, OW]
//                          from p * share on, ascending
//   constants 0: whether there is a bias (conv_depthwise); with DTYPES 1, 2: dtypes of x and dy, of which a gradient by
//             the input reads dy only; else they are f32
//   groups    ceil(elements of the last operand / 64)
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/windows.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint BIAS = 0;

// ELEMENT(image, i, dtype) loads element i of an image, with DTYPES also of f16 or bf16.
#ifdef DTYPES
#include "common/vocabulary.glsl"
#include "common/dtypes.glsl"
layout(constant_id = 1) const uint X = 0;
layout(constant_id = 2) const uint DY = 0;
#define IMAGE uvec2
#define IMAGE_AT(operand) operand.address
#ifdef OF_WEIGHT
#define ELEMENT(image, i, dtype) (dtype == DTYPE_F32 ? Floats(image).v[i] : load_half(image, dtype, uint(i)))
#else
#define ELEMENT(image, i, dtype) load_half(image, dtype, uint(i))
#endif
#else
#define IMAGE Floats
#define IMAGE_AT(operand) Floats(operand.address)
#define ELEMENT(image, i, dtype) image.v[i]
#endif

#if defined(OF_INPUT)
RECORD(conv_depthwise_input)
INPUT(dy) INPUT(weight) OUTPUT(dx)
INT(images) INT(channels) INT(multiplier) MEMBER(Windows, windows)
END_RECORD
#elif defined(OF_WEIGHT)
RECORD(conv_depthwise_weight)
INPUT(x) INPUT(dy) OUTPUT(sums)
INT(images) INT(channels) INT(multiplier) MEMBER(Windows, windows)
INT(parts) INT(share)
END_RECORD
#else
RECORD(conv_depthwise)
INPUT(x) INPUT(weight) INPUT(bias) OUTPUT(y)
INT(images) INT(channels) INT(multiplier) MEMBER(Windows, windows)
END_RECORD
#endif

int volume(ivec3 size) { return size[0] * size[1] * size[2]; }

// Returns the position of a row-major index within an image; the index becomes that of the image.
ivec3 place_of(inout uint at, ivec3 size)
{
    const uint line = quotient(at, uint(size[2])), slice = quotient(line, uint(size[1])),
               all = quotient(slice, uint(size[0]));
    const ivec3 place = ivec3(slice - all * uint(size[0]), line - slice * uint(size[1]), at - line * uint(size[2]));
    at = all;
    return place;
}
bool inside(int at, int size) { return uint(at) < uint(size); }

// Sizes as depth, height and width.
struct Geometry {
    ivec3 in_size, out_size, kernel, stride, padding, dilation;
};
Geometry read_geometry()
{
    return Geometry(THREE(record.windows.in_size), THREE(record.windows.out_size),
                    THREE(record.windows.kernel), THREE(record.windows.stride),
                    THREE(record.windows.padding), THREE(record.windows.dilation));
}

#if defined(OF_INPUT)
// Adds to `sum` the products of one window's taps, in order, and those elements of its plane of dy for which
// the tap lies at position `at` of the padded input.
float add_taps(float sum, IMAGE dy, int dy_at, Floats weight, int weight_at, ivec3 at, Geometry g)
{
    precise float total = sum;
    for (int kz = 0; kz < g.kernel[0]; ++kz) {
        const int z = at[0] - kz * g.dilation[0], oz = int(quotient(uint(max(z, 0)), uint(g.stride[0])));
        if (oz * g.stride[0] != z || oz >= g.out_size[0]) continue;
        for (int ky = 0; ky < g.kernel[1]; ++ky) {
            const int y = at[1] - ky * g.dilation[1], oy = int(quotient(uint(max(y, 0)), uint(g.stride[1])));
            if (oy * g.stride[1] != y || oy >= g.out_size[1]) continue;
            for (int kx = 0; kx < g.kernel[2]; ++kx) {
                const int x = at[2] - kx * g.dilation[2];
                const int ox =
                    g.stride[2] == 1 ? max(x, 0) : int(quotient(uint(max(x, 0)), uint(g.stride[2])));
                if (ox * g.stride[2] == x && ox < g.out_size[2])
                    total += ELEMENT(dy, dy_at + (oz * g.out_size[1] + oy) * g.out_size[2] + ox, DY) *
                             weight.v[weight_at + (kz * g.kernel[1] + ky) * g.kernel[2] + kx];
            }
        }
    }
    return total;
}

void main()
{
    const uint N = record.images, C = record.channels, M = record.multiplier;
    const Geometry g = read_geometry();
    IMAGE dy = IMAGE_AT(record.dy);
    Floats weight = Floats(record.weight.address);
    Floats dx = Floats(record.dx.address);
    const int taps = volume(g.kernel), image = volume(g.in_size), out_image = volume(g.out_size);
    const uint invocation = flat_group() * 64u + gl_LocalInvocationID.x;
    if (invocation >= N * C * uint(image)) return;
    uint plane = invocation;
    const ivec3 at = place_of(plane, g.in_size) + g.padding;
    const uint channel = plane - quotient(plane, C) * C;
    float sum = 0.0;
    for (uint m = 0u; m < M; ++m)
        sum = add_taps(sum, dy, int(plane * M + m) * out_image, weight, int(channel * M + m) * taps, at, g);
    dx.v[invocation] = sum;
}
#elif defined(OF_WEIGHT)
// Moves to the next position in row-major order; after the last one at[0] is size[0].
void advance(inout ivec3 at, ivec3 size)
{
    ++at[2];
    if (at[2] == size[2]) {
        at[2] = 0;
        ++at[1];
    }
    if (at[1] == size[1]) {
        at[1] = 0;
        ++at[0];
    }
}

void main()
{
    const uint N = record.images, C = record.channels, M = record.multiplier;
    const Geometry g = read_geometry();
    const uint parts = record.parts, share = record.share, channels = C * M;
    IMAGE x = IMAGE_AT(record.x), dy = IMAGE_AT(record.dy);
    Floats sums = Floats(record.sums.address);
    const int taps = volume(g.kernel), image = volume(g.in_size), out_image = volume(g.out_size);
    const uint invocation = flat_group() * 64u + gl_LocalInvocationID.x;
    if (invocation >= parts * channels * uint(taps)) return;
    uint row = invocation; // of [parts][C M]
    const ivec3 first = place_of(row, g.kernel) * g.dilation - g.padding;
    const uint part = quotient(row, channels), channel = row - part * channels;
    const uint end = min((part + 1u) * share, N * uint(out_image));
    uint column = part * share, n = column;
    ivec3 at = place_of(n, g.out_size);
    int x_at = int(n * C + quotient(channel, M)) * image;
    int dy_at = int(n * channels + channel) * out_image + int(column - n * uint(out_image));
    precise float sum = 0.0;
    while (column < end) {
        const ivec3 place = at * g.stride + first, size = g.in_size;
        if (inside(place[0], size[0]) && inside(place[1], size[1]) && inside(place[2], size[2]))
            sum += ELEMENT(dy, dy_at, DY) *
                   ELEMENT(x, x_at + (place[0] * size[1] + place[1]) * size[2] + place[2], X);
        ++column;
        ++dy_at;
        advance(at, g.out_size);
        if (at[0] == g.out_size[0]) {
            at[0] = 0;
            x_at += int(C) * image;
            dy_at += int(channels - 1u) * out_image;
        }
    }
    sums.v[invocation] = sum;
}
#else
void main()
{
    const uint N = record.images, C = record.channels, M = record.multiplier;
    const Geometry g = read_geometry();
    IMAGE from = IMAGE_AT(record.x);
    Floats weight = Floats(record.weight.address);
    Floats bias = Floats(record.bias.address), to = Floats(record.y.address);
    const int taps = volume(g.kernel), image = volume(g.in_size), out_image = volume(g.out_size);
    const uint invocation = flat_group() * 64u + gl_LocalInvocationID.x;
    if (invocation >= N * C * M * uint(out_image)) return;
    uint plane = invocation;
    const ivec3 first = place_of(plane, g.out_size) * g.stride - g.padding;
    const uint channel = plane - quotient(plane, C * M) * C * M;
    const int x_at = int(quotient(plane, M)) * image;
    int weight_at = int(channel) * taps;
    precise float sum = 0.0;
    for (int kz = 0; kz < g.kernel[0]; ++kz) {
        const int z = first[0] + kz * g.dilation[0];
        for (int ky = 0; ky < g.kernel[1]; ++ky) {
            const int y = first[1] + ky * g.dilation[1], row = x_at + (z * g.in_size[1] + y) * g.in_size[2];
            const bool present = inside(z, g.in_size[0]) && inside(y, g.in_size[1]);
            for (int kx = 0; kx < g.kernel[2]; ++kx) {
                const int x = first[2] + kx * g.dilation[2];
                if (present && inside(x, g.in_size[2])) sum += ELEMENT(from, row + x, X) * weight.v[weight_at];
                ++weight_at;
            }
        }
    }
    if (BIAS != 0u) sum += bias.v[channel];
    to.v[invocation] = sum;
}
#endif
