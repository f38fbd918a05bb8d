// What works on all parameters of a module, by the names of torch.nn.utils.
#pragma once
#include <vector>

#include <reprise/optim/clip.hpp>
#include <reprise/tensor.hpp>

namespace reprise::nn::utils {

using optim::clip_grad_norm_;
using optim::clip_grad_value_;

// All elements one behind the other, [N]; of one dtype and device.  Differentiable.  Error(argument) for no parameters.
Tensor parameters_to_vector(const std::vector<Variable>& parameters);
// The other way round: assigns each parameter its part of the vector [N].  Error(shape) where N is not the number of all
// elements; nothing has changed then.
void vector_to_parameters(const Tensor& vector, const std::vector<Variable>& parameters);

} // namespace reprise::nn::utils
