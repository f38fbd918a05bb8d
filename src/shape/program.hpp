// Size expressions compiled for evaluation: one instruction per distinct subexpression, in topological order.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <reprise/dim.hpp>

#include "shape/expression.hpp"

namespace reprise::shape {

using Slot = std::uint32_t; // index of an instruction, and of its value

class DimProgram {
public:
    Slot add(const Dim&);
    // Returns the index of a symbol in `symbol_values`; a new symbol gets the next free one.
    std::uint32_t symbol_slot(std::uint32_t id);
    const std::vector<std::uint32_t>& symbols() const noexcept { return symbols_; } // ids, by index
    std::string symbol_name(std::size_t position) const;
    // Returns for each symbol the value nearest to the wanted one that its bounds and divisor allow.
    std::vector<std::int64_t> legal_values(std::int64_t wanted) const;
    std::size_t size() const noexcept { return code_.size(); } // the number of instructions

    // Marks a symbol without a value in `symbol_values`.
    static constexpr std::int64_t no_value = -1;
    // Writes the value of each slot to `values`, whose storage is reused.  Throws Error(argument) if a symbol's value
    // is missing, negative, out of its range or not a multiple of its divisor, if a divisor is 0, or on 64-bit
    // overflow.
    void evaluate(std::span<const std::int64_t> symbol_values, std::vector<std::int64_t>& values) const;
    // Returns the slots that depend on the symbols at these indices, ascending.
    std::vector<Slot> depending_on(std::span<const std::size_t> positions) const;
    // Evaluates only these slots; `values` already has all others.  Does not check the symbols' values.
    void evaluate(std::span<const Slot>, std::span<const std::int64_t> symbol_values,
                  std::vector<std::int64_t>& values) const;

private:
    enum class Op : std::uint8_t {
        constant,   // immediate
        symbol,     // symbol_values[a]
        scale,      // a * immediate
        offset,     // a + immediate
        add,        // a + b
        add_scaled, // a + b * immediate
        multiply,   // a * b
        divide,     // floor(a / immediate), immediate above 0
        divide_by,  // floor(a / b)
        min,
        max,
    };
    struct Instruction {
        std::int64_t immediate = 0;
        Slot a = 0, b = 0;
        Op op = Op::constant;
        bool operator==(const Instruction&) const = default;
    };
    struct InstructionHash {
        std::size_t operator()(const Instruction&) const;
    };

    Slot emit(Op, Slot a, Slot b, std::int64_t immediate);
    Slot add_expression(const Expression&);
    Slot add_monomial(const Monomial&);
    Slot add_atom(const Atom&);
    Slot add_quotient(Slot numerator, std::int64_t divisor); // by a constant above 0
    void check_symbols(std::span<const std::int64_t> symbol_values) const;
    // Returns false on 64-bit overflow or division by 0.
    static bool run(const Instruction&, const std::int64_t* symbol_values, const std::int64_t* value,
                    std::int64_t& result);
    [[noreturn]] void fail_at(const Instruction&, std::span<const std::int64_t> symbol_values,
                              const std::vector<std::int64_t>& values) const;

    std::vector<Instruction> code_;
    std::unordered_map<Instruction, Slot, InstructionHash> slots_;
    std::unordered_map<Dim, Slot> expressions_; // memo: shared subexpressions are walked once
    std::vector<std::uint32_t> symbols_;
    std::vector<SymbolPtr> symbol_data_; // by symbol index; null until an expression with the symbol is added
};

} // namespace reprise::shape
