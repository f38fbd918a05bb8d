#pragma once
#include "ops/lowering.hpp"

namespace reprise::ops {

// Throws Error(argument) if the value, truncated to an integer, is out of range of an integer dtype.
void require_holds(const char* op, DType, double value);
// Throws Error(shape) if a size is negative.
void require_sizes(const char* op, const Shape&);

// Fills a view with one value.
void launch_full(Lowering&, const View& to, const Scalar&);

} // namespace reprise::ops
