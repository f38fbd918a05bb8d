// How the kernels of elementwise ops address the elements of an operand.
#pragma once
#include "kernels/chain.hpp"

namespace reprise::kernels {

// The values are those of shaders/elementwise.comp, which documents the requirements of each.
enum class Walk : std::uint32_t { contiguous, scalar, strided, immediate, rows, splat };

inline bool walks(Walk w) { return w == Walk::strided || w == Walk::rows || w == Walk::splat; }
Walk walk_of(const Chain&, const Chain::Input&, const Dim& offset);

// Returns a number as an operand of an op on integers.  Throws Error(unsupported) for a host scalar.
Dim as_integer(const ops::Scalar&, const char* op);

ops::LaunchSpec launch_of_one(const Chain&, std::span<const ops::LaunchOperand> operands, bool texels);

} // namespace reprise::kernels
