// What the gradients of products along a dimension are made of.
#pragma once
#include <cstdint>

#include <reprise/tensor.hpp>

namespace reprise::ops {

// y[e] = a[e] y[e + 1] + b[e] from the end on, the one behind the last being 0.
Tensor linear_scan_back(const Tensor& a, const Tensor& b, std::int64_t dim);
// The element before each one, and the one behind it; `value` where there is none.
Tensor before_each(const Tensor& x, std::int64_t dim, double value);
Tensor behind_each(const Tensor& x, std::int64_t dim, double value);

} // namespace reprise::ops
