#include "graph/cell.hpp"

#include <algorithm>

#include <reprise/error.hpp>

#include "graph/notes.hpp"
#include "graph/release.hpp"
#include "graph/segment.hpp"
#include "shape/guard.hpp"

namespace reprise::graph {

Ambient& ambient()
{
    thread_local Ambient of_thread;
    return of_thread;
}

namespace {

std::atomic<std::uint64_t> next_id{1};

std::uint32_t trace_id() { return current_tracer() ? current_tracer()->id() : 0; }

std::shared_ptr<Node> new_node(TensorTypes types, std::shared_ptr<Evaluator> evaluator)
{
    auto node = std::make_shared<Node>();
    node->id = next_id.fetch_add(1, std::memory_order_relaxed);
    node->storage.resize(types.size());
    node->outputs = std::move(types);
    node->evaluator = std::move(evaluator);
    node->trace = trace_id();
    if (Segment* segment = current_segment()) {
        node->segment = segment->shared_from_this();
        segment->nodes.push_back(node);
    }
    return node;
}

TensorTypes infer_same(const Op&, const InputTypes& in, const Attributes&) { return {in[0]}; }
bool view_same(const Node&, std::size_t, Strided&) { return true; }
std::vector<Tensor> vjp_same(const VjpArguments& a) { return {a.cotangents[0]}; }
const Op alias_op{.name = "alias", .infer = infer_same, .vjp = vjp_same, .view = view_same};

const std::shared_ptr<Cell>& cell_of(const Tensor& t)
{
    if (!t.defined())
        detail::fail(
            ErrorKind::argument, "tensor",
            "The tensor is undefined: give it a value first. A grad() is undefined until a backward pass has "
            "made it, and after a call of a program that made it, unless that was recorded with "
            "{.keep_grads = true}.");
    return t.cell();
}

// Throws Error(state) for a tensor that a recorded function passed to the outside: it holds a node of the recording,
// which no evaluation computes.
void require_value(const Cell& cell)
{
    if (cell.trace == 0 || cell.trace == trace_id() || cell.value.node->trace == 0 ||
        cell.value.node->materialised())
        return;
    detail::fail(
        ErrorKind::state, "tensor",
        "A tensor that was made while a program was recorded has no value outside of it, and assigning a "
        "handle, as in (h = y), carries nothing from call to call: use h.assign(y) for that, on a tensor "
        "made before, or return the tensor from the function.");
}

// Returns the tracer that handles accesses to the cell, where the cell was created outside of the recording in
// progress; else null: the cell is accessed directly.
Tracer* tracer_of(const Cell& cell)
{
    Tracer* tracer = current_tracer();
    if (!tracer || cell.trace == tracer->id()) return nullptr;
    require_value(cell);
    return tracer;
}

} // namespace

Value read(const Tensor& t)
{
    const auto& cell = cell_of(t);
    if (Tracer* tracer = tracer_of(*cell)) return tracer->read(cell);
    require_value(*cell);
    return cell->value;
}

const TensorType& type_of(const Tensor& t)
{
    const auto& cell = cell_of(t);
    Tracer* tracer = tracer_of(*cell);
    return tracer ? tracer->read(cell).type() : cell->value.type(); // the tracer keeps the node alive
}

const std::shared_ptr<Evaluator>& evaluator_of(const Tensor& t)
{
    const auto& cell = cell_of(t);
    Tracer* tracer = tracer_of(*cell);
    return tracer ? tracer->read(cell).node->evaluator : cell->value.node->evaluator;
}

void assign(const Tensor& t, Value v)
{
    const auto& cell = cell_of(t);
    ++cell->version;
    if (Tracer* tracer = tracer_of(*cell)) tracer->assign(cell, std::move(v));
    else {
        cell->value = std::move(v);
        const Node& n = *cell->value.node;
        n.evaluator->co_schedule(n);
    }
}

std::shared_ptr<Cell> grad_of(const Tensor& t)
{
    const auto& cell = cell_of(t);
    Tracer* tracer = tracer_of(*cell);
    return tracer ? tracer->grad(cell) : cell->grad;
}

std::shared_ptr<Cell> grad_to_add_to(const Tensor& t)
{
    const auto& cell = cell_of(t);
    Tracer* tracer = tracer_of(*cell);
    return tracer ? tracer->grad_to_add_to(cell) : cell->grad;
}

void set_grad_of(const Tensor& t, std::shared_ptr<Cell> g)
{
    const auto& cell = cell_of(t);
    if (Tracer* tracer = tracer_of(*cell)) tracer->set_grad(cell, std::move(g));
    else cell->grad = std::move(g);
}

Tensor make_tensor(Value v)
{
    auto cell = std::make_shared<Cell>();
    cell->value = std::move(v);
    cell->trace = trace_id();
    return Tensor(std::move(cell));
}

ViewLink::ViewLink(const std::shared_ptr<Cell>& of) : base(of), version(of->version), layout(of->layout)
{
    if (of->link && !of->link->advanced_index) outer = of->link;
    while (outer && outer->base.expired()) outer = outer->outer; // nobody can read that base any more
}

// Does not check use_count(), as that would race with threads that hold another part of the chain.
ViewLink::~ViewLink()
{
    release_in_turn<std::shared_ptr<ViewLink>>([this](auto& links) {
        if (outer) links.push_back(std::move(outer));
    });
}

bool ViewLink::has_live_base() const
{
    for (const ViewLink* l = this; l; l = l->outer.get())
        if (!l->base.expired()) return true;
    return false;
}

ViewLink& link_view(const Tensor& view, const Tensor& base)
{
    std::shared_ptr<ViewLink>& link = view.cell()->link;
    if (!link || link->base.lock() != base.cell()) link = std::make_shared<ViewLink>(base.cell());
    return *link;
}

const Tensor& current(const Tensor& t)
{
    const std::shared_ptr<ViewLink> link = cell_of(t)->link;
    const std::shared_ptr<Cell> cell = link && !link->advanced_index ? link->base.lock() : nullptr;
    if (!cell) return t;
    const Tensor base = current(Tensor(cell));
    if (cell->version == link->version || cell->layout != link->layout || !link->gather) return t;
    assign(t, read(link->gather(base)));
    link->version = cell->version;
    return t;
}

Tensor detached_copy(const Tensor& t) { return make_tensor(leaf_alias(read(t), false, nullptr)); }

bool in_order(const Tensor& t)
{
    const ViewLink* link = cell_of(t)->link.get();
    return !link || link->advanced_index || link->in_order;
}

Value leaf(TensorType type, std::shared_ptr<Evaluator> evaluator, std::shared_ptr<Storage> storage,
           bool requires_grad)
{
    auto node = new_node({std::move(type)}, std::move(evaluator));
    node->is_leaf = true;
    node->requires_grad = requires_grad;
    node->has_storage = storage != nullptr;
    node->storage[0] = std::move(storage);
    return {node, 0};
}

Value leaf_alias(const Value& v, bool requires_grad, const std::shared_ptr<Cell>& owner)
{
    auto node = new_node({v.type()}, v.node->evaluator);
    node->op = &alias_op;
    node->inputs = {v};
    node->is_leaf = true;
    node->requires_grad = requires_grad;
    if (owner) set_owner(*node, owner);
    return {node, 0};
}

void set_owner(const Node& leaf, const std::shared_ptr<Cell>& owner)
{
    notes_of(leaf).leaf = owner;
    if (owner->hooks) notes_of(leaf).hooks = {owner->hooks};
}

Value identity(const Value& v)
{
    auto node = new_node({v.type()}, v.node->evaluator);
    node->op = &alias_op;
    node->inputs = {v};
    node->requires_grad = true;
    return {node, 0};
}

namespace {
void check_type(const Op& op, const TensorType& t, const Evaluator& evaluator)
{
    evaluator.accept(op.name, &op, t.dtype);
    for (const Dim& d : t.shape)
        shape::require_at_least(op.name, d, 0, [&] {
            return "The shape (" + to_string(t.shape) + ") has a negative size: sizes start at 0.";
        });
}
} // namespace

std::shared_ptr<Node> append(const Op& op, std::vector<Value> inputs, Attributes attributes,
                             std::shared_ptr<Evaluator> evaluator, bool requires_grad,
                             std::shared_ptr<const GivenGradient> gradient)
{
    for (const Value& v : inputs) evaluator->accept(op.name, &op, v.type().dtype);
    auto node = new_node(op.infer(op, InputTypes(inputs), attributes), std::move(evaluator));
    for (const TensorType& t : node->outputs) check_type(op, t, *node->evaluator);
    node->op = &op;
    node->inputs = std::move(inputs);
    node->attributes = std::move(attributes);
    const auto floating = [](const TensorType& t) { return is_floating(t.dtype); };
    node->requires_grad = requires_grad && std::any_of(node->outputs.begin(), node->outputs.end(), floating);
    if (node->requires_grad) node->gradient = std::move(gradient);
    node->evaluator->appended(*node);
    return node;
}

namespace {

std::shared_ptr<const GivenGradient> gradient_given_for(const Op& op)
{
    for (const Scope* s = current_scope(); s; s = s->outer())
        if (auto gradient = s->gradient_of(op)) return gradient;
    return nullptr;
}

std::shared_ptr<Node> applied(const Op& op, const std::vector<Tensor>& inputs, Attributes attributes)
{
    std::vector<Value> values;
    values.reserve(inputs.size());
    bool requires_grad = false;
    for (const Tensor& t : inputs) {
        values.push_back(read(t));
        requires_grad |= graph::requires_grad(values.back());
    }
    const auto& evaluator = values.at(0).node->evaluator;
    for (const Value& v : values)
        if (v.node->evaluator != evaluator)
            detail::fail(ErrorKind::device, op.name, "The inputs are on different devices (",
                         evaluator->name(), " and ", v.node->evaluator->name(),
                         "): bring them to one device first.");
    auto given = gradient_given_for(op);
    const bool differentiable = op.vjp || op.decompose || given;
    auto keep = evaluator;
    auto node = append(op, std::move(values), std::move(attributes), std::move(keep),
                       requires_grad && grad_mode() && differentiable, std::move(given));
    for (Scope* s = current_scope(); s; s = s->outer()) s->applied(*node);
    return node;
}

void note_output(const Tensor& t, const std::vector<Tensor>& inputs)
{
    const Value& v = t.cell()->value;
    const Op& op = *v.node->op;
    if (op.view) link_view(t, inputs[viewed_input(*v.node, v.index)]);
}
} // namespace

Tensor apply1(const Op& op, const std::vector<Tensor>& inputs, Attributes attributes)
{
    const Tensor t = make_tensor({applied(op, inputs, std::move(attributes)), 0});
    note_output(t, inputs);
    return t;
}

std::vector<Tensor> apply(const Op& op, const std::vector<Tensor>& inputs, Attributes attributes)
{
    const std::shared_ptr<Node> node = applied(op, inputs, std::move(attributes));
    std::vector<Tensor> out;
    for (std::uint32_t i = 0; i < node->outputs.size(); ++i) {
        out.push_back(make_tensor({node, i}));
        note_output(out.back(), inputs);
    }
    return out;
}

Tensor create(const Op& op, std::shared_ptr<Evaluator> evaluator, Attributes attributes)
{
    return make_tensor({append(op, {}, std::move(attributes), std::move(evaluator), false), 0});
}

} // namespace reprise::graph
