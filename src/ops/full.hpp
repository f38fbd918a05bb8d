#pragma once
#include "ops/lowering.hpp"

namespace reprise::ops {

// Throws Error(argument) where the number, without what follows its point, has no place in an integer dtype.
void require_holds(const char* op, DType, double value);
// Throws Error(shape) for a negative size.
void require_sizes(const char* op, const Shape&);

// Writes one value everywhere.
void launch_full(Lowering&, const View& to, const Scalar&);

} // namespace reprise::ops
