// What users put on the tape: hooks, gradients that they keep, places in their code; gradients of their own.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <reprise/hooks.hpp>

#include "graph/ambient.hpp"
#include "graph/node.hpp"

namespace reprise::graph {

struct Cell;

class GradHooks : public detail::HookList<Tensor(const Tensor&)> {};

// Some of a node's inputs or outputs, by their places.
class Places {
public:
    static Places all()
    {
        Places p;
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

// Which of a node's own values its VJP reads.
struct Reads {
    Places inputs, outputs;
};

// A gradient that takes the place of the op's.
struct GivenGradient {
    virtual ~GivenGradient() = default;
    virtual std::vector<Tensor> vjp(const VjpArguments&) const = 0;
    virtual Reads reads(const Node&) const = 0;
};

struct TapeNotes {
    std::vector<std::shared_ptr<GradHooks>> hooks; // by output; null: none
    std::vector<std::weak_ptr<Cell>> retained;     // by output: whose grad() is kept
    std::string place;                             // where the op was called, in anomaly mode
    std::weak_ptr<Cell> leaf;                      // whose grad() a cotangent that arrives here adds to
};
TapeNotes& notes_of(const Node&);
inline std::shared_ptr<Cell> owner_of_leaf(const Node& n) { return n.notes ? n.notes->leaf.lock() : nullptr; }

// Stands by while ops are applied and differentiated on this thread, for its life.  Scopes nest.
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
    // The reverse walk has these cotangents of the node's inputs; it goes on with what they are then.
    virtual void differentiated(const Node&, std::vector<Tensor>&) {}

private:
    Scope* outer_;
};

} // namespace reprise::graph
