// Functions shared by the ops that multiply matrices.
#pragma once
#include "ops/lowering.hpp"
#include "ops/reference.hpp"

namespace reprise::ops {

// Lowers c = a b for views [..., m, k] x [..., k, n] -> [..., m, n] with equal leading sizes.
void lower_product(Lowering&, View a, View b, const View& c);
// Computes the same product on the host.  k is the number of rows of b; further columns of a are not read.
void multiply(const HostTensor& a, const HostTensor& b, const HostTensor& c);

} // namespace reprise::ops
