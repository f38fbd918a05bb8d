// Order of elements along a dimension.  NaN counts as the largest element, and equal elements keep their
// order, so that results are the same on every device.  Any dtype unless stated otherwise; indices are i32;
// gradients go to the elements that were taken.
#pragma once
#include <utility>

#include <reprise/tensor.hpp>

namespace reprise {

// The elements in ascending or descending order along dim, and their indices, both of the shape of x.
std::pair<Tensor, Tensor> sort(const Tensor& x, std::int64_t dim = -1, bool descending = false);
inline Tensor msort(const Tensor& x) { return sort(x, 0).first; } // sorts along the first dimension
// The indices that sort() returns.
Tensor argsort(const Tensor& x, std::int64_t dim = -1, bool descending = false);
// The k largest (or smallest) elements along a dimension and their indices, always sorted; of equal elements
// the first ones.  Error(shape) unless k is from 0 to the dimension's size.
std::pair<Tensor, Tensor> topk(const Tensor& x, const Dim& k, const TopkOptions& options = {});
// The same with PyTorch's arguments in their order.
std::pair<Tensor, Tensor> topk(const Tensor& x, const Dim& k, std::int64_t dim, bool largest = true,
                               bool sorted = true);
// The k-th smallest element along dim, counted from 1, and its index.  With keepdim the dimension stays with
// size 1.  Error(shape) unless k is from 1 to the dimension's size.
std::pair<Tensor, Tensor> kthvalue(const Tensor& x, const Dim& k, std::int64_t dim = -1,
                                   bool keepdim = false);
// The median along dim and its index: the lower one of two in the middle; NaN, with the index of the first
// one, where there is NaN.  Error(shape) for a dimension without elements.
std::pair<Tensor, Tensor> median(const Tensor& x, std::int64_t dim, bool keepdim = false);
Tensor median(const Tensor& x); // of all elements; NaN where there are none

// The most frequent element along dim, of several the smallest, and the index of its last occurrence.
// Error(shape) for a dimension without elements.
std::pair<Tensor, Tensor> mode(const Tensor& x, std::int64_t dim = -1, bool keepdim = false);
// Whether each element is among the test elements (bool); with `invert` whether it is not.  Takes memory for
// all pairs.  assume_unique has no effect.
Tensor isin(const Tensor& elements, const Tensor& test_elements, bool assume_unique = false,
            bool invert = false);

// The quantile q, from 0 to 1, along dim; NaN where there is NaN.  x is floating.  Error(argument) for
// another q.
Tensor quantile(const Tensor& x, double q, std::int64_t dim, bool keepdim = false,
                Choice<QuantileInterpolation> interpolation = QuantileInterpolation::linear);
Tensor quantile(const Tensor& x, double q); // of all elements, by linear interpolation
// For each value the index (i32) at which it would be inserted into the last dimension of an ascending
// sequence: before equal elements, or with `right` after them.  The sequence has one dimension, or all
// dimensions of the values but the last with the same sizes.  The result has the shape of `values`.
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& values, bool right = false);
Tensor bucketize(const Tensor& values, const Tensor& boundaries, bool right = false); // boundaries [n]

} // namespace reprise
