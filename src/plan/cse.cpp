// Common subexpression elimination: a gradient reuses a value that a clone has just recomputed, such as the attention
// weights, if it would compute the same value by the same launches from the same inputs. The value's lifetime then
// extends from the recomputed forward pass to the gradient. Plans without recomputation get no CSE: it would keep
// values alive across layers.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "plan/pipeline.hpp"

namespace reprise::plan {

namespace {

// Value numbering: values with equal numbers have equal contents.
class ValueNumbers {
public:
    explicit ValueNumbers(const Plan& p) : plan_(p), of_(p.values.size(), unwritten)
    {
        for (std::size_t v = 0; v < of_.size(); ++v)
            if (p.values[v].place != Place::temporary) of_[v] = fresh();
    }

    void run(std::uint32_t launch)
    {
        const PlanLaunch& l = plan_.launches[launch];
        FirstLaunch& first = find(launch);
        for (std::size_t k = 0; k < l.operands.size(); ++k) {
            const PlanOperand& o = l.operands[k];
            if (!writes(o)) continue;
            if (plan_.values[o.value].place == Place::temporary) {
                if (first.results.size() <= k) first.results.resize(k + 1, unwritten);
                if (first.results[k] == unwritten) first.results[k] = fresh();
                of_[o.value] = first.results[k];
            } else of_[o.value] = fresh();
        }
    }
    std::uint32_t of(std::uint32_t value) const { return of_[value]; }

private:
    static constexpr std::uint32_t unwritten = 0; // number of a value that no launch has written yet
    struct FirstLaunch {
        std::uint32_t launch;
        std::vector<std::uint32_t> results{}; // numbers of the written values, by operand
    };

    std::uint32_t fresh() { return ++last_; }

    // Returns the first launch that computes the same from the same inputs; this launch itself if there is none.
    FirstLaunch& find(std::uint32_t launch)
    {
        const PlanLaunch& l = plan_.launches[launch];
        std::vector<std::uint32_t> inputs; // numbers before the launch, by operand
        for (const PlanOperand& o : l.operands) inputs.push_back(o.absent ? unwritten : of_[o.value]);
        std::vector<FirstLaunch>& candidates = first_launches_[{l.kernel, std::move(inputs)}];
        for (FirstLaunch& k : candidates)
            if (same_launch(plan_.launches[k.launch], l)) return k;
        return candidates.emplace_back(FirstLaunch{launch});
    }

    bool same_launch(const PlanLaunch& a, const PlanLaunch& b) const
    {
        return !a.chain && !b.chain && a.constants == b.constants && a.code == b.code && a.host == b.host &&
               a.native == b.native && a.doubles == b.doubles && same(a.ints, b.ints) &&
               same(a.groups, b.groups) && same(a.condition, b.condition) &&
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
    std::vector<std::uint32_t> of_; // number, by value
    std::map<std::pair<std::string, std::vector<std::uint32_t>>, std::vector<FirstLaunch>> first_launches_;
    std::uint32_t last_ = unwritten;
};

class CommonSubexpressions {
public:
    explicit CommonSubexpressions(Compiled& c)
        : c_(c), plan_(c.plan), writers_(launches_by_value(plan_, writes)),
          touched_(launches_by_value(plan_, touches))
    {}

    void run()
    {
        ValueNumbers numbers(plan_);
        for (std::uint32_t i = 0; i < plan_.launches.size(); ++i) numbers.run(i);
        std::map<std::uint32_t, std::uint32_t> clones; // by number: a clone
        for (std::uint32_t v = 0; v < plan_.values.size(); ++v)
            if (is_clone(v)) clones.try_emplace(numbers.of(v), v);

        std::vector<bool> dead(plan_.launches.size(), false);
        std::map<std::uint32_t, std::uint32_t> becomes;
        for (std::uint32_t v = 0; v < plan_.values.size(); ++v) {
            if (!is_replaceable(v)) continue;
            const auto found = clones.find(numbers.of(v));
            if (found == clones.end() || writers_[found->second].back() > touched_[v].front()) continue;
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

    // Returns whether a clone may replace the value: it belongs to no segment and is not a clone, its launches write
    // nothing else, a product is among them, so that reuse is worth the memory, and no launch reads a partial result.
    bool is_replaceable(std::uint32_t value) const
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
        return product && is_written_before_read(value);
    }

    // Returns whether all launches that write the value come before those that only read it.
    bool is_written_before_read(std::uint32_t value) const
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
