// What the ops that are products of matrices share.
#pragma once
#include "ops/lowering.hpp"
#include "ops/reference.hpp"

namespace reprise::ops {

// c = a b for views [..., m, k] x [..., k, n] -> [..., m, n] of equal leading sizes.
void lower_product(Lowering&, View a, View b, const View& c);
// The same; only so many columns of a are read as b has rows.
void multiply(const HostTensor& a, const HostTensor& b, const HostTensor& c);

} // namespace reprise::ops
