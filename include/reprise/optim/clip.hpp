// Clipping of gradients, on the device.
#pragma once
#include <compare>

#include <reprise/dim.hpp>
#include <reprise/optim/parameters.hpp>
#include <reprise/structure.hpp>
#include <reprise/tensor.hpp>

namespace reprise::optim {

// Options of clip_grad_norm_().
struct ClipGradNormOptions {
    double norm_type = 2; // the p of the p-norm, which may be infinite
    // Throws Error(argument) where the norm is NaN or infinite, before anything is changed.  It waits for the
    // device, so it throws Error(state) while recording.
    bool error_if_nonfinite = false;
};
// The norm that clip_grad_norm_() returns: a tensor of one element, which is also a number as in libtorch.  Converting
// it to one, or comparing it with one, waits for the device and throws Error(state) while recording.
class GradNorm : public Tensor {
public:
    explicit GradNorm(const Tensor& norm) : Tensor(norm) {} // the norm
    operator double() const { return item<double>(); }      // the number
};
// Arithmetic of a norm and a number returns a tensor.
#define REPRISE_NORM_WITH_NUMBER(op)                                                                         \
    template <shape::Number N> Tensor operator op(const GradNorm& a, N b)                                    \
    {                                                                                                        \
        return static_cast<const Tensor&>(a) op static_cast<double>(b);                                      \
    }                                                                                                        \
    template <shape::Number N> Tensor operator op(N a, const GradNorm& b)                                    \
    {                                                                                                        \
        return static_cast<double>(a) op static_cast<const Tensor&>(b);                                      \
    }
REPRISE_NORM_WITH_NUMBER(+)
REPRISE_NORM_WITH_NUMBER(-)
REPRISE_NORM_WITH_NUMBER(*)
REPRISE_NORM_WITH_NUMBER(/)
#undef REPRISE_NORM_WITH_NUMBER
// Compares the value of a norm with a number.
template <shape::Number N> auto operator<=>(const GradNorm& a, N b)
{
    return a.item<double>() <=> static_cast<double>(b);
}
// Returns whether the norm is that number.
template <shape::Number N> bool operator==(const GradNorm& a, N b)
{
    return a.item<double>() == static_cast<double>(b);
}

// Scales all gradients by max_norm / (norm + 1e-6) where that is below 1; norm is that of all gradients as
// one vector.  Returns the norm before scaling; 0 if there are no gradients.  Parameters without a gradient
// are ignored.  Call it between backward() and step().  Throws Error(argument) for a negative max_norm, and
// for tensors that are not leaves.
GradNorm clip_grad_norm_(const Parameters&, double max_norm, const ClipGradNormOptions& = {});
// The same with the options as PyTorch's arguments.
template <shape::Number N> GradNorm clip_grad_norm_(const Parameters& parameters, double max_norm,
                                                    N norm_type, bool error_if_nonfinite = false)
{
    return clip_grad_norm_(parameters, max_norm,
                           ClipGradNormOptions{static_cast<double>(norm_type), error_if_nonfinite});
}
// Limits each element of all gradients to [-clip_value, clip_value].  Throws Error(argument) for a negative
// clip_value, and for tensors that are not leaves.
void clip_grad_value_(const Parameters&, double clip_value);

} // namespace reprise::optim

namespace reprise::detail {
// A result of a recorded function is a tensor.
template <> struct Structure<optim::GradNorm> : Structure<Tensor> {};
} // namespace reprise::detail
