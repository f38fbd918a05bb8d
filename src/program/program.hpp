// What a Program holds: the executable, how inputs bind to symbols, which cells are its state.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <reprise/program.hpp>

#include "program/executable.hpp"
#include "program/trace.hpp"

namespace reprise {

struct Program::Impl {
    std::shared_ptr<program::Context> context;
    std::unique_ptr<program::Executable> executable;
    std::vector<Spec> specs;
    std::vector<shape::Guard> guards;
    std::vector<std::function<void()>> hooks;
    std::size_t hooks_run = 0; // of a call that failed: the next one is that call again and goes on from here

    enum class Source : std::uint8_t { input, state, constant };
    struct Binding {
        Source source;
        std::size_t index = 0; // input or state
    };
    std::vector<Binding> externals; // by slot
    struct State {
        std::shared_ptr<graph::Cell> cell;
        bool assigned = false;
        std::shared_ptr<graph::Cell> owner; // of a gradient: the cell is what its grad() is at each call
    };
    std::vector<State> states;
    std::vector<graph::Value> constants; // by index of a constant binding

    std::vector<std::size_t> outputs; // of the function: indices into the results
    struct KeptGrad {
        std::shared_ptr<graph::Cell> owner;
        std::size_t result;
    };
    std::vector<KeptGrad> kept_grads;
    std::vector<std::shared_ptr<graph::Cell>> cleared_grads;
    graph::RandomState random;
    std::uint64_t random_ops = 0;
    std::mutex mutex; // of calls: one at a time

    std::vector<Tensor> call(const std::vector<Tensor>& inputs);
    // Where a symbol's value stands among the executable's; null: it is not asked for.
    std::int64_t* place_of(std::uint32_t symbol, std::vector<std::int64_t>& symbols) const;

private:
    class Draw;
    void check_input(std::size_t i, const Tensor&) const;
    std::vector<std::int64_t> bind_sizes(const std::vector<Tensor>& inputs) const;
    void check_expressions(const std::vector<Tensor>& inputs, std::vector<std::int64_t>& symbols) const;
    void run_hooks();
    graph::Value input_value(const Tensor&, const std::vector<const device::Memory*>& written) const;
    void find_grads();
    graph::Value state_value(const State&) const;
    graph::Value result_value(std::size_t result, const program::Executable::Outcome&,
                              const std::vector<std::shared_ptr<device::Memory>>& external);
};

} // namespace reprise
