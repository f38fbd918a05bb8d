#include <reprise/dynamic/gradient_tensor.hpp>

#include <reprise/autograd/grad.hpp>

#include "dynamic/check.hpp"

namespace reprise {

namespace {

Tensor leaf_of(const Tensor& t, bool required)
{
    if (!required || !t.requires_grad()) return Variable(t, required);
    if (!t.is_leaf())
        detail::fail(ErrorKind::state, "DynamicGradientTensor", "The tensor of the shape (",
                     to_string(t.shape()),
                     ") was computed from what requires a gradient: detach() it to begin a tape of its own.");
    return t;
}

} // namespace

DynamicGradientTensor::DynamicGradientTensor(const Tensor& t, bool gradient_required)
    : tensor_(leaf_of(t, gradient_required))
{}

void DynamicGradientTensor::accumulate_gradient(const Tensor& gradient)
{
    if (!gradient_required())
        detail::fail(ErrorKind::state, "accumulate_gradient", "The tensor of the shape (", shape(),
                     ") requires no gradient: make it with one.");
    dynamic::check_shape("accumulate_gradient", "gradient", gradient.shape(), shape(), "the tensor has");
    if (gradient.dtype() != tensor_.dtype())
        detail::fail(ErrorKind::dtype, "accumulate_gradient", "The gradient is ", name_of(gradient.dtype()),
                     " but the tensor is ", name_of(tensor_.dtype()), ": cast it.");
    tensor_.backward(gradient, {.create_graph = grad_enabled() && gradient.requires_grad()});
}

std::optional<Tensor> DynamicGradientTensor::get_gradient() const
{
    const Tensor g = tensor_.grad();
    return g.defined() ? std::optional(g) : std::nullopt;
}

void DynamicGradientTensor::clear_gradient() { tensor_.zero_grad(); }

} // namespace reprise
