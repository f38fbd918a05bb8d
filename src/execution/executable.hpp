// A plan made ready to run: its expressions compiled, its arena ordered, and a recording of it.  Eager
// evaluation makes one for one use; a Program keeps one and calls it at any size.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "execution/block.hpp"
#include "execution/lru_cache.hpp"
#include "execution/storage.hpp"
#include "plan/pipeline.hpp"
#include "plan/place.hpp"
#include "plan/verify.hpp"
#include "shape/program.hpp"

namespace reprise::execution {

class Executable {
public:
    // once: one call, no search for the best placement.  program: called at many sizes, of which many stay known.  eager: one of
    // many in the graph cache, of whose sizes few stay known.
    enum class Purpose : std::uint8_t { once, program, eager };
    Executable(plan::Compiled, std::shared_ptr<device::Device>, Purpose);
    Executable(const Executable&) = delete;
    Executable& operator=(const Executable&) = delete;

    struct Call {
        std::vector<std::int64_t> symbols;      // values, in the order of symbols()
        std::vector<device::Operand> externals; // by slot
        std::vector<double> numbers{};          // of query_host_scalars()
    };
    struct Outcome {
        std::vector<std::shared_ptr<device::Memory>> outputs; // see output()
        device::Ticket ticket = 0;
    };

    // The host scalars' values for one call, each queried once.  Runs the user's functions.
    void query_host_scalars(std::vector<double>& numbers) const { writer_.query_host_scalars(numbers); }
    // The host will read this result: where it is small it gets memory that the host sees.
    void make_readable(std::size_t result);
    // Records with all sizes open.
    void record(std::uint32_t slots, bool timestamps, bool warm_up = true);
    // Of the newest finished call: when each launch began, and last when all ended (device.hpp), and its sizes.
    struct Times {
        std::vector<double> begun;
        std::vector<std::int64_t> symbols;
        device::Ticket call = 0;
    };
    Times times() const;
    Outcome replay(const Call&);
    Outcome replay_once(const Call&); // and gives the arena back
    // The other's arena is this one's from now on.
    void take_arena(Executable& other) { arena_ = std::move(other.arena_); }
    void trim_arena(std::uint64_t bytes); // gives a larger one back
    // Records what this call needs, submits it and forgets the recording.
    Outcome run_once(const Call&);

    // The memory of a plan value that is an output.
    const std::shared_ptr<device::Memory>& output(const Outcome&, std::uint32_t value) const;
    // At the sizes of the last call.
    std::optional<Stored::Layout> result_layout(std::size_t result) const; // none: row-major
    Shape result_shape(std::size_t result) const;

    std::int64_t evaluated(const Dim&, const std::vector<std::int64_t>& symbols) const;

    // Where each value would lie in this call, and which launches would run: what the hazard verifier asks
    // for.
    struct Places {
        std::vector<plan::Range> ranges; // by plan value
        std::vector<bool> enabled;       // by launch
    };
    Places places(const Call&);

    // These symbols change with each call and are no sizes (seeds, counters): nothing is cached by them.
    void set_counters(const std::vector<std::uint32_t>& ids);
    const std::vector<std::uint32_t>& symbols() const { return program_.symbols(); }
    std::string symbol_name(std::size_t position) const { return program_.symbol_name(position); }
    const plan::Compiled& compiled() const { return compiled_; }
    std::uint64_t bytes_placed() const { return bytes_placed_; } // by all calls so far
    std::size_t known_bytes() const { return known_.bytes(); }   // of what sizes gave
    std::uint64_t arena_bytes(const std::vector<std::int64_t>& symbols) const;
    std::uint64_t output_bytes(const std::vector<std::int64_t>& symbols) const;
    std::uint64_t peak_bytes(const std::vector<std::int64_t>& symbols) const; // arena and outputs
    struct Placed {
        std::vector<std::uint64_t> bytes, offsets; // by plan value
        std::uint64_t arena = 0, lower_bound = 0;
    };
    Placed placed(const std::vector<std::int64_t>& symbols) const;

private:
    // Everything that follows from the sizes, and what the last call at them had.
    struct Sized {
        std::vector<std::int64_t> values;   // by slot of the program
        std::vector<std::uint64_t> bytes;   // by plan value
        std::vector<std::uint64_t> offsets; // in the arena
        std::uint64_t arena = 0;
        device::Address base = 0; // of the arena that the block knows
        Block block;
    };
    struct ResultSlots {
        std::vector<shape::Slot> sizes, strides;
        shape::Slot offset;
    };

    void compile_expressions();
    Sized& at(const std::vector<std::int64_t>& symbols);
    // By plan value; `values` get those of the program.
    std::vector<std::uint64_t> bytes_at(const std::vector<std::int64_t>& symbols,
                                        std::vector<std::int64_t>& values) const;
    Sized sized(const std::vector<std::int64_t>& symbols) const;
    void provide_arena(Sized&);
    std::size_t output_at(std::uint32_t value) const; // its index
    Outcome place(Sized&, const Call&);
    void verify(const Sized&) const; // debug builds: each call
    Places places(const Sized&) const;
    device::LaunchDeclaration declaration(const plan::PlanLaunch&) const;

    plan::Compiled compiled_;
    std::shared_ptr<device::Device> device_;
    shape::DimProgram program_;
    BlockWriter writer_;
    std::vector<shape::Slot> elements_; // by plan value
    std::vector<ResultSlots> results_;
    struct Output {
        std::uint32_t value; // of the plan
        bool readable = false;
    };
    std::vector<Output> outputs_;            // ascending by value
    std::vector<std::uint32_t> temporaries_; // plan values
    std::unique_ptr<plan::Placement> placement_;
    std::vector<std::size_t> counters_; // positions among the symbols
    std::vector<shape::Slot> counted_;  // what depends on them
    LruCache<Sized> known_;             // by symbol values, counters left out
    std::vector<std::int64_t> key_;
    struct Timed {
        device::Ticket call;
        std::vector<std::int64_t> symbols;
    };
    std::deque<Timed> timed_; // calls whose times may be queried
    std::size_t most_timed_ = 0;
    const Sized* last_sized_ = nullptr;
    std::uint64_t bytes_placed_ = 0;
    std::shared_ptr<device::Memory> arena_;
    std::unique_ptr<device::Recording> recording_;
};

} // namespace reprise::execution
