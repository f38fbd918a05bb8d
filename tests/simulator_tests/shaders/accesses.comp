// Accesses whose costs are known (counts.cpp), chosen by the specialization constant.
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint PATTERN = 0u;

RECORD(accesses)
INPUT(x) OUTPUT(y)
END_RECORD

shared float part[2048];
shared vec4 fours[128];

void main()
{
    const uint lane = gl_LocalInvocationIndex;
    ReadFloats from = ReadFloats(record.x.address);
    float v = 0.0;
    if (PATTERN == 0u) v = from.v[lane];                                  // neighbours
    if (PATTERN == 1u) v = from.v[8u * lane];                             // a sector for each lane
    if (PATTERN == 2u) v = from.v[2u * lane];                             // every other number
    if (PATTERN == 3u) v = from.v[7];                                     // the same number
    if (PATTERN == 4u) { // neighbouring vectors
        const vec4 four = ReadVec4s(record.x.address).v[lane];
        v = four.x + four.y + four.z + four.w;
    }
    if (PATTERN == 5u) v = from.v[lane + 1u];                             // neighbours across a sector's end
    if (PATTERN >= 6u && PATTERN <= 9u) {
        const uint stride = PATTERN == 6u ? 1u : PATTERN == 7u ? 32u : PATTERN == 8u ? 2u : 33u;
        const uint at = lane % 32u * stride + lane / 32u * 1024u;
        part[at] = 1.0;
        v = part[at];
    }
    if (PATTERN == 10u || PATTERN == 11u) {
        const uint at = PATTERN == 10u ? lane : 2u * lane;
        fours[at] = vec4(1.0);
        const vec4 four = fours[at];
        v = four.x + four.y + four.z + four.w;
    }
    if (PATTERN == 12u && (lane & 1u) != 0u) { // half of the lanes
        v = float(lane);
        for (int i = 0; i < 1000; ++i) v = v * 0.5 + 1.0;
    }
    Floats(record.y.address).v[lane] = v;
}
