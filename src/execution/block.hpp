// The arguments of all launches of a plan, in flat arrays.  A block is filled once for given sizes; a call then
// writes only what differs from the last call at these sizes: addresses that changed, host scalars, counters.
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
    std::vector<std::uint64_t> groups;   // by launch: number of workgroups if it is enabled
    std::vector<bool> on;                // by launch: enabled; of a launch and its fallback exactly one is
    std::vector<device::Operand> places; // by plan value: its address range, as used in `operands`
    std::vector<bool> reachable;         // by plan value: lies entirely within the views of the slab

    std::size_t bytes() const;
};

// Computes the arguments in a block.  It holds the layout of the block and the expression of each argument.
class BlockWriter {
public:
    using Values = std::span<const std::int64_t>; // by slot of the program

    // Adds the expressions of the arguments to the program.
    BlockWriter(const plan::Plan&, const device::Capabilities&, shape::DimProgram&);

    // Sets the slots whose values depend on counters.  Only ints may depend on them, else Error(internal).
    void set_counters(std::span<const shape::Slot> slots);

    Block fill(Values) const; // all addresses are 0
    void place(Block&, Values, std::uint32_t value, const device::Operand&) const;
    void write_counters(Block&, Values) const;
    void write_numbers(Block&, Values, std::span<const double>) const; // results of query_host_scalars()

    // Queries each host scalar once, for one call.  Runs the user's functions.
    void query_host_scalars(std::vector<double>& numbers) const;
    device::LaunchArguments arguments(const Block&, std::size_t launch) const;

private:
    struct Launch {
        std::size_t operands = 0, floats = 0, ints = 0; // index of its first one
        shape::Slot groups = 0;
        std::uint32_t fallback = plan::no_launch; // the launch that is the fallback of this one
        bool texels = false, words = false;
        const std::string* label = nullptr;
    };
    struct Use { // use of a plan value as an operand
        std::size_t operand;
        std::uint32_t launch;
        shape::Slot offset; // elements
        std::uint32_t element_bytes;
    };
    struct Float {
        double constant;
        shape::Slot factor;
    };
    struct HostScalarUse {          // a float that is a host scalar
        std::size_t number, source; // indices in floats_ and sources_
    };

    void add_operands(const plan::PlanLaunch&, std::uint32_t launch, shape::DimProgram&,
                      std::vector<std::vector<Use>>& uses);
    void add_floats(const plan::PlanLaunch&, shape::DimProgram&);
    std::span<const std::uint32_t> values_of(std::size_t launch) const;
    bool in_reach(const device::Operand&) const;
    void choose_variant(Block&, std::uint32_t launch) const;
    std::int32_t int_at(std::size_t i, Values) const;

    const device::Capabilities& capabilities_;
    std::vector<Launch> launches_;       // and a sentinel at the end
    std::vector<std::uint32_t> values_;  // by operand: plan value, or `absent`
    std::vector<Use> uses_;              // grouped by plan value
    std::vector<std::size_t> first_use_; // by plan value: index in uses_; and a sentinel at the end
    std::vector<Float> floats_;
    std::vector<HostScalarUse> host_scalar_uses_;
    std::vector<std::shared_ptr<const graph::HostScalar>> sources_;
    std::vector<shape::Slot> ints_;
    std::vector<std::uint32_t> int_launches_; // by int: its launch
    std::vector<std::size_t> counter_ints_;   // ints that depend on counters
};

} // namespace reprise::execution
