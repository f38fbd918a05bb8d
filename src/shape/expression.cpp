#include "shape/expression.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <numeric>
#include <utility>

#include "shape/checked.hpp"
#include "shape/hash.hpp"

namespace reprise::shape {

namespace {

// As std::lexicographical_compare_three_way(), which libc++ has only from version 17 on.
template <class Range, class Order>
std::strong_ordering lexicographical_order(const Range& a, const Range& b, const Order& order)
{
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        if (const std::strong_ordering o = order(a[i], b[i]); o != 0) return o;
    return a.size() <=> b.size();
}

std::strong_ordering order(const Atom& a, const Atom& b)
{
    if (&a == &b) return std::strong_ordering::equal;
    if (a.kind != b.kind) return a.kind <=> b.kind;
    if (a.kind == AtomKind::symbol) return a.symbol->id <=> b.symbol->id;
    return lexicographical_order(a.operands, b.operands,
                                 [](const Dim& x, const Dim& y) { return shape::order(x, y); });
}

bool precedes(const AtomPtr& a, const AtomPtr& b) { return order(*a, *b) < 0; }

// A smaller monomial comes earlier in an expression.
std::strong_ordering order(const Monomial& a, const Monomial& b)
{
    if (&a == &b) return std::strong_ordering::equal;
    if (a.atoms.size() != b.atoms.size()) return b.atoms.size() <=> a.atoms.size();
    return lexicographical_order(a.atoms, b.atoms,
                                 [](const AtomPtr& x, const AtomPtr& y) { return order(*x, *y); });
}

MonomialPtr make_monomial(std::vector<AtomPtr> sorted)
{
    Monomial monomial{std::move(sorted), 0};
    for (const AtomPtr& atom : monomial.atoms) monomial.hash = mix(monomial.hash, atom->hash);
    return std::make_shared<const Monomial>(std::move(monomial));
}

MonomialPtr product(const Monomial& a, const Monomial& b)
{
    std::vector<AtomPtr> atoms;
    atoms.reserve(a.atoms.size() + b.atoms.size());
    std::merge(a.atoms.begin(), a.atoms.end(), b.atoms.begin(), b.atoms.end(), std::back_inserter(atoms),
               precedes);
    return make_monomial(std::move(atoms));
}

// Sorts the terms, adds those of equal monomials, and removes zeros.
std::vector<Term> canonical(std::vector<Term> terms)
{
    std::sort(terms.begin(), terms.end(),
              [](const Term& a, const Term& b) { return order(*a.monomial, *b.monomial) < 0; });
    std::vector<Term> sums;
    for (Term& term : terms) {
        if (!sums.empty() && same(*sums.back().monomial, *term.monomial)) {
            sums.back().coefficient = checked_add(sums.back().coefficient, term.coefficient);
        } else {
            sums.push_back(std::move(term));
        }
    }
    std::erase_if(sums, [](const Term& term) { return term.coefficient == 0; });
    return sums;
}

Dim scale(const Dim& dim, std::int64_t factor)
{
    if (factor == 0) return 0;
    if (factor == 1) return dim;
    std::vector<Term> terms(terms_of(dim).begin(), terms_of(dim).end());
    for (Term& term : terms) term.coefficient = checked_multiply(term.coefficient, factor);
    return Expression::make(std::move(terms), checked_multiply(constant_of(dim), factor));
}

} // namespace

Dim Expression::make(std::vector<Term> canonical_terms, std::int64_t constant)
{
    if (canonical_terms.empty()) return constant;
    auto result = std::make_unique<Expression>();
    result->terms = std::move(canonical_terms);
    result->constant = constant;
    result->hash = hash_of(constant);
    for (const Term& term : result->terms) {
        result->hash = mix(mix(result->hash, hash_of(term.coefficient)), term.monomial->hash);
    }
    return Dim(*result.release());
}

void retain(const Expression& e) noexcept { e.dims.fetch_add(1, std::memory_order_relaxed); }
void release(const Expression& e) noexcept
{
    if (e.dims.fetch_sub(1, std::memory_order_acq_rel) == 1) delete &e;
}

std::span<const Term> terms_of(const Dim& dim)
{
    if (dim.is_constant()) return {};
    return dim.expression()->terms;
}

std::int64_t constant_of(const Dim& dim)
{
    return dim.is_constant() ? dim.value() : dim.expression()->constant;
}

bool same(const Atom& a, const Atom& b) { return &a == &b || (a.hash == b.hash && order(a, b) == 0); }

bool same(const Monomial& a, const Monomial& b) { return &a == &b || (a.hash == b.hash && order(a, b) == 0); }

std::strong_ordering order(const Dim& a, const Dim& b)
{
    if (a.expression() == b.expression()) return constant_of(a) <=> constant_of(b);
    const auto x = terms_of(a), y = terms_of(b);
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
        if (const auto o = order(*x[i].monomial, *y[i].monomial); o != 0) return o;
        if (const auto o = x[i].coefficient <=> y[i].coefficient; o != 0) return o;
    }
    if (x.size() != y.size()) return y.size() <=> x.size();
    return constant_of(a) <=> constant_of(b);
}

bool same_expression(const Dim& a, const Dim& b)
{
    if (a.is_constant() || b.is_constant())
        return a.is_constant() && b.is_constant() && a.value() == b.value();
    return a.expression()->hash == b.expression()->hash && order(a, b) == 0;
}

Dim add_multiple(const Dim& a, const Dim& b, std::int64_t factor)
{
    const auto x = terms_of(a), y = terms_of(b);
    std::vector<Term> terms;
    terms.reserve(x.size() + y.size());
    std::size_t i = 0, j = 0;
    while (i < x.size() || j < y.size()) {
        const auto next = i == x.size()   ? std::strong_ordering::greater
                          : j == y.size() ? std::strong_ordering::less
                                          : order(*x[i].monomial, *y[j].monomial);
        std::int64_t coefficient = 0;
        if (next <= 0) coefficient = x[i].coefficient;
        if (next >= 0) coefficient = checked_add(coefficient, checked_multiply(y[j].coefficient, factor));
        if (coefficient != 0) terms.push_back({coefficient, next <= 0 ? x[i].monomial : y[j].monomial});
        if (next <= 0) ++i;
        if (next >= 0) ++j;
    }
    const std::int64_t constant = checked_add(constant_of(a), checked_multiply(constant_of(b), factor));
    return Expression::make(std::move(terms), constant);
}

Dim add(const Dim& a, const Dim& b)
{
    return a.is_constant() && b.is_constant() ? Dim(checked_add(a.value(), b.value()))
                                              : add_multiple(a, b, 1);
}

Dim subtract(const Dim& a, const Dim& b)
{
    return a.is_constant() && b.is_constant() ? Dim(checked_subtract(a.value(), b.value()))
                                              : add_multiple(a, b, -1);
}

Dim multiply(const Dim& a, const Dim& b)
{
    if (a.is_constant() && b.is_constant()) return checked_multiply(a.value(), b.value());
    if (a.is_constant()) return scale(b, a.value());
    if (b.is_constant()) return scale(a, b.value());
    std::vector<Term> terms;
    terms.reserve((terms_of(a).size() + 1) * (terms_of(b).size() + 1));
    for (const Term& x : terms_of(a)) {
        for (const Term& y : terms_of(b)) {
            terms.push_back(
                {checked_multiply(x.coefficient, y.coefficient), product(*x.monomial, *y.monomial)});
        }
        if (constant_of(b) != 0)
            terms.push_back({checked_multiply(x.coefficient, constant_of(b)), x.monomial});
    }
    for (const Term& y : terms_of(b)) {
        if (constant_of(a) != 0)
            terms.push_back({checked_multiply(y.coefficient, constant_of(a)), y.monomial});
    }
    return Expression::make(canonical(std::move(terms)), checked_multiply(constant_of(a), constant_of(b)));
}

Dim make_term(std::int64_t coefficient, std::vector<AtomPtr> sorted_atoms)
{
    if (coefficient == 0 || sorted_atoms.empty()) return coefficient;
    return Expression::make({{coefficient, make_monomial(std::move(sorted_atoms))}}, 0);
}

Dim make_term(const Term& term) { return Expression::make({term}, 0); }

Dim make_atom(AtomKind kind, DimVector canonical_operands, const Range& range)
{
    Atom atom{kind, nullptr, std::move(canonical_operands), range, hash_of(static_cast<std::int64_t>(kind))};
    for (const Dim& operand : atom.operands) atom.hash = mix(atom.hash, operand.hash());
    return make_term(1, {std::make_shared<const Atom>(std::move(atom))});
}

Dim make_symbol(std::string name, const Range& range, std::int64_t divisor)
{
    static std::atomic<std::uint32_t> next_id{0};
    const std::uint32_t id = next_id++;
    if (name.empty()) name = "s" + std::to_string(id);
    Atom atom;
    atom.symbol = std::make_shared<const Symbol>(Symbol{id, std::move(name), range, divisor});
    const bool bounded = range.high != Range::unbounded_high;
    const std::int64_t low = range.low / divisor + (range.low % divisor != 0);
    // The sum with 0 rounds the bounds outward (range.hpp).
    atom.range = Range{low, bounded ? range.high / divisor : range.high} + Range::of(0);
    atom.hash = mix(hash_of(static_cast<std::int64_t>(AtomKind::symbol)), hash_of(id));
    return make_term(divisor, {std::make_shared<const Atom>(std::move(atom))});
}

std::string Symbol::fault(std::int64_t value) const
{
    std::vector<std::string> wanted;
    if (value < range.low) wanted.push_back("at least (" + std::to_string(range.low) + ")");
    if (value > range.high) wanted.push_back("at most (" + std::to_string(range.high) + ")");
    if (value % divisor != 0) wanted.push_back("a multiple of (" + std::to_string(divisor) + ")");
    if (wanted.empty()) return {};
    std::string text = "(" + name + ") is (" + std::to_string(value) + "): it must be ";
    for (std::size_t i = 0; i < wanted.size(); ++i) text += (i ? " and " : "") + wanted[i];
    return text + ".";
}

std::int64_t Symbol::nearest(std::int64_t value) const
{
    const std::int64_t low = range.low / divisor + (range.low % divisor != 0);
    return std::clamp(value / divisor, low, range.high / divisor) * divisor;
}

const Atom* linear_atom(const Term& term)
{
    return term.monomial->atoms.size() == 1 ? term.monomial->atoms.front().get() : nullptr;
}

std::int64_t common_divisor(std::int64_t a, std::int64_t b)
{
    const auto magnitude = [](std::int64_t n) {
        return n < 0 ? 0 - static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
    };
    const std::uint64_t divisor = std::gcd(magnitude(a), magnitude(b));
    return divisor >> 63 ? 1 : static_cast<std::int64_t>(divisor);
}

std::int64_t common_coefficient(const Dim& dim)
{
    std::int64_t divisor = 0;
    for (const Term& term : terms_of(dim)) divisor = common_divisor(divisor, term.coefficient);
    return divisor;
}

Dim divide_coefficients(const Dim& dim, std::int64_t n)
{
    std::vector<Term> terms;
    for (const Term& term : terms_of(dim)) {
        const std::int64_t quotient = checked_floor_div(term.coefficient, n);
        if (quotient != 0) terms.push_back({quotient, term.monomial});
    }
    return Expression::make(std::move(terms), checked_floor_div(constant_of(dim), n));
}

std::vector<SymbolPtr> symbols_of(const Dim& dim)
{
    std::vector<SymbolPtr> found;
    for (const Term& term : terms_of(dim)) {
        for (const AtomPtr& atom : term.monomial->atoms) {
            if (atom->symbol) found.push_back(atom->symbol);
            for (const Dim& operand : atom->operands) {
                for (SymbolPtr& symbol : symbols_of(operand)) found.push_back(std::move(symbol));
            }
        }
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a->id < b->id; });
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

const Symbol* plain_symbol(const Dim& d)
{
    const auto affine = affine_in_one_symbol(d);
    return affine && affine->offset == 0 && affine->scale == affine->symbol->divisor ? affine->symbol.get()
                                                                                     : nullptr;
}

std::optional<Affine> affine_in_one_symbol(const Dim& d)
{
    const auto terms = terms_of(d);
    if (terms.size() != 1) return std::nullopt;
    const Atom* atom = linear_atom(terms[0]);
    if (!atom || atom->kind != AtomKind::symbol) return std::nullopt;
    return Affine{atom->symbol, terms[0].coefficient, constant_of(d)};
}

namespace {

Dim substitute(const Atom& atom, const Values& values)
{
    if (atom.kind == AtomKind::symbol) {
        const auto found = values.find(atom.symbol->id);
        return found == values.end() ? make_term(1, {std::make_shared<const Atom>(atom)})
                                     : floor_div(found->second, atom.symbol->divisor);
    }
    Dim result = shape::substitute(atom.operands[0], values);
    for (std::size_t i = 1; i < atom.operands.size(); ++i) {
        const Dim operand = shape::substitute(atom.operands[i], values);
        result = atom.kind == AtomKind::floor_div ? floor_div(result, operand)
                 : atom.kind == AtomKind::min     ? min(result, operand)
                                                  : max(result, operand);
    }
    return result;
}

} // namespace

Dim substitute(const Dim& dim, const Values& values)
{
    Dim sum = constant_of(dim);
    for (const Term& term : terms_of(dim)) {
        Dim product = term.coefficient;
        for (const AtomPtr& atom : term.monomial->atoms) product *= substitute(*atom, values);
        sum += product;
    }
    return sum;
}

} // namespace reprise::shape
