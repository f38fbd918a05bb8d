// Clipping of gradients by a norm, for parameters of which this rank has all or only a part.
#pragma once
#include <functional>

#include <reprise/optim/clip.hpp>

namespace reprise::optim {

// Implements clip_grad_norm_(), as which `op` is called.  Total returns the norm of all ranks' gradients; its argument
// is that of this rank's.
GradNorm clip_by_norm(const char* op, const Parameters&, double max_norm, const ClipGradNormOptions&,
                      const std::function<Tensor(const Tensor&)>& total);

} // namespace reprise::optim
