// Reuses memory in place: an elementwise launch that is the last to read a value, element for element, overwrites it
// with a result.
#include <algorithm>

#include "plan/pipeline.hpp"

namespace reprise::plan {

namespace {

class InPlace {
public:
    explicit InPlace(Plan& p) : plan_(p), touched_(launches_by_value(p, touches))
    {
        for (std::uint32_t v = 0; v < p.values.size(); ++v) becomes_.push_back(v);
    }

    void run()
    {
        for (std::uint32_t i = 0; i < plan_.launches.size(); ++i) {
            PlanLaunch& l = plan_.launches[i];
            for (PlanOperand& o : l.operands) o.value = becomes_[o.value];
            if (!l.is_elementwise() || !same(l.condition, 1)) continue;
            const std::size_t inputs = l.chain->memory_inputs();
            for (std::size_t r = inputs; r < l.operands.size(); ++r) write_over_input(i, l, r, inputs);
        }
    }

private:
    // Lets result operand `r` share the memory of an input, if one qualifies.
    void write_over_input(std::uint32_t i, PlanLaunch& l, std::size_t r, std::size_t inputs)
    {
        const std::uint32_t result = l.operands[r].value;
        const PlanValue& to = plan_.values[result];
        if (to.place != Place::temporary || to.on_host || !same(l.operands[r].offset, 0) ||
            touched_[result].front() != i)
            return;
        for (std::size_t k = 0; k < inputs; ++k) {
            const PlanOperand& from = l.operands[k];
            const PlanValue& value = plan_.values[from.value];
            if (value.place != Place::temporary || value.on_host || from.value == result ||
                !same(from.offset, 0) || from.dtype != l.operands[r].dtype || value.dtype != to.dtype ||
                !same(value.elements, to.elements) || times_used(l, from.value) != 1 ||
                !kernels::reads_own_elements(*l.chain, k) || !is_last(i, from.value))
                continue;
            becomes_[result] = from.value;
            auto& all = touched_[from.value];
            all.insert(all.end(), touched_[result].begin() + 1, touched_[result].end());
            l.operands[r].value = from.value;
            l.in_place = true;
            return;
        }
    }

    // Returns whether no later launch accesses the value and the previous one that does conflicts with this launch
    // anyway; otherwise sharing memory would force them into different epochs. Values of launches that can be batched
    // are excluded, since batching moves these launches.
    bool is_last(std::uint32_t i, std::uint32_t value) const
    {
        const auto& all = touched_[value];
        if (all.size() < 2 || all.back() != i) return false;
        return conflict(plan_.launches[all[all.size() - 2]], plan_.launches[i]) &&
               std::none_of(all.begin(), all.end(),
                            [&](std::uint32_t k) { return plan_.launches[k].batches; });
    }

    static std::ptrdiff_t times_used(const PlanLaunch& l, std::uint32_t value)
    {
        return std::count_if(l.operands.begin(), l.operands.end(),
                             [&](const PlanOperand& o) { return o.value == value; });
    }
    Plan& plan_;
    LaunchesByValue touched_;            // launches that access the value's memory
    std::vector<std::uint32_t> becomes_; // by value
};

} // namespace

void write_in_place(Plan& plan) { InPlace(plan).run(); }

} // namespace reprise::plan
