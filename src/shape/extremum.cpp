// The canonical form of min and max: p + g * min(a, b, ...), where no operand is provably at least another
// and a, b, ... share no additive part (the least coefficient of each monomial is 0) and no factor.  So
// min(x + z, y + z) is min(x, y) + z.
#include <algorithm>
#include <utility>

#include "shape/bounds.hpp"
#include "shape/checked.hpp"
#include "shape/expression.hpp"

namespace reprise::shape {

namespace {

// Of each monomial, and of the constant, the lesser coefficient; 0 counts where a monomial is missing.
Dim least_terms(const Dim& a, const Dim& b)
{
    const Dim difference = a - b;
    Dim least = a - std::max<std::int64_t>(constant_of(difference), 0);
    for (const Term& term : terms_of(difference))
        if (term.coefficient > 0) least -= make_term(term);
    return least;
}

// Appends the operands that a dim stands for: p + c * x and p + c * y for p + c * min(x, y) with c > 0.
void flatten(AtomKind kind, const Dim& dim, DimVector& operands)
{
    const Term* nested = nullptr;
    for (const Term& term : terms_of(dim)) {
        const Atom* atom = linear_atom(term);
        if (!atom || atom->kind != kind || term.coefficient < 0) continue;
        if (nested) { // a sum of two: kept as it is, the product of their operands would grow
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

// Drops what an operand that stays makes superfluous.
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
    DimVector kept;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (!dropped[i]) kept.push_back(std::move(operands[i]));
    }
    operands = std::move(kept);
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
    for (const Dim& operand : operands) shared = least_terms(shared, operand);
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
