// The table of elementwise ops as C++ functions of values, compiled three times: in double with the C library (the
// reference, with which all gradient checks compare), in float with the source text of the devices (native: the same
// bits as on devices), and in 64-bit integers that wrap around (the low bits are those of devices).
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "graph/op.hpp"

namespace reprise::ops {

inline constexpr int max_arity = 3;

template <class Real> struct BasicRow {
    const char* name;
    std::string_view types; // letters from the table for the inputs, then for the result: "BNNN" for `where`
    Real (*forward)(const Real* inputs);
    // The derivative by each input; null: NONE.
    std::array<Real (*)(const Real* inputs, Real y, Real dy), max_arity> derivative;
    std::array<const char*, 1 + max_arity> text; // the table's text of the formula and the derivatives
    std::array<double, 2 * max_arity> domain;    // lo, hi of each input
    // The variables that the text of each part reads (0: the formula, 1 + k: the derivative by input k).  Bit k: input
    // k, bit arity(): y, bit arity() + 1: dy.
    std::array<std::uint8_t, 1 + max_arity> reads;

    int arity() const noexcept { return static_cast<int>(types.size()) - 1; }
    bool differentiable(int k) const noexcept { return derivative[static_cast<std::size_t>(k)] != nullptr; }
    // Rows that take integers compute in the dtype of the inputs and have separate kernels for integers.
    bool takes_integers() const noexcept { return types.find_first_of("NI") < types.size() - 1; }
    bool takes_floats() const noexcept { return types.find('I') == types.npos; }
};
using Row = BasicRow<double>;
using NativeRow = BasicRow<float>;

// Returns the row of an elementwise op.
inline const Row& row_of(const graph::Op& op) { return *static_cast<const Row*>(op.row); }

// All rows in the order of the table.
std::span<const Row> reference_rows() noexcept;
std::span<const NativeRow> native_rows() noexcept;

using IntegerFormula = std::int64_t (*)(const std::int64_t* inputs);

// These return null if the table has no such row.
const Row* find_row(std::string_view name) noexcept;
const NativeRow* find_native_row(std::string_view name) noexcept;
IntegerFormula find_integer_formula(std::string_view name) noexcept; // or if the row takes no integers

} // namespace reprise::ops
