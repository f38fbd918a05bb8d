// A Plan: a flat list of launches over values, made from a graph by the passes of pipeline.cpp.  Sizes,
// addresses and scalars are expressions; nothing in a plan depends on one call's sizes.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/device.hpp"
#include "kernels/chain.hpp"
#include "ops/lowering.hpp"

namespace reprise::plan {

enum class Place : std::uint8_t {
    external,  // bound at the call: inputs, state, values that were computed before
    output,    // memory of its own for each call, survives it
    temporary, // in the arena
};

constexpr std::uint32_t no_segment = 0xFFFFFFFF;

struct PlanValue {
    Place place = Place::temporary;
    DType dtype = DType::f32;
    Dim elements;            // of its contiguous buffer
    std::uint32_t slot = 0;  // of an external or output: which
    std::uint32_t first = 0; // epochs of the first write and the last read
    std::uint32_t last = 0;
    std::uint32_t segment = no_segment; // whose interior it is of
    std::string name;                   // "%12 conv2d"
};

using PlanOperand = ops::LaunchOperand;

constexpr std::uint32_t no_launch = 0xFFFFFFFF;

// What an op launches, and what the passes add.
struct PlanLaunch : ops::LaunchSpec {
    PlanLaunch() = default;
    explicit PlanLaunch(ops::LaunchSpec spec) : LaunchSpec(std::move(spec)) {}

    std::shared_ptr<const device::HostFunction> host{}; // what a host device runs instead of the kernel
    // What an elementwise launch does; until its kernel is chosen its operands are the chain's.  With `reduces`: what
    // makes the elements that it reduces.
    std::shared_ptr<const kernels::Chain> chain{};
    Dim condition = 1; // 1 or 0: whether it runs; a factor of the groups
    std::uint32_t epoch = 0;
    std::uint32_t segment = no_segment; // that it lies in
    std::uint32_t node = 0;             // of those of one node: a number of its own
    // Launches of the same number are recomputed together; 0: as in the graph.
    std::uint32_t recomputation = 0;
    std::uint32_t fallback_of = no_launch; // runs where that one's operands are not in the slab
    std::string label;
};

struct Plan {
    std::vector<PlanValue> values;
    std::vector<std::uint32_t> segments; // which each lies in
    std::vector<PlanLaunch> launches;    // ascending epochs
    std::uint32_t epochs = 0;
};

inline bool reads(const PlanOperand& o) { return !o.absent && o.use != ops::Use::write; }
inline bool writes(const PlanOperand& o) { return !o.absent && o.use != ops::Use::read; }
inline bool touches(const PlanOperand& o) { return !o.absent; }
// Whether one of the launch's operands that are `which` is this value.
template <class Which> bool any_operand(const PlanLaunch& l, std::uint32_t value, const Which& which)
{
    return std::any_of(l.operands.begin(), l.operands.end(),
                       [&](const PlanOperand& o) { return o.value == value && which(o); });
}
// By value: the launches with an operand of it that is `which`, ascending, each once.
using LaunchesByValue = std::vector<std::vector<std::uint32_t>>;
LaunchesByValue launches_by_value(const Plan&, bool (*which)(const PlanOperand&));
// Whether the order of the two shows: one writes what the other touches.
bool conflict(const PlanLaunch&, const PlanLaunch&);
// Removes launches; those that are left keep their order and their fallbacks.
void drop(Plan&, const std::vector<bool>& dropped);

std::string print(const Plan&);
std::string print_dot(const Plan&);

} // namespace reprise::plan
