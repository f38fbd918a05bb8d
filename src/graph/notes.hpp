// Data that users attach to the tape: hooks, retained gradients, locations in their code and custom gradients.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <reprise/hooks.hpp>

#include "graph/ambient.hpp"
#include "graph/node.hpp"

namespace reprise::graph {

struct Cell;

class GradHooks : public detail::HookList<Tensor(const Tensor&)> {};

// A set of indices of a node's inputs or outputs.
class IndexSet {
public:
    static IndexSet all()
    {
        IndexSet p;
        p.all_ = true;
        return p;
    }
    void add(std::size_t i)
    {
        if (i >= added_.size()) added_.resize(i + 1);
        added_[i] = true;
    }
    bool contains(std::size_t i) const { return all_ || (i < added_.size() && added_[i]); }

private:
    std::vector<bool> added_;
    bool all_ = false;
};

// The inputs and outputs of a node whose values its VJP reads.
struct Reads {
    IndexSet inputs, outputs;
};

// A custom gradient, used in place of the op's own.
struct GivenGradient {
    virtual ~GivenGradient() = default;
    virtual std::vector<Tensor> vjp(const VjpArguments&) const = 0;
    virtual Reads reads(const Node&) const = 0;
};

struct TapeNotes {
    std::vector<std::shared_ptr<GradHooks>> hooks; // by output; null: none
    std::vector<std::weak_ptr<Cell>> retained;     // by output: the cell on which retain_grad() was called
    std::string place;                             // where the op was called, in anomaly mode
    std::weak_ptr<Cell> leaf;                      // owner of a leaf: its grad() accumulates the cotangents
};
TapeNotes& notes_of(const Node&);
inline std::shared_ptr<Cell> owner_of_leaf(const Node& n) { return n.notes ? n.notes->leaf.lock() : nullptr; }

// An object that, while it exists, is notified of each op that this thread applies or differentiates.  Scopes nest.
class Scope {
public:
    Scope();
    virtual ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

    Scope* outer() const noexcept { return outer_; }
    virtual std::shared_ptr<const GivenGradient> gradient_of(const Op&) const { return nullptr; }
    virtual void applied(const Node&) {}
    virtual bool checks_indices() const { return false; } // graph/index_check.hpp
    // Called when the reverse walk has computed these cotangents of the node's inputs.  The walk continues with the
    // tensors as this function leaves them.
    virtual void differentiated(const Node&, std::vector<Tensor>&) {}

private:
    Scope* outer_;
};

} // namespace reprise::graph
