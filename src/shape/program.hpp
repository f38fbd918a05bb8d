// Sizes compiled for evaluation: each distinct subexpression is one instruction, in topological order.
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
    // The position of a symbol in `symbol_values`, given to it when it is first queried or met.
    std::uint32_t symbol_slot(std::uint32_t id);
    const std::vector<std::uint32_t>& symbols() const noexcept { return symbols_; } // ids by position
    std::string symbol_name(std::size_t position) const;
    // By position: for each symbol the value nearest to the wanted one that its bounds allow.
    std::vector<std::int64_t> legal_values(std::int64_t wanted) const;
    std::size_t size() const noexcept { return code_.size(); } // instructions

    // In place of a symbol's value: it has none.
    static constexpr std::int64_t no_value = -1;
    // Writes the value of each slot; keeps the storage of `values` from call to call.  Throws Error(argument)
    // where a symbol's value is missing, below 0 or out of its range, where a divisor is 0 and where a value
    // exceeds 64 bits.
    void evaluate(std::span<const std::int64_t> symbol_values, std::vector<std::int64_t>& values) const;
    // The slots that depend on a symbol at one of these positions, ...
    std::vector<Slot> depending_on(std::span<const std::size_t> positions) const;
    // ... and the values of those alone, where `values` holds all others.
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
    // False where it has no value.
    static bool run(const Instruction&, const std::int64_t* symbol_values, const std::int64_t* value,
                    std::int64_t& result);
    [[noreturn]] void fail_at(const Instruction&, std::span<const std::int64_t> symbol_values,
                              const std::vector<std::int64_t>& values) const;

    std::vector<Instruction> code_;
    std::unordered_map<Instruction, Slot, InstructionHash> known_;
    std::unordered_map<Dim, Slot> expressions_; // spares walking a shared subexpression again
    std::vector<std::uint32_t> symbols_;
    std::vector<SymbolPtr> described_; // by position; null until an expression brings the symbol
};

} // namespace reprise::shape
