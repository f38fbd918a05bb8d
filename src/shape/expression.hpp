// The canonical form of a Dim that is not a constant: a polynomial with integer coefficients,
//
//     expression = sum of terms + constant       terms in descending order of their monomials, none 0
//     term       = coefficient * monomial
//     monomial   = product of atoms              sorted, a power is a repetition
//     atom       = symbol | floor_div(a, b) | min(a, b, ...) | max(a, b, ...)   of canonical operands
//
// All nodes are immutable and shared; each holds its hash.  The order of monomials is by degree, then
// lexicographic: products keep it, which the division of polynomials needs.  It depends on symbol ids and
// structure only, never on addresses.
#pragma once
#include <atomic>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <reprise/dim.hpp>

#include "shape/range.hpp"

namespace reprise::shape {

struct Symbol {
    std::uint32_t id = 0;
    std::string name;
    Range range{0, Range::unbounded_high}; // values outside are refused at evaluation
    std::int64_t divisor = 1;              // of every value

    // What is wrong with a value: "(seq) is (5000): it must be at most (4096)."; empty for a legal one.
    std::string fault(std::int64_t value) const;
    std::int64_t nearest(std::int64_t value) const; // that is legal
};
using SymbolPtr = std::shared_ptr<const Symbol>;

enum class AtomKind : std::uint8_t { symbol, floor_div, min, max };

struct Atom {
    AtomKind kind = AtomKind::symbol;
    SymbolPtr symbol;   // the atom is the symbol's value over its divisor: what is known of it divides
    DimVector operands; // floor_div: numerator and divisor; min, max: two or more, in order
    Range range;
    std::size_t hash = 0;
};
using AtomPtr = std::shared_ptr<const Atom>;

struct Monomial {
    std::vector<AtomPtr> atoms; // at least one
    std::size_t hash = 0;
};
using MonomialPtr = std::shared_ptr<const Monomial>;

struct Term {
    std::int64_t coefficient = 0;
    MonomialPtr monomial;
};

struct Expression {
    std::vector<Term> terms; // at least one
    std::int64_t constant = 0;
    std::size_t hash = 0;
    mutable std::atomic<std::uint32_t> dims = 0; // that refer to it

    static Dim make(std::vector<Term> canonical_terms, std::int64_t constant); // a constant without terms
};

// Uniform views of constants and expressions.
std::span<const Term> terms_of(const Dim&);
std::int64_t constant_of(const Dim&);

std::strong_ordering order(const Dim&, const Dim&); // total, for sorting; not by value
bool same(const Atom&, const Atom&);
bool same(const Monomial&, const Monomial&);

Dim add_multiple(const Dim& a, const Dim& b, std::int64_t factor);          // a + b * factor
Dim make_term(std::int64_t coefficient, std::vector<AtomPtr> sorted_atoms); // without atoms: the constant
Dim make_term(const Term&);
Dim make_atom(AtomKind kind, DimVector canonical_operands, const Range& range);
Dim make_symbol(std::string name, const Range& range, std::int64_t divisor);

// The atom of a term that is linear in it (a monomial of one atom), else null.
const Atom* linear_atom(const Term&);

// Greatest common divisor of magnitudes; 1 where it would not fit.
std::int64_t common_divisor(std::int64_t a, std::int64_t b);
// That of all coefficients, without the constant; 0 of a constant.
std::int64_t common_coefficient(const Dim&);
// Every coefficient and the constant over n, rounded toward minus infinity.
Dim divide_coefficients(const Dim&, std::int64_t n);

// numerator = quotient * divisor + remainder, as polynomials.  A term of the remainder that the divisor's
// leading term divides has a coefficient from 0 to below that of the leading term, which must be above 0.
struct Division {
    Dim quotient, remainder;
};
Division divide(const Dim& numerator, const Dim& divisor);
// The quotient where the remainder is provably 0, at a divisor of 0 as well.
std::optional<Dim> divide_exactly(const Dim& numerator, const Dim& divisor);

// The symbol, where the size is nothing but one; else null.
const Symbol* plain_symbol(const Dim&);
std::vector<SymbolPtr> symbols_of(const Dim&); // ascending by id, each once

// scale * symbol / its divisor + offset: a size that a symbol can be solved for.
struct Affine {
    SymbolPtr symbol;
    std::int64_t scale = 0, offset = 0;
};
std::optional<Affine> affine_in_one_symbol(const Dim&);

// With these values in place of symbols; a value is taken to be a multiple of its symbol's divisor.
using Values = std::unordered_map<std::uint32_t, Dim>;
Dim substitute(const Dim&, const Values&);

} // namespace reprise::shape
