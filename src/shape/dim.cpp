#include <reprise/dim.hpp>

#include <algorithm>
#include <string>

#include <reprise/error.hpp>

#include "shape/bounds.hpp"
#include "shape/expression.hpp"
#include "shape/guard.hpp"
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
    detail::fail(
        ErrorKind::state, "size", "(", dim,
        ") is known at each call only: keep it as a Dim, which shapes, other sizes and arithmetic with "
        "tensors take.");
}

void fail_narrow(std::int64_t value, std::size_t bytes)
{
    detail::fail(ErrorKind::argument, "size", "(", value, ") does not fit into an integer of (", bytes,
                 ") bytes: use std::int64_t.");
}

namespace {

[[noreturn]] void fail_undecided(const std::string& a, const std::string& b)
{
    detail::fail(
        ErrorKind::state, "size", "The comparison of (", a, ") with (", b,
        ") depends on a size that is known at each call only: give the symbol the bounds that decide it, ask "
        "what is known with same(), is_constant(), at_least() or at_most(), or record a function for each "
        "case.");
}

bool decided(Verdict verdict, const Dim& a, const Dim& b)
{
    if (verdict == Verdict::open) fail_undecided(a.text(), b.text());
    return verdict == Verdict::holds;
}

} // namespace

bool decided_equal(const Dim& a, const Dim& b)
{
    return same(a, b) || decided(decide(Relation::equal, a, b), a, b);
}

bool decided_less(const Dim& a, const Dim& b) { return !decided(decide(Relation::at_least, a, b), a, b); }

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
    if (b.is_constant() && !same(b, 0) && a.divisible_by(b.value())) return 0;
    return a - b * floor_div(a, b);
}

Dim symbol(const std::string& name, const SymbolOptions& options)
{
    const auto& [min, max, multiple_of] = options;
    const char* fault = nullptr;
    if (min < 0 || multiple_of < 1) fault = "give bounds from 0 and multiples of 1 or more.";
    else if (max / multiple_of < min / multiple_of + (min % multiple_of != 0))
        fault = "no size is all of it.";
    if (fault)
        detail::fail(ErrorKind::argument, "symbol", "The symbol (", name, ") is to be at least (", min,
                     "), at most (", max, ") and a multiple of (", multiple_of, "): ", fault);
    return shape::make_symbol(name, {min, max}, multiple_of);
}

bool same(const Shape& a, const Shape& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Dim& x, const Dim& y) { return same(x, y); });
}

bool operator==(const Shape& a, const Shape& b)
{
    if (a.size() != b.size()) return false;
    bool open = false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (same(a[i], b[i])) continue;
        const shape::Verdict verdict = shape::decide(shape::Relation::equal, a[i], b[i]);
        if (verdict == shape::Verdict::fails) return false;
        open |= verdict == shape::Verdict::open;
    }
    if (open) shape::fail_undecided(to_string(a), to_string(b));
    return true;
}

} // namespace reprise
