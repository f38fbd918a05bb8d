// What differs between drivers, measured when a device is opened (src/device/vulkan/probe.cpp).
//
//   rounded    x rounded to the nearest integer in the form that some drivers compile wrongly; others give the results
//              of rp_round().  Compilers see through other ways to write the sign bit.
//   scaled     tiny * one, for subnormal numbers
//   residual   fma(factor, factor, -(factor * factor)), which is 0 if fma rounds the product
//   unpacked   the f32 that equals an f16: the half i % 2 of word i
//   quotients, roots   x / factor and sqrt(factor), which other devices round correctly
//   operands   32 floats or words each
// devices: Vulkan
#version 460
#include "common/abi.glsl"
#include "common/vocabulary.glsl"

RECORD(probe)
INPUT(x) INPUT(tiny) INPUT(factors) INPUT(halves) OUTPUT(rounded) OUTPUT(scaled) OUTPUT(residual) OUTPUT(unpacked)
OUTPUT(quotients) OUTPUT(roots)
FLOAT(one)
END_RECORD

layout(local_size_x = 32) in;

precise float nearest(float x)
{
    precise float a = rp_abs(x), near = (a + 8388608.0) - 8388608.0;
    return a < 8388608.0 ? rp_copysign(near, x) : x;
}

void main()
{
    const uint i = gl_LocalInvocationIndex;
    precise float product = Floats(record.tiny.address).v[i] * record.one;
    const float factor = Floats(record.factors.address).v[i];
    precise float square = factor * factor;
    precise float rest = fma(factor, factor, -square);
    precise float quotient = Floats(record.x.address).v[i] / factor, root = sqrt(factor);
    Floats(record.quotients.address).v[i] = quotient;
    Floats(record.roots.address).v[i] = root;
    Floats(record.rounded.address).v[i] = nearest(Floats(record.x.address).v[i]);
    Floats(record.scaled.address).v[i] = product;
    Floats(record.residual.address).v[i] = rest;
    const vec2 wide = unpackHalf2x16(Words(record.halves.address).v[i]);
    Floats(record.unpacked.address).v[i] = i % 2u == 0u ? wide.x : wide.y;
}
