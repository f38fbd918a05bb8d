// A call of a custom function becomes one node, whose outputs are views of the forward's results.  Its inputs are the
// inputs of the call, these results, and other tensors that were saved.  The backward is the node's custom gradient.
#include <reprise/autograd/custom_function.hpp>

#include <algorithm>

#include <reprise/autograd/grad.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>

#include "graph/ambient.hpp"
#include "graph/notes.hpp"
#include "ops/registry.hpp"

namespace reprise {

using graph::Node;
using graph::Op;
using graph::Value;
using graph::VjpArguments;

namespace {

using Tensors = std::vector<Tensor>;

Tensors with_zeros(const VjpArguments& a)
{
    Tensors out(a.cotangents.begin(), a.cotangents.end());
    for (std::size_t i = 0; i < out.size(); ++i)
        if (!out[i].defined() && is_floating(a.outputs[i].dtype())) out[i] = zeros_like(a.outputs[i]);
    return out;
}

// Checks the gradients that a user's function returned, one for each of the first `count` inputs of the node, drops
// those that are not required, and casts floating ones to the inputs' dtypes.
Tensors checked(const char* op, Tensors given, std::size_t count, const VjpArguments& a)
{
    if (given.size() != count)
        detail::fail(ErrorKind::argument, op, "The gradient gave (", given.size(), ") tensors for (", count,
                     ") inputs: give one for each, undefined where there is none.");
    for (std::size_t i = 0; i < count; ++i) {
        if (!a.wanted[i]) given[i] = Tensor();
        if (!given[i].defined()) continue;
        const graph::TensorType& want = graph::type_of(a.inputs[i]);
        if (is_floating(given[i].dtype()) && is_floating(want.dtype)) given[i] = cast(given[i], want.dtype);
        if (given[i].dtype() != want.dtype || given[i].shape().size() != want.shape.size())
            detail::fail(ErrorKind::shape, op, "The gradient gave ", name_of(given[i].dtype()),
                         to_string(given[i].shape()), " for input (", i, "), which is ", name_of(want.dtype),
                         to_string(want.shape), ".");
        for (std::size_t d = 0; d < want.shape.size(); ++d)
            if (const Dim size = given[i].shape()[d];
                size.is_constant() && want.shape[d].is_constant() && !same(size, want.shape[d]))
                detail::fail(ErrorKind::shape, op, "The gradient gave the shape (",
                             to_string(given[i].shape()), ") for input (", i, "), which has (",
                             to_string(want.shape), ").");
    }
    given.resize(a.wanted.size());
    return given;
}

// -- the node of a call --

graph::TensorTypes infer(const Op&, const graph::InputTypes& in, const graph::Attributes& a)
{
    const auto first = static_cast<std::size_t>(a.integer("inputs"));
    const auto count = static_cast<std::size_t>(a.integer("outputs"));
    graph::TensorTypes out;
    for (std::size_t i = first; i < first + count; ++i) out.push_back(in[i]);
    return out;
}

bool view(const Node&, std::size_t, graph::Strided&) { return true; }

std::size_t view_of(const Node& n, std::size_t output)
{
    return static_cast<std::size_t>(n.attributes.integer("inputs")) + output;
}

const Op custom_op{.name = "custom", .infer = infer, .view = view, .view_of = view_of};

} // namespace

namespace autograd {

struct Saved final : graph::GivenGradient {
    std::shared_ptr<const CustomFunction::Backward> backward;
    std::any data;
    graph::Autocast autocast = graph::ambient().autocast; // of the call, in which the backward runs
    std::size_t inputs = 0;                               // number of inputs of the call
    struct Position {
        bool output;
        std::size_t index; // of the node's inputs or outputs
    };
    std::vector<Position> saved;

    std::vector<Tensor> vjp(const VjpArguments& a) const override
    {
        FunctionContext context;
        context.data = data;
        for (const Position& p : saved)
            context.saved_.push_back(p.output ? a.outputs[p.index] : a.inputs[p.index]);
        context.needs_.assign(a.wanted.begin(), a.wanted.begin() + static_cast<std::ptrdiff_t>(inputs));
        graph::Autocast of_call = autocast;
        of_call.set_in = graph::current_recording();
        const graph::Scoped<graph::Autocast> as_in_forward(graph::ambient().autocast, of_call);
        return checked(a.node.op->name, (*backward)(context, with_zeros(a)), inputs, a);
    }

    graph::Reads reads(const Node&) const override
    {
        graph::Reads r;
        for (const Position& p : saved) (p.output ? r.outputs : r.inputs).add(p.index);
        return r;
    }

    // Finds the saved tensors among the call's inputs and outputs; others are appended to `values`, the node's inputs.
    void save(const FunctionContext& context, const Tensors& in, const Tensors& out,
              std::vector<Value>& values)
    {
        for (const Tensor& t : context.saved_) {
            const Value v = graph::read(t);
            const auto same = [&](const Tensor& other) { return graph::read(other) == v; };
            if (const auto i = std::find_if(in.begin(), in.end(), same); i != in.end()) {
                saved.push_back({false, static_cast<std::size_t>(i - in.begin())});
            } else if (const auto o = std::find_if(out.begin(), out.end(), same); o != out.end()) {
                saved.push_back({true, static_cast<std::size_t>(o - out.begin())});
            } else {
                saved.push_back({false, values.size()});
                values.push_back(graph::leaf_alias(v, false, nullptr));
            }
        }
    }
};

} // namespace autograd

const Tensor& FunctionContext::saved(std::size_t i) const
{
    if (i >= saved_.size())
        detail::fail(ErrorKind::argument, "saved", "There is no saved tensor (", i, ") of (", saved_.size(),
                     "): save it in forward.");
    return saved_[i];
}

bool FunctionContext::needs_input_grad(std::size_t i) const
{
    if (i >= needs_.size())
        detail::fail(ErrorKind::argument, "needs_input_grad", "There is no input (", i, ") of (",
                     needs_.size(), ").");
    return needs_[i];
}

CustomFunction::CustomFunction(std::string name, Forward forward, Backward backward)
    : name_(std::make_shared<const std::string>(std::move(name))), forward_(std::move(forward)),
      backward_(std::make_shared<const Backward>(std::move(backward)))
{
    if (!forward_ || !*backward_)
        detail::fail(ErrorKind::argument, "custom_function", "The function (", *name_,
                     ") needs a forward and a backward.");
}

std::vector<Tensor> CustomFunction::call(const std::vector<Tensor>& inputs) const
{
    const Op& op = ops::named(custom_op, *name_);
    FunctionContext context;
    std::vector<Value> values;
    for (const Tensor& t : inputs) {
        values.push_back(graph::read(t));
        context.needs_.push_back(grad_enabled() && graph::requires_grad(values.back()));
    }
    const bool wanted = std::find(context.needs_.begin(), context.needs_.end(), true) != context.needs_.end();
    Tensors outputs;
    {
        const no_grad off;
        outputs = forward_(context, inputs);
    }
    if (outputs.empty()) detail::fail(ErrorKind::argument, op.name, "The forward gave no tensor.");
    bool floating = false;
    for (const Tensor& t : outputs) {
        values.push_back(graph::read(t));
        floating |= is_floating(t.dtype());
        if (!inputs.empty() && values.back().node->evaluator != values[0].node->evaluator)
            detail::fail(ErrorKind::device, op.name, "The forward gave a tensor of another device.");
    }
    if (!wanted || !floating) return outputs;
    // The backward runs in the autocast state of the call, so a program that is recorded in it depends on it.
    if (const graph::Autocast& state = graph::ambient().autocast;
        state.on && graph::current_tracer() && state.set_in != graph::current_recording())
        graph::current_tracer()->read_autocast(state);
    auto saved = std::make_shared<autograd::Saved>();
    saved->backward = backward_;
    saved->data = context.data;
    saved->inputs = inputs.size();
    saved->save(context, inputs, outputs, values);
    const auto count = [](std::size_t n) { return static_cast<std::int64_t>(n); };
    const auto evaluator = values[0].node->evaluator;
    const auto node = graph::append(op, std::move(values),
                                    {{"inputs", count(inputs.size())}, {"outputs", count(outputs.size())}},
                                    evaluator, true, std::move(saved));
    for (graph::Scope* s = graph::current_scope(); s; s = s->outer()) s->applied(*node);
    Tensors out;
    for (std::uint32_t i = 0; i < node->outputs.size(); ++i) out.push_back(graph::make_tensor({node, i}));
    return out;
}

// -- override_gradient --

namespace {

struct Overriding final : graph::GivenGradient {
    override_gradient::Gradient gradient;

    std::vector<Tensor> vjp(const VjpArguments& a) const override
    {
        const graph::NoAutocast in_given_dtypes; // as in the op's own gradient
        const Tensors inputs(a.inputs.begin(), a.inputs.end()), outputs(a.outputs.begin(), a.outputs.end());
        const Tensors cotangents = with_zeros(a);
        return checked(a.node.op->name, gradient({inputs, outputs, cotangents}), inputs.size(), a);
    }

    graph::Reads reads(const Node&) const override
    {
        return {graph::IndexSet::all(), graph::IndexSet::all()};
    }
};

bool is_op(const std::string& name)
{
    const auto named = [&](const Op* op) { return name == op->name; };
    const auto structured = ops::structured_ops(), elementwise = ops::elementwise_ops();
    return std::any_of(structured.begin(), structured.end(), named) ||
           std::any_of(elementwise.begin(), elementwise.end(), named);
}

} // namespace

struct override_gradient::Override final : graph::Scope {
    std::string name;
    std::shared_ptr<const Overriding> gradient;

    std::shared_ptr<const graph::GivenGradient> gradient_of(const Op& op) const override
    {
        return name == op.name ? gradient : nullptr;
    }
};

override_gradient::override_gradient(const std::string& op, Gradient gradient)
{
    if (!is_op(op))
        detail::fail(ErrorKind::argument, "override_gradient", "There is no op (", op,
                     "): its name is what grad_fn().operation() gives for its result.");
    if (!gradient)
        detail::fail(ErrorKind::argument, "override_gradient", "The gradient of (", op,
                     ") is a null function: give one that can be called.");
    auto given = std::make_shared<Overriding>();
    given->gradient = std::move(gradient);
    override_ = std::make_unique<Override>();
    override_->name = op;
    override_->gradient = std::move(given);
}
override_gradient::~override_gradient() = default;

} // namespace reprise
