// Derivatives of functions.
//
// The functions take and give floating tensors.  Where an input requires a gradient, or `create_graph` is
// asked for, the results can be differentiated again; else they are plain values.  So derivatives nest:
//
//     auto f = [](const Tensor& x) { return sum(x * x * x); };
//     Tensor second = grad([&](const Tensor& x) { return sum(grad(f, x)); }, x);
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

using Function = std::function<Tensor(const Tensor&)>;
using FunctionOfSeveral = std::function<Tensor(const std::vector<Tensor>&)>;

struct DerivativeOptions {
    bool create_graph = false;
};

// Of functions to one element; Error(shape) for others.  What f does not depend on has the gradient zero.
Tensor grad(const Function& f, const Tensor& x, const DerivativeOptions& = {});
std::vector<Tensor> grad(const FunctionOfSeveral& f, const std::vector<Tensor>& x,
                         const DerivativeOptions& = {});
std::pair<Tensor, Tensor> value_and_grad(const Function& f, const Tensor& x, const DerivativeOptions& = {});
std::pair<Tensor, std::vector<Tensor>> value_and_grad(const FunctionOfSeveral& f,
                                                      const std::vector<Tensor>& x,
                                                      const DerivativeOptions& = {});

// f(x), and the product of the Jacobian with a vector: v J, v of f(x)'s shape; J v, v of x's shape.
// Without v, f(x) must have one element.
std::pair<Tensor, Tensor> vjp(const Function& f, const Tensor& x, const Tensor& v = {},
                              const DerivativeOptions& = {});
std::pair<Tensor, std::vector<Tensor>> vjp(const FunctionOfSeveral& f, const std::vector<Tensor>& x,
                                           const Tensor& v = {}, const DerivativeOptions& = {});
std::pair<Tensor, Tensor> jvp(const Function& f, const Tensor& x, const Tensor& v,
                              const DerivativeOptions& = {});
std::pair<Tensor, Tensor> jvp(const FunctionOfSeveral& f, const std::vector<Tensor>& x,
                              const std::vector<Tensor>& v, const DerivativeOptions& = {});

// d f(x) / d x, of the shape [shape of f(x), shape of x].  f runs once; a row is a replay of one recorded
// product with the Jacobian, and takes what f drew at random as it was.  The sizes are concrete.
Tensor jacobian(const Function& f, const Tensor& x, const DerivativeOptions& = {});

// Of functions to one element.  hvp gives f(x) and H v; hessian has the shape [shape of x, shape of x].
std::pair<Tensor, Tensor> hvp(const Function& f, const Tensor& x, const Tensor& v,
                              const DerivativeOptions& = {});
Tensor hessian(const Function& f, const Tensor& x, const DerivativeOptions& = {});
// The sum of the second derivatives by each element of x.  A function of points [..., d] to one number a
// point, [...] or [..., 1], each of which depends on its own point only, gives the laplacian of each point
// in that shape, by d products; any other function must give one element.
Tensor laplacian(const Function& f, const Tensor& x, const DerivativeOptions& = {});

} // namespace reprise
