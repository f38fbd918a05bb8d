// Elementwise launches get their kernels: one launch, or a preferred one and its fallback.
#include "plan/pipeline.hpp"

namespace reprise::plan {

namespace {

PlanLaunch launch_of(const ops::LaunchSpec& spec, const PlanLaunch& from)
{
    PlanLaunch l;
    l.label = from.label;
    l.chain = from.chain;
    l.kernel = {.name = spec.kernel, .constants = spec.constants, .code = spec.code};
    for (const ops::LaunchOperand& o : spec.operands)
        l.operands.push_back({o.view.value, o.view.layout.offset, o.view.dtype, o.use, o.absent});
    l.floats = spec.floats;
    l.ints = spec.ints;
    l.groups = spec.groups;
    l.texels = spec.texels;
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
        if (!l.chain) {
            chosen.push_back(std::move(l));
            if (chosen.back().fallback_of != no_launch)
                chosen.back().fallback_of = moved[chosen.back().fallback_of];
            continue;
        }
        std::vector<ops::View> operands;
        for (const PlanOperand& o : l.operands)
            operands.push_back({.value = o.value, .dtype = o.dtype, .layout = {{}, {}, o.offset}});
        for (const ops::LaunchSpec& spec : kernels::launches_of(*l.chain, operands, caps)) {
            chosen.push_back(launch_of(spec, l));
            if (chosen.size() - 1 > first) chosen.back().fallback_of = first;
        }
    }
    plan.launches = std::move(chosen);
}

} // namespace reprise::plan
