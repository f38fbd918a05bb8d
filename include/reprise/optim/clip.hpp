// Clipping of gradients, on the device.
#pragma once
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::optim {

struct ClipGradNormOptions {
    double norm_type = 2; // p: 1, 2, infinity, any
    // Error(argument) where the norm is NaN or infinite, before anything is changed.  Waits for the device, so not
    // while recording.
    bool error_if_nonfinite = false;
};
// Of all gradients as one vector: where its norm is larger than max_norm, scales them by max_norm / (norm + 1e-6).
// Gives the norm before that (one element; of no gradients 0).  Parameters without a gradient are passed over.  For
// gradients that were added up over several calls: clip between the last backward() and step().
Tensor clip_grad_norm_(const std::vector<Variable>& parameters, double max_norm,
                       const ClipGradNormOptions& = {});
// Each element to [-clip_value, clip_value].
void clip_grad_value_(const std::vector<Variable>& parameters, double clip_value);

} // namespace reprise::optim
