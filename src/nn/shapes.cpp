#include <reprise/nn/shapes.hpp>
#include <reprise/ops/shapes.hpp>

namespace reprise::nn {

Tensor Flatten::forward(Tensor x) { return flatten(x, from_, to_); }

} // namespace reprise::nn
