#include "plan/plan.hpp"

namespace reprise::plan {

bool conflict(const PlanLaunch& a, const PlanLaunch& b)
{
    for (const PlanOperand& x : a.operands)
        for (const PlanOperand& y : b.operands)
            if (x.value == y.value && !x.absent && !y.absent && (writes(x) || writes(y)) &&
                !(x.use == ops::Use::write && y.use == ops::Use::write && write_disjoint(a, b)))
                return true;
    return false;
}

std::size_t end_of_fallbacks(const Plan& plan, std::size_t launch)
{
    std::size_t end = launch + 1;
    while (end < plan.launches.size() && plan.launches[end].fallback_of == launch) ++end;
    return end;
}

LaunchesByValue launches_by_value(const Plan& plan, bool (*which)(const PlanOperand&))
{
    LaunchesByValue all(plan.values.size());
    for (std::uint32_t i = 0; i < plan.launches.size(); ++i)
        for (const PlanOperand& o : plan.launches[i].operands)
            if (which(o) && (all[o.value].empty() || all[o.value].back() != i)) all[o.value].push_back(i);
    return all;
}

void drop(Plan& plan, const std::vector<bool>& dropped)
{
    std::vector<PlanLaunch> left;
    std::vector<std::uint32_t> moved(plan.launches.size(), no_launch);
    for (std::size_t i = 0; i < plan.launches.size(); ++i) {
        if (dropped[i]) continue;
        moved[i] = static_cast<std::uint32_t>(left.size());
        left.push_back(std::move(plan.launches[i]));
        if (left.back().fallback_of != no_launch) left.back().fallback_of = moved[left.back().fallback_of];
    }
    plan.launches = std::move(left);
}

} // namespace reprise::plan
