#include "graph/index_check.hpp"

#include <atomic>

#include "base/process.hpp"
#include "graph/notes.hpp"

namespace reprise::graph {

namespace {

// Returns the setting of the environment variable REPRISE_CHECK_INDICES (0 or 1), else whether this is a debug build.
bool initial_setting()
{
    if (const auto setting = detail::environment_variable("REPRISE_CHECK_INDICES")) return *setting == "1";
#ifdef NDEBUG
    return false;
#else
    return true;
#endif
}
std::atomic<bool>& checked()
{
    static std::atomic<bool> value{initial_setting()};
    return value;
}

bool scope_checks_indices()
{
    for (const Scope* s = current_scope(); s; s = s->outer())
        if (s->checks_indices()) return true;
    return false;
}

} // namespace

bool checks_indices()
{
    return !ambient().index_checks_off &&
           (checked().load(std::memory_order_relaxed) || scope_checks_indices());
}
void set_checks_indices(bool on) { checked() = on; }

} // namespace reprise::graph
