// Rematerialization under a memory budget: values are dropped while no launch reads them, and recomputed for later
// readers. Computes the resulting live bytes, the added time and the new launches.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "plan/plan.hpp"

namespace reprise::plan {

// The cost model of the search, at the sizes of one call.
struct Weights {
    std::vector<std::uint64_t> bytes; // by value
    std::vector<double> time;         // by launch, in any unit
};

// Drops `value` after launch `after`. Launches that read it later, up to its next drop, read a clone, which is computed
// right before the first of them, or earlier if its unit is rematerialized for another value. If all readers come after
// the drop, the original launches are removed, so that the value is computed once, later.
struct Drop {
    std::uint32_t value = 0, after = 0;
    friend bool operator==(const Drop&, const Drop&) = default;
};
using DropSet = std::vector<Drop>; // without duplicates

// A unit is the set of launches that write a value together; they are rematerialized together.
class Units {
public:
    explicit Units(const Plan&);

    // Returns whether the value may be dropped: its unit writes temporaries only, and its inputs are not overwritten
    // before the unit's last launch.
    bool may_drop(std::uint32_t value) const { return unit_[value] != no_launch && droppable_[unit_[value]]; }
    std::uint32_t of(std::uint32_t value) const { return unit_[value]; } // no_launch: no launch writes it
    const std::vector<std::uint32_t>& launches(std::uint32_t unit) const { return launches_[unit]; }
    // The first launch that overwrites an input of the unit, as for assigned state; clones must be inserted before it.
    std::uint32_t deadline(std::uint32_t unit) const { return deadline_[unit]; }
    // Returns the launch itself; for a fallback, the launch that it replaces.
    std::uint32_t place(std::uint32_t launch) const { return place_[launch]; }
    std::uint32_t last_place(std::uint32_t unit) const { return place_[launches_[unit].back()]; }

private:
    void join_writers(const Plan&);
    void find_deadlines(const Plan&);

    std::vector<std::uint32_t> unit_; // by value
    std::vector<std::vector<std::uint32_t>> launches_;
    std::vector<bool> droppable_;
    std::vector<std::uint32_t> deadline_, place_;
};

// The launches in their new order, without those whose results are never read.
struct RematerializedOrder {
    struct Step {
        std::uint32_t launch = 0;
        std::uint32_t place = 0; // the launch before which it is rematerialized, or itself
        bool rematerialized = false;
        std::uint32_t first = 0; // index into `values`, which has one entry per operand of the launch
    };
    std::vector<Step> steps;
    std::vector<std::uint32_t> values;   // numbers from plan.values.size() on are clones
    std::vector<std::uint32_t> clone_of; // by clone
    // Whether each dropped value may be dropped and is dropped after its unit, no deadline is missed, and the number of
    // steps is at most `max_steps`.
    bool possible = true;
};
constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
RematerializedOrder rematerialized_order(const Plan&, const Units&, const DropSet&,
                                         std::size_t max_steps = unlimited);

// Computes the live bytes at each step and the time that rematerialization adds.
class Profile {
public:
    Profile(const Plan&, const Weights&, RematerializedOrder);

    std::uint64_t peak =
        0; // maximum over the steps of the live bytes; the largest uint64 if the order is impossible
    std::uint32_t peak_at = 0;
    double time = 0; // added by rematerialization

    double above(std::uint64_t budget) const; // live bytes above the budget, summed over steps
    // The number of values, including the clones, which follow the values of the plan.
    std::uint32_t values() const { return static_cast<std::uint32_t>(first_touch_.size() - 1); }
    std::uint32_t original(std::uint32_t value) const
    {
        return value < plan_->values.size() ? value : order_.clone_of[value - plan_->values.size()];
    }
    // The steps that access the value, ascending.
    std::span<const std::uint32_t> touches(std::uint32_t value) const
    {
        return std::span(touches_).subspan(first_touch_[value],
                                           first_touch_[value + 1] - first_touch_[value]);
    }
    // The last step up to `at` that accesses the value, and the next step that does.
    struct Gap {
        std::uint32_t previous, next;
    };
    std::optional<Gap> gap(std::uint32_t value, std::uint32_t at) const;
    // Returns whether the value or a clone of it exists before step `at` and is accessed at `at` or later.
    bool lives(std::uint32_t value, std::uint32_t at) const;
    const RematerializedOrder::Step& step(std::uint32_t at) const { return order_.steps[at]; }
    bool possible() const { return order_.possible; }

private:
    bool is_temporary(std::uint32_t value) const;
    void find_touches();

    const Plan* plan_;
    RematerializedOrder order_;
    std::vector<std::uint32_t> touches_, first_touch_; // steps, by value and ascending; first index, by value
    std::vector<std::uint64_t> live_;                  // bytes, by step
    std::vector<std::uint32_t> last_clone_, clone_before_; // by plan value; by clone; or no_launch
};

// Searches for drops, including all of `required`, that bring the peak below the budget at the least added time; if no
// set of drops does, returns the set with the lowest peak that was found. Starts greedily: each step takes the drop
// that removes most bytes above the budget, summed over steps, per added time (the measure of Kirisame et al., "Dynamic
// Tensor Rematerialization", 2021, applied to a static plan). If this fails, it tries segments (Chen et al., 2016),
// then dropping values in all gaps between their uses, then tabu search (Glover, 1986). Finally removes drops that the
// peak doesn't need.
DropSet fit(const Plan&, const Weights&, std::uint64_t budget, const DropSet& required = {});

// Rewrites the plan with clones of the launches that compute dropped values. Throws Error(internal) if that is
// impossible.
void rematerialize(Plan&, const DropSet&);

} // namespace reprise::plan
