// variants: conv_depthwise: ; conv_depthwise_input: -DOF_INPUT; conv_depthwise_weight: -DOF_WEIGHT
// Depthwise convolutions, with M windows for each channel, and their gradients: y[n][c M + m] is the sum over the taps
// k (ascending) of weight[c M + m][k] times the element of x[n][c] at that tap.
//
//   x         [N, C, D, H, W], weight [C M][taps], bias [C M], y [N, C M, OD, OH, OW]
//   M         the multiplier
//   conv_depthwise_input   dx: sums over m, and within it over k
//   conv_depthwise_weight  sums [parts][C M][taps]: part p sums over the `share` output positions of [N, OD, OH, OW]
//                          from p * share on, ascending
//   constant  0: whether there is a bias (conv_depthwise)
//   groups    ceil(elements of the last operand / 64)
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/windows.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint BIAS = 0;

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

void main()
{
    const uint N = record.images, C = record.channels, M = record.multiplier;
    const ivec3 in_size = THREE(record.windows.in_size), out_size = THREE(record.windows.out_size),
                kernel = THREE(record.windows.kernel), stride = THREE(record.windows.stride),
                padding = THREE(record.windows.padding), dilation = THREE(record.windows.dilation);
    const int taps = volume(kernel), image = volume(in_size), out_image = volume(out_size);
    uint element = flat_group() * 64u + gl_LocalInvocationID.x;
    const uint to_at = element;
#if defined(OF_INPUT)
    Floats from = Floats(record.dy.address), by = Floats(record.weight.address);
#elif defined(OF_WEIGHT)
    Floats from = Floats(record.x.address), by = Floats(record.dy.address);
#else
    Floats from = Floats(record.x.address), by = Floats(record.weight.address);
#endif
    precise float sum = 0.0;

#ifdef OF_WEIGHT
    const uint parts = record.parts, share = record.share, channels = C * M;
    Floats to = Floats(record.sums.address);
    if (element >= parts * channels * uint(taps)) return;
    const ivec3 tap = place_of(element, kernel);
    const uint part = quotient(element, channels), channel = element - part * channels;
    const uint end = min((part + 1u) * share, N * uint(out_image));
    uint column = part * share, n = column;
    ivec3 at = place_of(n, out_size);
    int x_at = int(n * C + quotient(channel, M)) * image;
    int dy_at = int(n * channels + channel) * out_image + int(column - n * uint(out_image));
    const ivec3 first = tap * dilation - padding;
    while (column < end) {
        const ivec3 place = at * stride + first;
        if (inside(place[0], in_size[0]) && inside(place[1], in_size[1]) && inside(place[2], in_size[2]))
            sum += by.v[dy_at] * from.v[x_at + (place[0] * in_size[1] + place[1]) * in_size[2] + place[2]];
        ++column;
        ++dy_at;
        ++at[2];
        if (at[2] == out_size[2]) {
            at[2] = 0;
            ++at[1];
        }
        if (at[1] == out_size[1]) {
            at[1] = 0;
            ++at[0];
        }
        if (at[0] == out_size[0]) {
            at[0] = 0;
            x_at += int(C) * image;
            dy_at += int(channels - 1u) * out_image;
        }
    }
#elif defined(OF_INPUT)
    Floats to = Floats(record.dx.address);
    if (element >= N * C * uint(image)) return;
    const ivec3 at = place_of(element, in_size) + padding;
    const uint channel = element - quotient(element, C) * C;
    for (uint m = 0u; m < M; ++m) {
        const int dy_at = int(element * M + m) * out_image, weight_at = int(channel * M + m) * taps;
        for (int kz = 0; kz < kernel[0]; ++kz) {
            const int z = at[0] - kz * dilation[0], oz = int(quotient(uint(max(z, 0)), uint(stride[0])));
            if (oz * stride[0] != z || oz >= out_size[0]) continue;
            for (int ky = 0; ky < kernel[1]; ++ky) {
                const int y = at[1] - ky * dilation[1], oy = int(quotient(uint(max(y, 0)), uint(stride[1])));
                if (oy * stride[1] != y || oy >= out_size[1]) continue;
                for (int kx = 0; kx < kernel[2]; ++kx) {
                    const int x = at[2] - kx * dilation[2];
                    const int ox = stride[2] == 1 ? max(x, 0) : int(quotient(uint(max(x, 0)), uint(stride[2])));
                    if (ox * stride[2] == x && ox < out_size[2])
                        sum += from.v[dy_at + (oz * out_size[1] + oy) * out_size[2] + ox] *
                               by.v[weight_at + (kz * kernel[1] + ky) * kernel[2] + kx];
                }
            }
        }
    }
#else
    Floats bias = Floats(record.bias.address), to = Floats(record.y.address);
    if (element >= N * C * M * uint(out_image)) return;
    const ivec3 first = place_of(element, out_size) * stride - padding;
    const uint channel = element - quotient(element, C * M) * C * M;
    const int x_at = int(quotient(element, M)) * image;
    int weight_at = int(channel) * taps;
    for (int kz = 0; kz < kernel[0]; ++kz) {
        const int z = first[0] + kz * dilation[0];
        for (int ky = 0; ky < kernel[1]; ++ky) {
            const int y = first[1] + ky * dilation[1], row = x_at + (z * in_size[1] + y) * in_size[2];
            const bool present = inside(z, in_size[0]) && inside(y, in_size[1]);
            for (int kx = 0; kx < kernel[2]; ++kx) {
                const int x = first[2] + kx * dilation[2];
                if (present && inside(x, in_size[2])) sum += from.v[row + x] * by.v[weight_at];
                ++weight_at;
            }
        }
    }
    if (BIAS != 0u) sum += bias.v[channel];
#endif
    to.v[to_at] = sum;
}
