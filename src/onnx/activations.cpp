// Activation functions.
#include <cmath>

#include "onnx/call.hpp"

namespace reprise::onnx {

namespace {

Value leaky(Call& call) { return leaky_relu(call[0], call.real("alpha", 0.01)); }

Value elu_of(Call& call) { return elu(call[0], call.real("alpha", 1)); }

Value celu_of(Call& call) { return celu(call[0], call.real("alpha", 1)); }

// gamma (alpha exp(x) - alpha) up to 0, gamma x above.
Value selu_of(Call& call)
{
    const double alpha = call.real("alpha", 1.67326319217681884765625);
    return mul(elu(call[0], alpha), call.real("gamma", 1.05070102214813232421875));
}

Value prelu_of(Call& call)
{
    const Tensor x = call[0], slope = call[1];
    if (is_floating(x.dtype())) return add(relu(x), mul(slope, minimum(x, 0.0)));
    return where(lt(x, 0), mul(x, slope), x);
}

Value hard_sigmoid(Call& call)
{
    return clamp(affine(call[0], call.real("alpha", 0.2), call.real("beta", 0.5)), 0, 1);
}

Value thresholded(Call& call) { return threshold(call[0], call.real("alpha", 1), 0); }

Value shrink(Call& call)
{
    const Tensor x = call[0];
    const double bias = call.real("bias", 0), lambda = call.real("lambd", 0.5);
    const Tensor wide = is_floating(x.dtype()) ? x : x.to(f32);
    const Tensor below = where(lt(wide, -lambda), add(wide, bias), zeros_like(wide));
    return where(gt(wide, lambda), sub(wide, bias), below).to(x.dtype());
}

Value gelu_of(Call& call)
{
    return gelu(call[0], call.text("approximate", "none") == "tanh" ? GeluApproximation::tanh
                                                                    : GeluApproximation::none);
}

Value swish_of(Call& call)
{
    const Tensor x = call[0];
    const double alpha = call.real("alpha", 1);
    return alpha == 1 ? silu(x) : mul(x, sigmoid(mul(x, alpha)));
}

// Before opset 13 the function is of the matrix whose rows are the dimensions from `axis` on; from there on it is
// of one dimension.
template <class F> Tensor along_axis(Call& call, const F& f)
{
    const Tensor x = call[0];
    const std::int64_t rank = x.dim();
    if (call.opset() >= 13) return f(x, call.axis("axis", -1, rank));
    const std::int64_t axis = call.axis("axis", 1, rank);
    if (axis == rank - 1) return f(x, axis);
    return reshape(f(flatten(x, axis, -1), axis), x.shape());
}

Value softmax_of(Call& call)
{
    return along_axis(call, [](const Tensor& x, std::int64_t dim) { return softmax(x, dim); });
}

Value log_softmax_of(Call& call)
{
    return along_axis(call, [](const Tensor& x, std::int64_t dim) { return log_softmax(x, dim); });
}

// 1 at the first largest element.
Value hardmax(Call& call)
{
    return along_axis(call, [&](const Tensor& x, std::int64_t dim) {
        const Tensor at = argmax(x, dim, true);
        Shape column(static_cast<std::size_t>(x.dim()), 1);
        column[static_cast<std::size_t>(dim)] = x.size(dim);
        const Tensor index = reshape(arange(x.size(dim), {.dtype = i32, .device = call.device}), column);
        return eq(at, index).to(x.dtype());
    });
}

const Operator rows[] = {
    {"Celu", celu_of},
    {"Elu", elu_of},
    {"Gelu", gelu_of},
    {"HardSigmoid", hard_sigmoid},
    {"HardSwish", unary<hardswish>},
    {"Hardmax", hardmax},
    {"LeakyRelu", leaky},
    {"LogSoftmax", log_softmax_of},
    {"Mish", unary<mish>},
    {"PRelu", prelu_of, {.since = 7}},
    {"Relu", unary<relu>},
    {"Selu", selu_of},
    {"Shrink", shrink},
    {"Sigmoid", unary<sigmoid>},
    {"Softmax", softmax_of},
    {"Softplus", unary<softplus>},
    {"Softsign", unary<softsign>},
    {"Swish", swish_of},
    {"ThresholdedRelu", thresholded},
};

} // namespace

Operators activation_operators() { return rows; }

} // namespace reprise::onnx
