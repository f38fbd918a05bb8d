// Ops as DynamicGradientFunctions: values and gradients are those of the plain op, bit for bit.
#pragma once
#include <reprise/dynamic/gradient_function.hpp>
#include <reprise/ops/convolution.hpp>

namespace reprise {

// Each takes floating tensors and is called with them: DynamicMatMulBackward()(a, b).  Error(argument) for
// another number of tensors than it takes; else the errors are those of the plain op.  get_output_shape() is
// output_shape() of the op.

// matmul(a, b): [..., m, k] x [..., k, n] -> [..., m, n].  Leading dimensions broadcast, and may be symbols.
class DynamicMatMulBackward : public DynamicGradientFunction {
public:
    DynamicMatMulBackward();
};

// conv2d(x, weight) or conv2d(x, weight, bias) with these options; height and width may be symbols.
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
