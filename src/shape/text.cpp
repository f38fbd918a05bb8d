// Sizes as text for users: "batch * 196 + 3", "floor(seq + 7, 8)", "3 - batch".
#include <ostream>

#include "shape/expression.hpp"

namespace reprise {

namespace shape {

namespace {

std::string text_of(const Atom& atom)
{
    if (atom.symbol) return atom.symbol->name;
    std::string text = atom.kind == AtomKind::floor_div ? "floor("
                       : atom.kind == AtomKind::min     ? "min("
                                                        : "max(";
    for (std::size_t i = 0; i < atom.operands.size(); ++i) text += (i ? ", " : "") + atom.operands[i].text();
    return text + ")";
}

// Omits the sign.  For a symbol that is a multiple of 8 the atom is symbol / 8, so a coefficient of 16 is printed as
// symbol * 2.
std::string text_of(const Term& term)
{
    std::string text;
    std::int64_t coefficient = term.coefficient;
    for (const AtomPtr& atom : term.monomial->atoms) {
        text += (text.empty() ? "" : " * ") + text_of(*atom);
        if (!atom->symbol) continue;
        const std::int64_t shared = common_divisor(coefficient, atom->symbol->divisor);
        coefficient /= shared;
        if (atom->symbol->divisor != shared) text += " / " + std::to_string(atom->symbol->divisor / shared);
    }
    if (coefficient == 1 || coefficient == -1) return text;
    std::string number = std::to_string(coefficient);
    return text + " * " + (number[0] == '-' ? number.substr(1) : number);
}

} // namespace

} // namespace shape

std::string Dim::text() const
{
    if (is_constant()) return std::to_string(constant_);
    std::string text;
    const auto append = [&text](bool negative, const std::string& part) {
        text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
        text += part;
    };
    const std::string constant = std::to_string(expression_->constant);
    for (const auto& term : expression_->terms) {
        if (term.coefficient > 0) append(false, shape::text_of(term));
    }
    if (expression_->constant > 0) append(false, constant);
    for (const auto& term : expression_->terms) {
        if (term.coefficient < 0) append(true, shape::text_of(term));
    }
    if (expression_->constant < 0) append(true, constant.substr(1));
    return text;
}

std::ostream& operator<<(std::ostream& stream, const Dim& dim) { return stream << dim.text(); }

std::string to_string(const Shape& sizes)
{
    std::string text = "[";
    for (std::size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + sizes[i].text();
    return text + "]";
}

} // namespace reprise
