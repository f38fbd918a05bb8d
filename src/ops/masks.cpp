// Reads and writes by masks, and triangular parts of matrices, composed of other ops.
#include <algorithm>
#include <vector>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/full.hpp"
#include "ops/index_check.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"

namespace reprise {

namespace {

// Clamps the offset of a diagonal to +-2^30: no matrix has diagonals beyond, and its sum with a row index fits 32 bits.
std::int64_t clamped(std::int64_t diagonal)
{
    constexpr std::int64_t limit = std::int64_t{1} << 30;
    return std::clamp(diagonal, -limit, limit);
}

// Returns a mask over the last two dimensions: true where column - row <= diagonal.
Tensor is_below(const char* op, const Tensor& x, std::int64_t diagonal)
{
    if (x.dim() < 2)
        detail::fail(ErrorKind::shape, op, "The shape (", to_string(x.shape()),
                     ") is not of matrices: give at least two dimensions.");
    const Tensor rows = ops::count_like(x, x.size(-2)) + static_cast<double>(diagonal);
    return ops::count_like(x, x.size(-1)) <= unsqueeze(rows, 1);
}

// Returns the indices (row, column) with lower <= column - row <= upper, [2, count], in row-major order.
Tensor indices_between(const char* op, std::int64_t rows, std::int64_t columns, std::int64_t lower,
                       std::int64_t upper, const CreationOptions& options)
{
    if (rows < 0 || columns < 0)
        detail::fail(ErrorKind::argument, op, "The sizes (", rows, " and ", columns, ") must be at least 0.");
    std::vector<std::int32_t> of_rows, of_columns;
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = std::max<std::int64_t>(r + lower, 0); c <= std::min(r + upper, columns - 1);
             ++c) {
            of_rows.push_back(static_cast<std::int32_t>(r));
            of_columns.push_back(static_cast<std::int32_t>(c));
        }
    const auto count = static_cast<std::int64_t>(of_rows.size());
    of_rows.insert(of_rows.end(), of_columns.begin(), of_columns.end());
    return cast(from_vector(of_rows, {2, count}, {.device = options.device}), options.dtype_or(i32));
}

} // namespace

Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset, const CreationOptions& options)
{
    return indices_between("tril_indices", row, col, -row, clamped(offset), options);
}
Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset, const CreationOptions& options)
{
    return indices_between("triu_indices", row, col, clamped(offset), col, options);
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, double value)
{
    if (mask.dtype() != boolean) ops::wrong_dtype("masked_fill", mask.dtype(), "a mask of dtype bool");
    const double held = ops::rounded_to(x.dtype(), value);
    ops::require_holds("masked_fill", x.dtype(), held);
    return where(mask, ops::number_like(x, held), x);
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, const Tensor& value)
{
    constexpr const char* op = "masked_fill";
    if (mask.dtype() != boolean) ops::wrong_dtype(op, mask.dtype(), "a mask of dtype bool");
    if (value.dim() != 0)
        detail::fail(ErrorKind::shape, op, "The value's shape (", to_string(value.shape()),
                     ") is not that of one element: use where().");
    return where(mask, cast(value, x.dtype()), x);
}

// Element i of the flattened source replaces the i-th element whose mask is true, in row-major order.
Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source)
{
    constexpr const char* op = "masked_scatter";
    if (mask.dtype() != boolean) ops::wrong_dtype(op, mask.dtype(), "a mask of dtype bool");
    if (source.dtype() != x.dtype())
        detail::fail(ErrorKind::dtype, op, "The dtypes (", name_of(x.dtype()), " and ",
                     name_of(source.dtype()), ") differ: cast one of the tensors.");
    const Tensor all = ops::expand_for(op, mask, x.shape());
    const Tensor number = cumsum(reshape(all, {x.numel()}), 0) - 1.0;
    const ops::IndexChecksOff checks_off;
    return where(all, reshape(take(source, number), x.shape()), x);
}

Tensor tril(const Tensor& x, std::int64_t diagonal)
{
    return where(is_below("tril", x, clamped(diagonal)), x, ops::number_like(x, 0));
}

Tensor triu(const Tensor& x, std::int64_t diagonal)
{
    return where(is_below("triu", x, clamped(diagonal) - 1), ops::number_like(x, 0), x);
}

} // namespace reprise
