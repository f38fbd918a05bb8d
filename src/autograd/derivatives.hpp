// How the derivatives of functions begin: inputs of their own, what the function made of them, a walk
// between.
#pragma once
#include <span>
#include <vector>

#include <reprise/autograd/derivatives.hpp>

#include "graph/cell.hpp"

namespace reprise::autograd {

struct Run {
    std::vector<Tensor>
        x; // leaves, or a boundary of the tape where the results are to be differentiated again
    Tensor y;
    bool create_graph = false;

    // y J; zeros where nothing arrives.
    std::vector<Tensor> products(const Tensor& cotangent, bool create) const;
    Tensor value() const { return create_graph ? y : graph::detached_copy(y); }
};
Run run(const char* op, const FunctionOfSeveral& f, const std::vector<Tensor>& x, const DerivativeOptions&);
FunctionOfSeveral of_several(const reprise::Function& f);
void require_one_element(const char* op, const Tensor& y);
// v J of a function that made `y` of `x`, be y's tape empty.
std::vector<Tensor> products(std::span<const Tensor> y, std::span<const Tensor> cotangents,
                             std::span<const Tensor> x, bool create);

} // namespace reprise::autograd
