// A Plan is a flat list of launches over values, compiled from a graph by the passes of pipeline.cpp. Sizes, addresses
// and scalars are expressions; nothing in a plan depends on the sizes of one call.
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
    external,  // bound at the call: inputs, state, values computed earlier
    output,    // newly allocated by each call, outlives it
    temporary, // in the arena
};

constexpr std::uint32_t no_segment = 0xFFFFFFFF;

struct PlanValue {
    Place place = Place::temporary;
    DType dtype = DType::f32;
    Dim elements;            // number of elements in its contiguous buffer
    std::uint32_t slot = 0;  // index of an external or an output
    std::uint32_t first = 0; // epochs of the first and the last access
    std::uint32_t last = 0;
    std::uint32_t segment = no_segment; // the segment to whose interior it belongs
    bool on_host = false;               // a temporary in memory that the host accesses, too
    std::string name;                   // for example "%12 conv2d"
};

using PlanOperand = ops::LaunchOperand;

constexpr std::uint32_t no_launch = 0xFFFFFFFF;

// A launch as an op's lowering specifies it, with the fields that the passes add.
struct PlanLaunch : ops::LaunchSpec {
    PlanLaunch() = default;
    explicit PlanLaunch(ops::LaunchSpec spec) : LaunchSpec(std::move(spec)) {}

    std::shared_ptr<const device::HostFunction>
        host{}; // function that a host device runs instead of the kernel
    std::shared_ptr<const device::StreamCall> on_stream{}; // what CUDA runs instead of `host`, with `on_host`
    // The computation of an elementwise launch; until its kernel is chosen, the operands are those of the chain. With
    // `reduces`: the chain that computes the elements to be reduced. With `result_columns`: the chain of the result of
    // a product or a convolution (kernels::finish_product).
    std::shared_ptr<const kernels::Chain> chain{};
    bool is_elementwise() const { return chain && !reduces && same(result_columns, 0); }
    Dim condition = 1; // 1 or 0: whether the launch runs; multiplies the number of groups
    std::uint32_t epoch = 0;
    std::uint32_t segment = no_segment; // the segment that it belongs to
    std::uint32_t node = 0;             // the number of its node: equal for all launches of one node
    // Launches with the same number are recomputed together; 0: not a recomputation; those that a memory budget has
    // added have the number `of_budget`.
    static constexpr std::uint32_t of_budget = ~std::uint32_t{0};
    std::uint32_t recomputation = 0;
    std::uint32_t fallback_of = no_launch; // the launch that it replaces if operands are not in the slab
    // The host runs the function `host` on every device, while launches of epochs before `joins` run; its operands are
    // temporaries with PlanValue::on_host.  With `on_stream` they are any values.
    bool on_host = false;
    std::uint32_t joins = 0;
    std::string label;
};

struct Plan {
    std::vector<PlanValue> values;
    std::vector<std::uint32_t> segments; // by segment: its outer segment, or no_segment
    std::vector<PlanLaunch> launches;    // ordered by epoch
    std::uint32_t epochs = 0;
};

inline bool reads(const PlanOperand& o) { return !o.absent && o.use != ops::Use::write; }
inline bool writes(const PlanOperand& o) { return !o.absent && o.use != ops::Use::read; }
inline bool touches(const PlanOperand& o) { return !o.absent; }
// Returns whether the launch does nothing but cast a whole floating-point value to another.
bool casts_whole_value(const Plan&, const PlanLaunch&);
// Returns the end of the launch and the fallbacks that follow it.
std::size_t end_of_fallbacks(const Plan&, std::size_t launch);
// Returns whether some operand of the launch refers to this value and satisfies `which`.
template <class Which> bool any_operand(const PlanLaunch& l, std::uint32_t value, const Which& which)
{
    return std::any_of(l.operands.begin(), l.operands.end(),
                       [&](const PlanOperand& o) { return o.value == value && which(o); });
}
// By value: the launches that have an operand of this value that satisfies `which`, ascending, each once.
using LaunchesByValue = std::vector<std::vector<std::uint32_t>>;
LaunchesByValue launches_by_value(const Plan&, bool (*which)(const PlanOperand&));
// Returns whether the launches write different elements of a value that both write.
inline bool write_disjoint(const PlanLaunch& a, const PlanLaunch& b)
{
    return a.disjoint && b.disjoint && a.node == b.node;
}
// Returns the last epoch in which the launch may run.
inline std::uint32_t last_epoch(const PlanLaunch& l) { return l.on_host ? l.joins - 1 : l.epoch; }
// Returns whether the two launches depend on their order: one writes a value that the other accesses.
bool conflict(const PlanLaunch&, const PlanLaunch&);
// Puts launches in this order, in which fallbacks come after what they replace, and renumbers `fallback_of`.
void reorder(Plan&, const std::vector<std::uint32_t>& order);
// Removes launches. The remaining ones keep their order, and `fallback_of` is renumbered.
void drop(Plan&, const std::vector<bool>& dropped);

std::string print(const Plan&);
std::string print_dot(const Plan&);

} // namespace reprise::plan
