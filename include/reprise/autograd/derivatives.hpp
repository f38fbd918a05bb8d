// Derivatives of functions, as in torch.func.
//
// The functions take and return floating tensors, else Error(dtype).  Where an input requires a gradient, or
// with `create_graph`, the results can be differentiated again; otherwise they are constants.  So
// derivatives nest:
//
//     auto f = [](const Tensor& x) { return sum(x * x * x); };
//     Tensor second = grad([&](const Tensor& x) { return sum(grad(f, x)); }, x);
#pragma once
#include <functional>
#include <utility>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

using Function = std::function<Tensor(const Tensor&)>;                       // a function of one tensor
using FunctionOfSeveral = std::function<Tensor(const std::vector<Tensor>&)>; // a function of several tensors

// Options of the functions below.
struct DerivativeOptions {
    bool create_graph = false; // the results can be differentiated again
};

// Returns the gradient of f at x, of x's shape.  f returns one element, else Error(shape).  The gradient of an
// input that f does not depend on is zero.
Tensor grad(const Function& f, const Tensor& x, const DerivativeOptions& = {});
// Returns the gradients of f with respect to each tensor of x.
std::vector<Tensor> grad(const FunctionOfSeveral& f, const std::vector<Tensor>& x,
                         const DerivativeOptions& = {});
// Returns f(x) and the gradient of f at x, as grad().
std::pair<Tensor, Tensor> value_and_grad(const Function& f, const Tensor& x, const DerivativeOptions& = {});
// Returns f(x) and the gradients of f with respect to each tensor of x.
std::pair<Tensor, std::vector<Tensor>> value_and_grad(const FunctionOfSeveral& f,
                                                      const std::vector<Tensor>& x,
                                                      const DerivativeOptions& = {});

// Returns f(x) and the product v J of a vector with the Jacobian of f at x, of x's shape.  v has f(x)'s shape
// and dtype, else Error(shape, dtype); without v, f(x) must have one element, and v is 1.
std::pair<Tensor, Tensor> vjp(const Function& f, const Tensor& x, const Tensor& v = {},
                              const DerivativeOptions& = {});
// Returns f(x) and v J for each tensor of x.
std::pair<Tensor, std::vector<Tensor>> vjp(const FunctionOfSeveral& f, const std::vector<Tensor>& x,
                                           const Tensor& v = {}, const DerivativeOptions& = {});
// Returns f(x) and the product J v of the Jacobian of f at x with a vector, of f(x)'s shape.  v has x's shape
// and dtype, else Error(shape, dtype).
std::pair<Tensor, Tensor> jvp(const Function& f, const Tensor& x, const Tensor& v,
                              const DerivativeOptions& = {});
// Returns f(x) and the sum of J v over all tensors of x, with one v for each, else Error(argument).
std::pair<Tensor, Tensor> jvp(const FunctionOfSeveral& f, const std::vector<Tensor>& x,
                              const std::vector<Tensor>& v, const DerivativeOptions& = {});

// Returns the Jacobian d f(x) / d x, of the shape [shape of f(x), shape of x].  f runs once; each row replays a
// recorded product v J, with the same random numbers.  f(x) must have constant sizes, else Error(shape).
Tensor jacobian(const Function& f, const Tensor& x, const DerivativeOptions& = {});

// Returns f(x) and the product H v of the Hessian of f at x with a vector.  f returns one element; v has x's
// shape and dtype.
std::pair<Tensor, Tensor> hvp(const Function& f, const Tensor& x, const Tensor& v,
                              const DerivativeOptions& = {});
// Returns the Hessian of f at x, of the shape [shape of x, shape of x].  f returns one element, else
// Error(shape).
Tensor hessian(const Function& f, const Tensor& x, const DerivativeOptions& = {});
// Returns the Laplacian of f at x: the sum of the second derivatives with respect to each element of x.  If x
// holds points, [..., d], and f returns one number for each, [...] or [..., 1], that depends only on this
// point, the result is the Laplacian at each point, in the shape of f(x), computed by d Hessian-vector products.
// Any other f must return one element, else Error(shape).
Tensor laplacian(const Function& f, const Tensor& x, const DerivativeOptions& = {});

} // namespace reprise
