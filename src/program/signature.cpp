#include "program/signature.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

#include <reprise/error.hpp>

#include "shape/expression.hpp"

namespace reprise::program {

using shape::Guard;
using shape::SymbolPtr;

namespace {

constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::min();

} // namespace

Signature::Signature(std::vector<Spec> inputs, DimVector sizes, std::vector<Guard> guards)
    : inputs_(std::move(inputs)), sizes_(std::move(sizes)), guards_(std::move(guards))
{
    find_binding_dims();
    for (const Guard& g : guards_) {
        require_defined(g.a);
        require_defined(g.b);
        conditions_.push_back({program_.add(g.a), program_.add(g.b)});
    }
    for (const std::uint32_t id : program_.symbols()) positions_.push_back(find(id));
}

std::size_t Signature::find(std::uint32_t symbol) const
{
    const auto found =
        std::find_if(symbols_.begin(), symbols_.end(), [&](const auto& s) { return s->id == symbol; });
    return static_cast<std::size_t>(found - symbols_.begin());
}

std::size_t Signature::position(const SymbolPtr& symbol)
{
    const std::size_t at = find(symbol->id);
    if (at == symbols_.size()) symbols_.push_back(symbol);
    return at;
}

// Symbols are defined by the caller's numbers and by sizes that are a single symbol, then, for the remaining symbols,
// by sizes that can be solved for one. All other sizes are derived.
void Signature::find_binding_dims()
{
    for (const Dim& d : sizes_) {
        if (!shape::plain_symbol(d))
            detail::fail(ErrorKind::argument, "record", "The size (", d,
                         ") that a call is to give is no symbol alone: make one with symbol().");
        if (position(shape::symbols_of(d).front()) + 1 < symbols_.size())
            detail::fail(ErrorKind::argument, "record", "The size (", d,
                         ") is to be given twice: give it once.");
    }
    std::vector<Size> others;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
        for (std::size_t d = 0; d < inputs_[i].shape.size(); ++d) {
            const Dim& want = inputs_[i].shape[d];
            Size size{.input = i, .dim = d};
            if (want.is_constant()) size.value = want.value();
            if (!shape::plain_symbol(want)) {
                (want.is_constant() ? checks_ : others).push_back(size);
                continue;
            }
            const SymbolPtr symbol = shape::symbols_of(want).front();
            size.role = Size::Role::given;
            size.scale = symbol->divisor;
            size.symbol = position(symbol);
            checks_.push_back(size);
        }
    for (Size& size : others) {
        const auto affine = shape::affine_in_one_symbol(inputs_[size.input].shape[size.dim]);
        size.role = Size::Role::derived;
        if (!affine || find(affine->symbol->id) < symbols_.size()) continue;
        size.role = Size::Role::given;
        size.scale = affine->scale;
        size.value = affine->offset;
        size.symbol = position(affine->symbol);
    }
    for (Size& size : others) {
        const Dim& want = inputs_[size.input].shape[size.dim];
        require_defined(want);
        if (size.role == Size::Role::derived) size.slot = program_.add(want);
    }
    std::stable_partition(others.begin(), others.end(),
                          [](const Size& s) { return s.role == Size::Role::given; });
    checks_.insert(checks_.end(), others.begin(), others.end());
}

void Signature::require_defined(const Dim& d) const
{
    for (const SymbolPtr& symbol : shape::symbols_of(d))
        if (find(symbol->id) == symbols_.size())
            detail::fail(ErrorKind::argument, "record", "The size (", d, ") depends on the symbol (",
                         symbol->name,
                         ") that no call would give: let a size of a spec be it alone, or as in (",
                         symbol->name, " * 2 + 1), or take it as an argument of the function.");
}

std::string Signature::location(const Size& s) const
{
    return "dimension (" + std::to_string(s.dim) + ") of input (" + std::to_string(s.input) + ")";
}

std::int64_t Signature::solved(const Size& s, std::int64_t found) const
{
    const std::int64_t rest = found - s.value, divisor = symbols_[s.symbol]->divisor;
    if (s.scale == divisor && s.value == 0) return found;
    if (rest % s.scale != 0)
        detail::fail(ErrorKind::shape, "program", "The size (", found, ") by ", location(s), " cannot be (",
                     inputs_[s.input].shape[s.dim], ") for any integer (", symbols_[s.symbol]->name, ").");
    return rest / s.scale * divisor;
}

template <class Where> void Signature::set_symbol(std::size_t symbol, std::int64_t value, const Where& where)
{
    const std::string fault = symbols_[symbol]->fault(value);
    if (!fault.empty())
        detail::fail(ErrorKind::shape, "program", "The size given by ", where(),
                     " does not fit its symbol: ", fault);
    values_[symbol] = value;
}

void Signature::set_symbol(const Size& s, std::int64_t found)
{
    const std::int64_t value = solved(s, found);
    if (values_[s.symbol] == value) return;
    if (values_[s.symbol] != unknown)
        detail::fail(ErrorKind::shape, "program", "The size (", symbols_[s.symbol]->name, ") is (",
                     values_[s.symbol], ") by an earlier input but (", value, ") by ", location(s),
                     ": give inputs of one size.");
    set_symbol(s.symbol, value, [&] { return location(s); });
}

const std::vector<std::int64_t>& Signature::bind(std::span<const Shape* const> inputs,
                                                 std::span<const std::int64_t> sizes)
{
    values_.assign(symbols_.size(), unknown);
    for (std::size_t i = 0; i < sizes.size(); ++i)
        set_symbol(i, sizes[i], [i] { return "number (" + std::to_string(i) + ")"; });
    bool evaluated = false;
    for (const Size& s : checks_) {
        const std::int64_t found = (*inputs[s.input])[s.dim].value();
        if (s.role == Size::Role::given) {
            set_symbol(s, found);
            continue;
        }
        if (s.role == Size::Role::derived && !evaluated) {
            evaluate();
            evaluated = true;
        }
        const std::int64_t want = s.role == Size::Role::constant ? s.value : slots_[s.slot];
        if (found != want)
            detail::fail(ErrorKind::shape, "program", "Dimension (", s.dim, ") of input (", s.input, ") is (",
                         found, ") but the program was recorded with (", inputs_[s.input].shape[s.dim],
                         ") = (", want, ").");
    }
    if (!evaluated) evaluate();
    for (std::size_t i = 0; i < guards_.size(); ++i) {
        const std::int64_t a = slots_[conditions_[i].a], b = slots_[conditions_[i].b];
        if (!shape::holds(guards_[i].relation, a, b)) [[unlikely]]
            fail(guards_[i], a, b);
    }
    return values_;
}

shape::Values Signature::bind_symbolic(std::span<const Shape* const> inputs, std::span<const Dim> sizes) const
{
    shape::Values values;
    const auto set_symbol = [&](const SymbolPtr& symbol, const Dim& value, const std::string& where) {
        const auto describe = [&] {
            return "The size (" + value.text() + ") given by " + where + " does not fit the symbol (" +
                   symbol->name + "): it must be within its bounds, and one everywhere.";
        };
        if (const auto found = values.find(symbol->id); found != values.end())
            return shape::require_equal("program", found->second, value, describe);
        shape::require_at_least("program", value, symbol->range.low, describe);
        if (symbol->range.high != shape::Range::unbounded_high)
            shape::require_at_least("program", symbol->range.high, value, describe);
        shape::require_multiple("program", value, symbol->divisor, describe);
        values.emplace(symbol->id, value);
    };
    for (std::size_t i = 0; i < sizes.size(); ++i)
        set_symbol(symbols_[i], sizes[i], "number (" + std::to_string(i) + ")");
    for (const Size& s : checks_) {
        const Dim &found = (*inputs[s.input])[s.dim], &want = inputs_[s.input].shape[s.dim];
        const auto describe = [&] {
            return "The size (" + found.text() + ") by " + location(s) + " is not what was recorded, (" +
                   want.text() + ").";
        };
        if (s.role != Size::Role::given) {
            shape::require_equal("program", found, shape::substitute(want, values), describe);
            continue;
        }
        const SymbolPtr& symbol = symbols_[s.symbol];
        shape::require_multiple("program", found - s.value, s.scale, describe);
        const bool alone = s.scale == symbol->divisor && s.value == 0;
        set_symbol(symbol, alone ? found : floor_div(found - s.value, s.scale) * symbol->divisor,
                   location(s));
    }
    for (const Guard& g : guards_)
        shape::require(
            {g.relation, shape::substitute(g.a, values), shape::substitute(g.b, values), g.reason});
    return values;
}

// Evaluates the size program. If this fails, as in a division by 0, a guard that does not hold at this call is reported
// instead.
void Signature::evaluate()
{
    ordered_.clear();
    for (const std::size_t i : positions_) ordered_.push_back(values_[i]);
    try {
        program_.evaluate(ordered_, slots_);
    } catch (const Error&) {
        const auto value = [&](std::uint32_t id) { return values_[find(id)]; };
        for (const Guard& g : guards_) {
            const std::int64_t a = g.a.evaluate(value), b = g.b.evaluate(value);
            if (!shape::holds(g.relation, a, b)) fail(g, a, b);
        }
        throw;
    }
}

std::string Signature::values_of(const Dim& a, const Dim& b) const
{
    std::string text;
    for (std::size_t i = 0; i < symbols_.size(); ++i)
        for (const Dim* d : {&a, &b}) {
            const auto ids = d->symbols();
            if (std::find(ids.begin(), ids.end(), symbols_[i]->id) == ids.end()) continue;
            text += (text.empty() ? "" : ", ") + symbols_[i]->name + " = " + std::to_string(values_[i]);
            break;
        }
    return text;
}

void Signature::fail(const Guard& g, std::int64_t a, std::int64_t b) const
{
    throw Error(ErrorKind::shape,
                g.reason + " At this call " + g.fault(a, b) + ", where " + values_of(g.a, g.b) + ".");
}

std::string Signature::text() const
{
    std::ostringstream out;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
        out << "input " << i << "  " << name_of(inputs_[i].dtype) << to_string(inputs_[i].shape) << '\n';
    for (const SymbolPtr& s : symbols_) {
        out << "symbol " << s->name << " >= " << s->range.low;
        if (s->range.high != shape::Range::unbounded_high) out << ", <= " << s->range.high;
        if (s->divisor != 1) out << ", a multiple of " << s->divisor;
        out << '\n';
    }
    for (const Guard& g : guards_) out << "guard " << g.condition() << "  " << g.reason << '\n';
    return out.str();
}

} // namespace reprise::program
