#include "plan/pipeline.hpp"

namespace reprise::plan {

Compiled compile(const Request& request)
{
    Compiled c = lower(request);
    assign_state(c, request);
    remove_dead(c.plan);
    schedule(c.plan);
    find_lifetimes(c.plan);
    return c;
}

} // namespace reprise::plan
