#include <reprise/nn/activations.hpp>

namespace reprise::nn {

Tensor ReLU::forward(Tensor x) { return relu(x); }

Tensor GELU::forward(Tensor x) { return gelu(x, approximate_); }

} // namespace reprise::nn
