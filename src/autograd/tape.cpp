#include <reprise/autograd/tape.hpp>

#include <algorithm>
#include <sstream>

#include <reprise/autograd/grad.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>

#include "autograd/walk.hpp"
#include "graph/cell.hpp"
#include "graph/notes.hpp"

namespace reprise {

using graph::Node;
using graph::Value;

// -- TapeNode --

TapeNode Tensor::grad_fn() const
{
    const Value v = graph::read(*this);
    return v.node->is_leaf || !graph::requires_grad(v) ? TapeNode() : TapeNode(v.node);
}

std::string TapeNode::operation() const
{
    if (!node_) return {};
    return is_leaf() ? "leaf" : node_->op->name;
}

std::uint64_t TapeNode::id() const { return node_ ? node_->id : 0; }
bool TapeNode::is_leaf() const { return node_ && (node_->is_leaf || !node_->op); }

std::vector<TapeNode> TapeNode::parents() const
{
    std::vector<TapeNode> out;
    if (!node_ || is_leaf()) return out;
    for (const Value& v : node_->inputs)
        if (v.node->requires_grad) out.emplace_back(v.node);
    return out;
}

std::vector<std::pair<std::string, std::string>> TapeNode::parameters() const
{
    std::vector<std::pair<std::string, std::string>> out;
    if (!node_) return out;
    for (const auto& [name, attribute] : node_->attributes.all()) {
        const std::string text = graph::Attributes({{name, attribute}}).text();
        out.emplace_back(name, text.substr(text.find('=') + 1));
    }
    return out;
}

std::vector<Shape> TapeNode::shapes() const
{
    std::vector<Shape> out;
    if (node_)
        for (const graph::TensorType& t : node_->outputs) out.push_back(t.shape);
    return out;
}

Tensor TapeNode::variable() const
{
    auto owner = node_ && node_->is_leaf ? graph::owner_of_leaf(*node_) : nullptr;
    return owner ? Tensor(std::move(owner)) : Tensor();
}

std::string TapeNode::place() const { return node_ && node_->notes ? node_->notes->place : std::string(); }

void TapeNode::walk(const std::function<void(const TapeNode&)>& f) const
{
    if (!node_) return;
    const Value self{node_, 0};
    const auto on_tape = [](const Node& n) { return n.requires_grad; };
    const auto has_parents = [](const Node& n) { return !n.is_leaf && n.op; };
    std::vector<TapeNode> found; // `f` may release parts of the graph
    for (const Node* n : graph::ancestors({&self, 1}, on_tape, has_parents))
        found.emplace_back(n->shared_from_this());
    for (const TapeNode& n : found) f(n);
}

std::string TapeNode::text() const
{
    std::ostringstream out;
    walk([&](const TapeNode& n) {
        out << '%' << n.id() << " = " << n.operation();
        if (!n.is_leaf()) {
            out << '(';
            const char* separator = "";
            for (const TapeNode& p : n.parents()) {
                out << separator << '%' << p.id();
                separator = ", ";
            }
            out << ')';
            if (const std::string a = n.node_->attributes.text(); !a.empty()) out << " {" << a << '}';
        }
        for (const graph::TensorType& t : n.node_->outputs)
            out << " : " << name_of(t.dtype) << to_string(t.shape);
        if (const std::string place = n.place(); !place.empty()) out << "  at " << place;
        out << '\n';
    });
    return out.str();
}

// -- GradStore --

GradStore Tensor::gradients(BackwardOptions options) const
{
    const Tensor seed = autograd::seed_for("gradients", *this, {});
    const Value v = graph::read(*this);
    GradStore store;
    for (auto& [cell, gradient] : autograd::gradients_of_leaves(
             {&v, 1}, {&seed, 1},
             {.create_graph = options.create_graph, .retain_graph = options.retain_graph}))
        store.accumulate(Tensor(std::move(cell)), gradient);
    if (!store.contains(*this)) store.accumulate(*this, seed);
    autograd::co_schedule_loss(v);
    return store;
}

std::vector<std::pair<Tensor, Tensor>>::iterator GradStore::find(const Tensor& leaf)
{
    return std::find_if(entries_.begin(), entries_.end(),
                        [&](const auto& entry) { return entry.first.cell() == leaf.cell(); });
}

Tensor GradStore::get(const Tensor& leaf) const
{
    for (const auto& [key, gradient] : entries_)
        if (key.cell() == leaf.cell()) return gradient;
    return {};
}

bool GradStore::contains(const Tensor& leaf) const { return get(leaf).defined(); }

void GradStore::accumulate(const Tensor& leaf, const Tensor& gradient)
{
    autograd::require_alike("accumulate", "The gradient is ", gradient, " but the tensor is ", leaf);
    if (const auto found = find(leaf); found != entries_.end()) found->second = add(found->second, gradient);
    else entries_.emplace_back(leaf, gradient);
}

void GradStore::accumulate(const GradStore& other)
{
    for (const auto& [leaf, gradient] : std::vector(other.entries_)) accumulate(leaf, gradient);
}

GradStore GradStore::clone() const
{
    GradStore out;
    for (const auto& [leaf, gradient] : entries_)
        out.entries_.emplace_back(leaf, graph::make_tensor(graph::read(gradient)));
    return out;
}

void GradStore::remove(const Tensor& leaf)
{
    if (const auto found = find(leaf); found != entries_.end()) entries_.erase(found);
}

// -- GradientTape --

GradientTape::GradientTape(const GradientTapeOptions& options)
    : options_(options), outer_(std::exchange(graph::ambient().tape, this))
{}

GradientTape::~GradientTape()
{
    graph::ambient().tape = outer_;
    for (Tensor& t : watched_) try {
            if (t.is_leaf()) t.requires_grad_(false);
        } catch (const Error&) { // a recording has begun since: the tensor keeps requiring a gradient
        }
}

void GradientTape::watch(const Tensor& t)
{
    if (t.requires_grad()) return;
    watched_.push_back(t);
    watched_.back().requires_grad_();
}

std::vector<Tensor> GradientTape::gradient(const Tensor& target, const std::vector<Tensor>& sources,
                                           Unconnected unconnected)
{
    if (used_ && !options_.persistent)
        detail::fail(ErrorKind::state, "gradient",
                     "The tape has computed a gradient before: make it with {.persistent = true}.");
    for (std::size_t i = 0; i < sources.size(); ++i)
        if (!sources[i].requires_grad())
            detail::fail(ErrorKind::state, "gradient", "Source (", i,
                         ") was not watched: call watch() on it before it is used.");
    used_ = true;
    const bool recorded = outer_ != nullptr;
    std::vector<Tensor> found(sources.size());
    if (target.requires_grad()) {
        found = grad({target}, sources,
                     {.create_graph = recorded,
                      .retain_graph = recorded || options_.persistent,
                      .allow_unused = true,
                      .cotangents = {ones_like(target)}});
        if (same(target.numel(), 1)) autograd::co_schedule_loss(graph::read(target));
    }
    if (unconnected == Unconnected::zero)
        for (std::size_t i = 0; i < found.size(); ++i)
            if (!found[i].defined()) found[i] = zeros_like(sources[i]);
    return found;
}

Tensor GradientTape::gradient(const Tensor& target, const Tensor& source, Unconnected unconnected)
{
    return gradient(target, std::vector{source}, unconnected).front();
}

} // namespace reprise
