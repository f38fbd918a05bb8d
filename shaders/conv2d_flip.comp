// devices: Vulkan
// A convolution's weight as the gradient by the input takes it, turned around:
// to[ci][co][tap] = w[co][ci][taps - 1 - tap], and zeros for channels that fill up to a multiple of 4.
//
//   operands  w [Co][Ci][taps], to [Ci][channels][taps]
//   ints      Co, Ci, taps, channels
//   groups    ceil(Ci * channels * taps / 64)
#version 460
#extension GL_GOOGLE_include_directive : require
#define OPERANDS 2
#define FLOATS 0
#include "common/abi.glsl"
#include "common/index.glsl"
layout(local_size_x = 64) in;

void main()
{
    const uint Co = record.n[0], Ci = record.n[1], taps = record.n[2], channels = record.n[3];
    Floats w = Floats(record.operand[0].address), to = Floats(record.operand[1].address);
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
