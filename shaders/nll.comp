#version 460
// y[r] = -x[r][target[r]]; 0 for the target to be ignored, NaN for one outside.
//
//   operands   x, target (i32), y (contiguous)
//   ints       rows, classes, strides of x (row, class), stride of target, the target to be ignored
//   groups     ceil(rows / 64)
// variants: nll: ; nll_f64: -DDOUBLE
#define OPERANDS 3
#define FLOATS 0
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"

layout(local_size_x = 64) in;

void main()
{
    const uint rows = uint(record.n[0]);
    const int classes = record.n[1];
    const int row_stride = record.n[2], class_stride = record.n[3], target_stride = record.n[4];
    const uvec2 x = record.operand[0].address, target = record.operand[1].address;
    const uvec2 y = record.operand[2].address;
    const uint row = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (row >= rows)
        return;
    const int t = Ints(target).v[int(row) * target_stride];
    const bool known = t >= 0 && t < classes;
    precise REAL v = t == record.n[5] ? 0.0 : rp_nan();
    if (known && t != record.n[5])
        v = -Reals(x).v[int(row) * row_stride + t * class_stride];
    Reals(y).v[row] = v;
}
