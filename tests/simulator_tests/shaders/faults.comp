// Copies 128 numbers, with the fault that the specialization constant names (faults.cpp).
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint FAULT = 0u;

RECORD(faults)
INPUT(x) OUTPUT(y)
INT(n)
END_RECORD

shared float part[64], other[64];

const uint NONE = 0u, READS_OUTSIDE = 1u, WRITES_OUTSIDE = 2u, READS_BELOW = 3u, WRITES_AN_INPUT = 4u,
           READS_AN_OUTPUT = 5u, NO_BARRIER = 6u, NO_SECOND_BARRIER = 7u, NOT_WRITTEN = 8u, SAME_WORD = 9u,
           OUTSIDE_OF_SHARED = 10u, DIVERGENT_BARRIER = 11u, LEFT_BARRIER = 12u, MISALIGNED = 13u, SAME_ELEMENT = 14u,
           OF_OTHER_GROUP = 15u, READS_OF_OTHER_LANE = 16u, DIVIDES_BY_ZERO = 17u, SHIFTS_TOO_FAR = 18u,
           NO_OPERAND = 19u, OUTSIDE_OF_ARRAY = 20u;

void main()
{
    const uint lane = gl_LocalInvocationIndex, group = flat_group(), i = group * 64u + lane, n = uint(record.n);
    ReadFloats from = ReadFloats(record.x.address);
    Floats to = Floats(record.y.address);
    float v = from.v[FAULT == READS_OUTSIDE ? i + 1u : i];
    if (FAULT == READS_BELOW) v = from.v[int(i) - 1];
    if (FAULT == WRITES_AN_INPUT) Floats(record.x.address).v[i] = v;
    if (FAULT == READS_AN_OUTPUT) v = to.v[i];
    if (FAULT == NO_BARRIER || FAULT == NO_SECOND_BARRIER) {
        part[lane] = v;
        if (FAULT == NO_SECOND_BARRIER) barrier();
        v = part[63u - lane];
        if (FAULT == NO_SECOND_BARRIER) part[lane] = v;
    }
    if (FAULT == NOT_WRITTEN) {
        if (lane != 7u) part[lane] = v;
        barrier();
        v = part[lane];
    }
    if (FAULT == SAME_WORD) part[0] = float(n);
    if (FAULT == OUTSIDE_OF_SHARED) {
        other[lane] = part[lane] = v;
        barrier();
        v = part[lane + 1u] + other[lane];
    }
    if (FAULT == DIVERGENT_BARRIER && v > 32.0) barrier();
    if (FAULT == LEFT_BARRIER) {
        if (v > 32.0) return;
        barrier();
    }
    if (FAULT == MISALIGNED) {
        const vec4 four = ReadVec4s(record.x.address + uvec2(4u, 0u)).v[i / 8u];
        v = four.x + four.y + four.z + four.w;
    }
    if (FAULT == SAME_ELEMENT) to.v[i / 2u] = v;
    if (FAULT == OF_OTHER_GROUP) to.v[lane] = v;
    if (FAULT == READS_OF_OTHER_LANE) v += to.v[i ^ 1u];
    if (FAULT == DIVIDES_BY_ZERO) v = float(n / lane);
    if (FAULT == SHIFTS_TOO_FAR) v = float(n << lane);
    if (FAULT == NO_OPERAND) v = ReadFloats(uvec2(n, 0u)).v[i];
    if (FAULT == OUTSIDE_OF_ARRAY) {
        float four[4];
        for (uint k = 0u; k < 4u; ++k) four[k] = v + float(k);
        v = four[(lane + n) & 7u];
    }
    if (FAULT == WRITES_OUTSIDE && i == n - 1u) to.v[n] = v;
    to.v[i] = v;
}
