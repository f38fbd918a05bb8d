// Common subexpressions: a gradient reuses what a clone has just recomputed, where it would compute the same of the same
// values by the same launches once more, such as attention's weights.  The value then lives a little longer, from the
// recomputed forward pass to the gradient.  Where nothing is recomputed there is no CSE: it would hold values over all layers.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "plan/pipeline.hpp"

namespace reprise::plan {

namespace {

// Numbers what values hold: equal numbers, equal contents.
class Contents {
public:
    explicit Contents(const Plan& p) : plan_(p), of_(p.values.size(), nothing)
    {
        for (std::size_t v = 0; v < of_.size(); ++v)
            if (p.values[v].place != Place::temporary) of_[v] = fresh();
    }

    void run(std::uint32_t launch)
    {
        const PlanLaunch& l = plan_.launches[launch];
        Known& known = find(launch);
        for (std::size_t k = 0; k < l.operands.size(); ++k) {
            const PlanOperand& o = l.operands[k];
            if (!writes(o)) continue;
            if (plan_.values[o.value].place == Place::temporary) {
                if (known.made.size() <= k) known.made.resize(k + 1, nothing);
                if (known.made[k] == nothing) known.made[k] = fresh();
                of_[o.value] = known.made[k];
            } else of_[o.value] = fresh();
        }
    }
    std::uint32_t of(std::uint32_t value) const { return of_[value]; }

private:
    static constexpr std::uint32_t nothing = 0; // never written
    struct Known {
        std::uint32_t launch;
        std::vector<std::uint32_t> made{}; // by operand
    };

    std::uint32_t fresh() { return ++last_; }

    // The first launch that does the same to the same.
    Known& find(std::uint32_t launch)
    {
        const PlanLaunch& l = plan_.launches[launch];
        std::vector<std::uint32_t> holds; // before it, by operand
        for (const PlanOperand& o : l.operands) holds.push_back(o.absent ? nothing : of_[o.value]);
        std::vector<Known>& alike = known_[{l.kernel, std::move(holds)}];
        for (Known& k : alike)
            if (same_launch(plan_.launches[k.launch], l)) return k;
        return alike.emplace_back(Known{launch});
    }

    bool same_launch(const PlanLaunch& a, const PlanLaunch& b) const
    {
        return !a.chain && !b.chain && a.constants == b.constants && a.code == b.code && a.host == b.host &&
               a.doubles == b.doubles && same(a.ints, b.ints) && same(a.groups, b.groups) &&
               same(a.condition, b.condition) &&
               (a.fallback_of == no_launch) == (b.fallback_of == no_launch) &&
               std::equal(a.floats.begin(), a.floats.end(), b.floats.begin(), b.floats.end(),
                          [](const ops::Scalar& x, const ops::Scalar& y) {
                              return x.constant == y.constant && same(x.factor, y.factor) &&
                                     x.source == y.source;
                          }) &&
               std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end(),
                          [&](const PlanOperand& x, const PlanOperand& y) { return same_operand(x, y); });
    }
    bool same_operand(const PlanOperand& x, const PlanOperand& y) const
    {
        return x.absent == y.absent &&
               (x.absent || (same(x.offset, y.offset) && x.dtype == y.dtype && x.use == y.use &&
                             same(plan_.values[x.value].elements, plan_.values[y.value].elements)));
    }

    const Plan& plan_;
    std::vector<std::uint32_t> of_; // by value
    std::map<std::pair<std::string, std::vector<std::uint32_t>>, std::vector<Known>> known_;
    std::uint32_t last_ = nothing;
};

class CommonSubexpressions {
public:
    explicit CommonSubexpressions(Compiled& c)
        : c_(c), plan_(c.plan), writers_(launches_by_value(plan_, writes)),
          touched_(launches_by_value(plan_, touches))
    {}

    void run()
    {
        Contents contents(plan_);
        for (std::uint32_t i = 0; i < plan_.launches.size(); ++i) contents.run(i);
        std::map<std::uint32_t, std::uint32_t> made; // by contents: a clone
        for (std::uint32_t v = 0; v < plan_.values.size(); ++v)
            if (is_clone(v)) made.try_emplace(contents.of(v), v);

        std::vector<bool> dead(plan_.launches.size(), false);
        std::map<std::uint32_t, std::uint32_t> becomes;
        for (std::uint32_t v = 0; v < plan_.values.size(); ++v) {
            if (!is_computed_again(v)) continue;
            const auto found = made.find(contents.of(v));
            if (found == made.end() || writers_[found->second].back() > touched_[v].front()) continue;
            becomes.emplace(v, found->second);
            for (const std::uint32_t i : writers_[v]) dead[i] = true;
        }
        if (becomes.empty()) return;
        for (PlanLaunch& l : plan_.launches)
            for (PlanOperand& o : l.operands)
                if (const auto found = becomes.find(o.value); found != becomes.end()) o.value = found->second;
        for (std::uint32_t& i : c_.state_copies)
            i -= static_cast<std::uint32_t>(std::count(dead.begin(), dead.begin() + i, true));
        drop(plan_, dead);
    }

private:
    bool is_clone(std::uint32_t value) const
    {
        return plan_.values[value].place == Place::temporary && !writers_[value].empty() &&
               std::all_of(writers_[value].begin(), writers_[value].end(),
                           [&](std::uint32_t i) { return plan_.launches[i].recomputation != 0; });
    }

    // By a gradient, for itself; worth its memory, as a product went into it; and read when it is ready.
    bool is_computed_again(std::uint32_t value) const
    {
        if (plan_.values[value].place != Place::temporary || plan_.values[value].segment != no_segment ||
            writers_[value].empty())
            return false;
        bool product = false;
        for (const std::uint32_t i : writers_[value]) {
            const PlanLaunch& l = plan_.launches[i];
            product |= !same(l.flops, 0);
            if (l.recomputation != 0) return false;
            for (const PlanOperand& o : l.operands)
                if (writes(o) && o.value != value) return false;
        }
        return product && is_ready(value);
    }

    // Nobody reads it between the launches that write it.
    bool is_ready(std::uint32_t value) const
    {
        return std::equal(writers_[value].begin(), writers_[value].end(), touched_[value].begin());
    }

    Compiled& c_;
    Plan& plan_;
    LaunchesByValue writers_, touched_;
};

} // namespace

void eliminate_common_subexpressions(Compiled& c)
{
    if (std::any_of(c.plan.launches.begin(), c.plan.launches.end(),
                    [](const PlanLaunch& l) { return l.recomputation != 0; }))
        CommonSubexpressions(c).run();
}

} // namespace reprise::plan
