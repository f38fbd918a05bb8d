#include "plan/drop.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include <reprise/error.hpp>

namespace reprise::plan {

Units::Units(const Plan& p) : unit_(p.values.size(), no_launch)
{
    for (std::uint32_t i = 0; i < p.launches.size(); ++i)
        place_.push_back(p.launches[i].fallback_of == no_launch ? i : p.launches[i].fallback_of);
    join_writers(p);
    judge(p);
}

void Units::join_writers(const Plan& p)
{
    std::vector<std::uint32_t> root(p.launches.size()), writer(p.values.size(), no_launch);
    std::iota(root.begin(), root.end(), 0);
    const auto find = [&](std::uint32_t i) {
        while (root[i] != i) i = root[i] = root[root[i]];
        return i;
    };
    for (std::uint32_t i = 0; i < p.launches.size(); ++i) {
        const auto join = [&](std::uint32_t with) { root[find(i)] = find(with); };
        if (place_[i] != i) join(place_[i]);
        for (const PlanOperand& o : p.launches[i].operands) {
            if (!writes(o)) continue;
            // State is written by whoever comes last: that makes no unit of all who write it.
            if (writer[o.value] != no_launch && p.values[o.value].place == Place::temporary)
                join(writer[o.value]);
            writer[o.value] = i;
        }
    }
    std::vector<std::uint32_t> number(p.launches.size(), no_launch);
    for (std::uint32_t i = 0; i < p.launches.size(); ++i) {
        std::uint32_t& n = number[find(i)];
        if (n == no_launch) {
            n = static_cast<std::uint32_t>(launches_.size());
            launches_.emplace_back();
        }
        launches_[n].push_back(i);
        for (const PlanOperand& o : p.launches[i].operands)
            if (writes(o) && p.values[o.value].place == Place::temporary) unit_[o.value] = n;
    }
}

void Units::judge(const Plan& p)
{
    std::vector<std::vector<std::uint32_t>> writers(p.values.size()); // launches, ascending
    for (std::uint32_t i = 0; i < p.launches.size(); ++i)
        for (const PlanOperand& o : p.launches[i].operands)
            if (writes(o)) writers[o.value].push_back(i);
    for (std::uint32_t u = 0; u < launches_.size(); ++u) {
        bool fit = true;
        std::uint32_t deadline = no_launch;
        for (const std::uint32_t i : launches_[u])
            for (const PlanOperand& o : p.launches[i].operands) {
                if (o.absent) continue;
                const bool temporary = p.values[o.value].place == Place::temporary;
                fit &= !writes(o) || temporary;
                if (temporary && unit_[o.value] == u) continue;
                const auto& all = writers[o.value];
                const auto later = std::upper_bound(all.begin(), all.end(), i);
                if (later != all.end()) deadline = std::min(deadline, place_[*later]);
            }
        // What one of its own launches comes too late for is not made of what it was.
        fit_.push_back(fit && deadline > place_[launches_[u].back()]);
        deadline_.push_back(deadline);
    }
}

namespace {

class Remake {
public:
    Remake(const Plan& p, const Units& units, const DropSet& drops)
        : plan_(p), units_(units), after_(p.values.size(), no_launch), clone_(p.values.size(), no_launch)
    {
        for (const Drop& d : drops) {
            after_[d.value] = units.place(d.after);
            out_.possible &=
                units.may_drop(d.value) && after_[d.value] >= units.last_place(units.of(d.value));
        }
    }

    Remade run()
    {
        if (!out_.possible) return std::move(out_);
        for (std::uint32_t i = 0; i < plan_.launches.size(); ++i) {
            const std::uint32_t place = units_.place(i);
            if (i == place) // for its fallbacks as well: nothing comes between the two
                for (std::uint32_t k = i; k < plan_.launches.size() && units_.place(k) == place; ++k)
                    for (const PlanOperand& o : plan_.launches[k].operands)
                        if (reads(o) && is_late(o.value, place)) provide(o.value, place);
            Remade::Step s{i, place, false, {}};
            for (const PlanOperand& o : plan_.launches[i].operands)
                s.values.push_back(reads(o) && is_late(o.value, place) ? clone_[o.value] : o.value);
            out_.steps.push_back(std::move(s));
        }
        remove_unread();
        return std::move(out_);
    }

private:
    // What only clones are read of runs later, and not here.
    void remove_unread()
    {
        const std::size_t values = plan_.values.size();
        std::vector<bool> read(values + out_.clone_of.size(), false);
        for (std::size_t v = 0; v < values; ++v) read[v] = plan_.values[v].place != Place::temporary;
        std::vector<bool> dead(out_.steps.size(), false);
        for (std::size_t at = out_.steps.size(); at-- > 0;) {
            const Remade::Step& s = out_.steps[at];
            const auto& operands = plan_.launches[s.launch].operands;
            bool any = false;
            for (std::size_t k = 0; k < operands.size(); ++k) any |= writes(operands[k]) && read[s.values[k]];
            dead[at] = !any;
            for (std::size_t k = 0; any && k < operands.size(); ++k)
                if (!operands[k].absent) read[s.values[k]] = true;
        }
        std::size_t at = 0;
        std::erase_if(out_.steps, [&](const Remade::Step&) { return dead[at++]; });
    }

    bool is_late(std::uint32_t v, std::uint32_t place) const
    {
        return after_[v] != no_launch && place > after_[v];
    }

    // Clones of the value's unit and of all that it reads and is dropped by then, in their old order.
    void provide(std::uint32_t value, std::uint32_t place)
    {
        std::vector<std::uint32_t> stack, order; // units; launches
        const auto visit = [&](std::uint32_t v) {
            if (clone_[v] != no_launch) return;
            const std::uint32_t unit = units_.of(v);
            out_.possible &= place <= units_.deadline(unit);
            for (const std::uint32_t i : units_.launches(unit)) {
                order.push_back(i);
                for (const PlanOperand& o : plan_.launches[i].operands)
                    if (writes(o) && clone_[o.value] == no_launch) {
                        clone_[o.value] =
                            static_cast<std::uint32_t>(plan_.values.size() + out_.clone_of.size());
                        out_.clone_of.push_back(o.value);
                    }
            }
            stack.push_back(unit);
        };
        visit(value);
        while (!stack.empty()) {
            const std::uint32_t unit = stack.back();
            stack.pop_back();
            for (const std::uint32_t i : units_.launches(unit))
                for (const PlanOperand& o : plan_.launches[i].operands)
                    if (reads(o) && units_.of(o.value) != unit && is_late(o.value, place)) visit(o.value);
        }
        std::sort(order.begin(), order.end());
        for (const std::uint32_t i : order) {
            const auto& operands = plan_.launches[i].operands;
            const auto written = std::find_if(operands.begin(), operands.end(),
                                              [](const PlanOperand& o) { return writes(o); });
            const std::uint32_t unit = units_.of(written->value);
            Remade::Step s{i, place, true, {}};
            for (const PlanOperand& o : operands) {
                const bool own = !o.absent && units_.of(o.value) == unit;
                s.values.push_back(own || (reads(o) && is_late(o.value, place)) ? clone_[o.value] : o.value);
            }
            out_.steps.push_back(std::move(s));
        }
    }

    const Plan& plan_;
    const Units& units_;
    std::vector<std::uint32_t> after_, clone_; // by value
    Remade out_;
};

} // namespace

Remade remake(const Plan& plan, const Units& units, const DropSet& drops)
{
    return Remake(plan, units, drops).run();
}

bool Profile::is_temporary(std::uint32_t v) const
{
    return v >= plan_.values.size() || plan_.values[v].place == Place::temporary;
}

Profile::Profile(const Plan& plan, const Weights& weights, Remade order)
    : plan_(plan), order_(std::move(order)), touches_(plan.values.size() + order_.clone_of.size())
{
    for (std::uint32_t at = 0; at < order_.steps.size(); ++at) {
        const Remade::Step& s = order_.steps[at];
        time += weights.time[s.launch];
        const auto& operands = plan.launches[s.launch].operands;
        for (std::size_t k = 0; k < operands.size(); ++k)
            if (!operands[k].absent && is_temporary(s.values[k])) {
                auto& list = touches_[s.values[k]];
                if (list.empty() || list.back() != at) list.push_back(at);
            }
    }
    for (const double t : weights.time) time -= t;
    std::vector<std::uint64_t> change(order_.steps.size() + 1, 0); // from step to step; wraps
    for (std::uint32_t v = 0; v < touches_.size(); ++v) {
        if (touches_[v].empty()) continue;
        const std::uint64_t bytes =
            weights.bytes[v < plan.values.size() ? v : order_.clone_of[v - plan.values.size()]];
        change[touches_[v].front()] += bytes;
        change[touches_[v].back() + 1] -= bytes;
    }
    std::uint64_t now = 0;
    for (std::uint32_t at = 0; at < order_.steps.size(); ++at) {
        live_.push_back(now += change[at]);
        if (now <= peak) continue;
        peak = now;
        peak_at = at;
    }
    if (!order_.possible) peak = std::numeric_limits<std::uint64_t>::max();
}

double Profile::above(std::uint64_t budget) const
{
    if (!order_.possible) return std::numeric_limits<double>::infinity();
    double sum = 0;
    for (const std::uint64_t l : live_)
        if (l > budget) sum += static_cast<double>(l - budget);
    return sum;
}

std::optional<Profile::Gap> Profile::gap(std::uint32_t value, std::uint32_t at) const
{
    const auto& list = touches_[value];
    const auto next = std::upper_bound(list.begin(), list.end(), at);
    if (next == list.begin() || next == list.end()) return std::nullopt;
    return Gap{*(next - 1), *next};
}

bool Profile::lives(std::uint32_t value, std::uint32_t at) const
{
    return !is_temporary(value) || (!touches_[value].empty() && touches_[value].back() >= at);
}

void make_again(Plan& plan, const DropSet& drops)
{
    const Remade order = remake(plan, Units(plan), drops);
    if (!order.possible)
        detail::fail(ErrorKind::internal, "plan", "A value that is dropped can't be made again.");
    for (const std::uint32_t v : order.clone_of) plan.values.push_back(plan.values[v]);
    std::vector<PlanLaunch> launches;
    std::map<std::pair<bool, std::uint32_t>, std::uint32_t> moved;
    std::set<std::uint32_t> run;
    for (const Remade::Step& s : order.steps) {
        PlanLaunch l = plan.launches[s.launch];
        for (std::size_t k = 0; k < l.operands.size(); ++k) l.operands[k].value = s.values[k];
        if (l.fallback_of != no_launch) l.fallback_of = moved.at({s.again, l.fallback_of});
        if (s.again && run.count(s.launch)) {
            l.label += ", again";
            for (const PlanOperand& o : l.operands)
                if (writes(o) && !plan.values[o.value].name.ends_with(" again"))
                    plan.values[o.value].name += " again";
        }
        run.insert(s.launch);
        moved[{s.again, s.launch}] = static_cast<std::uint32_t>(launches.size());
        launches.push_back(std::move(l));
    }
    plan.launches = std::move(launches);
}

} // namespace reprise::plan
