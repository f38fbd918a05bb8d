#include "graph/index_check.hpp"

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "graph/notes.hpp"

namespace reprise::graph {

namespace {

// Returns the setting of the environment variable REPRISE_CHECK_INDICES (0 or 1), else whether this is a debug build.
bool at_first()
{
    if (const char* const asked = std::getenv("REPRISE_CHECK_INDICES")) return std::string_view(asked) == "1";
#ifdef NDEBUG
    return false;
#else
    return true;
#endif
}
std::atomic<bool> checked{at_first()};

bool asked_for_by_a_scope()
{
    for (const Scope* s = current_scope(); s; s = s->outer())
        if (s->checks_indices()) return true;
    return false;
}

} // namespace

bool checks_indices()
{
    return !ambient().index_checks_off && (checked.load(std::memory_order_relaxed) || asked_for_by_a_scope());
}
void set_checks_indices(bool on) { checked = on; }

} // namespace reprise::graph
