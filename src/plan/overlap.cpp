// Lets host calls run beside other launches.  A host call, and the copies of what only it reads, move up to where their
// inputs exist; calls keep their order, which is that of all machines that take part.  Launches that depend on a host
// call wait until no others are left, or until what the next call needs is computed but for copies and scalings that
// wait for it: the share of a rank's samples, which the host computes, scales all gradients that are exchanged.  All
// others keep their order.  Plans without host calls do not change.
#include <algorithm>
#include <set>
#include <utility>

#include "plan/pipeline.hpp"

namespace reprise::plan {

namespace {

class Overlap {
public:
    explicit Overlap(Plan& p) : plan_(p), touched_(launches_by_value(p, touches))
    {
        for (std::uint32_t i = 0; i < p.launches.size(); i = groups_.back().end)
            groups_.push_back({i, static_cast<std::uint32_t>(end_of_fallbacks(p, i))});
        find_order();
        find_feeders();
        for (std::uint32_t g = 0; g < groups_.size(); ++g)
            if (is_call(g)) calls_.push_back(g);
        for (std::size_t k = 1; k < calls_.size(); ++k) ++groups_[calls_[k]].missing;
    }

    void run()
    {
        for (std::uint32_t g = 0; g < groups_.size(); ++g)
            if (groups_[g].missing == 0) make_ready(g);
        find_work_before_calls();
        while (order_.size() < plan_.launches.size()) {
            if (ready_.empty() || recomputes_too_early(ready_.begin()->second) || next_call_waits())
                end_first_call();
            else emit(ready_.extract(ready_.begin()).value().second);
        }
        reorder(plan_, order_);
    }

private:
    static constexpr std::size_t no_call = static_cast<std::size_t>(-1), no_work = no_call;
    // Launches from the copy of another call's result to a call: that copy, a division, a cast, the scaling of a bucket
    // and its copy for the host.
    static constexpr std::uint32_t furthest = 5, too_far = furthest + 1;

    // A launch and its fallbacks.
    struct Group {
        std::uint32_t begin, end;
        std::uint32_t missing = 0; // groups that must precede it and have not
        std::vector<std::uint32_t> next{};
        bool is_emitted = false;
        std::size_t needed_by = no_call; // the first call that depends on it
        std::uint32_t distance =
            too_far; // launches from it to the host call that alone reads its results; 0: a call
    };

    // Finds the groups that must come after each one: those that conflict with it.
    void find_order()
    {
        group_of_.resize(plan_.launches.size());
        for (std::uint32_t g = 0; g < groups_.size(); ++g)
            std::fill(group_of_.begin() + groups_[g].begin, group_of_.begin() + groups_[g].end, g);
        std::vector<std::set<std::uint32_t>> next(groups_.size());
        for (const auto& launches : touched_)
            for (std::size_t b = 0; b < launches.size(); ++b)
                for (std::size_t a = 0; a < b; ++a)
                    if (group_of_[launches[a]] != group_of_[launches[b]] &&
                        conflict(plan_.launches[launches[a]], plan_.launches[launches[b]]))
                        next[group_of_[launches[a]]].insert(group_of_[launches[b]]);
        for (std::uint32_t g = 0; g < groups_.size(); ++g) {
            groups_[g].next.assign(next[g].begin(), next[g].end());
            for (const std::uint32_t n : groups_[g].next) ++groups_[n].missing;
        }
    }

    // Finds host calls, and the launches that copy or scale what only they read.
    void find_feeders()
    {
        for (std::size_t g = groups_.size(); g-- > 0;) {
            Group& group = groups_[g];
            const PlanLaunch& l = plan_.launches[group.begin];
            group.distance = l.on_host          ? 0
                             : same(l.flops, 0) ? 1 + distance_of_readers(l, group.end)
                                                : too_far;
        }
    }

    // Returns the largest one.
    std::uint32_t distance_of_readers(const PlanLaunch& l, std::uint32_t end) const
    {
        std::uint32_t largest = 0;
        bool is_read = false;
        for (const PlanOperand& o : l.operands) {
            if (!writes(o)) continue;
            if (plan_.values[o.value].place != Place::temporary) return too_far;
            for (const std::uint32_t i : touched_[o.value])
                if (i >= end && any_operand(plan_.launches[i], o.value, reads)) {
                    is_read = true;
                    largest = std::max(largest, groups_[group_of_[i]].distance);
                }
        }
        return is_read ? std::min(largest, too_far) : too_far;
    }

    // Counts for each call the groups that it depends on and no call before it does, without those near a call.
    void find_work_before_calls()
    {
        std::vector<std::vector<std::uint32_t>> before(groups_.size());
        for (std::uint32_t g = 0; g < groups_.size(); ++g)
            for (const std::uint32_t n : groups_[g].next) before[n].push_back(g);
        work_.assign(calls_.size(), 0);
        std::vector<std::uint32_t> left;
        for (std::size_t call = 0; call < calls_.size(); ++call)
            for (left = {calls_[call]}; !left.empty();) {
                const std::uint32_t g = left.back();
                left.pop_back();
                for (const std::uint32_t b : before[g]) {
                    if (groups_[b].needed_by != no_call || is_call(b)) continue;
                    groups_[b].needed_by = call;
                    if (groups_[b].distance > furthest) ++work_[call];
                    left.push_back(b);
                }
            }
        // A call that has none, as one of another call's result: nothing would be gained by ending that one early.
        std::replace(work_.begin(), work_.end(), std::size_t{0}, no_work);
    }

    // Whether the next call waits only for running calls: all other launches that it needs are emitted, or are near a
    // call and wait for a running one.
    bool next_call_waits() const
    {
        return !running_.empty() && begun_ < calls_.size() && work_[begun_] == 0 &&
               ready_.begin()->first > furthest;
    }

    // Whether an earlier launch waits for a call: recomputed values would live until it has run.
    bool recomputes_too_early(std::uint32_t g)
    {
        if (plan_.launches[groups_[g].begin].recomputation == 0 || running_.empty()) return false;
        while (groups_[first_left_].is_emitted) ++first_left_;
        return first_left_ < g;
    }

    bool is_call(std::uint32_t g) const { return plan_.launches[groups_[g].begin].on_host; }

    void make_ready(std::uint32_t g) { ready_.emplace(std::min(groups_[g].distance, too_far), g); }

    void emit(std::uint32_t g)
    {
        for (std::uint32_t i = groups_[g].begin; i < groups_[g].end; ++i) order_.push_back(i);
        groups_[g].is_emitted = true;
        if (groups_[g].needed_by != no_call && groups_[g].distance > furthest) --work_[groups_[g].needed_by];
        if (!is_call(g)) return end(g);
        running_.push_back(g);
        if (++begun_ < calls_.size()) release(calls_[begun_]);
    }

    void release(std::uint32_t g)
    {
        if (--groups_[g].missing == 0) make_ready(g);
    }

    void end(std::uint32_t g)
    {
        for (const std::uint32_t n : groups_[g].next) release(n);
    }

    void end_first_call()
    {
        const std::uint32_t g = running_.front();
        running_.erase(running_.begin());
        end(g);
    }

    Plan& plan_;
    LaunchesByValue touched_;
    std::vector<Group> groups_;
    std::vector<std::uint32_t> group_of_; // by launch
    // Groups that nothing must precede any more: those near a call first, the rest in the order of the plan.
    std::set<std::pair<std::uint32_t, std::uint32_t>> ready_;
    std::vector<std::uint32_t> calls_;   // groups
    std::vector<std::size_t> work_;      // by call: groups that are left, as find_work_before_calls() counts
    std::uint32_t first_left_ = 0;       // no group before it is left
    std::size_t begun_ = 0;              // number of calls that have begun
    std::vector<std::uint32_t> running_; // host calls that have not ended
    std::vector<std::uint32_t> order_;
};

} // namespace

void overlap_host_calls(Plan& plan)
{
    if (std::any_of(plan.launches.begin(), plan.launches.end(),
                    [](const PlanLaunch& l) { return l.on_host; }))
        Overlap(plan).run();
}

} // namespace reprise::plan
