#version 460
#extension GL_GOOGLE_include_directive : require
// Whether quotients are to be corrected on this device: see shaders/common/vocabulary.glsl.
#define OPERANDS 1 // one float
#include "common/abi.glsl"
layout(local_size_x = 1) in;
layout(constant_id = 2000) const bool REFINES_DIVISION = false;

void main()
{
    Floats(record.operand[0].address).v[0] = REFINES_DIVISION ? 1.0 : 0.0;
}
