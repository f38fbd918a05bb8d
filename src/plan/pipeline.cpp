#include "plan/pipeline.hpp"

#include "kernels/chain.hpp"

namespace reprise::plan {

namespace {

// In debug builds, checks the plan after each pass, so that an error names the pass that broke it.
void check_after([[maybe_unused]] const Compiled& c, [[maybe_unused]] const char* pass)
{
#ifndef NDEBUG
    check_invariants(c, pass);
#endif
}

} // namespace

bool fuses_elementwise(const Request& request)
{
    return request.fuse && kernels::can_fuse(*request.capabilities);
}

Compiled draft(const Request& request)
{
    Compiled c = lower(request);
    check_after(c, "lower");
    recompute_segments(c);
    check_after(c, "recompute_segments");
    eliminate_common_subexpressions(c);
    check_after(c, "eliminate_common_subexpressions");
    assign_state(c, request);
    check_after(c, "assign_state");
    fold_casts(c.plan);
    check_after(c, "fold_casts");
    repeat_casts(c.plan);
    check_after(c, "repeat_casts");
    eliminate_dead_code(c.plan);
    check_after(c, "eliminate_dead_code");
    if (fuses_elementwise(request)) fuse(c.plan, *request.capabilities);
    check_after(c, "fuse");
    advance_updates(c.plan);
    check_after(c, "advance_updates");
    return c;
}

void finish(Compiled& c, const Request& request)
{
    check_after(c, "rematerialize"); // a memory budget may have added launches since draft()
    write_in_place(c.plan);
    check_after(c, "write_in_place");
    choose_kernels(c.plan, *request.capabilities);
    check_after(c, "choose_kernels");
    batch(c.plan);
    check_after(c, "batch");
    schedule(c.plan, *request.capabilities);
    find_lifetimes(c.plan);
    check_after(c, "schedule");
}

Compiled compile(const Request& request)
{
    Compiled c = draft(request);
    finish(c, request);
    return c;
}

} // namespace reprise::plan
