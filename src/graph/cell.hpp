// Cells: what a Tensor points to.  A cell holds a value and may be given another (Variable, optimizer state);
// a recording puts itself between cells and their readers (Tracer).
#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "graph/ambient.hpp"
#include "graph/index_check.hpp"
#include "graph/node.hpp"

namespace reprise::graph {

class GradHooks; // graph/notes.hpp
struct Cell;

// The base tensor of a view, into which in-place writes to the view are propagated.
struct ViewLink {
    explicit ViewLink(const std::shared_ptr<Cell>& base);
    ViewLink() : in_order(true) {} // no base: writes stay local
    ViewLink(const ViewLink&) = delete;
    ViewLink& operator=(const ViewLink&) = delete;
    ~ViewLink(); // iterative, as views of views make chains of any length

    std::weak_ptr<Cell> base;
    std::shared_ptr<ViewLink> outer; // of the base, which may be a view itself; null: of none that exists
    std::uint32_t version = 0;       // of the base, whose values the view has
    std::uint32_t layout = 0;        // of the base
    // The view of the base's present value, and the new value of the base: the old one with `value` in the view's place.
    // Null: the view can't be written.
    std::function<Tensor(const Tensor& base)> gather{};
    std::function<Tensor(const Tensor& base, const Tensor& value)> scatter{};
    bool advanced_index = false; // a copy by index tensors or a mask, which only x[mask] = value writes back
    bool detached = false;       // writes into it are not recorded for gradients
    bool in_order = false;       // row-major without gaps in memory, as PyTorch has it
    bool has_live_base() const;  // whether any tensor exists of which this is a view
};

struct Cell {
    Value value;                    // as it stands outside of any recording
    std::uint32_t trace = 0;        // of the recording that made this cell; 0: eager
    std::uint32_t version = 0;      // how often it was given another value
    std::uint32_t layout = 0;       // how often its dimensions were changed in place, as by t_()
    std::shared_ptr<ViewLink> link; // null: the tensor is no view

    // Of a leaf, and null at first.
    std::shared_ptr<Cell> grad;
    std::shared_ptr<GradHooks> hooks; // of its gradient
};

// What a random op draws from: key and position, as sizes are, so that a program takes them from its block.
struct RandomState {
    Dim seed_low, seed_high, ordinal; // 32, 32 and 64 bits
};

// What a Mode holds; a recording notes those that it reads.
struct Switch {
    Switch(std::string n, bool value) : name(std::move(n)), on(value) {}
    const std::string name;
    std::atomic<bool> on;
};

// While a function is recorded, cells made outside are its state: reads and writes go through here.
class Tracer {
public:
    virtual ~Tracer() = default;
    virtual std::uint32_t id() const = 0;
    virtual Value read(const std::shared_ptr<Cell>&) = 0;
    virtual void assign(const std::shared_ptr<Cell>&, Value) = 0;
    virtual std::shared_ptr<Evaluator> evaluator() const = 0;
    virtual std::shared_ptr<Cell> grad(const std::shared_ptr<Cell>&) = 0;
    // The same for a gradient that will be added to: at each call there is one, of zeros where there was none.
    virtual std::shared_ptr<Cell> grad_to_add_to(const std::shared_ptr<Cell>&) = 0;
    virtual void set_grad(const std::shared_ptr<Cell>&, std::shared_ptr<Cell>) = 0;
    virtual RandomState next_random() = 0;
    // A Mode is read, or assigned by the function itself.
    virtual void read_mode(const std::shared_ptr<const Switch>&) = 0;
    virtual void set_mode(const std::shared_ptr<const Switch>&) = 0;
    virtual void check_indices(const IndexCheck&, Value) = 0; // at each call
};

Value read(const Tensor&); // throws Error(argument) for an undefined tensor
// Of what read() gives; they stay until the tensor is given another value.
const TensorType& type_of(const Tensor&);
const std::shared_ptr<Evaluator>& evaluator_of(const Tensor&);
void assign(const Tensor&, Value);
std::shared_ptr<Cell> grad_of(const Tensor&);
std::shared_ptr<Cell> grad_to_add_to(const Tensor&);
void set_grad_of(const Tensor&, std::shared_ptr<Cell>);
Tensor make_tensor(Value);
// Links a view to its base, and returns the link to fill.
ViewLink& link_view(const Tensor& view, const Tensor& base);
// The tensor, for an op in place that reads it: a view whose base has changed gets the base's present values first.
const Tensor& current(const Tensor&);
// A tensor of the same value that is no view: no gradient flows through it, and writes into one of the two do not
// reach the other.
Tensor detached_copy(const Tensor&);
// Whether PyTorch would have its elements row-major without gaps: contiguous() is the tensor itself.
bool in_order(const Tensor&);

// A leaf with this storage.
Value leaf(TensorType, std::shared_ptr<Evaluator>, std::shared_ptr<Storage>, bool requires_grad);
// The same value as a leaf of the cell that requires a gradient, or as one that requires none: the tape ends
// here.
Value leaf_alias(const Value&, bool requires_grad, const std::shared_ptr<Cell>& owner);

// The same value as another node, differentiable: a boundary for a walk.
Value identity(const Value&);

// The cell's grad() gets what arrives at the leaf, after the cell's hooks; these stay when the cell goes.
void set_owner(const Node& leaf, const std::shared_ptr<Cell>&);

// Appends a node: types by the op's rule, requires_grad from the inputs.  All inputs live on one device.
std::vector<Tensor> apply(const Op&, const std::vector<Tensor>& inputs, Attributes = {});
Tensor apply1(const Op&, const std::vector<Tensor>& inputs, Attributes = {}); // the first output
// The same for an op without inputs.
Tensor create(const Op&, std::shared_ptr<Evaluator>, Attributes);
// At the level of values, without a cell; used by transforms.
std::shared_ptr<Node> append(const Op&, std::vector<Value> inputs, Attributes, std::shared_ptr<Evaluator>,
                             bool requires_grad, std::shared_ptr<const GivenGradient> = nullptr);

} // namespace reprise::graph
