// Reductions; no dims: all of them.  Orders of elements.
#pragma once
#include <utility>

#include <reprise/tensor.hpp>

namespace reprise {

// In blocks of 256 elements, so that the error grows with the logarithm of the count; i32 stays i32.
Tensor sum(const Tensor&, const Dims& dims = {}, bool keepdim = false);
Tensor mean(const Tensor&, const Dims& dims = {},
            bool keepdim = false); // the sum over the count; NaN of nothing
Tensor amax(const Tensor&, const Dims& dims = {}, bool keepdim = false); // ties share the gradient equally
Tensor max(const Tensor&);                                               // amax over all dimensions
Tensor max(const Tensor& a, const Tensor& b);                            // maximum, element by element
Tensor min(const Tensor& a, const Tensor& b);                            // minimum
std::pair<Tensor, Tensor> max(const Tensor&, std::int64_t dim,
                              bool keepdim = false); // values, i32 indices; the first wins
// i32.  The first of equal elements wins, or with select_last_index the last; the first NaN before all.
Tensor argmax(const Tensor&, std::int64_t dim, bool keepdim = false, bool select_last_index = false);
Tensor argmax(const Tensor&);                                            // of the flattened tensor
Tensor amin(const Tensor&, const Dims& dims = {}, bool keepdim = false); // ties share the gradient equally
Tensor min(const Tensor&);
std::pair<Tensor, Tensor> min(const Tensor&, std::int64_t dim, bool keepdim = false);
Tensor argmin(const Tensor&, std::int64_t dim, bool keepdim = false, bool select_last_index = false);
Tensor argmin(const Tensor&);
Tensor prod(const Tensor&, const Dims& dims = {}, bool keepdim = false); // integers wrap; 1 of nothing
Tensor all(const Tensor&, const Dims& dims = {}, bool keepdim = false);  // bool; NaN is true; true of nothing
Tensor any(const Tensor&, const Dims& dims = {}, bool keepdim = false);
Tensor count_nonzero(const Tensor&, const Dims& dims = {}); // i32
// The squares of the distances from the mean, added and divided by n - correction (by 0 where that is negative:
// NaN or infinite, as in PyTorch).  std is its root, with slope 0 where it is 0.
Tensor var(const Tensor&, const Dims& dims = {}, const VarOptions& options = {});
Tensor std(const Tensor&, const Dims& dims = {}, const VarOptions& options = {});
// PyTorch's form: with unbiased the correction is 1, else 0.
Tensor var(const Tensor&, const Dims& dims, bool unbiased, bool keepdim = false);
Tensor std(const Tensor&, const Dims& dims, bool unbiased, bool keepdim = false);
std::pair<Tensor, Tensor> var_mean(const Tensor&, const Dims& dims = {}, const VarOptions& options = {});
// (sum of |x|^p)^(1/p); p may be 0 (how many are not 0), infinity (the largest) and -infinity.  Slope 0 at 0.
Tensor norm(const Tensor&, double p = 2, const Dims& dims = {}, bool keepdim = false);
Tensor logsumexp(const Tensor&, const Dims& dims = {},
                 bool keepdim = false); // log(sum of exp(x)), without overflow
// Of all elements up to each one along a dimension.  A sum errs by a few ulp of the largest one, at any length.
Tensor cumsum(const Tensor&, std::int64_t dim, const ScanOptions& options = {});
Tensor cumprod(const Tensor&, std::int64_t dim, const ScanOptions& options = {});
// The largest and the least element so far and where it is (i32): the last of equal ones.  NaN stays from where
// it comes.  Any dtype; gradients go to the elements that were taken.
std::pair<Tensor, Tensor> cummax(const Tensor&, std::int64_t dim);
std::pair<Tensor, Tensor> cummin(const Tensor&, std::int64_t dim);
Tensor logcumsumexp(const Tensor&, std::int64_t dim); // log(cumsum(exp(x))), without overflow
// Each element less the one before it, n times: one element fewer each time.  Of bool: whether they differ.
Tensor diff(const Tensor&, std::int64_t n = 1, std::int64_t dim = -1);
// The integral along a dimension by the trapezoidal rule, at points x (one dimension, or of y's shape) or dx apart.
Tensor trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim = -1);
Tensor trapezoid(const Tensor& y, double dx = 1, std::int64_t dim = -1);
Tensor nansum(const Tensor&, const Dims& dims = {}, bool keepdim = false);  // NaN counts as 0
Tensor nanmean(const Tensor&, const Dims& dims = {}, bool keepdim = false); // of those that are not NaN
std::pair<Tensor, Tensor> aminmax(const Tensor&, const Dims& dims = {}, bool keepdim = false);
// exp(x - max) / sum of it along one dimension; log_softmax is x - max - log(sum of exp(x - max)).
Tensor softmax(const Tensor&, std::int64_t dim);
Tensor log_softmax(const Tensor&, std::int64_t dim);
// Sums the dimensions that broadcasting made, so that the result has this shape.
Tensor sum_to(const Tensor&, const Shape& shape);

} // namespace reprise
