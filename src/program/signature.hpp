// The signature of a program: the specs of its inputs, the symbols that their sizes define, and the guards that each
// call checks before it has any effect.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <reprise/program.hpp>

#include "shape/guard.hpp"
#include "shape/program.hpp"

namespace reprise::program {

class Signature {
public:
    Signature() = default;
    // `sizes`: symbols whose values the caller passes as numbers. Throws Error(argument) if a symbol can't be
    // determined at a call: neither the caller nor a spec defines it, where a spec contains it alone or as in (2 * n +
    // 1).
    Signature(std::vector<Spec> inputs, DimVector sizes, std::vector<shape::Guard> guards);

    // Returns the symbols' values for one call, by position in symbols(). Throws Error if the inputs don't match.
    const std::vector<std::int64_t>& bind(std::span<const Shape* const> inputs,
                                          std::span<const std::int64_t> sizes);
    // As bind(), for sizes that are expressions of an active recording: undecidable conditions become its guards.
    shape::Values bind_symbolic(std::span<const Shape* const> inputs, std::span<const Dim> sizes) const;

    const std::vector<Spec>& inputs() const { return inputs_; }
    const DimVector& sizes() const { return sizes_; }
    const std::vector<shape::Guard>& guards() const { return guards_; }
    const std::vector<shape::SymbolPtr>& symbols() const { return symbols_; } // defined by a call, in order
    std::size_t find(std::uint32_t symbol) const; // index in symbols(); symbols().size() if absent
    std::string text() const;                     // one line per input, symbol and guard

private:
    // One size of an input and its meaning.
    struct Size {
        std::size_t input = 0, dim = 0;
        enum class Role : std::uint8_t {
            constant, // must equal `value`
            given,    // defines a symbol: size = scale * symbol / its divisor + value
            derived,  // must equal slot `slot` of the size program
        } role = Role::constant;
        std::int64_t value = 0, scale = 0;
        std::size_t symbol = 0;
        shape::Slot slot = 0;
    };
    struct Condition {
        shape::Slot a = 0, b = 0;
    };

    std::size_t position(const shape::SymbolPtr&);
    void find_binding_dims();
    void require_defined(const Dim&) const;
    template <class Where> // returns the source of the value, for errors
    void set_symbol(std::size_t symbol, std::int64_t value, const Where&);
    void set_symbol(const Size&, std::int64_t found);
    std::int64_t solved(const Size&, std::int64_t found) const;
    std::string location(const Size&) const;
    void evaluate();
    std::string values_of(const Dim& a, const Dim& b) const; // "batch = 3, seq = 7"
    [[noreturn]] void fail(const shape::Guard&, std::int64_t a, std::int64_t b) const;

    std::vector<Spec> inputs_;
    DimVector sizes_;
    std::vector<shape::Guard> guards_;
    std::vector<shape::SymbolPtr> symbols_;
    std::vector<std::size_t> positions_; // index in symbols_, by symbol of the size program
    std::vector<Size> checks_;           // sizes that define symbols come first
    std::vector<Condition> conditions_;  // by guard
    shape::DimProgram program_;
    // of the current call
    std::vector<std::int64_t> values_, ordered_, slots_;
};

} // namespace reprise::program
