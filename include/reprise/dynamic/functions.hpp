// Ops as DynamicGradientFunctions: values and gradients are those of the plain op, bit for bit.
#pragma once
#include <reprise/dynamic/gradient_function.hpp>
#include <reprise/ops/convolution.hpp>

namespace reprise {

// Each takes floating tensors and is called with them: DynamicMatMulBackward()(a, b).  Error(argument) for
// another number of tensors than it takes; else the errors are those of the plain op.  get_output_shape() is
// output_shape() of the op.  All sizes may be symbols.

// matmul(a, b): [..., m, k] x [..., k, n] -> [..., m, n].  Leading dimensions broadcast; a vector is a row on
// the left and a column on the right, and its dimension is not in the result: [m, k] x [k] -> [m].
class DynamicMatMulBackward : public DynamicGradientFunction {
public:
    DynamicMatMulBackward();
};

// conv2d(x, weight) or conv2d(x, weight, bias): x [N, Ci, H, W] or [Ci, H, W], weight [Co, Ci / groups, kh, kw],
// bias [Co] -> [N, Co, OH, OW] or [Co, OH, OW], OH = floor((H + 2 padding - dilation (kh - 1) - 1) / stride) + 1.
// Strides and dilations are 1, paddings 0 and groups 1 unless given; padding "same" keeps H and W where strides
// are 1, and "valid" is 0.
class DynamicConv2DBackward : public DynamicGradientFunction {
public:
    explicit DynamicConv2DBackward(const Conv2dOptions& = {});
};

// reshape(x, shape); one size may be -1.  The gradient has x's own shape again.
class DynamicReshapeBackward : public DynamicGradientFunction {
public:
    explicit DynamicReshapeBackward(SymbolicShape);
};

// expand(x, shape); -1 keeps a size.  The gradient is summed over the dimensions that x lacks or has only 1
// of.
class DynamicBroadcastBackward : public DynamicGradientFunction {
public:
    explicit DynamicBroadcastBackward(SymbolicShape);
};

} // namespace reprise
