#version 460
// y[r] = -x[r][target[r]]; 0 for the target to be ignored, NaN for a target out of range.
//
//   target     i32; y is contiguous
//   ignored    the target to be ignored
//   groups     ceil(rows / 64)
// variants: nll: ; nll_f64: -DDOUBLE
#extension GL_GOOGLE_include_directive : require
#include "common/abi.glsl"
#include "common/vocabulary.glsl"

layout(local_size_x = 64) in;

RECORD(nll)
INPUT(x) INPUT(target) OUTPUT(y)
INT(rows) INT(classes)
INT(row_stride) INT(class_stride) INT(target_stride) INT(ignored)
END_RECORD

void main()
{
    const uint rows = uint(record.rows);
    const int classes = record.classes, ignored = record.ignored;
    const int row_stride = record.row_stride, class_stride = record.class_stride;
    const int target_stride = record.target_stride;
    const uvec2 x = record.x.address, target = record.target.address, y = record.y.address;
    const uint row = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;
    if (row >= rows)
        return;
    const int t = Ints(target).v[int(row) * target_stride];
    const bool known = t >= 0 && t < classes;
    precise REAL v = t == ignored ? 0.0 : rp_nan();
    if (known && t != ignored)
        v = -Reals(x).v[int(row) * row_stride + t * class_stride];
    Reals(y).v[row] = v;
}
