// How the kernels of elementwise work reach the elements of an operand.
#pragma once
#include "kernels/chain.hpp"

namespace reprise::kernels {

// As in shaders/elementwise.comp, which says what each one requires.
enum class Walk : std::uint32_t { contiguous, scalar, strided, immediate, rows, splat };

inline bool walks(Walk w) { return w == Walk::strided || w == Walk::rows || w == Walk::splat; }
Walk walk_of(const Chain&, const Chain::Input&, const Dim& offset);

// A number as an operand of an op on integers.
Dim as_integer(const ops::Scalar&, const char* op);

ops::LaunchSpec launch_of_one(const Chain&, std::span<const ops::LaunchOperand> operands, bool texels);

} // namespace reprise::kernels
