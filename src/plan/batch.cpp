// Merges launches of a kernel that can process several parameters in one launch, such as an optimizer's updates. The
// merged launch is at the position of the last one. A launch is not merged if moving it there would change a result, or
// if the gradients that wait for the merged launch would need much memory.
#include <algorithm>

#include "plan/pipeline.hpp"
#include "plan/place.hpp"

namespace reprise::plan {

namespace {

// The limit on the bytes that wait for a merged launch: this share of the plan's peak, and at least so many bytes.
constexpr std::uint64_t share_of_peak = 64, min_waiting = std::uint64_t{1} << 16;

// A launch and the fallbacks that follow it.
struct Unit {
    std::size_t first, end;
};

bool can_batch(const PlanLaunch& a, const PlanLaunch& b)
{
    return a.kernel == b.kernel && a.constants == b.constants;
}

// Merges launches that can_batch() accepts; `members` are in plan order.
PlanLaunch joined(const std::vector<const PlanLaunch*>& members)
{
    PlanLaunch l = *members.back();
    l.constants[0] = static_cast<std::uint32_t>(members.size());
    l.label = members.front()->label + " and " + std::to_string(members.size() - 1) + " more";
    l.operands.clear();
    l.floats.clear();
    l.ints.clear();
    l.groups = 0;
    for (const PlanLaunch* m : members) {
        l.operands.insert(l.operands.end(), m->operands.begin(), m->operands.end());
        l.floats.insert(l.floats.end(), m->floats.begin(), m->floats.end());
        l.ints.push_back(l.groups);
        l.ints.insert(l.ints.end(), m->ints.begin() + 1, m->ints.end());
        l.groups += m->groups;
    }
    return l;
}

class Batcher {
public:
    explicit Batcher(Plan& p)
        : plan_(p), touched_(launches_by_value(p, touches)), bytes_(typical_bytes(p)),
          max_waiting_(std::max(max_live_at_launch(p, bytes_) / share_of_peak, min_waiting)),
          dropped_(p.launches.size(), false)
    {
        for (std::size_t i = 0, end = 0; i < p.launches.size(); i = end) {
            end = end_of_fallbacks(p, i);
            if (p.launches[i].batches) units_.push_back({i, end});
        }
    }

    void run()
    {
        while (!units_.empty()) {
            const std::vector<Unit> members = take_last();
            if (members.size() > 1) join(members);
        }
        drop(plan_, dropped_);
    }

private:
    // Removes and returns the last unit and all earlier ones that may move to its position, in plan order.
    std::vector<Unit> take_last()
    {
        const Unit last = units_.back();
        units_.pop_back();
        std::vector<Unit> members{last}, left;
        std::uint64_t waiting = 0;
        std::size_t behind =
            last.first; // from here on to the last unit there are only units, so their gradients exist anyway
        for (std::size_t u = units_.size(); u-- > 0;) {
            std::size_t end = units_[u].end;
            while (end < behind && dropped_[end]) ++end;
            const bool waits = end != behind;
            const std::uint64_t more = waits ? bytes_freed(units_[u]) : 0;
            if (can_batch(plan_.launches[units_[u].first], plan_.launches[last.first]) &&
                waiting + more <= max_waiting_ && can_move(units_[u], members)) {
                members.push_back(units_[u]);
                waiting += more;
            } else left.push_back(units_[u]);
            if (!waits) behind = units_[u].first;
        }
        std::reverse(members.begin(), members.end());
        std::reverse(left.begin(), left.end());
        units_ = std::move(left);
        return members;
    }

    // Returns the bytes of the temporaries that the unit is the last to use.
    std::uint64_t bytes_freed(const Unit& u) const
    {
        std::uint64_t bytes = 0;
        for (const PlanOperand& o : plan_.launches[u.first].operands)
            if (!o.absent && plan_.values[o.value].place == Place::temporary &&
                touched_[o.value].back() < u.end)
                bytes += bytes_[o.value];
        return bytes;
    }

    // Returns whether no launch from `u` to the end of the last unit, members.front(), conflicts with `u`.
    bool can_move(const Unit& u, const std::vector<Unit>& members) const
    {
        for (std::size_t k = u.end; k < members.front().end; ++k)
            if (!dropped_[k] && conflict(plan_.launches[k], plan_.launches[u.first])) return false;
        return true;
    }

    void join(const std::vector<Unit>& members)
    {
        const Unit& last = members.back();
        for (std::size_t variant = 0; variant < last.end - last.first; ++variant) {
            std::vector<const PlanLaunch*> launches;
            for (const Unit& u : members) launches.push_back(&plan_.launches[u.first + variant]);
            PlanLaunch all = joined(launches);
            plan_.launches[last.first + variant] = std::move(all);
        }
        for (const Unit& u : members)
            if (u.first != last.first)
                for (std::size_t i = u.first; i < u.end; ++i) dropped_[i] = true;
    }

    Plan& plan_;
    LaunchesByValue touched_;
    std::vector<std::uint64_t> bytes_; // by value
    std::uint64_t max_waiting_;
    std::vector<Unit> units_; // not processed yet
    std::vector<bool> dropped_;
};

} // namespace

void batch(Plan& plan) { Batcher(plan).run(); }

} // namespace reprise::plan
