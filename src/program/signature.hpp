// What a program takes: the specs of its inputs, the symbols that their sizes give, and the conditions that
// each call is checked against before anything of it happens.
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
    // `sizes`: symbols whose values the caller gives as numbers.  Throws Error(argument) for sizes that no call
    // could tell: a symbol that neither a spec gives, alone or as in (2 * n + 1), nor the caller.
    Signature(std::vector<Spec> inputs, DimVector sizes, std::vector<shape::Guard> guards);

    // The symbols' values for one call, by position in symbols().  Throws Error for inputs that do not fit.
    const std::vector<std::int64_t>& bind(std::span<const Shape* const> inputs,
                                          std::span<const std::int64_t> sizes);
    // The same for sizes that are expressions of a recording under way: what it can't decide goes to its guards.
    shape::Values bind_symbolic(std::span<const Shape* const> inputs, std::span<const Dim> sizes) const;

    const std::vector<Spec>& inputs() const { return inputs_; }
    const DimVector& sizes() const { return sizes_; }
    const std::vector<shape::Guard>& guards() const { return guards_; }
    const std::vector<shape::SymbolPtr>& symbols() const { return symbols_; } // that a call gives, in order
    std::size_t find(std::uint32_t symbol) const; // its place among symbols(); their number: not there
    std::string text() const;                     // a line for each input, symbol and guard

private:
    // One size of a call and what it says.
    struct Size {
        std::size_t input = 0, dim = 0;
        enum class Role : std::uint8_t {
            constant, // it is `value`
            given,    // it gives a symbol: scale * symbol / its divisor + value
            derived,  // it is what slot `slot` of the program says
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
    void require_given(const Dim&) const;
    template <class Where> // names what gives it, for errors
    void give(std::size_t symbol, std::int64_t value, const Where&);
    void give(const Size&, std::int64_t found);
    std::int64_t solved(const Size&, std::int64_t found) const;
    std::string place(const Size&) const;
    void evaluate();
    std::string values_of(const Dim& a, const Dim& b) const; // "batch = 3, seq = 7"
    [[noreturn]] void fail(const shape::Guard&, std::int64_t a, std::int64_t b) const;

    std::vector<Spec> inputs_;
    DimVector sizes_;
    std::vector<shape::Guard> guards_;
    std::vector<shape::SymbolPtr> symbols_;
    std::vector<std::size_t> positions_; // of the program's symbols among symbols_
    std::vector<Size> checks_;           // those that bind symbols first
    std::vector<Condition> conditions_;  // by guard
    shape::DimProgram program_;
    // of the call under way
    std::vector<std::int64_t> values_, ordered_, slots_;
};

} // namespace reprise::program
