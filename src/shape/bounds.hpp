// Provable bounds of expressions.
#pragma once
#include <reprise/dim.hpp>

#include "shape/range.hpp"

namespace reprise::shape {

// Returns lower and upper bounds that hold for all values of the symbols; they need not be tight.
Range range_of(const Dim&);

} // namespace reprise::shape
