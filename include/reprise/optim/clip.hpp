// Clipping of gradients, on the device.
#pragma once
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::optim {

// Options of clip_grad_norm_().
struct ClipGradNormOptions {
    double norm_type = 2; // the p of the p-norm, which may be infinite
    // Throws Error(argument) where the norm is NaN or infinite, before anything is changed.  Waits for the
    // device, so it is Error(state) while recording.
    bool error_if_nonfinite = false;
};
// Scales all gradients by max_norm / (norm + 1e-6) where that is below 1; norm is that of all gradients as
// one vector.  Returns the norm from before, a tensor of one element; 0 where there are no gradients.
// Parameters without a gradient are ignored.  Call it between backward() and step().  Error(argument) for a
// negative max_norm.
Tensor clip_grad_norm_(const std::vector<Variable>& parameters, double max_norm,
                       const ClipGradNormOptions& = {});
// Limits each element of all gradients to [-clip_value, clip_value].  Error(argument) for a negative
// clip_value.
void clip_grad_value_(const std::vector<Variable>& parameters, double clip_value);

} // namespace reprise::optim
