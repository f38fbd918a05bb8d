// Dead code elimination: removes launches whose results no launch or caller reads.  Host calls stay: other machines may
// wait for them.
#include "plan/pipeline.hpp"

namespace reprise::plan {

void eliminate_dead_code(Plan& plan)
{
    std::vector<bool> live(plan.values.size());
    for (std::size_t i = 0; i < plan.values.size(); ++i) live[i] = plan.values[i].place != Place::temporary;
    std::vector<bool> dead(plan.launches.size(), true);
    for (std::size_t i = plan.launches.size(); i-- > 0;) {
        const PlanLaunch& l = plan.launches[i];
        dead[i] = !l.on_host;
        for (const PlanOperand& o : l.operands)
            if (writes(o) && live[o.value]) dead[i] = false;
        if (dead[i]) continue;
        for (const PlanOperand& o : l.operands)
            if (!o.absent) live[o.value] = true;
    }
    drop(plan, dead);
}

} // namespace reprise::plan
