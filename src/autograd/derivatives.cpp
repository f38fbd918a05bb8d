#include "autograd/derivatives.hpp"

#include <reprise/autograd/grad.hpp>
#include <reprise/ops/creation.hpp>

#include "autograd/walk.hpp"
#include "graph/cell.hpp"

namespace reprise {

using graph::Value;

namespace autograd {

namespace {

Tensor separate_input(const char* op, const Tensor& x, bool connected)
{
    if (!is_floating(x.dtype()))
        detail::fail(ErrorKind::dtype, op, "The function is differentiated by a tensor of (",
                     name_of(x.dtype()), "): only floating dtypes have derivatives.");
    if (connected && x.requires_grad()) return graph::make_tensor(graph::identity(graph::read(x)));
    Tensor leaf = graph::detached_copy(x);
    return leaf.requires_grad_();
}

void require_type_of(const char* op, const Tensor& v, const Tensor& of)
{
    require_alike(op, "The vector is ", v, " but it stands for a tensor of ", of);
}

} // namespace

Run run(const char* op, const FunctionOfSeveral& f, const std::vector<Tensor>& x,
        const DerivativeOptions& options)
{
    const bool connected = grad_enabled();
    Run r;
    r.create_graph = options.create_graph;
    for (const Tensor& t : x) r.create_graph |= connected && t.requires_grad();
    const enable_grad on;
    for (const Tensor& t : x) r.x.push_back(separate_input(op, t, connected));
    r.y = f(r.x);
    if (!r.y.defined() || !is_floating(r.y.dtype()))
        detail::fail(ErrorKind::dtype, op, "The function gave ",
                     r.y.defined() ? name_of(r.y.dtype()) : "nothing",
                     ", which has no derivative: let it give a tensor of a floating dtype.");
    return r;
}

FunctionOfSeveral of_several(const reprise::Function& f)
{
    return [&f](const std::vector<Tensor>& x) { return f(x[0]); };
}

void require_one_element(const char* op, const Tensor& y)
{
    if (!same(y.numel(), 1))
        detail::fail(ErrorKind::shape, op, "The function gave the shape (", to_string(y.shape()),
                     "), not one element: reduce it to a scalar.");
}

std::vector<Tensor> products(std::span<const Tensor> y, std::span<const Tensor> cotangents,
                             std::span<const Tensor> x, bool create)
{
    std::vector<Value> from, to;
    std::vector<Tensor> seeds;
    for (std::size_t i = 0; i < y.size(); ++i) {
        if (!y[i].requires_grad()) continue;
        from.push_back(graph::read(y[i]));
        seeds.push_back(cotangents[i]);
    }
    for (const Tensor& t : x) to.push_back(graph::read(t));
    std::vector<Tensor> found(x.size());
    if (!from.empty())
        found = cotangents_of(from, seeds, to,
                              {.create_graph = create, .retain_graph = true, .stop_at_inputs = true});
    for (std::size_t i = 0; i < x.size(); ++i)
        if (!found[i].defined()) found[i] = zeros_like(x[i]).detach();
    return found;
}

std::vector<Tensor> Run::products(const Tensor& cotangent, bool create) const
{
    return autograd::products({&y, 1}, {&cotangent, 1}, x, create);
}

} // namespace autograd

std::pair<Tensor, std::vector<Tensor>> value_and_grad(const FunctionOfSeveral& f,
                                                      const std::vector<Tensor>& x,
                                                      const DerivativeOptions& options)
{
    const autograd::Run r = autograd::run("grad", f, x, options);
    autograd::require_one_element("grad", r.y);
    std::vector<Tensor> gradients = r.products(ones_like(r.y), r.create_graph);
    Tensor value = r.value();
    autograd::co_schedule_loss(graph::read(value));
    return {std::move(value), std::move(gradients)};
}

std::pair<Tensor, Tensor> value_and_grad(const Function& f, const Tensor& x, const DerivativeOptions& options)
{
    auto [value, gradients] = value_and_grad(autograd::of_several(f), std::vector{x}, options);
    return {value, gradients.front()};
}

Tensor grad(const Function& f, const Tensor& x, const DerivativeOptions& options)
{
    return value_and_grad(f, x, options).second;
}

std::vector<Tensor> grad(const FunctionOfSeveral& f, const std::vector<Tensor>& x,
                         const DerivativeOptions& options)
{
    return value_and_grad(f, x, options).second;
}

std::pair<Tensor, std::vector<Tensor>> vjp(const FunctionOfSeveral& f, const std::vector<Tensor>& x,
                                           const Tensor& v, const DerivativeOptions& options)
{
    const autograd::Run r = autograd::run("vjp", f, x, options);
    if (v.defined()) autograd::require_type_of("vjp", v, r.y);
    else autograd::require_one_element("vjp", r.y);
    return {r.value(), r.products(v.defined() ? v : ones_like(r.y), r.create_graph)};
}

std::pair<Tensor, Tensor> vjp(const Function& f, const Tensor& x, const Tensor& v,
                              const DerivativeOptions& options)
{
    auto [value, products] = vjp(autograd::of_several(f), std::vector{x}, v, options);
    return {value, products.front()};
}

// v J is linear in v, so the derivative of v J with respect to v, applied to a vector, is J times that vector.
std::pair<Tensor, Tensor> jvp(const FunctionOfSeveral& f, const std::vector<Tensor>& x,
                              const std::vector<Tensor>& v, const DerivativeOptions& options)
{
    if (v.size() != x.size())
        detail::fail(ErrorKind::argument, "jvp", "There are (", x.size(), ") inputs and (", v.size(),
                     ") vectors: give one for each input.");
    for (std::size_t i = 0; i < x.size(); ++i) autograd::require_type_of("jvp", v[i], x[i]);
    autograd::Run r = autograd::run("jvp", f, x, options);
    for (const Tensor& t : v) r.create_graph |= grad_enabled() && t.requires_grad();
    const enable_grad on;
    Tensor cotangent = zeros_like(r.y).detach();
    cotangent.requires_grad_();
    const std::vector<Tensor> rows = r.products(cotangent, true);
    std::vector<Tensor> ends{cotangent};
    for (const Tensor& t : r.x)
        if (!t.is_leaf()) ends.push_back(t); // the walk does not continue past these
    return {r.value(), autograd::products(rows, v, ends, r.create_graph).front()};
}

std::pair<Tensor, Tensor> jvp(const Function& f, const Tensor& x, const Tensor& v,
                              const DerivativeOptions& options)
{
    return jvp(autograd::of_several(f), std::vector{x}, std::vector{v}, options);
}

std::pair<Tensor, Tensor> hvp(const Function& f, const Tensor& x, const Tensor& v,
                              const DerivativeOptions& options)
{
    autograd::require_type_of("hvp", v, x);
    autograd::Run r = autograd::run("hvp", autograd::of_several(f), {x}, options);
    autograd::require_one_element("hvp", r.y);
    r.create_graph |= grad_enabled() && v.requires_grad();
    const std::vector<Tensor> gradient = r.products(ones_like(r.y), true);
    return {r.value(), autograd::products(gradient, {&v, 1}, r.x, r.create_graph).front()};
}

} // namespace reprise
