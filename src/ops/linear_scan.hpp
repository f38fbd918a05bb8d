// What scans along a dimension share, and the gradients of products there.
#pragma once
#include <cstdint>
#include <functional>

#include "ops/record.hpp"

namespace reprise::ops {

// y[e] = a[e] y[e + 1] + b[e] from the end on, the one behind the last being 0.
Tensor linear_scan_back(const Tensor& a, const Tensor& b, std::int64_t dim);
// The element before each one, and the one behind it; `value` where there is none.
Tensor before_each(const Tensor& x, std::int64_t dim, double value);
Tensor behind_each(const Tensor& x, std::int64_t dim, double value);

// [outer, n, inner] around a dimension, whose lines are scanned in blocks.
struct ScanSizes {
    Dim outer, n, inner, blocks;
};

// The launches of a scan (shaders/scan.comp, linear_scan.comp) but for their groups: what each block comes to, what all
// blocks before it do, and the result.
struct ScanLaunches {
    std::function<LaunchSpec(const ScanSizes&, const View&totals)> totals, carry;
    std::function<LaunchSpec(const ScanSizes&, const records::Input& totals)> result;
};

// A scan along attribute "dim".
void lower_scan(Lowering&, const graph::Node&, const ScanLaunches&);

} // namespace reprise::ops
