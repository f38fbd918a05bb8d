// Epochs: launches in their order, a new epoch wherever one conflicts with those of the present one.  The
// order stays that of the program, so lifetimes do; neighbours that are independent share an epoch.
#include <algorithm>

#include "plan/pipeline.hpp"

namespace reprise::plan {

void schedule(Plan& plan)
{
    constexpr std::uint32_t never = no_launch;
    std::vector<std::uint32_t> read(plan.values.size(), never), written(plan.values.size(), never);
    std::uint32_t epoch = 0;
    std::size_t i = 0;
    while (i < plan.launches.size()) {
        std::size_t end = i + 1; // a launch and its fallback are one: just one of them runs
        while (end < plan.launches.size() && plan.launches[end].fallback_of == i) ++end;
        bool conflict = false;
        for (std::size_t k = i; k < end; ++k)
            for (const PlanOperand& o : plan.launches[k].operands)
                if (!o.absent)
                    conflict |=
                        written[o.value] == epoch || (o.use != ops::Use::read && read[o.value] == epoch);
        if (conflict) ++epoch;
        for (std::size_t k = i; k < end; ++k) {
            plan.launches[k].epoch = epoch;
            for (const PlanOperand& o : plan.launches[k].operands) {
                if (o.absent) continue;
                (o.use == ops::Use::read ? read : written)[o.value] = epoch;
                if (o.use == ops::Use::update) read[o.value] = epoch;
            }
        }
        i = end;
    }
    plan.epochs = plan.launches.empty() ? 0 : epoch + 1;
}

void find_lifetimes(Plan& plan)
{
    for (PlanValue& v : plan.values) {
        v.first = plan.epochs;
        v.last = 0;
    }
    for (const PlanLaunch& l : plan.launches)
        for (const PlanOperand& o : l.operands) {
            if (o.absent) continue;
            PlanValue& v = plan.values[o.value];
            v.first = std::min(v.first, l.epoch);
            v.last = std::max(v.last, l.epoch);
        }
}

} // namespace reprise::plan
