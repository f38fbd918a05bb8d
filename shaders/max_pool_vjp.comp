// dx of max_pool: each element gathers dy from the windows of which it is the largest element.
//
//   dy and index (i32) [planes, OD, OH, OW], dx [planes, D, H, W], all contiguous
//   kernel, stride, padding, dilation  three each: along D, H, W
//   constant  0: 1 if the windows are adaptive (kernel, stride, padding and dilation are not read)
//   groups    ceil(planes * D * H * W / 64)
// variants: max_pool_vjp: ; max_pool_vjp_f64: -DDOUBLE
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/index.glsl"
#include "common/windows.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint ADAPTIVE = 0;

RECORD(max_pool_vjp)
INPUT(dy) INPUT(index) OUTPUT(dx)
INT(planes) MEMBER(Windows, windows)
END_RECORD

Range outputs(int i, int n, int m, int kernel, int stride, int padding, int dilation)
{
    if (ADAPTIVE == 1u) return part(i, m, n);
    return window_outputs(i, m, kernel, stride, padding, dilation);
}

void main()
{
    const uint planes = record.planes, D = record.windows.in_size[0], H = record.windows.in_size[1], W = record.windows.in_size[2];
    const int OD = record.windows.out_size[0], OH = record.windows.out_size[1], OW = record.windows.out_size[2];
    const ivec3 kernel = THREE(record.windows.kernel);
    const ivec3 stride = THREE(record.windows.stride);
    const ivec3 padding = THREE(record.windows.padding);
    const ivec3 dilation = THREE(record.windows.dilation);
    Reals dy = Reals(record.dy.address), dx = Reals(record.dx.address);
    Ints index = Ints(record.index.address);
    const uint element = flat_group() * 64u + gl_LocalInvocationID.x;
    if (element >= planes * D * H * W) return;
    const uint line = quotient(element, W), slice = quotient(line, H), plane = quotient(slice, D);
    const int x = int(element - line * W), y = int(line - slice * H), z = int(slice - plane * D);
    const Range out_z = outputs(z, int(D), OD, kernel.x, stride.x, padding.x, dilation.x);
    const Range out_y = outputs(y, int(H), OH, kernel.y, stride.y, padding.y, dilation.y);
    const Range out_x = outputs(x, int(W), OW, kernel.z, stride.z, padding.z, dilation.z);
    const int place = (z * int(H) + y) * int(W) + x;
    const uint image = plane * uint(OD * OH * OW);
    precise REAL sum = 0.0;
    for (int k = 0; k < out_z.count; ++k)
        for (int j = 0; j < out_y.count; ++j) {
            const int row = ((out_z.first + k) * OH + out_y.first + j) * OW + out_x.first;
            for (int i = 0; i < out_x.count; ++i) {
                const uint at = image + uint(row + i);
                precise REAL more = sum + dy.v[at];
                sum = index.v[at] == place ? more : sum;
            }
        }
    dx.v[element] = sum;
}
