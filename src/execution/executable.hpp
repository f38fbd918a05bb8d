// A plan that is ready to run: with compiled size expressions, a placement of the arena, and a recording.  Eager
// evaluation may use an executable only once; a Program keeps its executables and calls them at any size.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "device/device.hpp"
#include "execution/block.hpp"
#include "execution/call_observer.hpp"
#include "execution/lru_cache.hpp"
#include "execution/storage.hpp"
#include "plan/pipeline.hpp"
#include "plan/place.hpp"
#include "plan/verify.hpp"
#include "shape/program.hpp"

namespace reprise::execution {

class Executable {
public:
    // once: one call, without a search for the best placement.  program: called at many sizes, with a large cache by
    // sizes.  eager: one of many executables in the graph cache, with a small cache by sizes.
    enum class Purpose : std::uint8_t { once, program, eager };
    Executable(plan::Compiled, std::shared_ptr<device::Device>, Purpose);
    Executable(const Executable&) = delete;
    Executable& operator=(const Executable&) = delete;

    struct Call {
        std::vector<std::int64_t> symbols;      // values, in the order of symbols()
        std::vector<device::Operand> externals; // by slot
        std::vector<double> numbers{};          // results of query_host_scalars()
        std::vector<device::Ticket> reads{}; // of the calls that have computed externals; may be incomplete
    };
    struct Outcome {
        std::vector<std::shared_ptr<device::Memory>> outputs; // see output()
        device::Ticket ticket = 0;
    };

    // Queries each host scalar once, for one call.  Runs the user's functions.
    void query_host_scalars(std::vector<double>& numbers) const { writer_.query_host_scalars(numbers); }
    // Declares that the host will read this result, which up to 4096 bytes is then allocated in host-visible memory.
    void make_readable(std::size_t result);
    // Records the launches for calls at any size.
    void record(std::uint32_t slots, bool timestamps, bool warm_up = true, detail::Progress progress = {});
    // Timestamps of the newest finished call, with the values of its symbols: the start of each launch, and at the end
    // of the list the end of all (device.hpp).
    struct Times {
        std::vector<double> begun;
        std::vector<std::int64_t> symbols;
        device::Ticket call = 0;
    };
    Times times() const;
    Outcome replay(const Call&);
    Outcome replay_once(const Call&); // like replay(), but frees the arena afterwards
    // Moves the other executable's arena to this one.
    void take_arena(Executable& other)
    {
        arena_ = std::move(other.arena_);
        host_arena_ = std::move(other.host_arena_);
    }
    void trim_arena(std::uint64_t bytes); // frees the arena if it is larger
    // Records the launches that this call needs, submits them and discards the recording.
    Outcome run_once(const Call&);

    // Returns the memory of a plan value that is an output.
    const std::shared_ptr<device::Memory>& output(const Outcome&, std::uint32_t value) const;
    // These return the layout and shape of a result at the sizes of the last call.
    std::optional<Stored::Layout> result_layout(std::size_t result) const; // none: row-major
    Shape result_shape(std::size_t result) const;

    std::int64_t evaluated(const Dim&, const std::vector<std::int64_t>& symbols) const;

    // The address ranges of all values in this call, and the launches that it would run, for the hazard verifier.
    struct Places {
        std::vector<plan::Range> ranges; // by plan value
        std::vector<bool> enabled;       // by launch
    };
    Places places(const Call&);

    // Declares symbols that are no sizes and may change with each call (seed, ordinal), so that no cache key has them.
    void set_counters(const std::vector<std::uint32_t>& ids);
    const std::vector<std::uint32_t>& symbols() const { return program_.symbols(); }
    std::string symbol_name(std::size_t position) const { return program_.symbol_name(position); }
    const plan::Compiled& compiled() const { return compiled_; }
    std::uint64_t bytes_placed() const { return bytes_placed_; } // by all calls so far
    std::size_t cached_bytes() const { return cache_.bytes(); }  // of the cache by sizes
    std::uint64_t arena_bytes(const std::vector<std::int64_t>& symbols) const;
    std::uint64_t output_bytes(const std::vector<std::int64_t>& symbols) const;
    std::uint64_t peak_bytes(const std::vector<std::int64_t>& symbols) const; // arenas and outputs
    struct Placed {
        std::vector<std::uint64_t> bytes, offsets; // by plan value
        std::uint64_t arena = 0, lower_bound = 0;
    };
    Placed placed(const std::vector<std::int64_t>& symbols) const;

private:
    // An entry of the cache by sizes: everything that depends on the sizes only, and the block of the last call.
    struct Sized {
        std::vector<std::int64_t> values;        // by slot of the program
        std::vector<std::uint64_t> bytes;        // by plan value
        std::vector<std::uint64_t> offsets;      // in the arena, by plan value
        std::uint64_t arena = 0;                 // bytes
        device::Address base = 0;                // address of the arena that the block was written for
        std::vector<std::uint64_t> host_offsets; // these three of the arena for operands of host calls
        std::uint64_t host_arena = 0;
        device::Address host_base = 0;
        Block block;
    };
    struct ResultSlots {
        std::vector<shape::Slot> sizes, strides;
        shape::Slot offset;
    };

    void compile_expressions();
    Sized& at(const std::vector<std::int64_t>& symbols);
    // Returns the bytes by plan value, and in `values` the results of the program.
    std::vector<std::uint64_t> bytes_at(const std::vector<std::int64_t>& symbols,
                                        std::vector<std::int64_t>& values) const;
    Sized sized(const std::vector<std::int64_t>& symbols) const;
    void provide_arena(Sized&);
    void provide_host_arena(const Sized&);
    void free_arenas();                               // work submitted later may reuse the memory
    std::size_t output_at(std::uint32_t value) const; // its index in outputs_
    Outcome place(Sized&, const Call&);
    // Waits for a call of a recording with timestamps, and tells the observer the times of these launches of the plan.
    void observe(CallObserver&, const Call&, device::Recording&, device::Ticket, ObservedCall::Time submitted,
                 const std::vector<std::uint32_t>& launches);
    void verify(const Sized&) const; // called at each call in debug builds
    Places places(const Sized&) const;
    device::LaunchDeclaration declaration(const plan::PlanLaunch&) const;
    std::vector<device::LaunchDeclaration> declarations() const; // of all launches

    plan::Compiled compiled_;
    std::shared_ptr<device::Device> device_;
    Purpose purpose_;
    shape::DimProgram program_;
    BlockWriter writer_;
    std::vector<shape::Slot> elements_; // by plan value
    std::vector<ResultSlots> results_;
    struct Output {
        std::uint32_t value; // of the plan
        bool readable = false;
    };
    std::vector<Output> outputs_;                               // ascending by value
    std::vector<std::uint32_t> temporaries_, host_temporaries_; // plan values
    std::unique_ptr<plan::Placement> placement_;
    std::unique_ptr<plan::Placement> host_placement_; // null: there are no host calls
    std::vector<std::size_t> counters_;               // positions among the symbols
    std::vector<shape::Slot> counter_slots_;          // slots that depend on the counters
    LruCache<Sized> cache_;                           // by the symbols' values, with 0 for counters
    std::vector<std::int64_t> key_;
    struct Timed {
        device::Ticket call;
        std::vector<std::int64_t> symbols;
    };
    std::deque<Timed> timed_; // calls whose times may be queried
    std::size_t max_timed_ = 0;
    const Sized* last_sized_ = nullptr;
    std::uint64_t bytes_placed_ = 0;
    std::shared_ptr<device::Memory> arena_, host_arena_;
    std::unique_ptr<device::Recording> recording_;
    std::unique_ptr<device::Recording>
        timed_recording_; // of calls that are observed; freed by the first that is not
};

} // namespace reprise::execution
