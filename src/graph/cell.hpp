// Cells: the mutable variables that tensors point to.  A cell holds a value, which can be replaced (Variable, optimizer
// state).  During a recording all reads and writes of cells from outside pass through a Tracer.
#pragma once
#include <atomic>
#include <memory>
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
    ViewLink() : in_order(true) {} // no base: writes are not propagated
    ViewLink(const ViewLink&) = delete;
    ViewLink& operator=(const ViewLink&) = delete;
    ~ViewLink(); // iterative, as views of views can form chains of any length

    std::weak_ptr<Cell> base;
    std::shared_ptr<ViewLink> outer; // the link of the base, if that is itself a view of an existing base
    std::uint32_t version = 0;       // Cell::version of the base when the view's value was computed
    std::uint32_t layout = 0;        // Cell::layout of the base when the view was created
    // `gather` computes the view from the base's current value.  `scatter` computes the new value of the base: a copy
    // in which the elements of the view are replaced by `value`.  Null: the view can't be written.
    std::function<Tensor(const Tensor& base)> gather{};
    std::function<Tensor(const Tensor& base, const Tensor& value)> scatter{};
    bool advanced_index = false; // a copy by index tensors or a mask; only x[mask] = value writes to the base
    bool detached = false;       // writes into it are not recorded for gradients
    bool in_order = false;       // contiguous by PyTorch's rules: row-major without gaps in memory
    bool has_live_base() const;  // whether any base of this view, direct or indirect, still exists
};

struct Cell {
    Value value;                    // the value outside of any recording
    std::uint32_t trace = 0;        // number of the recording that created this cell; 0: eager
    std::uint32_t version = 0;      // how often a value was assigned
    std::uint32_t layout = 0;       // how often its dimensions were changed in place, as by t_()
    std::shared_ptr<ViewLink> link; // null: the tensor is no view

    // Only leaves have these; null initially.
    std::shared_ptr<Cell> grad;
    std::shared_ptr<GradHooks> hooks; // hooks on the gradient
};

// Seed and ordinal of a random op.  They are Dims, so that in a program they are symbols like sizes, whose values each
// call writes into the block of arguments.
struct RandomState {
    Dim seed_low, seed_high, ordinal; // 32, 32 and 64 bits
    Dim first = 0;                    // the op's elements have the numbers of those from 4 first on; 32 bits
};

// The shared state of a Mode.  A recording notes the switches that it reads.
struct Switch {
    Switch(std::string n, bool value) : name(std::move(n)), on(value) {}
    const std::string name;
    std::atomic<bool> on;
};

// The interface of a recording to cells.  Cells that were created outside of the recorded function are its state; all
// reads and writes of them pass through the tracer.
class Tracer {
public:
    virtual ~Tracer() = default;
    virtual std::uint32_t id() const = 0;
    virtual Value read(const std::shared_ptr<Cell>&) = 0;
    virtual void assign(const std::shared_ptr<Cell>&, Value) = 0;
    virtual std::shared_ptr<Evaluator> evaluator() const = 0;
    virtual std::shared_ptr<Cell> grad(const std::shared_ptr<Cell>&) = 0;
    // Like grad(), for a gradient that will be accumulated into: each call of the program has one, which is zeros where
    // the tensor has none.
    virtual std::shared_ptr<Cell> grad_to_add_to(const std::shared_ptr<Cell>&) = 0;
    virtual void set_grad(const std::shared_ptr<Cell>&, std::shared_ptr<Cell>) = 0;
    virtual RandomState next_random() = 0;
    // Notes that the recorded function reads or assigns a Mode.
    virtual void read_mode(const std::shared_ptr<const Switch>&) = 0;
    virtual void set_mode(const std::shared_ptr<const Switch>&) = 0;
    // Notes that the recorded function depends on the state of autocast outside of it.
    virtual void read_autocast(const Autocast&) = 0;
    virtual void check_indices(const IndexCheck&, Value) = 0; // adds a check that runs at each call
};

Value read(const Tensor&); // throws Error(argument) for an undefined tensor
// The type and the evaluator of read()'s result.  The references are valid until a value is assigned to the tensor.
const TensorType& type_of(const Tensor&);
const std::shared_ptr<Evaluator>& evaluator_of(const Tensor&);
void assign(const Tensor&, Value);
std::shared_ptr<Cell> grad_of(const Tensor&);
std::shared_ptr<Cell> grad_to_add_to(const Tensor&);
void set_grad_of(const Tensor&, std::shared_ptr<Cell>);
Tensor make_tensor(Value);
// Links a view to its base, and returns the link, whose functions and flags the caller sets.
ViewLink& link_view(const Tensor& view, const Tensor& base);
// Returns the tensor with a current value, for an in-place op that reads it: a view whose base has changed since is
// computed from the base again first.
const Tensor& current(const Tensor&);
// Returns a tensor with the same value that is no view: no gradient flows through it, and writes into one of the two
// do not change the other.
Tensor detached_copy(const Tensor&);
// Whether the tensor is contiguous by PyTorch's rules, so that contiguous() returns the tensor itself.
bool in_order(const Tensor&);

// Creates a leaf with this storage.
Value leaf(TensorType, std::shared_ptr<Evaluator>, std::shared_ptr<Storage>, bool requires_grad);
// Creates a leaf with the same value, at which the tape ends.  `owner` is the cell whose grad() the leaf's gradient is
// added to; null: none.
Value leaf_alias(const Value&, bool requires_grad, const std::shared_ptr<Cell>& owner);

// Creates a differentiable node with the same value, at which a reverse walk can end.
Value identity(const Value&);

// Makes the cell the owner of the leaf: cotangents that arrive at the leaf pass the cell's hooks and are added to the
// cell's grad().  The hooks outlive the cell.
void set_owner(const Node& leaf, const std::shared_ptr<Cell>&);

// Appends a node and returns its outputs.  Output types follow from the op's shape rule, requires_grad from the inputs.
// Throws Error(device) unless all inputs are on one device.
std::vector<Tensor> apply(const Op&, const std::vector<Tensor>& inputs, Attributes = {});
Tensor apply1(const Op&, const std::vector<Tensor>& inputs, Attributes = {}); // the first output
// Appends a node without inputs.
Tensor create(const Op&, std::shared_ptr<Evaluator>, Attributes);
// Appends a node at the level of values, without cells; used by transforms.
std::shared_ptr<Node> append(const Op&, std::vector<Value> inputs, Attributes, std::shared_ptr<Evaluator>,
                             bool requires_grad, std::shared_ptr<const GivenGradient> = nullptr);

} // namespace reprise::graph
