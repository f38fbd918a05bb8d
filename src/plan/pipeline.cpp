#include "plan/pipeline.hpp"

#include "kernels/chain.hpp"

namespace reprise::plan {

namespace {

// Runs between two passes.  Debug builds check the plan, so that an error names the pass that broke it.
void after(const Request& request, [[maybe_unused]] const Compiled& c, [[maybe_unused]] const char* pass)
{
#ifndef NDEBUG
    check_invariants(c, pass);
#endif
    request.progress.check();
}

} // namespace

bool fuses_elementwise(const Request& request)
{
    return request.fuse && kernels::can_fuse(*request.capabilities);
}

Compiled draft(const Request& request)
{
    request.progress.report(RecordStage::plan);
    Compiled c = lower(request);
    after(request, c, "lower");
    recompute_segments(c);
    after(request, c, "recompute_segments");
    eliminate_common_subexpressions(c);
    after(request, c, "eliminate_common_subexpressions");
    assign_state(c, request);
    after(request, c, "assign_state");
    fold_casts(c.plan);
    after(request, c, "fold_casts");
    repeat_casts(c.plan);
    after(request, c, "repeat_casts");
    eliminate_dead_code(c.plan);
    after(request, c, "eliminate_dead_code");
    if (fuses_elementwise(request)) fuse(c.plan, *request.capabilities);
    after(request, c, "fuse");
    advance_updates(c.plan);
    after(request, c, "advance_updates");
    return c;
}

void finish(Compiled& c, const Request& request)
{
    after(request, c, "rematerialize"); // a memory budget may have added launches since draft()
    write_in_place(c.plan);
    after(request, c, "write_in_place");
    choose_kernels(c.plan, *request.capabilities, request.progress);
    after(request, c, "choose_kernels");
    overlap_host_calls(c.plan);
    after(request, c, "overlap_host_calls");
    batch(c.plan);
    after(request, c, "batch");
    schedule(c.plan, *request.capabilities);
    find_lifetimes(c.plan);
    after(request, c, "schedule");
}

Compiled compile(const Request& request)
{
    Compiled c = draft(request);
    finish(c, request);
    return c;
}

} // namespace reprise::plan
