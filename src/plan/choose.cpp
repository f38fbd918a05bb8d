// Elementwise launches get their kernels: one launch, or a preferred one and its fallback.  Reductions that a chain went
// into get a kernel of their own.
#include "plan/pipeline.hpp"

namespace reprise::plan {

namespace {

std::vector<ops::View> operand_views(const PlanLaunch& l)
{
    std::vector<ops::View> views;
    for (const PlanOperand& o : l.operands)
        views.push_back({.value = o.value, .dtype = o.dtype, .layout = {{}, {}, o.offset}});
    return views;
}

PlanLaunch launch_of(const ops::LaunchSpec& spec, const PlanLaunch& from)
{
    PlanLaunch l;
    l.label = from.label;
    l.chain = from.chain;
    l.kernel = {.name = spec.kernel, .constants = spec.constants, .code = spec.code, .doubles = spec.doubles};
    for (const ops::LaunchOperand& o : spec.operands)
        l.operands.push_back({o.view.value, o.view.layout.offset, o.view.dtype, o.use, o.absent});
    l.floats = spec.floats;
    l.ints = spec.ints;
    l.condition = from.condition;
    l.groups = spec.groups * from.condition;
    l.texels = spec.texels;
    l.words = spec.words;
    l.in_place = from.in_place;
    return l;
}

} // namespace

void choose_kernels(Plan& plan, const device::Capabilities& caps)
{
    std::vector<PlanLaunch> chosen;
    std::vector<std::uint32_t> moved(plan.launches.size(), no_launch);
    for (std::size_t i = 0; i < plan.launches.size(); ++i) {
        PlanLaunch& l = plan.launches[i];
        const auto first = static_cast<std::uint32_t>(chosen.size());
        moved[i] = first;
        if (l.chain && !l.reduces) {
            for (const ops::LaunchSpec& spec : kernels::launches_of(*l.chain, operand_views(l), caps)) {
                chosen.push_back(launch_of(spec, l));
                if (chosen.size() - 1 > first) chosen.back().fallback_of = first;
            }
            continue;
        }
        if (l.chain) l.kernel = kernels::reduction_of(*l.chain, operand_views(l), l.kernel, l.floats, caps);
        if (l.fallback_of != no_launch) l.fallback_of = moved[l.fallback_of];
        chosen.push_back(std::move(l));
    }
    plan.launches = std::move(chosen);
}

} // namespace reprise::plan
