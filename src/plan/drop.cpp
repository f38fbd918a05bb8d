#include "plan/drop.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include <reprise/error.hpp>

namespace reprise::plan {

Units::Units(const Plan& p) : unit_(p.values.size(), no_launch)
{
    for (std::uint32_t i = 0; i < p.launches.size(); ++i)
        place_.push_back(p.launches[i].fallback_of == no_launch ? i : p.launches[i].fallback_of);
    join_writers(p);
    find_deadlines(p);
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
            // Launches that assign the same state don't form a unit.
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

void Units::find_deadlines(const Plan& p)
{
    const LaunchesByValue writers = launches_by_value(p, writes);
    for (std::uint32_t u = 0; u < launches_.size(); ++u) {
        bool fit = true;
        std::uint32_t deadline = no_launch;
        for (const std::uint32_t i : launches_[u]) {
            fit &= !p.launches[i].on_host; // other machines take part in it
            for (const PlanOperand& o : p.launches[i].operands) {
                if (o.absent) continue;
                const bool temporary = p.values[o.value].place == Place::temporary;
                fit &= !writes(o) || temporary;
                if (temporary && unit_[o.value] == u) continue;
                const auto& all = writers[o.value];
                const auto later = std::upper_bound(all.begin(), all.end(), i);
                if (later != all.end()) deadline = std::min(deadline, place_[*later]);
            }
        }
        // An input that is overwritten before the unit's last launch could not be read again.
        droppable_.push_back(fit && deadline > place_[launches_[u].back()]);
        deadline_.push_back(deadline);
    }
}

namespace {

class Rematerialization {
public:
    Rematerialization(const Plan& p, const Units& units, DropSet drops, std::size_t max_steps)
        : plan_(p), units_(units), drops_(std::move(drops)), max_steps_(max_steps),
          first_(p.values.size() + 1, 0), unit_clone_(p.values.size(), no_launch)
    {
        for (Drop& d : drops_) {
            d.after = units.place(d.after);
            out_.possible &= units.may_drop(d.value) && d.after >= units.last_place(units.of(d.value));
        }
        std::sort(drops_.begin(), drops_.end(), [](const Drop& a, const Drop& b) {
            return std::tie(a.value, a.after) < std::tie(b.value, b.after);
        });
        for (const Drop& d : drops_) ++first_[d.value + 1];
        std::partial_sum(first_.begin(), first_.end(), first_.begin());
        clone_.assign(drops_.size(), no_launch);
    }

    RematerializedOrder run()
    {
        if (!out_.possible) return std::move(out_);
        for (std::uint32_t i = 0; i < plan_.launches.size() && out_.possible; ++i) {
            const std::uint32_t place = units_.place(i);
            if (i == place) // also for its fallbacks, as no launch may come between them
                for (std::uint32_t k = i; k < plan_.launches.size() && units_.place(k) == place; ++k)
                    for (const PlanOperand& o : plan_.launches[k].operands)
                        if (reads(o)) provide(o.value, place);
            append(i, place, false);
            for (const PlanOperand& o : plan_.launches[i].operands)
                out_.values.push_back(reads(o) ? current(o.value, place) : o.value);
        }
        remove_unread();
        return std::move(out_);
    }

private:
    void append(std::uint32_t launch, std::uint32_t place, bool rematerialized)
    {
        out_.steps.push_back({launch, place, rematerialized, static_cast<std::uint32_t>(out_.values.size())});
    }

    // Removes steps whose results are never read, such as an original whose readers all read clones.
    void remove_unread()
    {
        const std::size_t values = plan_.values.size();
        std::vector<bool> read(values + out_.clone_of.size(), false);
        for (std::size_t v = 0; v < values; ++v) read[v] = plan_.values[v].place != Place::temporary;
        std::vector<bool> dead(out_.steps.size(), false);
        for (std::size_t at = out_.steps.size(); at-- > 0;) {
            const RematerializedOrder::Step& s = out_.steps[at];
            const auto& operands = plan_.launches[s.launch].operands;
            bool any = false;
            for (std::size_t k = 0; k < operands.size(); ++k)
                any |= writes(operands[k]) && read[out_.values[s.first + k]];
            dead[at] = !any;
            for (std::size_t k = 0; any && k < operands.size(); ++k)
                if (!operands[k].absent) read[out_.values[s.first + k]] = true;
        }
        std::size_t at = 0;
        std::erase_if(out_.steps, [&](const RematerializedOrder::Step&) { return dead[at++]; });
    }

    // Returns the index of the value's last drop before this launch; no_launch: none.
    std::uint32_t drop_before(std::uint32_t value, std::uint32_t place) const
    {
        const auto first = drops_.begin() + first_[value], end = drops_.begin() + first_[value + 1];
        const auto end_before =
            std::partition_point(first, end, [&](const Drop& d) { return d.after < place; });
        return end_before == first ? no_launch : static_cast<std::uint32_t>(end_before - drops_.begin() - 1);
    }
    // Returns the value itself, or the clone that is read at this launch.
    std::uint32_t current(std::uint32_t value, std::uint32_t place) const
    {
        const std::uint32_t d = drop_before(value, place);
        return d == no_launch ? value : clone_[d];
    }

    // If the value was dropped before this launch, appends clones of its unit and of all dropped units that it depends
    // on, in their original order.
    void provide(std::uint32_t value, std::uint32_t place)
    {
        std::vector<std::uint32_t> stack, order; // units; launches
        const auto visit = [&](std::uint32_t v) {
            const std::uint32_t d = drop_before(v, place);
            if (d == no_launch || clone_[d] != no_launch) return;
            const std::uint32_t unit = units_.of(v);
            out_.possible &= place <= units_.deadline(unit);
            for (const std::uint32_t i : units_.launches(unit))
                for (const PlanOperand& o : plan_.launches[i].operands)
                    if (writes(o)) unit_clone_[o.value] = no_launch;
            for (const std::uint32_t i : units_.launches(unit)) {
                order.push_back(i);
                for (const PlanOperand& o : plan_.launches[i].operands)
                    if (writes(o) && unit_clone_[o.value] == no_launch)
                        unit_clone_[o.value] = clone(o.value, place);
            }
            stack.push_back(unit);
        };
        visit(value);
        while (!stack.empty()) {
            const std::uint32_t unit = stack.back();
            stack.pop_back();
            for (const std::uint32_t i : units_.launches(unit))
                for (const PlanOperand& o : plan_.launches[i].operands)
                    if (reads(o) && units_.of(o.value) != unit) visit(o.value);
        }
        std::sort(order.begin(), order.end());
        out_.possible &= out_.steps.size() + order.size() <= max_steps_;
        for (const std::uint32_t i : order) {
            const auto& operands = plan_.launches[i].operands;
            const auto written = std::find_if(operands.begin(), operands.end(),
                                              [](const PlanOperand& o) { return writes(o); });
            const std::uint32_t unit = units_.of(written->value);
            append(i, place, true);
            for (const PlanOperand& o : operands) {
                const bool in_unit = !o.absent && units_.of(o.value) == unit;
                out_.values.push_back(in_unit    ? unit_clone_[o.value]
                                      : reads(o) ? current(o.value, place)
                                                 : o.value);
            }
        }
    }

    // Creates a clone. Launches that read the value at this point read the clone; if the value is not dropped yet,
    // launches after its first drop do.
    std::uint32_t clone(std::uint32_t value, std::uint32_t place)
    {
        const auto id = static_cast<std::uint32_t>(plan_.values.size() + out_.clone_of.size());
        out_.clone_of.push_back(value);
        std::uint32_t d = drop_before(value, place);
        if (d == no_launch && first_[value] < first_[value + 1]) d = first_[value];
        if (d != no_launch && clone_[d] == no_launch) clone_[d] = id;
        return id;
    }

    const Plan& plan_;
    const Units& units_;
    DropSet drops_; // sorted by value, then by launch
    std::size_t max_steps_;
    std::vector<std::uint32_t> first_;      // first index into drops_, by value
    std::vector<std::uint32_t> clone_;      // by drop
    std::vector<std::uint32_t> unit_clone_; // by value: its latest clone
    RematerializedOrder out_;
};

} // namespace

RematerializedOrder rematerialized_order(const Plan& plan, const Units& units, const DropSet& drops,
                                         std::size_t max_steps)
{
    return Rematerialization(plan, units, drops, max_steps).run();
}

bool Profile::is_temporary(std::uint32_t v) const
{
    return v >= plan_->values.size() || plan_->values[v].place == Place::temporary;
}

Profile::Profile(const Plan& plan, const Weights& weights, RematerializedOrder order)
    : plan_(&plan), order_(std::move(order)), first_touch_(plan.values.size() + order_.clone_of.size() + 1, 0)
{
    find_touches();
    last_clone_.assign(plan.values.size(), no_launch);
    for (std::uint32_t c = 0; c < order_.clone_of.size(); ++c)
        clone_before_.push_back(std::exchange(last_clone_[order_.clone_of[c]], c));
    for (const RematerializedOrder::Step& s : order_.steps) time += weights.time[s.launch];
    for (const double t : weights.time) time -= t;
    std::vector<std::uint64_t> change(order_.steps.size() + 1, 0); // between steps; differences wrap around
    for (std::uint32_t v = 0; v < values(); ++v) {
        const auto list = touches(v);
        if (list.empty()) continue;
        const std::uint64_t bytes = weights.bytes[original(v)];
        change[list.front()] += bytes;
        change[list.back() + 1] -= bytes;
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

// Uses two passes: the first counts the accesses of each value, the second stores them.
void Profile::find_touches()
{
    const auto each = [&](const auto& visit) {
        for (std::uint32_t at = 0; at < order_.steps.size(); ++at) {
            const RematerializedOrder::Step& s = order_.steps[at];
            const auto& operands = plan_->launches[s.launch].operands;
            for (std::size_t k = 0; k < operands.size(); ++k)
                if (const std::uint32_t v = order_.values[s.first + k];
                    !operands[k].absent && is_temporary(v))
                    visit(v, at);
        }
    };
    each([&](std::uint32_t v, std::uint32_t) { ++first_touch_[v + 1]; });
    std::partial_sum(first_touch_.begin(), first_touch_.end(), first_touch_.begin());
    touches_.resize(first_touch_.back());
    std::vector<std::uint32_t> next(first_touch_.begin(), first_touch_.end() - 1);
    each([&](std::uint32_t v, std::uint32_t at) { touches_[next[v]++] = at; });
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
    const auto list = touches(value);
    const auto next = std::upper_bound(list.begin(), list.end(), at);
    if (next == list.begin() || next == list.end()) return std::nullopt;
    return Gap{*(next - 1), *next};
}

bool Profile::lives(std::uint32_t value, std::uint32_t at) const
{
    if (!is_temporary(value)) return true;
    const auto is_there = [&](std::uint32_t id) {
        const auto list = touches(id);
        return !list.empty() && list.front() < at && list.back() >= at;
    };
    if (is_there(value)) return true;
    for (std::uint32_t c = last_clone_[value]; c != no_launch; c = clone_before_[c])
        if (is_there(static_cast<std::uint32_t>(plan_->values.size()) + c)) return true;
    return false;
}

void rematerialize(Plan& plan, const DropSet& drops)
{
    const RematerializedOrder order = rematerialized_order(plan, Units(plan), drops);
    if (!order.possible)
        detail::fail(ErrorKind::internal, "plan", "A value that is dropped can't be rematerialized.");
    for (const std::uint32_t v : order.clone_of) plan.values.push_back(plan.values[v]);
    std::vector<PlanLaunch> launches;
    std::map<std::pair<bool, std::uint32_t>, std::uint32_t> moved;
    std::set<std::uint32_t> run;
    for (const RematerializedOrder::Step& s : order.steps) {
        PlanLaunch l = plan.launches[s.launch];
        for (std::size_t k = 0; k < l.operands.size(); ++k) l.operands[k].value = order.values[s.first + k];
        if (l.fallback_of != no_launch) l.fallback_of = moved.at({s.rematerialized, l.fallback_of});
        if (s.rematerialized && run.count(s.launch)) {
            l.label += ", again";
            l.recomputation = PlanLaunch::of_budget;
            for (const PlanOperand& o : l.operands)
                if (writes(o) && !plan.values[o.value].name.ends_with(" again"))
                    plan.values[o.value].name += " again";
        }
        run.insert(s.launch);
        moved[{s.rematerialized, s.launch}] = static_cast<std::uint32_t>(launches.size());
        launches.push_back(std::move(l));
    }
    plan.launches = std::move(launches);
}

} // namespace reprise::plan
