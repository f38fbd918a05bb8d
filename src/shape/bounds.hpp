// Provable bounds of expressions.
#pragma once
#include <reprise/dim.hpp>

#include "shape/range.hpp"

namespace reprise::shape {

Range range_of(const Dim&);

} // namespace reprise::shape
