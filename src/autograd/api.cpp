// The public functions of autograd: Tensor's members, backward() and grad().
#include <reprise/autograd/grad.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/shapes.hpp>

#include "autograd/walk.hpp"
#include "graph/cell.hpp"
#include "shape/guard.hpp"

namespace reprise {

using graph::Value;

bool Tensor::requires_grad() const { return graph::requires_grad(graph::read(*this)); }

bool Tensor::is_leaf() const
{
    const Value v = graph::read(*this);
    return v.node->is_leaf || !graph::requires_grad(v);
}

Tensor& Tensor::requires_grad_(bool on)
{
    const Value v = graph::read(*this);
    if (graph::requires_grad(v) == on) return *this;
    if (!is_leaf())
        detail::fail(ErrorKind::state, "requires_grad_",
                     "Only a leaf can be told to require a gradient: use detach() to get one.");
    if (on && !is_floating(v.type().dtype))
        detail::fail(ErrorKind::dtype, "requires_grad_", "A tensor of (", name_of(v.type().dtype),
                     ") can't require a gradient: only floating dtypes can.");
    if (const graph::Tracer* tracer = graph::current_tracer(); tracer && cell_->trace != tracer->id())
        detail::fail(ErrorKind::state, "requires_grad_",
                     "A tensor from outside can't be changed while a program is recorded: "
                     "call requires_grad_() before.");
    cell_->value = graph::leaf_alias(v, on, cell_);
    return *this;
}

void detail::replace_value(const Tensor& leaf, const Tensor& value)
{
    const bool on = leaf.requires_grad();
    graph::assign(leaf, graph::leaf_alias(graph::read(value), on, on ? leaf.cell() : nullptr));
}

Tensor Tensor::grad() const
{
    auto g = graph::grad_of(*this);
    return g ? Tensor(std::move(g)) : Tensor();
}

void Tensor::set_grad(const Tensor& g)
{
    if (!g.defined()) return zero_grad();
    autograd::require_alike("set_grad", "The gradient is ", g, " but the tensor is ", *this);
    if (graph::read(g).node->evaluator != graph::read(*this).node->evaluator)
        detail::fail(ErrorKind::device, "set_grad", "The gradient and the tensor are on different devices.");
    graph::set_grad_of(*this, same(g.shape(), shape()) ? g.cell() : reprise::reshape(g, shape()).cell());
}

void Tensor::zero_grad() { graph::set_grad_of(*this, nullptr); }

MutableGrad::MutableGrad(Tensor owner) : Tensor(owner.grad()), owner_(std::move(owner)) {}
MutableGrad& MutableGrad::operator=(const Tensor& gradient)
{
    owner_.set_grad(gradient);
    static_cast<Tensor&>(*this) = owner_.grad();
    return *this;
}
void MutableGrad::reset() { *this = Tensor(); }
MutableGrad Tensor::mutable_grad() const { return MutableGrad(*this); }

Tensor& Tensor::detach_()
{
    const Value v = graph::read(*this);
    if (v.node->is_leaf && v.node->requires_grad) return requires_grad_(false);
    if (graph::requires_grad(v)) graph::assign(*this, graph::leaf_alias(v, false, nullptr));
    return *this;
}

Tensor Tensor::detach() const
{
    const Tensor t = graph::detached_copy(*this);
    graph::ViewLink& link = graph::link_view(t, *this);
    link.gather = [](const Tensor& base) { return graph::detached_copy(base); };
    link.scatter = [](const Tensor&, const Tensor& value) { return graph::detached_copy(value); };
    link.detached = true;
    link.in_order = graph::in_order(*this);
    return t;
}

Tensor Tensor::clone() const
{
    const Value v = graph::read(*this);
    const bool leaf = v.node->is_leaf && graph::requires_grad(v); // the copy must not share the leaf's grad()
    if (!leaf) return snapshot();
    return graph::make_tensor(graph::grad_mode() ? graph::identity(v) : graph::leaf_alias(v, false, nullptr));
}

Tensor Tensor::snapshot() const
{
    const Tensor t = graph::make_tensor(graph::read(*this));
    if (cell_->link) {
        t.cell()->link = std::make_shared<graph::ViewLink>(); // without a base
        t.cell()->link->in_order = graph::in_order(*this);
    }
    return t;
}

namespace autograd {

void require_alike(const char* op, const std::string& given_is, const Tensor& given, const char* but_is,
                   const Tensor& wanted, const char* end)
{
    const graph::TensorType &type = graph::type_of(given), &wanted_type = graph::type_of(wanted);
    const auto sentence = [&] {
        return given_is + name_of(type.dtype) + to_string(type.shape) + but_is + name_of(wanted_type.dtype) +
               to_string(wanted_type.shape) + end;
    };
    if (type.dtype != wanted_type.dtype) detail::fail(ErrorKind::dtype, op, sentence());
    shape::require_same(op, type.shape, wanted_type.shape, sentence);
}

Tensor seed_for(const char* op, const Tensor& output, const Tensor& cotangent)
{
    if (!output.requires_grad())
        detail::fail(ErrorKind::state, op,
                     "The tensor does not require a gradient: nothing that it was made of does, or detach(), "
                     "no_grad or a Kernel without a CustomFunction has ended the tape.");
    if (cotangent.defined()) {
        require_alike(op, "The given gradient is ", cotangent, " but the tensor is ", output);
        if (graph::read(cotangent).node->evaluator != graph::read(output).node->evaluator)
            detail::fail(
                ErrorKind::device, op,
                "The given gradient and the tensor are on different devices: bring it to the tensor's.");
        return same(cotangent.shape(), output.shape()) ? cotangent : reshape(cotangent, output.shape());
    }
    if (!same(output.numel(), 1))
        detail::fail(ErrorKind::shape, op, "The tensor has the shape (", to_string(output.shape()),
                     "), not one element: give the gradient to start from, or reduce it to a scalar.");
    return ones_like(output);
}

void co_schedule_loss(const Value& loss) { loss.node->evaluator->co_schedule(*loss.node); }

} // namespace autograd

void Tensor::backward(const Tensor& gradient, BackwardOptions options) const
{
    autograd::backward({*this}, {gradient}, options.retain_graph, options.create_graph);
}

std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options)
{
    std::vector<Value> from, to;
    std::vector<Tensor> seeds;
    if (!options.cotangents.empty() && options.cotangents.size() != outputs.size())
        detail::fail(ErrorKind::argument, "grad", "There are (", outputs.size(), ") outputs and (",
                     options.cotangents.size(), ") cotangents: give one for each output.");
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        seeds.push_back(autograd::seed_for("grad", outputs[i],
                                           options.cotangents.empty() ? Tensor() : options.cotangents[i]));
        from.push_back(graph::read(outputs[i]));
    }
    for (const Tensor& t : inputs) {
        if (!t.requires_grad())
            detail::fail(ErrorKind::state, "grad",
                         "An input does not require a gradient: call requires_grad_() on it first.");
        to.push_back(graph::read(t));
    }
    std::vector<Tensor> found = autograd::cotangents_of(
        from, seeds, to, {.create_graph = options.create_graph, .retain_graph = options.retain_graph});
    for (std::size_t i = 0; i < found.size(); ++i)
        if (!found[i].defined() && !options.allow_unused)
            detail::fail(ErrorKind::argument, "grad", "The outputs do not depend on input (", i,
                         "): pass allow_unused to get an undefined gradient for it.");
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (options.cotangents.empty() || !options.cotangents[i].defined())
            autograd::co_schedule_loss(from[i]);
    return found;
}

std::vector<Tensor> grad(const Tensor& output, const std::vector<Tensor>& inputs, const GradOptions& options)
{
    return grad(std::vector<Tensor>{output}, inputs, options);
}

Tensor grad(const Tensor& output, const Tensor& input, const GradOptions& options)
{
    return grad(std::vector<Tensor>{output}, std::vector<Tensor>{input}, options).front();
}

void autograd::backward(const std::vector<Tensor>& tensors, const std::vector<Tensor>& grad_tensors,
                        std::optional<bool> retain_graph, bool create_graph)
{
    if (!grad_tensors.empty() && grad_tensors.size() != tensors.size())
        detail::fail(ErrorKind::argument, "backward", "There are (", tensors.size(), ") tensors and (",
                     grad_tensors.size(), ") gradients: give one for each tensor.");
    std::vector<Value> from;
    std::vector<Tensor> seeds;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        seeds.push_back(seed_for("backward", tensors[i], grad_tensors.empty() ? Tensor() : grad_tensors[i]));
        from.push_back(graph::read(tensors[i]));
    }
    accumulate(from, seeds,
               {.create_graph = create_graph, .retain_graph = retain_graph.value_or(create_graph)});
    for (std::size_t i = 0; i < tensors.size(); ++i)
        if (grad_tensors.empty() || !grad_tensors[i].defined()) co_schedule_loss(from[i]);
}

std::vector<Tensor> autograd::grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                                   const std::vector<Tensor>& grad_outputs, std::optional<bool> retain_graph,
                                   bool create_graph, bool allow_unused)
{
    return reprise::grad(outputs, inputs,
                         {.create_graph = create_graph,
                          .retain_graph = retain_graph.value_or(create_graph),
                          .allow_unused = allow_unused,
                          .cotangents = grad_outputs});
}

} // namespace reprise
