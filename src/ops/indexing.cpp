// Gathers and scatters, composed of embedding and its gradient, with elements as rows of a matrix.
#include <algorithm>
#include <string>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/autocast.hpp"
#include "ops/full.hpp"
#include "ops/index_check.hpp"
#include "ops/indices.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "ops/row_reduction.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {

namespace {

void check_index(const char* op, const Tensor& index) { ops::require_indices(op, "index", index.dtype()); }

void check_vector(const char* op, const Tensor& index)
{
    check_index(op, index);
    if (index.dim() != 1)
        detail::fail(ErrorKind::shape, op, "The index's shape (", to_string(index.shape()),
                     ") is not a vector's.");
}

// Converts negative indices, which count from the end.
Tensor from_start(const Tensor& index, const Dim& size)
{
    return where(index < 0.0, index + ops::size_like(index, size), index);
}

// Reshapes a tensor without dimensions to [1], as which these ops treat it.
Tensor as_vector(const Tensor& t) { return t.dim() == 0 ? reshape(t, {1}) : t; }

// The permutation of x to a matrix [size, rest], with dimension dim in front and the others merged.
struct Rows {
    std::size_t dim;
    Shape sizes; // with the dimension in front
    std::vector<std::int64_t> order;
};
Rows rows_of(const char* op, const Tensor& x, std::int64_t dim)
{
    Rows r{shape::normalize_dim(op, dim, x.shape().size()), {}, {}};
    r.sizes = {x.shape()[r.dim]};
    r.order = {static_cast<std::int64_t>(r.dim)};
    for (std::size_t d = 0; d < x.shape().size(); ++d)
        if (d != r.dim) {
            r.order.push_back(static_cast<std::int64_t>(d));
            r.sizes.push_back(x.shape()[d]);
        }
    return r;
}
Tensor to_matrix(const Tensor& x, const Rows& r)
{
    return reshape(permute(x, r.order),
                   {r.sizes[0], shape::element_count(Shape(r.sizes.begin() + 1, r.sizes.end()))});
}
Tensor from_matrix(const Tensor& m, const Rows& r)
{
    Shape sizes = r.sizes;
    sizes[0] = m.size(0);
    return permute(reshape(m, sizes), ops::inverse_order(r.order));
}

// Returns the sums of the rows that have the same index.
Tensor added_rows(const Tensor& rows, const Tensor& index, const Dim& count)
{
    return graph::apply1(ops::embedding_vjp_op, {rows, index},
                         {{"rows", count}, {"padding", std::int64_t{-1}}});
}

// Returns the row-major index of the element of x for each element of the index, or -1 if it is out of range.
Tensor element_numbers(const char* op, const Tensor& x, std::int64_t dim, const Tensor& index)
{
    check_index(op, index);
    const Shape &sizes = x.shape(), &given = index.shape();
    const std::size_t along = shape::normalize_dim(op, dim, sizes.size());
    const auto sentence = [&] {
        return "The index's shape (" + to_string(given) + ") does not lie inside the input's (" +
               to_string(sizes) + ") beside dimension (" + std::to_string(along) + ").";
    };
    if (given.size() != sizes.size()) detail::fail(ErrorKind::shape, op, sentence());
    ops::check_indices({op}, index, sizes[along]);
    Dim stride = 1;
    Tensor at;
    for (std::size_t d = sizes.size(); d-- > 0;) {
        Tensor part = index;
        if (d != along) {
            shape::require_at_least(op, sizes[d], given[d], sentence);
            part = ops::along_dim(ops::count_like(index, given[d]), d, sizes.size());
        }
        part = part * ops::size_like(index, stride);
        at = at.defined() ? at + part : part;
        stride *= sizes[d];
    }
    const Tensor inside = logical_and(index >= 0.0, less(index, ops::size_like(index, sizes[along])));
    return reshape(where(inside, at, ops::number_like(index, -1)), {index.numel()});
}

// Returns the part of src that the index's shape covers, flattened.
Tensor flat_part(const char* op, const Tensor& src, const Tensor& index)
{
    Tensor part = src;
    const auto sentence = [&] {
        return "The source's shape (" + to_string(src.shape()) + ") does not cover the index's (" +
               to_string(index.shape()) + ").";
    };
    if (src.dim() != index.dim()) detail::fail(ErrorKind::shape, op, sentence());
    for (std::size_t d = 0; d < src.shape().size(); ++d) {
        shape::require_at_least(op, src.shape()[d], index.shape()[d], sentence);
        if (!same(part.shape()[d], index.shape()[d]))
            part = narrow(part, static_cast<std::int64_t>(d), 0, index.shape()[d]);
    }
    return reshape(part, {index.numel()});
}

Tensor scattered(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& values)
{
    const Tensor at = element_numbers("scatter", x, dim, index);
    const ops::IndexChecksOff checks_off;
    const Dim count = x.numel();
    const Tensor last = graph::apply1(ops::last_positions_op, {at}, {{"rows", count}});
    const Tensor taken = reshape(embedding(maximum(last, 0.0), unsqueeze(values, 1)), {count});
    return reshape(where(last >= 0.0, taken, reshape(x, {count})), x.shape());
}

} // namespace

Tensor index_select(const Tensor& x, std::int64_t dim, const Tensor& index)
{
    if (x.dim() == 0) return reshape(index_select(as_vector(x), dim, index), {});
    check_vector("index_select", index);
    const Rows r = rows_of("index_select", x, dim);
    ops::check_indices({.op = "index_select", .from_end = true}, index, r.sizes[0]);
    const ops::IndexChecksOff checks_off;
    const Tensor at = from_start(index, r.sizes[0]);
    return from_matrix(embedding(at, to_matrix(x, r)), r);
}

namespace {

// Checks a source for an index along a dimension of x, and returns it as a matrix [index's size, rest].
Tensor source_rows(const char* op, const Tensor& x, const Rows& r, const Tensor& index, const Tensor& source)
{
    check_vector(op, index);
    ops::check_dtype(op, "source", source.dtype(), x.dtype());
    Shape wanted = x.shape();
    wanted[r.dim] = index.size(0);
    shape::require_same(op, source.shape(), wanted, [&] {
        return "The source's shape (" + to_string(source.shape()) + ") is not the input's (" +
               to_string(x.shape()) + ") with the index's size (" + index.size(0).text() +
               ") in dimension (" + std::to_string(r.dim) + ").";
    });
    ops::check_indices({op}, index, r.sizes[0]);
    return to_matrix(source, rows_of(op, source, static_cast<std::int64_t>(r.dim)));
}

// Returns the last position in the index of each row, or -1 for none, [rows, 1].
Tensor last_rows(const Tensor& index, const Dim& rows)
{
    return unsqueeze(graph::apply1(ops::last_positions_op, {index}, {{"rows", rows}}), 1);
}

// Reduces the rows [N, D] of a source that have the same index (index [N]) into x [V, D].
Tensor joined_rows(const Tensor& x, const Tensor& index, const Tensor& rows, const std::string& reduce,
                   bool include_self)
{
    const Dim count = x.size(0);
    const auto or_self = [&](const Tensor& y) { return where(last_rows(index, count) >= 0.0, y, x); };
    if (reduce == "sum" || reduce == "mean") {
        const Tensor added = added_rows(rows, index, count), total = include_self ? x + added : added;
        if (reduce == "sum") return include_self ? total : or_self(total);
        const Tensor ones = ops::full_on(ops::evaluator_of(x), {index.numel(), 1}, 1, i32);
        const Tensor times = added_rows(ones, index, count);
        const Tensor divisor = cast(include_self ? times + 1.0 : maximum(times, 1.0), x.dtype());
        const Tensor mean = is_floating(x.dtype()) ? total / divisor : floor_divide(total, divisor);
        return include_self ? mean : or_self(mean);
    }
    using ops::RowReduction;
    const auto how = reduce == "prod"   ? RowReduction::product
                     : reduce == "amax" ? RowReduction::largest
                                        : RowReduction::smallest;
    Tensor all = rows, at = index;
    if (include_self) {
        all = cat({x, rows});
        at = cat({cast(ops::count_like(index, count), index.dtype()), index});
    }
    const Tensor y = graph::apply1(ops::reduce_rows_op, {all, at},
                                   {{"rows", count}, {"how", static_cast<std::int64_t>(how)}});
    return include_self ? y : or_self(y);
}

void check_reduce(const char* op, const std::string& reduce, const Tensor& x, bool sums)
{
    const bool valid = (sums && reduce == "sum") || reduce == "prod" || reduce == "mean" ||
                       reduce == "amax" || reduce == "amin";
    if (!valid)
        detail::fail(ErrorKind::argument, op, "The reduction (", reduce, ") must be ", sums ? "sum, " : "",
                     "prod, mean, amax or amin.");
    if (x.dtype() == boolean) ops::wrong_dtype(op, x.dtype(), "a dtype of numbers");
}

} // namespace

Tensor index_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source, double alpha)
{
    constexpr const char* op = "index_add";
    const Rows r = rows_of(op, x, dim);
    const Tensor rows = source_rows(op, x, r, index, source);
    const Tensor added = from_matrix(added_rows(rows, index, x.shape()[r.dim]), r);
    return x + (alpha == 1 ? added : added * alpha);
}

Tensor index_fill(const Tensor& x, std::int64_t dim, const Tensor& index, double value)
{
    constexpr const char* op = "index_fill";
    if (x.dim() == 0) return reshape(index_fill(as_vector(x), dim, as_vector(index), value), {});
    check_vector(op, index);
    ops::require_holds(op, x.dtype(), ops::rounded_to(x.dtype(), value));
    const std::size_t d = shape::normalize_dim(op, dim, x.shape().size());
    ops::check_indices({op}, index, x.shape()[d]);
    const Tensor selected = last_rows(index, x.shape()[d]) >= 0.0;
    return where(ops::along_dim(selected, d, x.shape().size()), value, x);
}

Tensor index_copy(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source)
{
    constexpr const char* op = "index_copy";
    if (x.dim() == 0) return reshape(index_copy(as_vector(x), dim, as_vector(index), as_vector(source)), {});
    const Rows r = rows_of(op, x, dim);
    const Tensor rows = source_rows(op, x, r, index, source), last = last_rows(index, r.sizes[0]);
    const ops::IndexChecksOff checks_off;
    const Tensor taken = embedding(squeeze(maximum(last, 0.0), 1), rows);
    return from_matrix(where(last >= 0.0, taken, to_matrix(x, r)), r);
}

Tensor index_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                    const std::string& reduce, bool include_self)
{
    constexpr const char* op = "index_reduce";
    check_reduce(op, reduce, x, false);
    if (x.dim() == 0)
        return reshape(
            index_reduce(as_vector(x), dim, as_vector(index), as_vector(source), reduce, include_self), {});
    const Rows r = rows_of(op, x, dim);
    const Tensor rows = source_rows(op, x, r, index, source);
    const ops::IndexChecksOff checks_off;
    return from_matrix(joined_rows(to_matrix(x, r), index, rows, reduce, include_self), r);
}

Tensor gather(const Tensor& x, std::int64_t dim, const Tensor& index)
{
    if (x.dim() == 0) return reshape(gather(as_vector(x), dim, as_vector(index)), index.shape());
    check_index("gather", index);
    const Dim size = x.shape()[shape::normalize_dim("gather", dim, x.shape().size())];
    ops::check_indices({.op = "gather", .from_end = true}, index, size);
    const ops::IndexChecksOff checks_off;
    const Tensor at = element_numbers("gather", x, dim, from_start(index, size));
    return reshape(embedding(at, reshape(x, {x.numel(), 1})), index.shape());
}

Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source)
{
    if (x.dim() == 0) return reshape(scatter(as_vector(x), dim, as_vector(index), as_vector(source)), {});
    ops::check_dtype("scatter", "source", source.dtype(), x.dtype());
    check_index("scatter", index);
    return scattered(x, dim, index, flat_part("scatter", source, index));
}

Tensor scatter(const Tensor& x, std::int64_t dim, const Tensor& index, double value)
{
    if (x.dim() == 0) return reshape(scatter(as_vector(x), dim, as_vector(index), value), {});
    check_index("scatter", index);
    ops::require_holds("scatter", x.dtype(), ops::rounded_to(x.dtype(), value));
    return scattered(
        x, dim, index,
        ops::full_on(ops::evaluator_of(x), {index.numel()}, ops::rounded_to(x.dtype(), value), x.dtype()));
}

Tensor scatter_add(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source)
{
    if (const ops::Autocast to = ops::Autocast::widest({&x, &source}); to)
        return scatter_add(to(x), dim, index, to(source));
    if (x.dim() == 0) return reshape(scatter_add(as_vector(x), dim, as_vector(index), as_vector(source)), {});
    ops::check_dtype("scatter_add", "source", source.dtype(), x.dtype());
    const Tensor at = element_numbers("scatter_add", x, dim, index);
    const Tensor rows = unsqueeze(flat_part("scatter_add", source, index), 1);
    return x + reshape(added_rows(rows, at, x.numel()), x.shape());
}

Tensor scatter_reduce(const Tensor& x, std::int64_t dim, const Tensor& index, const Tensor& source,
                      const std::string& reduce, bool include_self)
{
    constexpr const char* op = "scatter_reduce";
    check_reduce(op, reduce, x, true);
    if (x.dim() == 0)
        return reshape(
            scatter_reduce(as_vector(x), dim, as_vector(index), as_vector(source), reduce, include_self), {});
    ops::check_dtype(op, "source", source.dtype(), x.dtype());
    const Tensor at = element_numbers(op, x, dim, index);
    const Tensor rows = unsqueeze(flat_part(op, source, index), 1);
    const Tensor all = joined_rows(reshape(x, {x.numel(), 1}), at, rows, reduce, include_self);
    return reshape(all, x.shape());
}

Tensor take(const Tensor& x, const Tensor& index)
{
    check_index("take", index);
    const Dim count = x.numel();
    ops::check_indices({.op = "take", .from_end = true}, index, count);
    const ops::IndexChecksOff checks_off;
    const Tensor at = from_start(index, count);
    return reshape(embedding(reshape(at, {index.numel()}), reshape(x, {count, 1})), index.shape());
}

namespace {

// Returns the number of classes that the largest index requires.
std::int64_t classes_of(const Tensor& index)
{
    constexpr const char* op = "one_hot";
    if (graph::current_tracer())
        detail::fail(ErrorKind::state, op,
                     "The largest index is not known while recording: give the number of classes.");
    const std::vector<std::int64_t> all = cast(index, i64).to_vector<std::int64_t>();
    if (all.empty())
        detail::fail(ErrorKind::argument, op, "The index (", to_string(index.shape()),
                     ") has no element to tell the number of classes: give it.");
    const auto [lowest, highest] = std::minmax_element(all.begin(), all.end());
    if (*lowest < 0)
        detail::fail(ErrorKind::argument, op, "The index (", *lowest, ") is negative: classes count from 0.");
    return *highest + 1;
}

} // namespace

Tensor one_hot(const Tensor& index, std::int64_t classes)
{
    check_index("one_hot", index);
    if (classes == -1) classes = classes_of(index);
    if (classes < 1)
        detail::fail(ErrorKind::argument, "one_hot", "The number of classes (", classes,
                     ") must be at least 1, or -1 for what the largest index needs.");
    ops::check_indices({"one_hot"}, index, classes);
    return cast(eq(unsqueeze(index, -1), ops::count_like(index, classes)), i32);
}

} // namespace reprise
