// Rounds to the nearest integer in the form that some drivers compile wrongly (src/device/vulkan/workarounds.cpp); others
// get the same as from rp_round().  Compilers see through other ways to write the sign bit.
//
//   operands   x, y: 32 floats each
// devices: Vulkan
#version 460
#include "common/abi.glsl"
#include "common/vocabulary.glsl"

RECORD(probe_select)
INPUT(x) OUTPUT(y)
END_RECORD

layout(local_size_x = 32) in;

precise float nearest(float x)
{
    precise float a = rp_abs(x), near = (a + 8388608.0) - 8388608.0;
    return a < 8388608.0 ? rp_copysign(near, x) : x;
}

void main()
{
    if (flat_group() != 0u) return;
    const uint i = gl_LocalInvocationIndex;
    Floats(record.y.address).v[i] = nearest(Floats(record.x.address).v[i]);
}
