// Functions shared by the ops that multiply matrices.
#pragma once
#include "ops/lowering.hpp"
#include "ops/reference.hpp"

namespace reprise::ops {

// Lowers c = a b for views [..., m, k] x [..., k, n] -> [..., m, n] with equal leading sizes.  `bias`: of a
// GemmProblem.
void lower_product(Lowering&, View a, View b, const View& c, const std::optional<View>& bias = {});
// Computes the same product on the host.  k is the number of rows of b; further columns of a are not read.  `bias`:
// [n], added to each row; may be null.
void multiply(const HostTensor& a, const HostTensor& b, const HostTensor& c,
              const HostTensor* bias = nullptr);

} // namespace reprise::ops
