// Values that are dropped while nobody reads them, and rematerialized for those who read them later: what lives then, what
// that costs, and the launches that come of it.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "plan/plan.hpp"

namespace reprise::plan {

// What a search goes by: one call's sizes.
struct Weights {
    std::vector<std::uint64_t> bytes; // by value
    std::vector<double> time;         // by launch, in any unit
};

// What reads `value` behind launch `after`, up to the value's next drop, reads a clone of it, made right before the first
// that does, or earlier where its unit is rematerialized for another value.  Where nobody else reads the value itself, it is
// made later instead of twice.
struct Drop {
    std::uint32_t value = 0, after = 0;
    friend bool operator==(const Drop&, const Drop&) = default;
};
using DropSet = std::vector<Drop>; // each once

// Launches that write a value together are one unit: they are rematerialized together.
class Units {
public:
    explicit Units(const Plan&);

    // Temporaries whose unit writes nothing else, and reads what is written before it only.
    bool may_drop(std::uint32_t value) const { return unit_[value] != no_launch && fit_[unit_[value]]; }
    std::uint32_t of(std::uint32_t value) const { return unit_[value]; } // no_launch: nobody writes it
    const std::vector<std::uint32_t>& launches(std::uint32_t unit) const { return launches_[unit]; }
    // Rematerialized before this launch it finds what it read; after it, state that was assigned meanwhile.
    std::uint32_t deadline(std::uint32_t unit) const { return deadline_[unit]; }
    // Of a fallback: the launch that it stands for.
    std::uint32_t place(std::uint32_t launch) const { return place_[launch]; }
    std::uint32_t last_place(std::uint32_t unit) const { return place_[launches_[unit].back()]; }

private:
    void join_writers(const Plan&);
    void judge(const Plan&);

    std::vector<std::uint32_t> unit_; // by value
    std::vector<std::vector<std::uint32_t>> launches_;
    std::vector<bool> fit_;
    std::vector<std::uint32_t> deadline_, place_;
};

// The launches in their new order, but for those that nobody reads.
struct RematerializedOrder {
    struct Step {
        std::uint32_t launch = 0;
        std::uint32_t place = 0; // the launch in front of which it is rematerialized, or itself
        bool rematerialized = false;
        std::uint32_t first = 0; // of `values`, one for each of the launch's operands
    };
    std::vector<Step> steps;
    std::vector<std::uint32_t> values;   // clones from the plan's number of values on
    std::vector<std::uint32_t> clone_of; // by clone
    // Every drop is of a value that may be dropped, behind what makes it, and misses no deadline; there are no more
    // than `most_steps` steps.
    bool possible = true;
};
constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();
RematerializedOrder rematerialized_order(const Plan&, const Units&, const DropSet&,
                                         std::size_t most_steps = any_number);

// What lives at each step, and what rematerialization costs.
class Profile {
public:
    Profile(const Plan&, const Weights&, RematerializedOrder);

    std::uint64_t peak =
        0; // bytes of temporaries that live at one step; the largest number where it is impossible
    std::uint32_t peak_at = 0;
    double time = 0; // added

    double above(std::uint64_t budget) const; // bytes, summed over steps
    // Values of the plan, and behind them clones.
    std::uint32_t values() const { return static_cast<std::uint32_t>(first_touch_.size() - 1); }
    std::uint32_t original(std::uint32_t value) const
    {
        return value < plan_->values.size() ? value : order_.clone_of[value - plan_->values.size()];
    }
    // Steps, ascending.
    std::span<const std::uint32_t> touches(std::uint32_t value) const
    {
        return std::span(touches_).subspan(first_touch_[value],
                                           first_touch_[value + 1] - first_touch_[value]);
    }
    // The last step up to `at` that touches this value, and the next one.
    struct Gap {
        std::uint32_t before, behind;
    };
    std::optional<Gap> gap(std::uint32_t value, std::uint32_t at) const;
    // It or a clone of it is there before step `at`, and is touched then or later.
    bool lives(std::uint32_t value, std::uint32_t at) const;
    const RematerializedOrder::Step& step(std::uint32_t at) const { return order_.steps[at]; }
    bool possible() const { return order_.possible; }

private:
    bool is_temporary(std::uint32_t value) const;
    void find_touches();

    const Plan* plan_;
    RematerializedOrder order_;
    std::vector<std::uint32_t> touches_, first_touch_; // steps, ascending; of them by value, and their number
    std::vector<std::uint64_t> live_;                  // bytes, by step
    std::vector<std::uint32_t> last_clone_, clone_before_; // by value of the plan; by clone; no_launch: none
};

// The drops of least added time that were found for this peak, with all of `kept` among them; where none fits, those of
// the least peak.  Greedy: at each turn the drop that takes most of what lies above the budget, summed over steps, for its
// time (the measure of Kirisame et al., "Dynamic Tensor Rematerialization", 2021, on a plan whose order is known); below
// what greed finds segments (Chen et al., 2016), rematerializing everything for each that reads it, and tabu search (Glover, 1986);
// what the peak can do without goes.
DropSet fit(const Plan&, const Weights&, std::uint64_t budget, const DropSet& kept = {});

// The plan with clones of the launches that make dropped values.  Error(internal) where that is not possible.
void rematerialize(Plan&, const DropSet&);

} // namespace reprise::plan
