#include "graph/index_check.hpp"

#include <atomic>

#include "graph/notes.hpp"

namespace reprise::graph {

namespace {

#ifdef NDEBUG
constexpr bool at_first = false;
#else
constexpr bool at_first = true;
#endif
std::atomic<bool> checked{at_first};
thread_local int offs = 0;

bool asked_for_by_a_scope()
{
    for (const Scope* s = current_scope(); s; s = s->outer())
        if (s->checks_indices()) return true;
    return false;
}

} // namespace

bool checks_indices()
{
    return offs == 0 && (checked.load(std::memory_order_relaxed) || asked_for_by_a_scope());
}
void set_checks_indices(bool on) { checked = on; }

IndexChecksOff::IndexChecksOff() { ++offs; }
IndexChecksOff::~IndexChecksOff() { --offs; }

} // namespace reprise::graph
