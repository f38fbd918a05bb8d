// The implementation of Program: the executables, the signature that binds inputs to symbols, and the cells of its
// state.
#pragma once
#include <atomic>
#include <deque>
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
#include "ops/random.hpp"
#include "program/signature.hpp"
#include "program/trace.hpp"

namespace reprise {

struct Program::Impl : eager::Undoable, std::enable_shared_from_this<Program::Impl> {
    std::shared_ptr<eager::Context> context;
    program::Signature signature;
    // There is one variant; with a memory budget there may be several, each of which drops more values than the one
    // before.
    struct Variant {
        std::unique_ptr<execution::Executable> executable;
        // By symbol of the signature: its index among the executable's symbols, or `unused_symbol`.
        std::vector<std::size_t> symbol_positions;

        // Sets the values of the executable's symbols, in its order; `others` is the value of symbols that are not
        // sizes.
        void assign_symbols(const std::vector<std::int64_t>& of_signature, std::vector<std::int64_t>& symbols,
                            std::int64_t others = shape::DimProgram::no_value) const;
    };
    static constexpr std::size_t unused_symbol = static_cast<std::size_t>(-1);
    std::vector<Variant> variants;
    std::optional<std::uint64_t> memory_budget; // bytes
    // Returns the first variant that fits the memory budget at these sizes. Throws Error(out_of_memory) if none does.
    std::size_t variant_at(const std::vector<std::int64_t>& sizes) const;
    std::vector<program::Trace::ReadMode> modes;          // a call requires the recorded values
    std::optional<program::Trace::ReadAutocast> autocast; // the same, of autocast
    std::vector<program::Trace::Hook> hooks;
    std::vector<bool>
        hooks_run; // by hook: it ran in a failed call and has no undo, so the retry must skip it

    enum class Source : std::uint8_t { input, state, constant };
    struct Binding {
        Source source;
        std::size_t index = 0; // input or state
    };
    std::vector<Binding> externals; // by slot
    struct State {
        std::shared_ptr<graph::Cell> cell;
        bool assigned = false;
        std::shared_ptr<graph::Cell> owner; // if a gradient: each call uses the current grad() of this cell
        DType dtype = f32;                  // at recording
    };
    std::vector<State> states;
    std::vector<graph::Value> constants; // by index of a constant binding

    // Indices into the results: the values that the function returned, then the indices to be checked.
    std::vector<std::size_t> outputs;
    std::vector<graph::IndexCheck> index_checks;
    struct Grad {
        std::shared_ptr<graph::Cell> owner;
        std::optional<std::size_t> result{}; // nullopt: the gradient is cleared
    };
    std::vector<Grad> grads; // gradients that a call sets
    graph::RandomState random;
    std::uint64_t random_ops = 0;
    // The recorded graph, for inlining into another recording: values by external slot, results with the nodes they
    // depend on, and assignments of results to externals.
    struct Graph {
        std::vector<graph::Value> externals, results;
        std::vector<plan::Request::Assignment> assignments;
    } recorded;
    // Locks the program for one thread. Throws Error(state) if user code that runs within a call enters the program
    // again, since it would deadlock.
    class Entered {
    public:
        Entered(Impl&, const char* by); // `by`: the name that errors use
        ~Entered() { caller_ = std::thread::id(); }
        Entered(const Entered&) = delete;
        Entered& operator=(const Entered&) = delete;

    private:
        std::atomic<std::thread::id>& caller_;
        std::unique_lock<std::mutex> lock_;
    };
    std::mutex mutex;                    // held by Entered
    std::atomic<std::thread::id> caller; // the thread that holds the mutex

    std::vector<Tensor> call(const std::vector<Tensor>& inputs, const DimVector& sizes);
    void undo(device::Ticket call) override;
    // Inlines the call into the active recording (inline.cpp).
    std::vector<Tensor> append_to(program::Trace&, const std::vector<Tensor>& inputs,
                                  const DimVector& sizes) const;
    const execution::Executable& executable() const
    {
        return *variants[used].executable;
    } // used by the last call

private:
    std::size_t used = 0; // index of the variant that owns the arena
    struct Choice {
        std::size_t variant = 0;
        std::uint64_t outputs = 0; // bytes
    };
    static constexpr std::size_t max_cached_bytes = 1 << 20;
    execution::LruCache<Choice> choices{max_cached_bytes}; // cache, by sizes
    // The bindings of one call. The buffers are reused across calls: the caches are cold at a call, so that each
    // allocation costs a cache miss or two.
    struct Bound {
        Choice choice;
        execution::Executable* executable = nullptr;
        execution::Executable::Call call;
        std::vector<graph::Value> held; // keeps values alive until the call is submitted
        std::vector<const Shape*> shapes;
        std::vector<std::int64_t> sizes;
        std::vector<const execution::Stored*> state, input, external;
        std::vector<const device::Memory*> written;
        ops::Ordinals drawn{}; // before its random numbers

        void clear();
    } bound;

    void check_count(std::size_t inputs, std::size_t sizes) const;
    void check_input(std::size_t i, const graph::Value&) const;
    void choose(const std::vector<std::int64_t>& sizes);
    ops::Ordinals draw();
    execution::Executable::Outcome replay();
    // What undo() needs of a call.
    // What undo() needs of a call: what was there before it.
    struct Undo {
        device::Ticket call = 0;
        ops::Ordinals drawn{};
        std::vector<std::shared_ptr<graph::Cell>> grads{}; // by index of `grads`
        // Stored::written of assigned state that another call has computed.  Weak, as a use of the storage would count
        // as shared.
        std::vector<std::pair<std::weak_ptr<graph::Storage>, device::Ticket>> state{};
    };
    std::deque<Undo> undos; // with slices: of the calls that may be dropped; guarded by the context's mutex
    Undo before_the_call() const;
    void mark_state_as_written();
    void keep(Undo, device::Ticket);
    void bind_sizes(const std::vector<Tensor>& inputs, const DimVector& sizes);
    class Hooks;
    void compute_inputs(const std::vector<Tensor>&);
    const execution::Stored& bind_input(const Tensor&);
    void find_grads();
    const execution::Stored& bind_state(const State&);
    void bind_memory(const std::vector<Tensor>& inputs);
    graph::Value result_value(std::size_t result, const execution::Executable::Outcome&);
    std::vector<Tensor> run(const std::vector<Tensor>& inputs, const DimVector& sizes); // all outputs
    // Removes the values to be checked from the outputs and returns them.
    std::vector<Tensor> take_checked(std::vector<Tensor>& out) const;
};

} // namespace reprise
