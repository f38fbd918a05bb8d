// Epochs: launches in their order, a new epoch wherever one conflicts with those of the present one.  The order stays that
// of the program, so lifetimes do; neighbours that are independent share an epoch, unless together they hold more than any
// launch of the plan by itself does.
#include <algorithm>

#include "plan/pipeline.hpp"
#include "plan/place.hpp"

namespace reprise::plan {

namespace {

constexpr std::uint32_t never = no_launch;

// Bytes of temporaries at one size of each symbol, and what of them lives in the epoch under way.
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
        const std::uint64_t most = most_live_at_a_launch(p, bytes);
        limit_ = most + most / 64;
    }
    // Whether launches [from, to) would make the epoch hold more than any launch by itself does, and what ends in it
    // could go.
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

    std::vector<std::uint64_t> begins_, ends_; // by launch: of what it is the first or the last to touch
    std::uint64_t limit_ = 0, live_ = 0, dying_ = 0;
};

} // namespace

void schedule(Plan& plan)
{
    std::vector<Memory> memory;
    const LaunchesByValue touched = launches_by_value(plan, touches);
    for (const auto& bytes : bytes_at_sizes(plan)) memory.emplace_back(plan, touched, bytes);
    std::vector<std::uint32_t> read(plan.values.size(), never), written(plan.values.size(), never);
    std::uint32_t epoch = 0;
    std::size_t i = 0;
    while (i < plan.launches.size()) {
        std::size_t end = i + 1; // a launch and its fallback are one: just one of them runs
        while (end < plan.launches.size() && plan.launches[end].fallback_of == i) ++end;
        bool apart =
            std::any_of(memory.begin(), memory.end(), [&](const Memory& m) { return m.is_full(i, end); });
        for (std::size_t k = i; k < end; ++k)
            for (const PlanOperand& o : plan.launches[k].operands)
                if (!o.absent)
                    apart |= written[o.value] == epoch || (o.use != ops::Use::read && read[o.value] == epoch);
        if (apart) {
            ++epoch;
            for (Memory& m : memory) m.end_epoch();
        }
        for (Memory& m : memory) m.add(i, end);
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
