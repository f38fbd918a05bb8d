// A plan made ready to run: its expressions compiled, its arena ordered, and a recording of it.  Eager
// evaluation makes one for one use; a Program keeps one and calls it at any size.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "plan/pipeline.hpp"
#include "plan/place.hpp"
#include "plan/verify.hpp"
#include "shape/program.hpp"

namespace reprise::program {

class Executable {
public:
    Executable(plan::Compiled, std::shared_ptr<device::Device>);

    struct Call {
        std::vector<std::int64_t> symbols;                    // values, in the order of symbols()
        std::vector<device::Operand> externals;               // by slot
        std::map<const graph::HostScalar*, double> numbers{}; // of ask()
    };
    struct Outcome {
        std::vector<std::shared_ptr<device::Memory>> outputs; // by plan value; null where it is no output
        device::Ticket ticket = 0;
    };

    // The host scalars' values for one call, each asked for once.  Runs the user's functions.
    std::map<const graph::HostScalar*, double> ask() const;
    // Records with all sizes open.
    void record(std::uint32_t slots, bool timestamps);
    std::vector<double> times() const { return recording_ ? recording_->times() : std::vector<double>(); }
    Outcome replay(const Call&);
    // Records what this call needs, submits it and forgets the recording.
    Outcome run_once(const Call&);

    // Where each value would lie in this call, and which launches would run: what the hazard verifier asks
    // for.
    struct Layout {
        std::vector<plan::Range> ranges; // by plan value
        std::vector<bool> enabled;       // by launch
    };
    Layout layout(const Call&);

    // Strides and offset of a result at the sizes of the last call.
    std::int64_t evaluated(const Dim&) const;

    // These symbols change with each call and are no sizes (seeds, counters): nothing is cached by them.
    void set_counters(const std::vector<std::uint32_t>& ids);
    const std::vector<std::uint32_t>& symbols() const { return program_.symbols(); }
    std::string symbol_name(std::size_t position) const { return program_.symbol_name(position); }
    const plan::Compiled& compiled() const { return compiled_; }
    std::uint64_t arena_bytes(const std::vector<std::int64_t>& symbols);
    std::uint64_t arena_lower_bound(const std::vector<std::int64_t>& symbols);
    struct Placed {
        std::vector<std::uint64_t> bytes, offsets; // by plan value
        std::uint64_t arena = 0, lower_bound = 0;
    };
    Placed placed(const std::vector<std::int64_t>& symbols) const;

private:
    // Everything that follows from the sizes.
    struct Sized {
        std::vector<std::int64_t> values;   // by slot of the program
        std::vector<std::uint64_t> bytes;   // by plan value
        std::vector<std::uint64_t> offsets; // in the arena
        std::uint64_t arena = 0;
    };
    struct LaunchSlots {
        std::vector<shape::Slot> ints, factors, offsets;
        shape::Slot groups = 0;
    };

    void compile_expressions();
    void find_placement();
    const Sized& at(const std::vector<std::int64_t>& symbols);
    Sized sized(const std::vector<std::int64_t>& symbols) const;
    void provide_arena(Sized&);
    std::vector<device::Operand> addresses(const Sized&, const Call&, Outcome&);
    void verify(const Sized&, const std::vector<device::Operand>& values) const; // debug builds: each call
    bool in_texel_reach(const device::Operand&) const;
    bool enabled(std::size_t launch, const std::vector<device::Operand>& values) const;
    void write(device::Recording&, std::uint32_t at, std::size_t launch, const Sized&, const Call&,
               const std::vector<device::Operand>&, bool on);
    double number(const ops::Scalar&, shape::Slot factor, const Sized&, const Call&) const;
    device::LaunchDeclaration declaration(const plan::PlanLaunch&) const;

    plan::Compiled compiled_;
    std::shared_ptr<device::Device> device_;
    shape::DimProgram program_;
    std::vector<LaunchSlots> slots_;
    std::vector<shape::Slot> elements_; // by plan value
    std::unique_ptr<plan::Placement> placement_;
    std::map<std::vector<std::int64_t>, Sized> known_; // by symbol values
    std::vector<std::size_t> counters_;                // positions among the symbols
    std::vector<std::int64_t> last_;
    std::shared_ptr<device::Memory> arena_;
    std::unique_ptr<device::Recording> recording_;
    // scratch of write()
    std::vector<device::Operand> operands_;
    std::vector<double> floats_;
    std::vector<std::int32_t> ints_;
};

} // namespace reprise::program
