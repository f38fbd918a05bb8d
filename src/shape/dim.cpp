#include <reprise/dim.hpp>

#include <sstream>

#include <reprise/error.hpp>

#include "shape/expression.hpp"
#include "shape/hash.hpp"
#include "shape/program.hpp"

namespace reprise {

namespace shape {

void fail_too_large(unsigned long long value)
{
    detail::fail(ErrorKind::argument, "size", "(", value, ") exceeds the largest size (",
                 Range::unbounded_high, "): use a smaller one.");
}

void fail_not_constant(const Dim& dim)
{
    detail::fail(ErrorKind::state, "size", "(", dim, ") is known at the call only: keep it as a Dim.");
}

} // namespace shape

std::int64_t Dim::evaluate(const std::function<std::int64_t(std::uint32_t)>& values) const
{
    if (is_constant()) return constant_;
    shape::DimProgram program;
    const shape::Slot slot = program.add(*this);
    std::vector<std::int64_t> symbol_values, slots;
    for (const std::uint32_t id : program.symbols()) symbol_values.push_back(values ? values(id) : -1);
    program.evaluate(symbol_values, slots);
    return slots[slot];
}

bool Dim::is_symbol() const { return shape::plain_symbol(*this) != nullptr; }

bool Dim::divisible_by(std::int64_t n) const
{
    if (n == 0) {
        detail::fail(ErrorKind::argument, "divisible_by", "Nothing is divisible by (0): use another number.");
    }
    if (shape::constant_of(*this) % (n == -1 ? 1 : n) != 0) return false;
    for (const auto& term : shape::terms_of(*this))
        if (term.coefficient % (n == -1 ? 1 : n) != 0) return false;
    return true;
}

bool Dim::at_least(std::int64_t n) const
{
    return is_constant() ? constant_ >= n : shape::range_of(*this).low >= n;
}

bool Dim::at_most(std::int64_t n) const
{
    return is_constant() ? constant_ <= n : shape::range_of(*this).high <= n;
}

std::vector<std::uint32_t> Dim::symbols() const
{
    std::vector<std::uint32_t> ids;
    for (const auto& symbol : shape::symbols_of(*this)) ids.push_back(symbol->id);
    return ids;
}

std::size_t Dim::hash() const { return is_constant() ? shape::hash_of(constant_) : expression_->hash; }

Dim ceil_div(const Dim& a, const Dim& b) { return floor_div(a + b - 1, b); }

Dim round_up(const Dim& a, std::int64_t n)
{
    if (n < 1) detail::fail(ErrorKind::argument, "round_up", "(", n, ") has no multiples: use 1 or more.");
    return a.divisible_by(n) ? a : ceil_div(a, n) * n;
}

Dim mod(const Dim& a, const Dim& b)
{
    if (b.is_constant() && b != 0 && a.divisible_by(b.value())) return 0;
    return a - b * floor_div(a, b);
}

Dim symbol(const std::string& name, const SymbolOptions& options)
{
    const auto& [min, max, multiple_of] = options;
    const auto describe = [&] {
        std::ostringstream text;
        text << "The symbol (" << name << ") is to be at least (" << min << "), at most (" << max
             << ") and a multiple of (" << multiple_of << "): ";
        return text.str();
    };
    if (min < 0 || multiple_of < 1)
        detail::fail(ErrorKind::argument, "symbol", describe(),
                     "give bounds from 0 and multiples of 1 or more.");
    if (max / multiple_of < min / multiple_of + (min % multiple_of != 0))
        detail::fail(ErrorKind::argument, "symbol", describe(), "no size is all of it.");
    return shape::make_symbol(name, {min, max}, multiple_of);
}

} // namespace reprise
