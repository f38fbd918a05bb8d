// The largest element of each window and its index: the flat position in the image, of equal elements that of the first
// in row-major order.  Padding is never taken; a NaN replaces all elements before it, as in PyTorch; a window without
// elements has -inf and the index -1.  Planes without dilation have separate kernels: max_pool2d.comp.
//
//   x [planes, D, H, W], y and index (i32) [planes, OD, OH, OW], all contiguous
//   kernel, stride, padding, dilation  three each: along D, H, W
//   constant  0: 1 if the windows are adaptive (kernel, stride, padding and dilation are not read)
//   groups    ceil(planes * OD * OH * OW / 64)
// variants: max_pool: ; max_pool_f64: -DDOUBLE
#version 460
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"
#include "common/index.glsl"
#include "common/windows.glsl"
layout(local_size_x = 64) in;
layout(constant_id = 0) const uint ADAPTIVE = 0;

RECORD(max_pool)
INPUT(x) OUTPUT(y) OUTPUT(index)
INT(planes) MEMBER(Windows, windows)
END_RECORD

Range inputs(int o, int n, int m, int kernel, int stride, int padding, int dilation)
{
    if (ADAPTIVE == 1u) return part(o, n, m);
    return window_inputs(o, n, kernel, stride, padding, dilation);
}

void main()
{
    const uint planes = record.planes, OD = record.windows.out_size[0], OH = record.windows.out_size[1], OW = record.windows.out_size[2];
    const int D = record.windows.in_size[0], H = record.windows.in_size[1], W = record.windows.in_size[2];
    const ivec3 kernel = THREE(record.windows.kernel);
    const ivec3 stride = THREE(record.windows.stride);
    const ivec3 padding = THREE(record.windows.padding);
    const ivec3 dilation = THREE(record.windows.dilation);
    Reals x = Reals(record.x.address), y = Reals(record.y.address);
    Ints index = Ints(record.index.address);
    const uint element = flat_group() * 64u + gl_LocalInvocationID.x;
    if (element >= planes * OD * OH * OW) return;
    const uint line = quotient(element, OW), slice = quotient(line, OH), plane = quotient(slice, OD);
    const int ox = int(element - line * OW), oy = int(line - slice * OH), oz = int(slice - plane * OD);
    const Range in_z = inputs(oz, D, int(OD), kernel.x, stride.x, padding.x, dilation.x);
    const Range in_y = inputs(oy, H, int(OH), kernel.y, stride.y, padding.y, dilation.y);
    const Range in_x = inputs(ox, W, int(OW), kernel.z, stride.z, padding.z, dilation.z);
    const uint image = plane * uint(D * H * W);
    REAL best = -rp_inf();
    int place = -1;
    for (int k = 0; k < in_z.count; ++k) {
        const int iz = in_z.first + k * dilation.x;
        for (int j = 0; j < in_y.count; ++j) {
            const int row = (iz * H + in_y.first + j * dilation.y) * W + in_x.first;
            for (int i = 0; i < in_x.count; ++i) {
                const int at = row + i * dilation.z;
                const REAL value = x.v[image + uint(at)];
                const bool wins = value > best || rp_is_nan(value) || place < 0;
                best = wins ? value : best;
                place = wins ? at : place;
            }
        }
    }
    y.v[element] = best;
    index.v[element] = place;
}
