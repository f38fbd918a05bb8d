#include "shape/program.hpp"

#include <algorithm>
#include <string>

#include <reprise/error.hpp>

#include "shape/checked.hpp"
#include "shape/hash.hpp"

namespace reprise::shape {

std::size_t DimProgram::InstructionHash::operator()(const Instruction& i) const
{
    const std::int64_t operands = static_cast<std::int64_t>(std::uint64_t{i.a} << 32 | i.b);
    return mix(mix(hash_of(i.immediate), hash_of(operands)), static_cast<std::size_t>(i.op));
}

Slot DimProgram::emit(Op op, Slot a, Slot b, std::int64_t immediate)
{
    const Instruction instruction{immediate, a, b, op};
    const auto [found, added] = slots_.try_emplace(instruction, static_cast<Slot>(code_.size()));
    if (added) code_.push_back(instruction);
    return found->second;
}

std::uint32_t DimProgram::symbol_slot(std::uint32_t id)
{
    const auto found = std::find(symbols_.begin(), symbols_.end(), id);
    const auto position = static_cast<std::uint32_t>(found - symbols_.begin());
    if (found == symbols_.end()) {
        symbols_.push_back(id);
        symbol_data_.push_back(nullptr);
    }
    return position;
}

Slot DimProgram::add(const Dim& dim)
{
    if (dim.is_constant()) return emit(Op::constant, 0, 0, dim.value());
    if (const auto found = expressions_.find(dim); found != expressions_.end()) return found->second;
    const Slot slot = add_expression(*dim.expression());
    expressions_.emplace(dim, slot);
    return slot;
}

Slot DimProgram::add_expression(const Expression& expression)
{
    Slot sum = 0;
    bool first = true;
    for (const Term& term : expression.terms) {
        const Slot slot = add_monomial(*term.monomial);
        const std::int64_t c = term.coefficient;
        if (first) {
            sum = c == 1 ? slot : emit(Op::scale, slot, 0, c);
        } else {
            sum = c == 1 ? emit(Op::add, sum, slot, 0) : emit(Op::add_scaled, sum, slot, c);
        }
        first = false;
    }
    return expression.constant == 0 ? sum : emit(Op::offset, sum, 0, expression.constant);
}

Slot DimProgram::add_monomial(const Monomial& monomial)
{
    Slot product = add_atom(*monomial.atoms.front());
    for (std::size_t i = 1; i < monomial.atoms.size(); ++i) {
        product = emit(Op::multiply, product, add_atom(*monomial.atoms[i]), 0);
    }
    return product;
}

Slot DimProgram::add_atom(const Atom& atom)
{
    if (atom.kind == AtomKind::symbol) {
        const std::uint32_t position = symbol_slot(atom.symbol->id);
        symbol_data_[position] = atom.symbol;
        return add_quotient(emit(Op::symbol, position, 0, 0), atom.symbol->divisor);
    }
    Slot result = add(atom.operands[0]);
    if (atom.kind == AtomKind::floor_div) {
        const Dim& divisor = atom.operands[1];
        if (!divisor.is_constant()) return emit(Op::divide_by, result, add(divisor), 0);
        return add_quotient(result, divisor.value());
    }
    for (std::size_t i = 1; i < atom.operands.size(); ++i) {
        result = emit(atom.kind == AtomKind::min ? Op::min : Op::max, result, add(atom.operands[i]), 0);
    }
    return result;
}

Slot DimProgram::add_quotient(Slot numerator, std::int64_t divisor)
{
    return divisor == 1 ? numerator : emit(Op::divide, numerator, 0, divisor);
}

std::string DimProgram::symbol_name(std::size_t position) const
{
    const SymbolPtr& symbol = symbol_data_[position];
    return symbol ? symbol->name : "symbol " + std::to_string(symbols_[position]);
}

std::vector<std::int64_t> DimProgram::legal_values(std::int64_t wanted) const
{
    std::vector<std::int64_t> values;
    for (const SymbolPtr& symbol : symbol_data_) values.push_back(symbol ? symbol->nearest(wanted) : wanted);
    return values;
}

void DimProgram::check_symbols(std::span<const std::int64_t> symbol_values) const
{
    if (symbol_values.size() < symbols_.size()) {
        detail::fail(ErrorKind::argument, "size", "(", symbol_values.size(), ") values are given for (",
                     symbols_.size(), ") symbols: give one for each.");
    }
    for (std::size_t i = 0; i < symbols_.size(); ++i) {
        const Symbol* symbol = symbol_data_[i].get();
        const std::int64_t value = symbol_values[i];
        if (value == no_value)
            detail::fail(ErrorKind::argument, "size", "The symbol (", symbol_name(i),
                         ") has no value: give it one.");
        if (value < 0)
            detail::fail(ErrorKind::argument, "size", "The symbol (", symbol_name(i), ") is (", value,
                         "): a size is at least 0.");
        if (!symbol || (value >= symbol->range.low && value <= symbol->range.high &&
                        (symbol->divisor == 1 || value % symbol->divisor == 0)))
            continue;
        detail::fail(ErrorKind::argument, "size", symbol->fault(value));
    }
}

inline bool DimProgram::run(const Instruction& i, const std::int64_t* symbol_values,
                            const std::int64_t* value, std::int64_t& result)
{
    switch (i.op) {
    case Op::constant: result = i.immediate; return true;
    case Op::symbol: result = symbol_values[i.a]; return true;
    case Op::scale: return !multiply_overflows(value[i.a], i.immediate, result);
    case Op::offset: return !add_overflows(value[i.a], i.immediate, result);
    case Op::add: return !add_overflows(value[i.a], value[i.b], result);
    case Op::add_scaled:
        return !multiply_overflows(value[i.b], i.immediate, result) &&
               !add_overflows(value[i.a], result, result);
    case Op::multiply: return !multiply_overflows(value[i.a], value[i.b], result);
    case Op::divide: floor_div_overflows(value[i.a], i.immediate, result); return true;
    case Op::divide_by: return value[i.b] != 0 && !floor_div_overflows(value[i.a], value[i.b], result);
    case Op::min: result = std::min(value[i.a], value[i.b]); return true;
    case Op::max: result = std::max(value[i.a], value[i.b]); return true;
    }
    return false;
}

void DimProgram::evaluate(std::span<const std::int64_t> symbol_values,
                          std::vector<std::int64_t>& values) const
{
    check_symbols(symbol_values);
    values.resize(code_.size());
    std::int64_t* next = values.data();
    for (const Instruction& i : code_) {
        if (!run(i, symbol_values.data(), values.data(), *next)) [[unlikely]]
            fail_at(i, symbol_values, values);
        ++next;
    }
}

std::vector<Slot> DimProgram::depending_on(std::span<const std::size_t> positions) const
{
    std::vector<bool> depends(code_.size());
    std::vector<Slot> slots;
    for (Slot s = 0; s < code_.size(); ++s) {
        const Instruction& i = code_[s];
        switch (i.op) {
        case Op::constant: break;
        case Op::symbol:
            depends[s] = std::find(positions.begin(), positions.end(), i.a) != positions.end();
            break;
        case Op::scale:
        case Op::offset:
        case Op::divide: depends[s] = depends[i.a]; break;
        default: depends[s] = depends[i.a] || depends[i.b];
        }
        if (depends[s]) slots.push_back(s);
    }
    return slots;
}

void DimProgram::evaluate(std::span<const Slot> slots, std::span<const std::int64_t> symbol_values,
                          std::vector<std::int64_t>& values) const
{
    for (const Slot s : slots)
        if (!run(code_[s], symbol_values.data(), values.data(), values[s])) [[unlikely]]
            fail_at(code_[s], symbol_values, values);
}

void DimProgram::fail_at(const Instruction& i, std::span<const std::int64_t> symbol_values,
                         const std::vector<std::int64_t>& values) const
{
    std::string where;
    for (std::size_t s = 0; s < symbols_.size(); ++s) {
        where += (s ? ", " : "") + symbol_name(s) + " = " + std::to_string(symbol_values[s]);
    }
    if (i.op == Op::divide_by && values[i.b] == 0) {
        detail::fail(ErrorKind::argument, "size", "(", values[i.a], ") is divided by (0) at (", where,
                     "): use sizes that leave a divisor above 0.");
    }
    const bool binary = i.op == Op::add || i.op == Op::multiply || i.op == Op::divide_by;
    const bool sum = i.op == Op::offset || i.op == Op::add;
    detail::fail(ErrorKind::argument, "size", "The ",
                 sum                      ? "sum"
                 : i.op == Op::add_scaled ? "scaled sum"
                 : i.op == Op::divide_by  ? "quotient"
                                          : "product",
                 " of (", values[i.a], ") and (", binary ? values[i.b] : i.immediate,
                 ") exceeds 64 bits at (", where, "): use smaller sizes.");
}

} // namespace reprise::shape
