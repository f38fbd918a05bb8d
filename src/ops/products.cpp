// Products over several dimensions, and diagonals, composed of matmul and elementwise ops.
#include <algorithm>
#include <cstdlib>
#include <string>

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/autocast.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace {

// An operand of tensordot() as a matrix: the summed dimensions are its columns (`summed_last`) or its rows.
struct Factor {
    Tensor matrix;
    Shape remaining, summed;

    Factor(const char* op, const Tensor& t, const Dims& dims, bool summed_last)
    {
        const std::vector<std::size_t> over = shape::normalize_dims(op, dims, t.shape().size());
        Dims first, last;
        for (std::size_t d = 0; d < t.shape().size(); ++d)
            if (std::find(over.begin(), over.end(), d) == over.end()) {
                first.push_back(static_cast<std::int64_t>(d));
                remaining.push_back(t.shape()[d]);
            }
        for (const std::size_t d : over) {
            last.push_back(static_cast<std::int64_t>(d));
            summed.push_back(t.shape()[d]);
        }
        Dim rows = shape::element_count(remaining), columns = shape::element_count(summed);
        if (!summed_last) {
            std::swap(first, last);
            std::swap(rows, columns);
        }
        first.insert(first.end(), last.begin(), last.end());
        matrix = reshape(permute(t, first), {rows, columns});
    }
};

} // namespace

Tensor tensordot(const Tensor& a, const Tensor& b, const Dims& dims_a, const Dims& dims_b)
{
    if (const ops::Autocast to = ops::Autocast::widest({&a, &b}); to)
        return tensordot(to(a), to(b), dims_a, dims_b);
    constexpr const char* op = "tensordot";
    if (dims_a.size() != dims_b.size())
        detail::fail(ErrorKind::argument, op, "There are (", dims_a.size(), " and ", dims_b.size(),
                     ") dimensions to sum over: give as many of both.");
    const Factor left(op, a, dims_a, true), right(op, b, dims_b, false);
    shape::require_same(op, left.summed, right.summed, [&] {
        return "The sizes (" + to_string(left.summed) + " and " + to_string(right.summed) +
               ") of the dimensions to sum over differ.";
    });
    Shape to = left.remaining;
    to.insert(to.end(), right.remaining.begin(), right.remaining.end());
    return reshape(matmul(left.matrix, right.matrix), to);
}

Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t dims)
{
    if (dims < 0 || dims > std::min(a.dim(), b.dim()))
        detail::fail(ErrorKind::argument, "tensordot", "There are no (", dims,
                     ") dimensions to sum over in (", to_string(a.shape()), " and ", to_string(b.shape()),
                     ").");
    Dims of_a, of_b;
    for (std::int64_t d = 0; d < dims; ++d) {
        of_a.push_back(a.dim() - dims + d);
        of_b.push_back(d);
    }
    return tensordot(a, b, of_a, of_b);
}

// Interleaves the dimensions of a and b, multiplies, and merges each pair of dimensions.
Tensor kron(const Tensor& a, const Tensor& b)
{
    const auto rank = static_cast<std::size_t>(std::max(a.dim(), b.dim()));
    const auto size = [rank](const Tensor& t, std::size_t d) {
        const std::size_t missing = rank - t.shape().size();
        return d < missing ? Dim(1) : t.shape()[d - missing];
    };
    Shape of_a, of_b, to;
    for (std::size_t d = 0; d < rank; ++d) {
        of_a.insert(of_a.end(), {size(a, d), 1});
        of_b.insert(of_b.end(), {1, size(b, d)});
        to.push_back(size(a, d) * size(b, d));
    }
    return reshape(reshape(a, of_a) * reshape(b, of_b), to);
}

// Broadcasts the vector along the rows or columns of the matrix and selects the elements on the diagonal.
Tensor diag_embed(const Tensor& x, std::int64_t offset)
{
    if (x.dim() == 0)
        detail::fail(ErrorKind::shape, "diag_embed", "The input has no dimension to put on a diagonal.");
    const std::int64_t moved = std::abs(offset);
    const Dim size = x.size(-1) + moved;
    const Tensor line = pad(x, {0, moved});
    const Tensor number = ops::count_like(x, size), row = unsqueeze(number, 1);
    const Tensor met = eq(number - row, ops::size_like(number, offset));
    return where(met, unsqueeze(line, offset >= 0 ? -1 : -2), 0.0);
}

Tensor diag(const Tensor& x, std::int64_t offset)
{
    if (x.dim() != 1 && x.dim() != 2)
        detail::fail(ErrorKind::shape, "diag", "The shape (", to_string(x.shape()),
                     ") is neither a vector's nor a matrix's.");
    return x.dim() == 1 ? diag_embed(x, offset) : ops::copied(diagonal(x, offset));
}
Tensor diagflat(const Tensor& x, std::int64_t offset) { return diag_embed(reshape(x, {x.numel()}), offset); }

Tensor cross(const Tensor& given_a, const Tensor& given_b, std::int64_t given)
{
    if (const ops::Autocast to = ops::Autocast::widest({&given_a, &given_b}); to)
        return cross(to(given_a), to(given_b), given);
    constexpr const char* op = "cross";
    const Shape both = shape::broadcast(op, given_a.shape(), given_b.shape());
    const auto dim = static_cast<std::int64_t>(shape::normalize_dim(op, given, both.size()));
    shape::require_equal(op, both[static_cast<std::size_t>(dim)], 3, [&] {
        return "The size of dimension (" + std::to_string(dim) + ") of (" + to_string(both) + ") must be 3.";
    });
    const Tensor a = expand(given_a, both), b = expand(given_b, both);
    return roll(a, -1, dim) * roll(b, -2, dim) - roll(a, -2, dim) * roll(b, -1, dim);
}

} // namespace reprise
