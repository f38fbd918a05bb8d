// Functions on lists of parameters, with the names of torch.nn.utils.
#pragma once
#include <reprise/optim/clip.hpp>
#include <reprise/optim/parameters.hpp>
#include <reprise/tensor.hpp>

namespace reprise::nn::utils {

using optim::clip_grad_norm_;
using optim::clip_grad_value_;

// Concatenates the elements of all parameters, each in row-major order, into one vector [N], with gradients.
// Different dtypes are promoted.  Throws Error(argument) for an empty list and Error(device) for parameters
// on different devices.
Tensor parameters_to_vector(const Parameters& parameters);
// The inverse: assigns each parameter its part of the vector [N], without gradients.  Throws
// Error(shape) where N is not the number of all elements, before anything has changed.  Dtypes and devices
// must be those of the vector.
void vector_to_parameters(const Tensor& vector, const Parameters& parameters);

} // namespace reprise::nn::utils
