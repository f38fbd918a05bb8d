// The dtypes of results.
#pragma once
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::test {

// Returns boolean for an undefined tensor.
inline std::vector<DType> dtypes_of(const std::vector<Tensor>& tensors)
{
    std::vector<DType> out;
    for (const Tensor& t : tensors) out.push_back(t.defined() ? t.dtype() : boolean);
    return out;
}

} // namespace reprise::test
