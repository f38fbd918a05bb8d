// The table of elementwise ops as C++ functions of values, read three times: in double by the C library (the
// reference, the oracle of every gradient check), in float by the devices' own text (native: its bits are the
// devices' bits), and the formulas that take integers in 64 bits that wrap (their low bits are the devices').
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace reprise::ops {

inline constexpr int max_arity = 3;

template <class Real> struct BasicRow {
    const char* name;
    std::string_view types; // of the inputs, then of the result, as the table has them: where is "BNNN"
    Real (*forward)(const Real* inputs);
    // by each input; null: NONE
    std::array<Real (*)(const Real* inputs, Real y, Real dy), max_arity> derivative;
    std::array<const char*, 1 + max_arity> text; // of the formula and the derivatives, as the table has it
    std::array<double, 2 * max_arity> domain;    // lo, hi of each input
    // By part (0: the formula, 1 + k: the derivative by input k), what its text reads: bit k: input k,
    // bit arity(): y, bit arity() + 1: dy.
    std::array<std::uint8_t, 1 + max_arity> reads;

    int arity() const noexcept { return static_cast<int>(types.size()) - 1; }
    bool differentiable(int k) const noexcept { return derivative[static_cast<std::size_t>(k)] != nullptr; }
    // computed in the type of the inputs: integers have kernels of their own
    bool takes_integers() const noexcept { return types.find_first_of("NI") < types.size() - 1; }
    bool takes_floats() const noexcept { return types.find('I') == types.npos; }
};
using Row = BasicRow<double>;
using NativeRow = BasicRow<float>;

// In the table's order.
std::span<const Row> reference_rows() noexcept;
std::span<const NativeRow> native_rows() noexcept;

using IntegerFormula = std::int64_t (*)(const std::int64_t* inputs);

// Null where the table has no such row.
const Row* find_row(std::string_view name) noexcept;
const NativeRow* find_native_row(std::string_view name) noexcept;
IntegerFormula find_integer_formula(std::string_view name) noexcept; // nor one that takes integers

} // namespace reprise::ops
