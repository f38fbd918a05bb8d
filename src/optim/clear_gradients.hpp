// Implements zero_grad() of all optimizers.
#pragma once
#include <vector>

#include <reprise/ops/creation.hpp>
#include <reprise/tensor.hpp>

namespace reprise::optim {

// Makes gradients undefined if set_to_none, else sets the defined ones to zeros.
inline void clear_gradients(std::vector<Variable>& parameters, bool set_to_none)
{
    for (Variable& p : parameters) {
        if (set_to_none) p.zero_grad();
        else if (const Tensor g = p.grad(); g.defined()) p.set_grad(zeros_like(g));
    }
}

} // namespace reprise::optim
