// The common part of the derivatives of functions: runs a function on copies of its inputs, and computes products with
// its Jacobian.
#pragma once
#include <span>
#include <vector>

#include <reprise/autograd/derivatives.hpp>

#include "graph/cell.hpp"

namespace reprise::autograd {

struct Run {
    // New leaves, or nodes on the tape of the inputs where the results can be differentiated again.
    std::vector<Tensor> x;
    Tensor y; // f(x)
    bool create_graph = false;

    // Returns the product of the cotangent of y with the Jacobian for each x; zeros where y does not depend on it.
    std::vector<Tensor> products(const Tensor& cotangent, bool create) const;
    Tensor value() const { return create_graph ? y : graph::detached_copy(y); }
};
Run run(const char* op, const FunctionOfSeveral& f, const std::vector<Tensor>& x, const DerivativeOptions&);
FunctionOfSeveral of_several(const reprise::Function& f);
void require_one_element(const char* op, const Tensor& y);
// Returns the sum of v J over all y, for each x.  A y that requires no gradient counts as a constant.
std::vector<Tensor> products(std::span<const Tensor> y, std::span<const Tensor> cotangents,
                             std::span<const Tensor> x, bool create);

} // namespace reprise::autograd
