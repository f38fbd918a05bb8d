#include "plan/pipeline.hpp"

#include "kernels/chain.hpp"

namespace reprise::plan {

namespace {

// In debug builds a pass that leaves a broken plan is named.
void passed([[maybe_unused]] const Compiled& c, [[maybe_unused]] const char* pass)
{
#ifndef NDEBUG
    check_invariants(c, pass);
#endif
}

} // namespace

Compiled draft(const Request& request)
{
    Compiled c = lower(request);
    passed(c, "lower");
    recompute_segments(c);
    passed(c, "recompute_segments");
    eliminate_common_subexpressions(c);
    passed(c, "eliminate_common_subexpressions");
    assign_state(c, request);
    passed(c, "assign_state");
    eliminate_dead_code(c.plan);
    passed(c, "eliminate_dead_code");
    if (request.fuse && kernels::can_fuse(*request.capabilities)) fuse(c.plan);
    passed(c, "fuse");
    return c;
}

void finish(Compiled& c, const Request& request)
{
    passed(c, "rematerialize"); // what a memory budget has added between the two parts
    write_in_place(c.plan);
    passed(c, "write_in_place");
    choose_kernels(c.plan, *request.capabilities);
    passed(c, "choose_kernels");
    batch(c.plan);
    passed(c, "batch");
    schedule(c.plan);
    find_lifetimes(c.plan);
    passed(c, "schedule");
}

Compiled compile(const Request& request)
{
    Compiled c = draft(request);
    finish(c, request);
    return c;
}

} // namespace reprise::plan
