#include "shape/range.hpp"

#include <algorithm>
#include <optional>

#include <reprise/error.hpp>

#include "shape/checked.hpp"
#include "shape/expression.hpp"

namespace reprise::shape {

namespace {

constexpr std::int64_t infinity = Range::unbounded_high;
constexpr std::int64_t minus_infinity = Range::unbounded_low;
constexpr std::int64_t limit = (std::int64_t{1} << 62) - 1;

Range rounded(std::int64_t low, std::int64_t high)
{
    return {low < -limit ? minus_infinity : std::min(low, limit),
            high > limit ? infinity : std::max(high, -limit)};
}

// A product of bounds, of which the unbounded ones are infinite and 0 times infinity is 0.
std::int64_t product(std::int64_t a, std::int64_t b)
{
    if (a == 0 || b == 0) return 0;
    const bool infinite = a == infinity || a == minus_infinity || b == infinity || b == minus_infinity;
    std::int64_t result = 0;
    if (!infinite && !multiply_overflows(a, b, result)) return result;
    return (a < 0) == (b < 0) ? infinity : minus_infinity;
}

// Bounds of a quotient, of which the divisor is 1 or more.
std::int64_t quotient(std::int64_t a, std::int64_t divisor)
{
    if (divisor == infinity) return a < 0 ? -1 : 0;
    if (a == infinity || a == minus_infinity) return a;
    return checked_floor_div(a, divisor);
}

Range direct(const Dim& dim)
{
    Range sum = Range::of(constant_of(dim));
    for (const Term& term : terms_of(dim)) {
        Range range = Range::of(term.coefficient);
        for (const AtomPtr& atom : term.monomial->atoms) range = range * atom->range;
        sum = sum + range;
    }
    return sum;
}

Range bounds(const Dim& dim, int& budget);

// The range of rest + c * floor(n / q) from q * rest + c * n, as floor(n / q) = (n - m) / q with 0 <= m < q.
Range expand_floor(const Dim& rest, std::int64_t c, const Atom& atom, int& budget)
{
    const std::int64_t q = atom.operands[1].value();
    const Range whole = bounds(rest * q + atom.operands[0] * c, budget) + Range::of(c) * Range{1 - q, 0};
    // An integer x with low <= q * x is at least ceil(low / q) = -floor(-low / q).
    return {whole.low == minus_infinity ? whole.low : -quotient(-whole.low, q), quotient(whole.high, q)};
}

// The range of rest + c * min(x, y, ...), which is the least of rest + c * x, rest + c * y, ... where c > 0.
Range expand_extremum(const Dim& rest, std::int64_t c, const Atom& atom, int& budget)
{
    const bool least = (atom.kind == AtomKind::min) == (c > 0);
    std::optional<Range> result;
    for (const Dim& operand : atom.operands) {
        const Range range = bounds(rest + operand * c, budget);
        result = !result ? range : least ? min(*result, range) : max(*result, range);
    }
    return *result;
}

bool is_extremum(const Term& term)
{
    const Atom* atom = linear_atom(term);
    return atom && (atom->kind == AtomKind::min || atom->kind == AtomKind::max);
}

bool is_floor_by_constant(const Term& term)
{
    const Atom* atom = linear_atom(term);
    return atom && atom->kind == AtomKind::floor_div && atom->operands[1].is_constant();
}

// Interval arithmetic, intersected with what follows when atoms are replaced by what they are made of.
Range bounds(const Dim& dim, int& budget)
{
    Range range = direct(dim);
    const auto terms = terms_of(dim);
    if (terms.size() < 2) return range;
    const auto replace = [&](const Term& term, const auto& expand) {
        if (budget-- <= 0) return;
        const Dim rest = dim - make_term(term);
        range = intersect(range, expand(rest, term.coefficient, *linear_atom(term), budget));
    };
    if (const auto e = std::find_if(terms.begin(), terms.end(), is_extremum); e != terms.end()) {
        replace(*e, expand_extremum);
        return range;
    }
    for (const Term& term : terms) { // each loses up to q - 1, so which one to replace matters
        if (is_floor_by_constant(term)) replace(term, expand_floor);
    }
    return range;
}

} // namespace

Range Range::of(std::int64_t value) { return rounded(value, value); }

Range operator+(const Range& a, const Range& b)
{
    return rounded(a.low == minus_infinity || b.low == minus_infinity ? minus_infinity : a.low + b.low,
                   a.high == infinity || b.high == infinity ? infinity : a.high + b.high);
}

Range operator*(const Range& a, const Range& b)
{
    const auto [low, high] = std::minmax(
        {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low), product(a.high, b.high)});
    return rounded(low, high);
}

Range intersect(const Range& a, const Range& b) { return {std::max(a.low, b.low), std::min(a.high, b.high)}; }
Range min(const Range& a, const Range& b) { return {std::min(a.low, b.low), std::min(a.high, b.high)}; }
Range max(const Range& a, const Range& b) { return {std::max(a.low, b.low), std::max(a.high, b.high)}; }

Range floor_div(const Range& a, const Range& divisor)
{
    if (divisor.low < 0) { // the magnitude does not grow
        const Range negated = a * Range::of(-1);
        return {std::min(a.low, negated.low), std::max(a.high, negated.high)};
    }
    const std::int64_t least = std::max<std::int64_t>(divisor.low, 1);
    const std::int64_t most = std::max(divisor.high, least);
    return {quotient(a.low, a.low < 0 ? least : most), quotient(a.high, a.high < 0 ? most : least)};
}

Range range_of(const Dim& dim)
{
    if (dim.is_constant()) return Range::of(dim.value());
    std::int64_t factor = 0;
    for (const Term& term : terms_of(dim)) factor = common_divisor(factor, term.coefficient);
    int budget = 64; // replacements
    try {
        return bounds(divide_coefficients(dim - constant_of(dim), factor), budget) * Range::of(factor) +
               Range::of(constant_of(dim));
    } catch (const Error&) { // a coefficient left 64 bits
        return direct(dim);
    }
}

} // namespace reprise::shape
