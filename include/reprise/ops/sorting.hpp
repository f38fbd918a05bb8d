// Orders of elements along a dimension.  NaN counts as the largest, and equal elements keep their order, so
// that results are the same everywhere.  Indices are i32; gradients go to the elements that were taken.
// Any dtype.
#pragma once
#include <utility>

#include <reprise/tensor.hpp>

namespace reprise {

// Values and indices, of the shape of x.
std::pair<Tensor, Tensor> sort(const Tensor& x, std::int64_t dim = -1, bool descending = false);
Tensor argsort(const Tensor& x, std::int64_t dim = -1, bool descending = false);
// The k largest (or least) elements, in order whether sorted or not; of equal ones the first.  Error(shape)
// unless k is from 0 to the size.
std::pair<Tensor, Tensor> topk(const Tensor& x, const Dim& k, const TopkOptions& options = {});
std::pair<Tensor, Tensor> topk(const Tensor& x, const Dim& k, std::int64_t dim, bool largest = true,
                               bool sorted = true);
// The k-th least element, counted from 1.
std::pair<Tensor, Tensor> kthvalue(const Tensor& x, const Dim& k, std::int64_t dim = -1,
                                   bool keepdim = false);
// The lower one of two in the middle; NaN, and the first index of one, where there is NaN.
std::pair<Tensor, Tensor> median(const Tensor& x, std::int64_t dim, bool keepdim = false);
Tensor median(const Tensor& x); // of all elements; NaN of nothing

// The quantile q, from 0 to 1, along a dimension, or of all elements; NaN where there is NaN.  x is floating.
Tensor quantile(const Tensor& x, double q, std::int64_t dim, bool keepdim = false,
                QuantileInterpolation interpolation = QuantileInterpolation::linear);
Tensor quantile(const Tensor& x, double q);
// Where each value would be put into the last dimension of a sequence in ascending order (i32): before equal elements,
// or with `right` behind them.  The sequence has one dimension, or those of the values but for the last.
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, bool right = false);
Tensor bucketize(const Tensor& values, const Tensor& boundaries, bool right = false); // boundaries [n]

} // namespace reprise
