#pragma once
#include "ops/lowering.hpp"

namespace reprise::ops {

// Writes one value everywhere.
void launch_full(Lowering&, const View& to, const Scalar&);

} // namespace reprise::ops
