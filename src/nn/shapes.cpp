#include <reprise/nn/shapes.hpp>
#include <reprise/ops/shapes.hpp>

#include "nn/repr.hpp"

namespace reprise::nn {

Tensor Flatten::forward(Tensor x) { return flatten(x, from_, to_); }
std::string Flatten::extra_repr() const
{
    return Repr().option("start_dim", from_).option("end_dim", to_).text();
}

Tensor Unflatten::forward(Tensor x) { return unflatten(x, dim_, sizes_); }
std::string Unflatten::extra_repr() const
{
    return "dim=" + std::to_string(dim_) + ", unflattened_size=" + Repr().shape(sizes_).text();
}

} // namespace reprise::nn
