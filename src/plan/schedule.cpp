// Assigns epochs: launches keep their order, and a new epoch starts at each launch that conflicts with one in the
// current epoch. Program order preserves the lifetimes. Independent neighbours share an epoch, unless together they
// have more live bytes than any single launch of the plan.
#include <algorithm>

#include "plan/pipeline.hpp"
#include "plan/place.hpp"

namespace reprise::plan {

namespace {

constexpr std::uint32_t never = no_launch;

// Tracks the live bytes of temporaries in the current epoch, at one size per symbol.
class Memory {
public:
    Memory(const Plan& p, const LaunchesByValue& touched, const std::vector<std::uint64_t>& bytes)
        : begins_(p.launches.size(), 0), ends_(p.launches.size(), 0)
    {
        for (std::size_t v = 0; v < bytes.size(); ++v) {
            if (touched[v].empty() || p.values[v].place != Place::temporary) continue;
            begins_[touched[v].front()] += aligned(bytes[v]);
            ends_[touched[v].back()] += aligned(bytes[v]);
        }
        const std::uint64_t max_live = max_live_at_launch(p, bytes);
        limit_ = max_live + max_live / 64;
    }
    // Returns whether launches [from, to) would exceed the live bytes of any single launch while values that die in
    // this epoch could be released by ending it.
    bool is_full(std::size_t from, std::size_t to) const
    {
        return live_ + sum(begins_, from, to) > limit_ && dying_ > 0;
    }
    void end_epoch()
    {
        live_ -= dying_;
        dying_ = 0;
    }
    void add(std::size_t from, std::size_t to)
    {
        live_ += sum(begins_, from, to);
        dying_ += sum(ends_, from, to);
    }

private:
    static std::uint64_t sum(const std::vector<std::uint64_t>& v, std::size_t from, std::size_t to)
    {
        std::uint64_t out = 0;
        for (std::size_t i = from; i < to; ++i) out += v[i];
        return out;
    }

    std::vector<std::uint64_t> begins_, ends_; // by launch: bytes of values that it accesses first or last
    std::uint64_t limit_ = 0, live_ = 0, dying_ = 0;
};

} // namespace

void schedule(Plan& plan)
{
    std::vector<Memory> memory;
    const LaunchesByValue touched = launches_by_value(plan, touches);
    for (const auto& bytes : bytes_at_sizes(plan)) memory.emplace_back(plan, touched, bytes);
    // By value: the last epochs that read and write it, and the last launch that writes it.
    std::vector<std::uint32_t> read(plan.values.size(), never), written(plan.values.size(), never);
    std::vector<std::size_t> writer(plan.values.size(), 0);
    std::uint32_t epoch = 0;
    std::size_t i = 0;
    while (i < plan.launches.size()) {
        std::size_t end = i + 1; // a launch and its fallbacks: only one of them runs
        while (end < plan.launches.size() && plan.launches[end].fallback_of == i) ++end;
        bool new_epoch =
            std::any_of(memory.begin(), memory.end(), [&](const Memory& m) { return m.is_full(i, end); });
        for (std::size_t k = i; k < end; ++k)
            for (const PlanOperand& o : plan.launches[k].operands)
                if (!o.absent) {
                    const bool is_disjoint = o.use == ops::Use::write &&
                                             write_disjoint(plan.launches[writer[o.value]], plan.launches[k]);
                    new_epoch |= (written[o.value] == epoch && !is_disjoint) ||
                                 (o.use != ops::Use::read && read[o.value] == epoch);
                }
        if (new_epoch) {
            ++epoch;
            for (Memory& m : memory) m.end_epoch();
        }
        for (Memory& m : memory) m.add(i, end);
        for (std::size_t k = i; k < end; ++k) {
            plan.launches[k].epoch = epoch;
            for (const PlanOperand& o : plan.launches[k].operands) {
                if (o.absent) continue;
                (o.use == ops::Use::read ? read : written)[o.value] = epoch;
                if (o.use != ops::Use::read) writer[o.value] = k;
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
