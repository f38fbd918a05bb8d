#version 460
#define OPERANDS 2
#define FLOATS 1
#include "common/abi.glsl"
layout(local_size_x = 64) in;
// y[row][i] = x[row][i] * factor / largest |x[row]|; a workgroup for each row; ints: rows, columns
shared float part[64];
void main()
{
    Floats x = Floats(record.operand[0].address), y = Floats(record.operand[1].address);
    const float factor = record.f[0];
    const uint rows = uint(record.n[0]), n = uint(record.n[1]), row = flat_group(), lane = gl_LocalInvocationID.x;
    if (row >= rows) return;
    float largest = 0;
    for (uint i = lane; i < n; i += 64) largest = max(largest, abs(x.v[row * n + i]));
    part[lane] = largest;
    for (uint width = 32; width > 0; width /= 2) {
        barrier();
        if (lane < width) part[lane] = max(part[lane], part[lane + width]);
    }
    barrier();
    for (uint i = lane; i < n; i += 64) y.v[row * n + i] = x.v[row * n + i] * factor / part[0];
}
