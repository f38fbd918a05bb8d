// Norms with the names of torch.linalg.
#include <cmath>

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise {

namespace {

// Returns the two dimensions of the matrices as non-negative numbers.
std::vector<std::size_t> matrix_dims(const char* op, const Tensor& x, const Dims& dims)
{
    if (x.dim() < 2)
        detail::fail(ErrorKind::shape, op, "The shape (", to_string(x.shape()), ") is not a matrix's.");
    std::vector<std::size_t> both = shape::normalize_dims(op, dims, x.shape().size());
    if (both.size() != 2)
        detail::fail(ErrorKind::argument, op, "There are (", dims.size(), ") dims: a matrix has two.");
    return both;
}

[[noreturn]] void fail_singular(const char* op, const std::string& p)
{
    detail::fail(ErrorKind::unsupported, op, "The order (", p,
                 ") needs singular values, which there are none of yet: use \"fro\", 1 or infinity.");
}

} // namespace

Tensor linalg_vector_norm(const Tensor& x, double p, const Dims& dims, bool keepdim,
                          std::optional<DType> dtype)
{
    if (!dtype) return norm(x, p, dims, keepdim);
    const graph::NoAutocast in_this_dtype;
    return norm(cast(x, *dtype), p, dims, keepdim);
}

Tensor linalg_matrix_norm(const Tensor& x, double p, const Dims& dims, bool keepdim,
                          std::optional<DType> dtype)
{
    constexpr const char* op = "linalg_matrix_norm";
    if (dtype) {
        const graph::NoAutocast in_this_dtype;
        return linalg_matrix_norm(cast(x, *dtype), p, dims, keepdim);
    }
    const std::vector<std::size_t> both = matrix_dims(op, x, dims);
    if (std::fabs(p) == 2) fail_singular(op, p > 0 ? "2" : "-2");
    if (std::fabs(p) != 1 && !std::isinf(p))
        detail::fail(ErrorKind::argument, op, "The order (", p, ") must be 1, -1, infinity or -infinity.");
    ops::require_floating(op, x.dtype());
    const bool columns = std::fabs(p) == 1;
    const auto summed = static_cast<std::int64_t>(both[columns ? 0 : 1]),
               compared = static_cast<std::int64_t>(both[columns ? 1 : 0]);
    const Tensor sums = sum(abs(x), {summed}, true);
    const Tensor found = p > 0 ? amax(sums, {compared}, true) : amin(sums, {compared}, true);
    return keepdim ? found : sum(found, Dims{summed, compared}); // each sum has one element
}

Tensor linalg_matrix_norm(const Tensor& x, const std::string& p, const Dims& dims, bool keepdim,
                          std::optional<DType> dtype)
{
    constexpr const char* op = "linalg_matrix_norm";
    if (p == "nuc") fail_singular(op, p);
    if (p != "fro") detail::fail(ErrorKind::argument, op, "The norm (", p, ") must be \"fro\" or \"nuc\".");
    matrix_dims(op, x, dims);
    return linalg_vector_norm(x, 2, dims, keepdim, dtype);
}

namespace {

// Returns the number of dimensions that a norm with an order reduces, at most 2; without dims these are all.
std::size_t checked_count(const Tensor& x, const Dims& dims)
{
    const std::size_t count = dims.empty() ? static_cast<std::size_t>(x.dim()) : dims.size();
    if (count > 2)
        detail::fail(ErrorKind::argument, "linalg_norm", "There are (", count,
                     ") dims: a vector has one and a matrix two; use linalg_vector_norm() for more.");
    return count;
}

} // namespace

Tensor linalg_norm(const Tensor& x, std::optional<double> order, const Dims& dims, bool keepdim,
                   std::optional<DType> dtype)
{
    if (!order) return linalg_vector_norm(x, 2, dims, keepdim, dtype);
    const double p = *order;
    if (checked_count(x, dims) == 2)
        return linalg_matrix_norm(x, p, dims.empty() ? Dims{0, 1} : dims, keepdim, dtype);
    return linalg_vector_norm(x, p, dims, keepdim, dtype);
}

Tensor linalg_norm(const Tensor& x, const std::string& p, const Dims& dims, bool keepdim,
                   std::optional<DType> dtype)
{
    checked_count(x, dims);
    return linalg_matrix_norm(x, p, dims.empty() ? Dims{0, 1} : dims, keepdim, dtype);
}

} // namespace reprise
