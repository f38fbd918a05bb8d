#include "shape/guard.hpp"

#include <algorithm>
#include <unordered_map>

#include <reprise/error.hpp>

#include "shape/bounds.hpp"
#include "shape/expression.hpp"

namespace reprise::shape {

namespace {

thread_local GuardSink* current_sink = nullptr;

Verdict decide_multiple(const Dim& a, const Dim& b)
{
    const Range divisor = range_of(b);
    if (divisor.low == 0 && divisor.high == 0) return Verdict::fails;
    if ((divisor.low > 0 || divisor.high < 0) && divide_exactly(a, b)) return Verdict::holds;
    if (!b.is_constant()) return Verdict::open;
    // If a - k is a multiple of b for all values, and the constant k is not, then a never is.
    const Dim rest = a - constant_of(a);
    return rest.divisible_by(b.value()) ? Verdict::fails : Verdict::open;
}

} // namespace

bool holds(Relation relation, std::int64_t a, std::int64_t b)
{
    switch (relation) {
    case Relation::equal: return a == b;
    case Relation::at_least: return a >= b;
    case Relation::multiple: return b != 0 && a % b == 0;
    }
    return false;
}

std::string Guard::condition() const
{
    switch (relation) {
    case Relation::equal: return a.text() + " == " + b.text();
    case Relation::at_least: return a.text() + " >= " + b.text();
    case Relation::multiple: return b.text() + " divides " + a.text();
    }
    return {};
}

std::string Guard::fault(std::int64_t a_is, std::int64_t b_is) const
{
    const auto valued = [](const Dim& d, std::int64_t value) {
        const std::string number = "(" + std::to_string(value) + ")";
        return d.is_constant() ? number : "(" + d.text() + ") = " + number;
    };
    const char* missed = relation == Relation::equal      ? ", not "
                         : relation == Relation::at_least ? ", not at least "
                                                          : ", no multiple of ";
    return "(" + a.text() + ") is (" + std::to_string(a_is) + ")" + missed + valued(b, b_is);
}

bool GuardList::implied(const Guard& guard) const
{
    if (guard.relation != Relation::at_least) return false;
    std::unordered_map<std::uint32_t, std::pair<SymbolPtr, std::int64_t>> lower_bounds;
    for (const Guard& g : guards_) {
        if (g.relation != Relation::at_least) continue;
        const auto affine = affine_in_one_symbol(g.a - g.b); // scale * s / divisor + offset >= 0
        if (!affine || affine->scale < 0) continue;
        const Dim bound = ceil_div(-affine->offset, affine->scale) * affine->symbol->divisor;
        auto& lower = lower_bounds[affine->symbol->id];
        lower = {affine->symbol, std::max(lower.second, bound.value())};
    }
    Values values;
    for (const auto& [id, lower] : lower_bounds) {
        const Range& range = lower.first->range;
        const std::int64_t low = std::clamp(lower.second, range.low, range.high);
        const bool bounded = range.high != Range::unbounded_high;
        const Dim above = make_symbol(lower.first->name, {0, bounded ? range.high - low : range.high},
                                      lower.first->divisor);
        values.emplace(id, low + above); // with above >= 0, so that bounds of products follow, too
    }
    return !values.empty() && substitute(guard.a - guard.b, values).at_least(0);
}

void GuardList::require(const Guard& guard)
{
    const bool present = std::any_of(guards_.begin(), guards_.end(), [&](const Guard& g) {
        return g.relation == guard.relation &&
               ((same(g.a, guard.a) && same(g.b, guard.b)) ||
                (g.relation == Relation::equal && same(g.a, guard.b) && same(g.b, guard.a)));
    });
    if (!present && !implied(guard)) guards_.push_back(guard);
}

GuardScope::GuardScope(GuardSink& sink) : outer_(current_sink) { current_sink = &sink; }
GuardScope::~GuardScope() { current_sink = outer_; }

Verdict decide(Relation relation, const Dim& a, const Dim& b)
{
    if (a.is_constant() && b.is_constant())
        return holds(relation, a.value(), b.value()) ? Verdict::holds : Verdict::fails;
    if (relation == Relation::multiple) return decide_multiple(a, b);
    const Dim rest = a - b;
    const Range difference = range_of(rest);
    if (relation == Relation::at_least)
        return difference.low >= 0 ? Verdict::holds : difference.high < 0 ? Verdict::fails : Verdict::open;
    if (difference.low > 0 || difference.high < 0) return Verdict::fails;
    if (difference.low == 0 && difference.high == 0) return Verdict::holds;
    // The sum is never 0 if a divisor of all coefficients does not divide the constant.
    const std::int64_t divisor = common_coefficient(rest);
    return divisor != 0 && constant_of(rest) % divisor != 0 ? Verdict::fails : Verdict::open;
}

void settle(const char* op, Verdict verdict, Relation relation, const Dim& a, const Dim& b,
            const std::string& sentence)
{
    if (verdict == Verdict::fails || !current_sink) detail::fail(ErrorKind::shape, op, sentence);
    current_sink->require({relation, a, b, std::string("[") + op + "] " + sentence});
}

void require(const Guard& guard)
{
    const Verdict verdict = decide(guard.relation, guard.a, guard.b);
    if (verdict == Verdict::holds) return;
    if (verdict == Verdict::fails || !current_sink) throw Error(ErrorKind::shape, guard.reason);
    current_sink->require(guard);
}

} // namespace reprise::shape
