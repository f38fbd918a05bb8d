// Code shared by scans along a dimension and by the gradients of products along one.
#pragma once
#include <cstdint>
#include <functional>

#include "ops/record.hpp"

namespace reprise::ops {

// Computes y[e] = a[e] y[e + 1] + b[e], starting at the end; the element after the last one counts as 0.
Tensor linear_scan_back(const Tensor& a, const Tensor& b, std::int64_t dim);
// Return the previous and the next element of each element; `value` where there is none.
Tensor before_each(const Tensor& x, std::int64_t dim, double value);
Tensor behind_each(const Tensor& x, std::int64_t dim, double value);

// Sizes as [outer, n, inner]; each line of n elements is scanned in `blocks` blocks.
struct ScanSizes {
    Dim outer, n, inner, blocks;
};

// Functions that return the launches of a scan (shaders/scan.comp, linear_scan.comp) without their groups: the total of
// each block, the total of all preceding blocks, and the result.
struct ScanLaunches {
    std::function<LaunchSpec(const ScanSizes&, const View&totals)> totals, carry;
    std::function<LaunchSpec(const ScanSizes&, const records::Input& totals)> result;
};

// Lowers a scan along the dimension given by attribute "dim".
void lower_scan(Lowering&, const graph::Node&, const ScanLaunches&);

} // namespace reprise::ops
