// Reductions over dimensions, running results along one dimension, and softmax.  `dims` may count from the
// end with negative numbers; without any the reduction is over all dimensions.  With keepdim the reduced
// dimensions stay with size 1.
#pragma once
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <reprise/tensor.hpp>

namespace reprise {

// The sum; integers and bools give i64 and wrap.  Added in blocks of 256 elements, so that the rounding error
// grows with the logarithm of the count.
Tensor sum(const Tensor&, const Dims& dims = {}, bool keepdim = false);
// The sum divided by the number of elements, of a floating dtype; NaN where there are none.
Tensor mean(const Tensor&, const Dims& dims = {}, bool keepdim = false);
// sum() of the elements converted to a dtype, which the result has.
Tensor sum(const Tensor&, DType dtype);
Tensor sum(const Tensor&, const Dims& dims, bool keepdim, DType dtype);  // as above, over dimensions
Tensor mean(const Tensor&, DType dtype);                                 // mean() of the converted elements
Tensor mean(const Tensor&, const Dims& dims, bool keepdim, DType dtype); // as above, over dimensions
// The largest element; NaN where there is one.  Equal elements share the gradient equally.  Error(shape)
// where there are no elements.
Tensor amax(const Tensor&, const Dims& dims = {}, bool keepdim = false);
Tensor max(const Tensor&);                    // the largest of all elements; NaNs share the gradient too
Tensor max(const Tensor& a, const Tensor& b); // maximum(), element by element
Tensor min(const Tensor& a, const Tensor& b); // minimum(), element by element
// The largest elements along a dimension and their indices (i32): the first of equal elements, or the first
// NaN.  The gradient goes to that element.
std::pair<Tensor, Tensor> max(const Tensor&, std::int64_t dim, bool keepdim = false);
// The index (i32) of the largest element along a dimension: the first of equal elements, or with
// select_last_index the last; NaN counts as the largest.  Error(shape) where there are no elements.
Tensor argmax(const Tensor&, std::int64_t dim, bool keepdim = false, bool select_last_index = false);
Tensor argmax(const Tensor&); // the index in the flattened tensor
// The smallest element; otherwise as amax().
Tensor amin(const Tensor&, const Dims& dims = {}, bool keepdim = false);
Tensor min(const Tensor&); // the smallest of all elements; NaNs share the gradient too
// The smallest elements along a dimension and their indices; otherwise as max() along a dimension.
std::pair<Tensor, Tensor> min(const Tensor&, std::int64_t dim, bool keepdim = false);
// The index (i32) of the smallest element along a dimension; otherwise as argmax(), so that a NaN comes
// first.
Tensor argmin(const Tensor&, std::int64_t dim, bool keepdim = false, bool select_last_index = false);
Tensor argmin(const Tensor&); // the index in the flattened tensor
// The product; integers and bools give i64 and wrap.  1 where there are no elements.
Tensor prod(const Tensor&, const Dims& dims = {}, bool keepdim = false);
Tensor prod(const Tensor&, DType dtype);                                 // prod() of the converted elements
Tensor prod(const Tensor&, const Dims& dims, bool keepdim, DType dtype); // as above, over dimensions
// Whether all elements are not 0 (bool); NaN counts as true.  True where there are no elements.
Tensor all(const Tensor&, const Dims& dims = {}, bool keepdim = false);
// Whether any element is not 0 (bool); NaN counts as true.  False where there are no elements.
Tensor any(const Tensor&, const Dims& dims = {}, bool keepdim = false);
Tensor count_nonzero(const Tensor&, const Dims& dims = {}); // the number of elements that are not 0, i64
// The variance: the sum of squared differences from the mean divided by n - correction, or by 0 where that is
// negative: NaN or infinite, as in PyTorch.  Of a floating dtype.
Tensor var(const Tensor&, const Dims& dims = {}, const VarOptions& options = {});
// The standard deviation: the root of var(), with gradient 0 where it is 0.
Tensor std(const Tensor&, const Dims& dims = {}, const VarOptions& options = {});
// PyTorch's older form: the correction is 1 if unbiased, else 0.
Tensor var(const Tensor&, const Dims& dims, bool unbiased, bool keepdim = false);
// PyTorch's older form: the correction is 1 if unbiased, else 0.
Tensor std(const Tensor&, const Dims& dims, bool unbiased, bool keepdim = false);
// The same of all elements.
template <std::same_as<bool> Bool> Tensor var(const Tensor& x, Bool unbiased)
{
    return var(x, Dims(), unbiased, false);
}
// The same of all elements.
template <std::same_as<bool> Bool> Tensor std(const Tensor& x, Bool unbiased)
{
    return reprise::std(x, Dims(), unbiased, false);
}
// The variance and the mean.
std::pair<Tensor, Tensor> var_mean(const Tensor&, const Dims& dims = {}, const VarOptions& options = {});
// PyTorch's older form: the correction is 1 if unbiased, else 0.
std::pair<Tensor, Tensor> var_mean(const Tensor&, const Dims& dims, bool unbiased, bool keepdim = false);
// The p-norm (sum of |x|^p)^(1 / p), of a floating dtype; p may be 0 (the number of elements that are not 0),
// infinity (the largest |x|) and -infinity (the smallest).  The gradient is 0 where the norm is 0.
// nullopt is 2.
Tensor norm(const Tensor&, std::optional<double> p = std::nullopt, const Dims& dims = {},
            bool keepdim = false);
// norm() of the elements converted to a dtype, by PyTorch's name.
Tensor linalg_vector_norm(const Tensor&, double p = 2, const Dims& dims = {}, bool keepdim = false,
                          std::optional<DType> dtype = std::nullopt);
// A norm of a matrix, the two dimensions: p of 1 or infinity is the largest sum of absolute values of a column
// or a row, -1 and -infinity the smallest.  Error(unsupported) for 2 and -2, which need singular values;
// Error(argument) for another p, and for dims that are not two.
Tensor linalg_matrix_norm(const Tensor&, double p, const Dims& dims = {-2, -1}, bool keepdim = false,
                          std::optional<DType> dtype = std::nullopt);
// The norm "fro" (Frobenius) of a matrix: the root of the sum of squares.  Error(unsupported) for "nuc", which
// needs singular values; Error(argument) for another name.
Tensor linalg_matrix_norm(const Tensor&, const std::string& p = "fro", const Dims& dims = {-2, -1},
                          bool keepdim = false, std::optional<DType> dtype = std::nullopt);
// Without p the 2-norm of all elements, or over dims; else linalg_matrix_norm() of a matrix and of two dims, and
// linalg_vector_norm() of a vector and of one.
Tensor linalg_norm(const Tensor&, std::optional<double> p = std::nullopt, const Dims& dims = {},
                   bool keepdim = false, std::optional<DType> dtype = std::nullopt);
// linalg_matrix_norm() by name; without dims the tensor must be a matrix.
Tensor linalg_norm(const Tensor&, const std::string& p, const Dims& dims = {}, bool keepdim = false,
                   std::optional<DType> dtype = std::nullopt);
// log(sum of exp(x)) without overflow, of a floating dtype.
Tensor logsumexp(const Tensor&, const Dims& dims = {}, bool keepdim = false);
// Running sums: of all elements up to each one along dim.  Integers and bools give i64 and wrap.  The error
// is a few ulp of the largest sum, at any length.
Tensor cumsum(const Tensor&, std::int64_t dim, const ScanOptions& options = {});
Tensor cumsum(const Tensor&, std::int64_t dim, DType dtype); // of the elements converted to a dtype
// Running products: of all elements up to each one along dim.  Integers and bools give i64 and wrap.
Tensor cumprod(const Tensor&, std::int64_t dim, const ScanOptions& options = {});
Tensor cumprod(const Tensor&, std::int64_t dim, DType dtype); // of the elements converted to a dtype
// The largest element so far along dim and its index (i32), of equal elements the last.  From a NaN on it is
// NaN.  Any dtype; gradients go to the elements that were taken.
std::pair<Tensor, Tensor> cummax(const Tensor&, std::int64_t dim);
// The smallest element so far along dim and its index; otherwise as cummax().
std::pair<Tensor, Tensor> cummin(const Tensor&, std::int64_t dim);
// log(cumsum(exp(x))) without overflow, of a floating dtype.
Tensor logcumsumexp(const Tensor&, std::int64_t dim);
// Each element minus the one before it along dim, n times; each time the dimension gets one smaller.  Of
// bool: whether they differ.  Error(argument) for n below 0.
Tensor diff(const Tensor&, std::int64_t n = 1, std::int64_t dim = -1);
// The integral of y along dim by the trapezoidal rule, at points x: one dimension, or y's shape.
Tensor trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim = -1);
// The same for points that are dx apart.
Tensor trapezoid(const Tensor& y, double dx = 1, std::int64_t dim = -1);
Tensor nansum(const Tensor&, const Dims& dims = {}, bool keepdim = false);  // sum(), NaN counts as 0
Tensor nanmean(const Tensor&, const Dims& dims = {}, bool keepdim = false); // mean() of what is not NaN
// The smallest and the largest element: amin() and amax().
std::pair<Tensor, Tensor> aminmax(const Tensor&, const Dims& dims = {}, bool keepdim = false);
// exp(x) / (sum of exp(x) along dim) without overflow, of a floating dtype.
Tensor softmax(const Tensor&, std::int64_t dim);
Tensor softmax(const Tensor&, std::int64_t dim, DType dtype); // of the elements converted to a dtype
// log(softmax(x)): x - max - log(sum of exp(x - max)) along dim, of a floating dtype.
Tensor log_softmax(const Tensor&, std::int64_t dim);
Tensor log_softmax(const Tensor&, std::int64_t dim, DType dtype); // of the elements converted to a dtype
// Sums over the dimensions along which a tensor of `shape` would broadcast to x's shape, so that the result
// has `shape`.
Tensor sum_to(const Tensor&, const Shape& shape);

// The norms by the names of torch::linalg.
namespace linalg {
// linalg_vector_norm()
inline Tensor vector_norm(const Tensor& x, double p = 2, const Dims& dims = {}, bool keepdim = false,
                          std::optional<DType> dtype = std::nullopt)
{
    return linalg_vector_norm(x, p, dims, keepdim, dtype);
}
// linalg_matrix_norm() by a number
inline Tensor matrix_norm(const Tensor& x, double p, const Dims& dims = {-2, -1}, bool keepdim = false,
                          std::optional<DType> dtype = std::nullopt)
{
    return linalg_matrix_norm(x, p, dims, keepdim, dtype);
}
// linalg_matrix_norm() by a name
inline Tensor matrix_norm(const Tensor& x, const std::string& p = "fro", const Dims& dims = {-2, -1},
                          bool keepdim = false, std::optional<DType> dtype = std::nullopt)
{
    return linalg_matrix_norm(x, p, dims, keepdim, dtype);
}
// linalg_norm() by a number; nullopt is the 2-norm
inline Tensor norm(const Tensor& x, std::optional<double> p = std::nullopt, const Dims& dims = {},
                   bool keepdim = false, std::optional<DType> dtype = std::nullopt)
{
    return linalg_norm(x, p, dims, keepdim, dtype);
}
// linalg_norm() by a name
inline Tensor norm(const Tensor& x, const std::string& p, const Dims& dims = {}, bool keepdim = false,
                   std::optional<DType> dtype = std::nullopt)
{
    return linalg_norm(x, p, dims, keepdim, dtype);
}
} // namespace linalg

} // namespace reprise
