// An active recording, which intercepts the recorded function's accesses to cells created outside.
#pragma once
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "eager/context.hpp"
#include "graph/cell.hpp"
#include "shape/guard.hpp"

namespace reprise::program {

class Trace final : public graph::Tracer {
public:
    Trace(std::shared_ptr<eager::Context>, std::uint32_t id);
    ~Trace() override;
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    // -- graph::Tracer --
    std::uint32_t id() const override { return id_; }
    graph::Value read(const std::shared_ptr<graph::Cell>&) override;
    void assign(const std::shared_ptr<graph::Cell>&, graph::Value) override;
    std::shared_ptr<graph::Evaluator> evaluator() const override { return context_; }
    std::shared_ptr<graph::Cell> grad(const std::shared_ptr<graph::Cell>&) override;
    std::shared_ptr<graph::Cell> grad_to_add_to(const std::shared_ptr<graph::Cell>&) override;
    void set_grad(const std::shared_ptr<graph::Cell>&, std::shared_ptr<graph::Cell>) override;
    graph::RandomState next_random() override;
    void read_mode(const std::shared_ptr<const graph::Switch>&) override;
    void set_mode(const std::shared_ptr<const graph::Switch>&) override;
    void read_autocast(const graph::Autocast&) override;
    void check_indices(const graph::IndexCheck& check, graph::Value v) override
    {
        index_checks_.emplace_back(check, std::move(v));
    }

    // A cell from outside that the function read or assigned.
    struct State {
        std::shared_ptr<graph::Cell> cell;
        graph::Value placeholder; // the cell's value at the start of a call
        graph::Value current;     // the value after the function's assignments so far
        bool assigned = false;
        std::shared_ptr<graph::Cell> owner{}; // if a gradient: each call uses the current grad() of this cell
    };
    const std::vector<State>& states() const { return states_; }
    // Gradients that the function set, by owner; null: cleared.
    struct Grad {
        std::shared_ptr<graph::Cell> owner, value;
    };
    const std::vector<Grad>& grads() const { return grads_; }
    struct Hook {
        std::function<void()> run, undo; // undo: runs if the call failed; may be empty
    };
    void on_each_call(Hook hook) { hooks_.push_back(std::move(hook)); }
    const std::vector<Hook>& hooks() const { return hooks_; }
    // The recorded value of a mode that the function read.
    struct ReadMode {
        std::shared_ptr<const graph::Switch> mode;
        bool on = true;

        void check() const; // throws Error(state) if the mode has changed
    };
    const std::vector<ReadMode>& modes() const { return modes_; }
    // The state of autocast outside of the function, if that depends on it.
    struct ReadAutocast {
        bool on = false;
        DType dtype = bf16;

        void check() const; // throws Error(state) if this thread's state is another one
    };
    const std::optional<ReadAutocast>& autocast() const { return autocast_; }
    using IndexChecks = std::vector<std::pair<graph::IndexCheck, graph::Value>>;
    const IndexChecks& index_checks() const { return index_checks_; }
    const graph::RandomState& random_symbols() const { return random_; }
    std::uint64_t random_ops() const { return random_ops_; }
    shape::GuardList& guards() { return guards_; }
    void succeed() { succeeded_ = true; } // the recording succeeded

private:
    State& state(const std::shared_ptr<graph::Cell>&);

    std::shared_ptr<eager::Context> context_;
    std::uint32_t id_;
    std::vector<State> states_;
    std::unordered_map<const graph::Cell*, std::size_t> by_cell_;
    std::vector<Grad> grads_;
    std::unordered_map<const graph::Cell*, std::size_t> grad_by_owner_;
    std::unordered_map<const graph::Cell*, std::shared_ptr<graph::Cell>> owner_by_grad_;
    std::vector<Hook> hooks_;
    std::vector<ReadMode> modes_;
    std::optional<ReadAutocast> autocast_;
    std::vector<std::shared_ptr<const graph::Switch>> set_modes_; // set by the function before it read them
    IndexChecks index_checks_;
    graph::RandomState random_;
    std::uint64_t random_ops_ = 0;
    shape::GuardList guards_;
    std::vector<std::shared_ptr<graph::Cell>> added_zero_grads_; // removed if the recording fails
    bool succeeded_ = false;
};

} // namespace reprise::program
