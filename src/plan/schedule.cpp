// Epochs: launches in their order, a new epoch wherever one conflicts with those of the present one.  The order stays that
// of the program, so lifetimes do; neighbours that are independent share an epoch, unless together they hold more than any
// launch of the plan by itself does.
#include <algorithm>

#include "plan/pipeline.hpp"
#include "plan/place.hpp"

namespace reprise::plan {

namespace {

constexpr std::uint32_t never = no_launch;

// Bytes of temporaries, at typical sizes.
struct Memory {
    std::vector<std::uint64_t> begins, ends; // by launch: of what it is the first or the last to touch
    std::uint64_t most = 0;                  // that live at one launch

    explicit Memory(const Plan& p) : begins(p.launches.size(), 0), ends(p.launches.size(), 0)
    {
        const std::vector<std::uint64_t> bytes = typical_bytes(p);
        std::vector<std::uint32_t> first(p.values.size(), never), last(p.values.size(), never);
        for (std::uint32_t i = 0; i < p.launches.size(); ++i)
            for (const PlanOperand& o : p.launches[i].operands) {
                if (o.absent || p.values[o.value].place != Place::temporary) continue;
                first[o.value] = std::min(first[o.value], i);
                last[o.value] = i;
            }
        for (std::size_t v = 0; v < bytes.size(); ++v)
            if (first[v] != never) {
                begins[first[v]] += aligned(bytes[v]);
                ends[last[v]] += aligned(bytes[v]);
            }
        most = most_live_at_a_launch(p, bytes);
    }
};

} // namespace

void schedule(Plan& plan)
{
    const Memory memory(plan);
    const std::uint64_t limit = memory.most + memory.most / 64;
    std::vector<std::uint32_t> read(plan.values.size(), never), written(plan.values.size(), never);
    std::uint32_t epoch = 0;
    std::uint64_t live = 0, dying = 0; // in this epoch; of that, what the next one is without
    std::size_t i = 0;
    while (i < plan.launches.size()) {
        std::size_t end = i + 1; // a launch and its fallback are one: just one of them runs
        while (end < plan.launches.size() && plan.launches[end].fallback_of == i) ++end;
        std::uint64_t more = 0;
        for (std::size_t k = i; k < end; ++k) more += memory.begins[k];
        bool apart = live + more > limit && dying > 0;
        for (std::size_t k = i; k < end; ++k)
            for (const PlanOperand& o : plan.launches[k].operands)
                if (!o.absent)
                    apart |= written[o.value] == epoch || (o.use != ops::Use::read && read[o.value] == epoch);
        if (apart) {
            ++epoch;
            live -= dying;
            dying = 0;
        }
        live += more;
        for (std::size_t k = i; k < end; ++k) {
            dying += memory.ends[k];
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
