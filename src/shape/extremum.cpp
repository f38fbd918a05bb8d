// The canonical form of min and max: p + g * min(a, b, ...).  No operand is provably redundant, and a, b, ... have no
// common summand (for each monomial the smallest coefficient is 0) and no common factor.  So min(x + z, y + z) becomes
// min(x, y) + z.
#include <algorithm>
#include <utility>

#include "shape/bounds.hpp"
#include "shape/checked.hpp"
#include "shape/expression.hpp"

namespace reprise::shape {

namespace {

// Takes the smaller coefficient for each monomial and for the constant; a missing monomial has the coefficient 0.
Dim smaller_coefficients(const Dim& a, const Dim& b)
{
    const Dim difference = a - b;
    Dim result = a - std::max<std::int64_t>(constant_of(difference), 0);
    for (const Term& term : terms_of(difference))
        if (term.coefficient > 0) result -= make_term(term);
    return result;
}

// Appends the operands of a nested extremum: p + c * x and p + c * y for p + c * min(x, y) with c > 0; else `dim`
// itself.
void flatten(AtomKind kind, const Dim& dim, DimVector& operands)
{
    const Term* nested = nullptr;
    for (const Term& term : terms_of(dim)) {
        const Atom* atom = linear_atom(term);
        if (!atom || atom->kind != kind || term.coefficient < 0) continue;
        if (nested) { // a sum of two is not flattened: it would need every pair of their operands
            nested = nullptr;
            break;
        }
        nested = &term;
    }
    if (!nested) {
        operands.push_back(dim);
        return;
    }
    const Dim rest = dim - make_term(*nested);
    for (const Dim& operand : linear_atom(*nested)->operands) {
        operands.push_back(rest + operand * nested->coefficient);
    }
}

void sort(DimVector& operands)
{
    std::sort(operands.begin(), operands.end(), [](const Dim& a, const Dim& b) { return order(a, b) < 0; });
}

// Removes operands that another operand makes redundant.
void drop_dominated(AtomKind kind, DimVector& operands)
{
    std::vector<bool> dropped(operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
        for (std::size_t j = 0; j < operands.size() && !dropped[i]; ++j) {
            if (i == j || dropped[j]) continue;
            const Dim excess = kind == AtomKind::min ? operands[i] - operands[j] : operands[j] - operands[i];
            dropped[i] = excess.at_least(0);
        }
    }
    DimVector remaining;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (!dropped[i]) remaining.push_back(std::move(operands[i]));
    }
    operands = std::move(remaining);
}

Dim extremum(AtomKind kind, const Dim& a, const Dim& b)
{
    DimVector operands;
    flatten(kind, a, operands);
    flatten(kind, b, operands);
    sort(operands);
    operands.erase(std::unique(operands.begin(), operands.end(), std::equal_to<Dim>()), operands.end());
    drop_dominated(kind, operands);
    if (operands.size() == 1) return operands.front();

    Dim shared = operands.front();
    for (const Dim& operand : operands) shared = smaller_coefficients(shared, operand);
    std::int64_t factor = 0;
    for (Dim& operand : operands) {
        operand -= shared;
        factor = common_divisor(factor, constant_of(operand));
        factor = common_divisor(factor, common_coefficient(operand));
    }
    for (Dim& operand : operands) operand = divide_coefficients(operand, factor);
    sort(operands);
    Range range = range_of(operands.front());
    for (const Dim& operand : operands) {
        range = kind == AtomKind::min ? min(range, range_of(operand)) : max(range, range_of(operand));
    }
    return shared + make_atom(kind, std::move(operands), range) * factor;
}

} // namespace

Dim minimum(const Dim& a, const Dim& b) { return extremum(AtomKind::min, a, b); }
Dim maximum(const Dim& a, const Dim& b) { return extremum(AtomKind::max, a, b); }

} // namespace reprise::shape
