// The canonical form of a Dim that is not a constant: a polynomial with integer coefficients,
//
//     expression = sum of terms + constant       terms in descending order of their monomials, no coefficient 0
//     term       = coefficient * monomial
//     monomial   = product of atoms              sorted; a power is written as repeated atoms
//     atom       = symbol | floor_div(a, b) | min(a, b, ...) | max(a, b, ...)   with canonical operands
//
// All nodes are immutable and shared; each stores its hash.  Monomials are in graded lexicographic order, a monomial
// order: multiplication preserves it, as polynomial division requires.  It depends on symbol ids and structure only,
// never on addresses.
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
    Range range{0, Range::unbounded_high}; // evaluation rejects values outside of it
    std::int64_t divisor = 1;              // every value is a multiple of it

    // Returns why a value is invalid: "(seq) is (5000): it must be at most (4096)."; empty for a valid value.
    std::string fault(std::int64_t value) const;
    std::int64_t nearest(std::int64_t value) const; // the nearest valid value
};
using SymbolPtr = std::shared_ptr<const Symbol>;

enum class AtomKind : std::uint8_t { symbol, floor_div, min, max };

struct Atom {
    AtomKind kind = AtomKind::symbol;
    // The atom's value is the symbol's value divided by its divisor, so that divisibility can be proved.
    SymbolPtr symbol;
    DimVector operands; // floor_div: numerator and divisor; min, max: two or more, sorted
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
    mutable std::atomic<std::uint32_t> dims = 0; // reference count: the Dims that point to it

    static Dim make(std::vector<Term> canonical_terms, std::int64_t constant); // no terms: a constant
};

// The terms and the constant of any Dim; a constant has no terms.
std::span<const Term> terms_of(const Dim&);
std::int64_t constant_of(const Dim&);

std::strong_ordering order(const Dim&, const Dim&); // a total order of structures, for sorting; not by value
bool same(const Atom&, const Atom&);
bool same(const Monomial&, const Monomial&);

Dim add_multiple(const Dim& a, const Dim& b, std::int64_t factor);          // a + b * factor
Dim make_term(std::int64_t coefficient, std::vector<AtomPtr> sorted_atoms); // without atoms: a constant
Dim make_term(const Term&);
Dim make_atom(AtomKind kind, DimVector canonical_operands, const Range& range);
Dim make_symbol(std::string name, const Range& range, std::int64_t divisor);

// Returns the atom of a term whose monomial is a single atom, else null.
const Atom* linear_atom(const Term&);

// Returns the greatest common divisor of the magnitudes; 1 if it does not fit into 64 bits.
std::int64_t common_divisor(std::int64_t a, std::int64_t b);
// Returns the greatest common divisor of all coefficients, without the constant term; 0 for a constant.
std::int64_t common_coefficient(const Dim&);
// Divides every coefficient and the constant by n, rounding toward minus infinity.
Dim divide_coefficients(const Dim&, std::int64_t n);

// numerator = quotient * divisor + remainder, as polynomials.  The divisor's leading coefficient must be above 0.  In
// the remainder a term that the divisor's leading monomial divides has a coefficient from 0 to below the leading one.
struct Division {
    Dim quotient, remainder;
};
Division divide(const Dim& numerator, const Dim& divisor);
// Returns the quotient if the remainder is provably 0, even at values where the divisor is 0.
std::optional<Dim> divide_exactly(const Dim& numerator, const Dim& divisor);

// Returns the symbol if the size is exactly one symbol, else null.
const Symbol* plain_symbol(const Dim&);
std::vector<SymbolPtr> symbols_of(const Dim&); // ascending by id, each once

// The size scale * symbol / symbol->divisor + offset, which can be solved for the symbol.
struct Affine {
    SymbolPtr symbol;
    std::int64_t scale = 0, offset = 0;
};
std::optional<Affine> affine_in_one_symbol(const Dim&);

// Replaces symbols by these values (by symbol id); a value is assumed to be a multiple of its symbol's divisor.
using Values = std::unordered_map<std::uint32_t, Dim>;
Dim substitute(const Dim&, const Values&);

} // namespace reprise::shape
