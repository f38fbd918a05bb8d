#include "shape/bounds.hpp"

#include <algorithm>
#include <optional>

#include <reprise/error.hpp>

#include "shape/checked.hpp"
#include "shape/expression.hpp"

namespace reprise::shape {

namespace {

// Returns the range by plain interval arithmetic.
Range interval_of(const Dim& dim)
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

// Returns the range of rest + c * floor(n / q), from that of q * rest + c * n: floor(n / q) = (n - m) / q with 0 <= m
// < q.
Range expand_floor(const Dim& rest, std::int64_t c, const Atom& atom, int& budget)
{
    const std::int64_t q = atom.operands[1].value();
    const Range whole = bounds(rest * q + atom.operands[0] * c, budget) + Range::of(c) * Range{1 - q, 0};
    // An integer x with low <= q * x is at least ceil(low / q) = -floor(-low / q).
    return {whole.low == Range::unbounded_low ? whole.low : -divide_bound(-whole.low, q),
            divide_bound(whole.high, q)};
}

// Returns the range of rest + c * min(x, y, ...), which is min(rest + c * x, rest + c * y, ...) for c > 0.
Range expand_extremum(const Dim& rest, std::int64_t c, const Atom& atom, int& budget)
{
    const bool is_min = (atom.kind == AtomKind::min) == (c > 0);
    std::optional<Range> result;
    for (const Dim& operand : atom.operands) {
        const Range range = bounds(rest + operand * c, budget);
        result = !result ? range : is_min ? min(*result, range) : max(*result, range);
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

// Returns the range by interval arithmetic, intersected with the ranges that follow from replacing floor_div, min and
// max by their operands.
Range bounds(const Dim& dim, int& budget)
{
    Range range = interval_of(dim);
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
    for (const Term& term : terms) { // each replacement widens the range by up to q - 1, so all are tried
        if (is_floor_by_constant(term)) replace(term, expand_floor);
    }
    return range;
}

} // namespace

Range range_of(const Dim& dim)
{
    if (dim.is_constant()) return Range::of(dim.value());
    const std::int64_t factor = common_coefficient(dim);
    int budget = 64; // number of replacements
    try {
        return bounds(divide_coefficients(dim - constant_of(dim), factor), budget) * Range::of(factor) +
               Range::of(constant_of(dim));
    } catch (const Error&) { // a coefficient overflowed 64 bits
        return interval_of(dim);
    }
}

} // namespace reprise::shape
