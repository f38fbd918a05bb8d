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
struct TopkOptions {
    std::int64_t dim = -1;
    bool largest = true;
    bool sorted = true;
};
std::pair<Tensor, Tensor> topk(const Tensor& x, const Dim& k, const TopkOptions& = {});
// The k-th least element, counted from 1.
std::pair<Tensor, Tensor> kthvalue(const Tensor& x, const Dim& k, std::int64_t dim = -1,
                                   bool keepdim = false);
// The lower one of two in the middle; NaN, and the first index of one, where there is NaN.
std::pair<Tensor, Tensor> median(const Tensor& x, std::int64_t dim, bool keepdim = false);
Tensor median(const Tensor& x); // of all elements; NaN of nothing

} // namespace reprise
