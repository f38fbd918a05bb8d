// Ops as DynamicGradientFunctions. Values and gradients are bitwise equal to those of the plain ops.
#pragma once
#include <reprise/dynamic/gradient_function.hpp>
#include <reprise/ops/convolution.hpp>

namespace reprise {

// Each takes floating tensors and is called with them: DynamicMatMulBackward()(a, b). A call with another number of
// tensors throws Error(argument); other errors are those of the plain op. get_output_shape() returns output_shape() of
// the op. All sizes may be symbols.

// matmul(a, b): [..., m, k] x [..., k, n] returns [..., m, n]. Leading dimensions broadcast. A vector is a row on the
// left and a column on the right, and its dimension is not in the result: [m, k] x [k] returns [m].
class DynamicMatMulBackward : public DynamicGradientFunction {
public:
    // Called with a and b.
    DynamicMatMulBackward();
};

// conv2d(x, weight) or conv2d(x, weight, bias): x [N, Ci, H, W] or [Ci, H, W], weight [Co, Ci / groups, kh, kw] and
// bias [Co] produce [N, Co, OH, OW] or [Co, OH, OW], with OH = floor((H + 2 padding - dilation (kh - 1) - 1) / stride)
// + 1. By default strides, dilations and groups are 1 and paddings 0; padding "same" preserves H and W if strides are
// 1, and "valid" is 0.
class DynamicConv2DBackward : public DynamicGradientFunction {
public:
    // Called with x and weight, or with x, weight and bias.
    explicit DynamicConv2DBackward(const ConvOptions<2>& = {});
};

// reshape(x, shape); one size may be -1, which is computed from the others.  The gradient is reshaped to x's
// shape.
class DynamicReshapeBackward : public DynamicGradientFunction {
public:
    // Called with x.
    explicit DynamicReshapeBackward(SymbolicShape);
};

// expand(x, shape); -1 retains a size. The gradient is summed over the dimensions that x does not have or has with size
// 1.
class DynamicBroadcastBackward : public DynamicGradientFunction {
public:
    // Called with x.
    explicit DynamicBroadcastBackward(SymbolicShape);
};

} // namespace reprise
