// devices: Vulkan
// The flipped weight of a convolution, which the gradient by the input reads:
// turned[ci][co][tap] = weight[co][ci][taps - 1 - tap], with zeros for channels that pad to a multiple of 4.
//
//   turned    [in_channels][padded_channels][taps]
//   groups    ceil(in_channels * padded_channels * taps / 64)
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;

RECORD(conv2d_flip)
INPUT(weight) OUTPUT(turned)
INT(out_channels) INT(in_channels) INT(taps) INT(padded_channels)
END_RECORD

void main()
{
    const uint Co = record.out_channels, Ci = record.in_channels, taps = record.taps;
    const uint channels = record.padded_channels;
    Floats w = Floats(record.weight.address), to = Floats(record.turned.address);
    const uint element = flat_group() * 64u + gl_LocalInvocationID.x;
    if (element >= Ci * channels * taps)
        return;
    const uint row = quotient(element, taps), tap = element - row * taps;
    const uint ci = quotient(row, channels), co = row - ci * channels;
    float v = 0.0;
    if (co < Co)
        v = w.v[(co * Ci + ci) * taps + taps - 1u - tap];
    to.v[element] = v;
}
