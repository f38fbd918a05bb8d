// What scans along a dimension share, and the gradients of products there.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ops/lowering.hpp"

namespace reprise::ops {

// y[e] = a[e] y[e + 1] + b[e] from the end on, the one behind the last being 0.
Tensor linear_scan_back(const Tensor& a, const Tensor& b, std::int64_t dim);
// The element before each one, and the one behind it; `value` where there is none.
Tensor before_each(const Tensor& x, std::int64_t dim, double value);
Tensor behind_each(const Tensor& x, std::int64_t dim, double value);

// The launches of a scan along attribute "dim", in blocks whose totals are carried: <kernel>_totals, <kernel>_carry,
// <kernel>, all with these constants.  The inputs are contiguous.
void lower_scan(Lowering&, const graph::Node&, const std::string& kernel, const std::vector<View>& inputs,
                const std::vector<std::uint32_t>& constants = {});

} // namespace reprise::ops
