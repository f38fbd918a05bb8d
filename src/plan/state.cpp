// Updates state in place: if the launch that computes a cell's new value reads each old element only to write the same
// element, and no later launch reads the old value, it writes to the cell directly and the copy at the end of the call
// is removed.
#include <algorithm>

#include "plan/pipeline.hpp"

namespace reprise::plan {

namespace {

bool is_shifted(const PlanOperand& o) { return !o.absent && !same(o.offset, 0); }

std::uint32_t results_in(const Compiled& c, std::uint32_t value)
{
    return static_cast<std::uint32_t>(std::count_if(c.results.begin(), c.results.end(),
                                                    [&](const ops::View& r) { return r.value == value; }));
}

bool can_write_in_place(const Compiled& c, const Request::Assignment& a, std::size_t copies_begin)
{
    const ops::View& from = c.results[a.from];
    const std::uint32_t to = c.external[a.to];
    if (c.plan.values[from.value].place == Place::external || results_in(c, from.value) != 1) return false;
    if (!from.contiguous() || !same(from.layout.offset, 0) ||
        !same(c.plan.values[from.value].elements, c.plan.values[to].elements))
        return false;
    bool written = false;
    for (std::size_t i = 0; i < copies_begin; ++i) {
        const PlanLaunch& l = c.plan.launches[i];
        const bool writer = any_operand(l, from.value, writes);
        if (writer && (!l.in_place || any_operand(l, to, is_shifted))) return false;
        if (written && (!writer || l.fallback_of == no_launch) && any_operand(l, to, touches)) return false;
        written |= writer;
    }
    return written;
}

// Turns results that are only assigned to state into temporaries, whose place as results the cells take; results that
// the caller also gets remain outputs.
void release_sources(Compiled& c, const Request& request)
{
    std::vector<bool> assigned(c.results.size(), false), returned(c.plan.values.size(), false);
    for (const Request::Assignment& a : request.assignments) assigned[a.from] = true;
    for (std::size_t i = 0; i < c.results.size(); ++i)
        if (!assigned[i]) returned[c.results[i].value] = true;
    for (std::size_t v = 0; v < returned.size(); ++v)
        if (!returned[v] && c.plan.values[v].place == Place::output)
            c.plan.values[v].place = Place::temporary;
    for (const Request::Assignment& a : request.assignments)
        if (std::uint32_t& value = c.results[a.from].value; c.plan.values[value].place == Place::temporary)
            value = c.external[a.to];
}

} // namespace

void assign_state(Compiled& c, const Request& request)
{
    if (c.state_copies.empty()) return;
    const std::size_t copies_begin = c.state_copies.front();
    std::vector<bool> drop(c.plan.launches.size(), false);
    for (std::size_t k = 0; k < request.assignments.size(); ++k) {
        const Request::Assignment& a = request.assignments[k];
        if (!can_write_in_place(c, a, copies_begin)) continue;
        const std::uint32_t from = c.results[a.from].value, to = c.external[a.to];
        for (PlanLaunch& l : c.plan.launches)
            for (PlanOperand& o : l.operands)
                if (o.value == from) o.value = to;
        c.results[a.from].value = to;
        const std::size_t end =
            k + 1 < c.state_copies.size() ? c.state_copies[k + 1] : c.plan.launches.size();
        for (std::size_t i = c.state_copies[k]; i < end; ++i) drop[i] = true;
    }
    release_sources(c, request);
    plan::drop(c.plan, drop);
}

} // namespace reprise::plan
