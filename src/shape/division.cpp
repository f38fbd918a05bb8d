// Polynomial division with remainder, and the canonical form of floor_div.
#include <algorithm>
#include <utility>

#include <reprise/error.hpp>

#include "shape/bounds.hpp"
#include "shape/checked.hpp"
#include "shape/expression.hpp"

namespace reprise::shape {

namespace {

// Returns the atoms of a / b if b divides a.
std::optional<std::vector<AtomPtr>> quotient(const Monomial& a, const Monomial& b)
{
    std::vector<AtomPtr> left;
    std::size_t j = 0;
    for (const AtomPtr& atom : a.atoms) {
        if (j < b.atoms.size() && same(*atom, *b.atoms[j])) {
            ++j;
        } else {
            left.push_back(atom);
        }
    }
    if (j < b.atoms.size()) return std::nullopt;
    return left;
}

bool leads_negative(const Dim& dim)
{
    return (dim.is_constant() ? dim.value() : terms_of(dim).front().coefficient) < 0;
}

// Returns an atom that divides every term of a and b, or null.
AtomPtr common_atom(const Dim& a, const Dim& b)
{
    if (a.is_constant() || b.is_constant() || constant_of(a) != 0 || constant_of(b) != 0) return nullptr;
    for (const AtomPtr& atom : terms_of(b).front().monomial->atoms) {
        const Monomial factor{{atom}, 0};
        const auto divides = [&](const Term& term) { return quotient(*term.monomial, factor).has_value(); };
        if (std::all_of(terms_of(a).begin(), terms_of(a).end(), divides) &&
            std::all_of(terms_of(b).begin(), terms_of(b).end(), divides)) {
            return atom;
        }
    }
    return nullptr;
}

// The quotient n / d during simplification.  The divisor is assumed not to be 0, so d >= 1 where d >= 0 is provable.
struct Quotient {
    Dim n, d;

    bool positive() const { return d.at_least(0); }
    bool cancel();
    bool absorb();
    std::optional<std::int64_t> value() const;
};

// Cancels common factors: floor((g * m + c) / (g * d)) = floor((m + floor(c / g)) / d) for d > 0.
bool Quotient::cancel()
{
    std::int64_t g = common_divisor(common_coefficient(d), constant_of(d));
    g = common_divisor(g, common_coefficient(n));
    if (!positive()) g = common_divisor(g, constant_of(n));
    if (g > 1) {
        n = divide_coefficients(n, g);
        d = divide_coefficients(d, g);
        return true;
    }
    const AtomPtr atom = common_atom(n, d);
    if (!atom) return false;
    const Dim factor = make_term(1, {atom});
    n = divide(n, factor).quotient;
    d = divide(d, factor).quotient;
    return true;
}

// Merges nested quotients: floor((m + floor(x / e)) / d) = floor((e * m + x) / (e * d)) for d > 0.
bool Quotient::absorb()
{
    if (!positive()) return false;
    for (const Term& term : terms_of(n)) {
        const Atom* atom = linear_atom(term);
        if (!atom || atom->kind != AtomKind::floor_div || term.coefficient != 1) continue;
        try {
            const Dim &x = atom->operands[0], &e = atom->operands[1];
            Dim merged_n = (n - make_term(term)) * e + x;
            Dim merged_d = d * e;
            n = std::move(merged_n);
            d = std::move(merged_d);
            return true;
        } catch (const Error&) { // a coefficient overflowed 64 bits: the quotients stay nested
            return false;
        }
    }
    return false;
}

// Returns the quotient if the ranges of n and d allow only one value.
std::optional<std::int64_t> Quotient::value() const
{
    const Range range = floor_div(range_of(n), range_of(d));
    if (range.low == range.high) return range.low;
    if (d.is_constant() || !positive()) return std::nullopt;
    if (n.at_least(0) && (d - n).at_least(1)) return 0;
    if ((-n).at_least(1) && (n + d).at_least(0)) return -1;
    return std::nullopt;
}

Division divide_by_constant(const Dim& numerator, std::int64_t divisor)
{
    Dim quotient = divide_coefficients(numerator, divisor);
    Dim remainder = numerator - quotient * divisor;
    return {std::move(quotient), std::move(remainder)};
}

} // namespace

Division divide(const Dim& numerator, const Dim& divisor)
{
    if (divisor.is_constant()) return divide_by_constant(numerator, divisor.value());
    const Term& lead = terms_of(divisor).front();
    Division result{0, 0};
    Dim rest = numerator;
    while (!rest.is_constant()) {
        const Term top = terms_of(rest).front();
        if (auto atoms = quotient(*top.monomial, *lead.monomial)) {
            const Dim step =
                make_term(checked_floor_div(top.coefficient, lead.coefficient), std::move(*atoms));
            result.quotient += step;
            rest -= step * divisor;
        }
        if (!rest.is_constant() && same(*terms_of(rest).front().monomial, *top.monomial)) {
            const Dim left = make_term(terms_of(rest).front());
            result.remainder += left;
            rest -= left;
        }
    }
    result.remainder += rest;
    return result;
}

std::optional<Dim> divide_exactly(const Dim& numerator, const Dim& divisor)
{
    if (same(divisor, 0)) return std::nullopt;
    Division division = leads_negative(divisor) ? divide(-numerator, -divisor) : divide(numerator, divisor);
    if (!same(division.remainder, 0)) return std::nullopt;
    return std::move(division.quotient);
}

Dim divide_floor(const Dim& numerator, const Dim& divisor)
{
    if (numerator.is_constant() && divisor.is_constant()) {
        return checked_floor_div(numerator.value(), divisor.value());
    }
    if (same(divisor, 0)) {
        detail::fail(ErrorKind::argument, "size", "(", numerator,
                     ") is divided by (0): use a divisor other than 0.");
    }
    Quotient left = leads_negative(divisor) ? Quotient{-numerator, -divisor} : Quotient{numerator, divisor};
    Dim whole = 0;
    do {
        Division division = divide(left.n, left.d);
        whole += division.quotient;
        left.n = std::move(division.remainder);
        if (const auto value = left.value()) return whole + *value;
    } while (left.cancel() || left.absorb());
    const Range range = floor_div(range_of(left.n), range_of(left.d));
    return whole + make_atom(AtomKind::floor_div, {std::move(left.n), std::move(left.d)}, range);
}

} // namespace reprise::shape
