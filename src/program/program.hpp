// What a Program holds: the executable, how inputs bind to symbols, which cells are its state.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <reprise/program.hpp>
#include <reprise/random.hpp>

#include "execution/executable.hpp"
#include "execution/lru_cache.hpp"
#include "execution/storage.hpp"
#include "program/signature.hpp"
#include "program/trace.hpp"

namespace reprise {

struct Program::Impl {
    std::shared_ptr<eager::Context> context;
    program::Signature signature;
    // One, or within a memory budget several that drop more and more.
    struct Variant {
        std::unique_ptr<execution::Executable> executable;
        // Of the signature's symbols among its own, or `unused_symbol`.
        std::vector<std::size_t> symbol_places;

        // Values in the executable's order; `others` for those that are no sizes.
        void place(const std::vector<std::int64_t>& of_signature, std::vector<std::int64_t>& symbols,
                   std::int64_t others = shape::DimProgram::no_value) const;
    };
    static constexpr std::size_t unused_symbol = static_cast<std::size_t>(-1);
    std::vector<Variant> variants;
    std::optional<std::uint64_t> memory_budget; // bytes
    // The first that fits at these sizes.  Throws Error(out_of_memory) where none does.
    std::size_t variant_at(const std::vector<std::int64_t>& sizes) const;
    std::vector<program::Trace::ReadMode> modes; // must be as they were
    std::vector<program::Trace::Hook> hooks;
    std::vector<bool>
        hooks_run; // of a call that failed, those without an undo: the next one is that call again

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
        DType dtype = f32;                  // when it was recorded
    };
    std::vector<State> states;
    std::vector<graph::Value> constants; // by index of a constant binding

    // Indices into the results: what the function returned, then what is to be checked.
    std::vector<std::size_t> outputs;
    std::vector<graph::IndexCheck> index_checks;
    struct Grad {
        std::shared_ptr<graph::Cell> owner;
        std::optional<std::size_t> result{}; // none: it is cleared
    };
    std::vector<Grad> grads; // that a call leaves
    graph::RandomState random;
    std::uint64_t random_ops = 0;
    // What was recorded, for programs that are recorded around this one: values by external slot, results with
    // all that they are made of, and which result goes into which external.
    struct Graph {
        std::vector<graph::Value> externals, results;
        std::vector<plan::Request::Assignment> assignments;
    } recorded;
    // One thread at a time is inside.  Throws Error(state) for user code that a call runs and that enters again: it would
    // wait for itself.
    class Entered {
    public:
        Entered(Impl&, const char* by); // what errors name
        ~Entered() { caller_ = std::thread::id(); }
        Entered(const Entered&) = delete;
        Entered& operator=(const Entered&) = delete;

    private:
        std::atomic<std::thread::id>& caller_;
        std::unique_lock<std::mutex> lock_;
    };
    std::mutex mutex;                    // of Entered
    std::atomic<std::thread::id> caller; // whose call runs

    std::vector<Tensor> call(const std::vector<Tensor>& inputs, const DimVector& sizes);
    // The same as a part of the recording that is under way (inline.cpp).
    std::vector<Tensor> append_to(program::Trace&, const std::vector<Tensor>& inputs,
                                  const DimVector& sizes) const;
    const execution::Executable& executable() const { return *variants[used].executable; } // of the last call

private:
    std::size_t used = 0; // variant, which has the arena
    struct Choice {
        std::size_t variant = 0;
        std::uint64_t outputs = 0; // bytes
    };
    static constexpr std::size_t most_known_bytes = 1 << 20;
    execution::LruCache<Choice> chosen{most_known_bytes}; // by sizes
    // What one call binds.  Kept from call to call for its memory: a call's caches are cold, and each allocation
    // costs it a miss or two.
    struct Bound {
        Choice choice;
        execution::Executable* executable = nullptr;
        execution::Executable::Call call;
        std::vector<graph::Value> held; // until the call is submitted
        std::vector<const Shape*> shapes;
        std::vector<std::int64_t> sizes;
        std::vector<const execution::Stored*> state, input, external;
        std::vector<const device::Memory*> written;

        void clear();
    } bound;

    void check_count(std::size_t inputs, std::size_t sizes) const;
    void check_input(std::size_t i, const graph::Value&) const;
    void choose(const std::vector<std::int64_t>& sizes);
    GeneratorState draw();
    execution::Executable::Outcome replay();
    void bind_sizes(const std::vector<Tensor>& inputs, const DimVector& sizes);
    class Hooks;
    void compute_inputs(const std::vector<Tensor>&);
    const execution::Stored& bind_input(const Tensor&);
    void find_grads();
    const execution::Stored& bind_state(const State&);
    void bind_memory(const std::vector<Tensor>& inputs);
    graph::Value result_value(std::size_t result, const execution::Executable::Outcome&);
    std::vector<Tensor> run(const std::vector<Tensor>& inputs, const DimVector& sizes); // all outputs
    // Takes the values to be checked off the outputs.
    std::vector<Tensor> take_checked(std::vector<Tensor>& out) const;
};

} // namespace reprise
