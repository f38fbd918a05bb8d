// Optimizers as rows: from a parameter [n] and its gradients [steps, n] to the parameter after each step.
#pragma once
#include <vector>

#include "testing/op_info/op_info.hpp"

namespace reprise::test {

std::vector<OpInfo> optimizer_rows();

} // namespace reprise::test
