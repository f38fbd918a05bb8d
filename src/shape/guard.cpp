#include "shape/guard.hpp"

#include <algorithm>
#include <optional>

#include <reprise/error.hpp>

#include "shape/range.hpp"

namespace reprise::shape {

namespace {

thread_local GuardSink* current_sink = nullptr;

// What the ranges say of a == b, if they decide it.
std::optional<bool> decide(const Dim& a, const Dim& b)
{
    if (a.is_constant() && b.is_constant()) return a == b;
    const Range difference = range_of(a - b);
    if (difference.low > 0 || difference.high < 0) return false;
    if (difference.low == 0 && difference.high == 0) return true;
    return std::nullopt;
}

} // namespace

void GuardList::require_equal(const Guard& guard)
{
    const bool known = std::any_of(guards_.begin(), guards_.end(), [&](const Guard& g) {
        return (g.a == guard.a && g.b == guard.b) || (g.a == guard.b && g.b == guard.a);
    });
    if (!known) guards_.push_back(guard);
}

GuardScope::GuardScope(GuardSink& sink) : outer_(current_sink) { current_sink = &sink; }
GuardScope::~GuardScope() { current_sink = outer_; }

void settle(const char* op, const Dim& a, const Dim& b, const std::string& sentence)
{
    const std::optional<bool> decided = decide(a, b);
    if (decided == true) return;
    if (decided == false || !current_sink) detail::fail(ErrorKind::shape, op, sentence);
    current_sink->require_equal({a, b, std::string("[") + op + "] " + sentence});
}

} // namespace reprise::shape
