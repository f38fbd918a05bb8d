// Chooses kernels for elementwise launches: one launch, or a preferred one and its fallback. A reduction or a product
// that has absorbed a chain gets a kernel generated for it.
#include "plan/pipeline.hpp"

namespace reprise::plan {

namespace {

PlanLaunch launch_of(ops::LaunchSpec spec, const PlanLaunch& from)
{
    PlanLaunch l(std::move(spec));
    l.label = from.label;
    l.chain = from.chain;
    l.condition = from.condition;
    l.groups *= from.condition;
    l.in_place = from.in_place;
    l.recomputation = from.recomputation;
    return l;
}

} // namespace

void choose_kernels(Plan& plan, const device::Capabilities& caps, const detail::Progress& progress)
{
    std::vector<PlanLaunch> chosen;
    std::vector<std::uint32_t> moved(plan.launches.size(), no_launch);
    for (std::size_t i = 0; i < plan.launches.size(); ++i) {
        progress.report(RecordStage::kernels, i, plan.launches.size());
        PlanLaunch& l = plan.launches[i];
        const auto first = static_cast<std::uint32_t>(chosen.size());
        moved[i] = first;
        if (l.is_elementwise()) {
            for (ops::LaunchSpec& spec : kernels::launches_of(*l.chain, l.operands, caps)) {
                chosen.push_back(launch_of(std::move(spec), l));
                if (chosen.size() - 1 > first) chosen.back().fallback_of = first;
            }
            continue;
        }
        if (l.chain && l.reduces) kernels::reduce_chain(*l.chain, l, caps);
        else if (l.chain) kernels::finish_product(*l.chain, l, caps);
        if (l.fallback_of != no_launch) l.fallback_of = moved[l.fallback_of];
        chosen.push_back(std::move(l));
    }
    progress.report(RecordStage::kernels, plan.launches.size(), plan.launches.size());
    plan.launches = std::move(chosen);
}

} // namespace reprise::plan
