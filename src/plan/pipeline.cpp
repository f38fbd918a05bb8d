#include "plan/pipeline.hpp"

#include "kernels/chain.hpp"

namespace reprise::plan {

Compiled draft(const Request& request)
{
    Compiled c = lower(request);
    recompute_segments(c);
    eliminate_common_subexpressions(c);
    assign_state(c, request);
    eliminate_dead_code(c.plan);
    if (request.fuse && kernels::can_fuse(*request.capabilities)) fuse(c.plan);
    return c;
}

void finish(Compiled& c, const Request& request)
{
    write_in_place(c.plan);
    choose_kernels(c.plan, *request.capabilities);
    batch(c.plan);
    schedule(c.plan);
    find_lifetimes(c.plan);
}

Compiled compile(const Request& request)
{
    Compiled c = draft(request);
    finish(c, request);
    return c;
}

} // namespace reprise::plan
