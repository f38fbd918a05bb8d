// The arguments of all launches of a plan, in flat arrays.  A block is filled once for given sizes; a call then
// writes only what differs from the last call at these sizes: addresses that moved, numbers of the host,
// counters.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "device/device.hpp"
#include "plan/plan.hpp"
#include "shape/program.hpp"

namespace reprise::execution {

struct Block {
    std::vector<device::Operand> operands;
    std::vector<double> floats;
    std::vector<std::int32_t> ints;
    std::vector<std::uint64_t> groups;   // by launch, where it runs
    std::vector<bool> on;                // by launch: not switched off in favour of its fallback, or as one
    std::vector<device::Operand> places; // by plan value: where `operands` has it
    std::vector<bool> reachable;         // by plan value: the views of the slab show all of it

    std::size_t bytes() const;
};

// Which argument stands where, and what it is made of.
class BlockWriter {
public:
    using Values = std::span<const std::int64_t>; // by slot of the program

    // Adds what the arguments are made of to the program.
    BlockWriter(const plan::Plan&, const device::Capabilities&, shape::DimProgram&);

    // `slots`: what the counters change, from now on.
    void set_counters(std::span<const shape::Slot> slots);

    Block fill(Values) const; // everything lies at 0
    void place(Block&, Values, std::uint32_t value, const device::Operand&) const;
    void write_counters(Block&, Values) const;
    void write_numbers(Block&, Values, std::span<const double>) const; // of query_host_scalars()

    // The host scalars' values for one call, each queried once.  Runs the user's functions.
    void query_host_scalars(std::vector<double>& numbers) const;
    device::LaunchArguments arguments(const Block&, std::size_t launch) const;

private:
    struct Launch {
        std::size_t operands = 0, floats = 0, ints = 0; // where they begin
        shape::Slot groups = 0;
        std::uint32_t fallback = plan::no_launch; // of this one
        bool texels = false, words = false;
        const std::string* label = nullptr;
    };
    struct Use { // of a plan value
        std::size_t operand;
        std::uint32_t launch;
        shape::Slot offset; // elements
        std::uint32_t element_bytes;
    };
    struct Float {
        double constant;
        shape::Slot factor;
    };
    struct HostScalarUse { // a float that the host gives at each call
        std::size_t number, source;
    };

    void add_operands(const plan::PlanLaunch&, std::uint32_t launch, shape::DimProgram&,
                      std::vector<std::vector<Use>>& uses);
    void add_floats(const plan::PlanLaunch&, shape::DimProgram&);
    std::span<const std::uint32_t> values_of(std::size_t launch) const;
    bool in_reach(const device::Operand&) const;
    void choose_variant(Block&, std::uint32_t launch) const;
    std::int32_t int_at(std::size_t i, Values) const;

    const device::Capabilities& capabilities_;
    std::vector<Launch> launches_;       // and an end
    std::vector<std::uint32_t> values_;  // by operand: of the plan; or `absent`
    std::vector<Use> uses_;              // value by value
    std::vector<std::size_t> first_use_; // by plan value, and an end
    std::vector<Float> floats_;
    std::vector<HostScalarUse> host_scalar_uses_;
    std::vector<std::shared_ptr<const graph::HostScalar>> sources_;
    std::vector<shape::Slot> ints_;
    std::vector<std::uint32_t> int_launches_; // by int
    std::vector<std::size_t> counted_;        // ints that the counters change
};

} // namespace reprise::execution
