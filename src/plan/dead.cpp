// Launches whose results nobody reads.
#include "plan/pipeline.hpp"

namespace reprise::plan {

void remove_dead(Plan& plan)
{
    std::vector<bool> live(plan.values.size());
    for (std::size_t i = 0; i < plan.values.size(); ++i) live[i] = plan.values[i].place != Place::temporary;
    std::vector<bool> needed(plan.launches.size());
    for (std::size_t i = plan.launches.size(); i-- > 0;) {
        const PlanLaunch& l = plan.launches[i];
        for (const PlanOperand& o : l.operands)
            if (!o.absent && o.use != ops::Use::read && live[o.value]) needed[i] = true;
        if (!needed[i]) continue;
        for (const PlanOperand& o : l.operands)
            if (!o.absent) live[o.value] = true;
    }
    std::vector<PlanLaunch> left;
    std::vector<std::uint32_t> moved(plan.launches.size(), no_launch);
    for (std::size_t i = 0; i < plan.launches.size(); ++i) {
        if (!needed[i]) continue;
        moved[i] = static_cast<std::uint32_t>(left.size());
        left.push_back(std::move(plan.launches[i]));
        if (left.back().fallback_of != no_launch) left.back().fallback_of = moved[left.back().fallback_of];
    }
    plan.launches = std::move(left);
}

} // namespace reprise::plan
