#include "plan/plan.hpp"

#include "ops/registry.hpp"

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

bool casts_whole_value(const Plan& plan, const PlanLaunch& l)
{
    static const graph::Op& cast = ops::row_op("cast");
    if (!l.is_elementwise() || l.chain->steps.size() != 1 || l.chain->steps[0].op != &cast ||
        l.operands.size() != 2 || !same(l.condition, 1))
        return false;
    const PlanOperand &from = l.operands[0], &to = l.operands[1];
    const PlanValue &source = plan.values[from.value], &result = plan.values[to.value];
    return is_floating(from.dtype) && is_floating(to.dtype) && from.dtype == source.dtype &&
           to.dtype == result.dtype && same(from.offset, 0) && same(to.offset, 0) &&
           same(source.elements, result.elements) &&
           same(shape::element_count(l.chain->sizes), result.elements) && l.chain->flat(l.chain->inputs[0]);
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

void reorder(Plan& plan, const std::vector<std::uint32_t>& order)
{
    std::vector<PlanLaunch> launches;
    std::vector<std::uint32_t> moved(plan.launches.size(), no_launch);
    for (const std::uint32_t i : order) {
        moved[i] = static_cast<std::uint32_t>(launches.size());
        launches.push_back(std::move(plan.launches[i]));
        std::uint32_t& of = launches.back().fallback_of;
        if (of != no_launch) of = moved[of];
    }
    plan.launches = std::move(launches);
}

void drop(Plan& plan, const std::vector<bool>& dropped)
{
    std::vector<std::uint32_t> left;
    for (std::uint32_t i = 0; i < plan.launches.size(); ++i)
        if (!dropped[i]) left.push_back(i);
    reorder(plan, left);
}

} // namespace reprise::plan
