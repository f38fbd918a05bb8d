// Positions in sorted sequences: quantiles, binary search and the most frequent element.
#include <algorithm>
#include <string>

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/ops/sorting.hpp>

#include "ops/index_check.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace {

// Binary search: returns for each of the values [R, M] the number of elements of the sorted lines [R, n] below it, or
// with `right` at most equal to it.  The number of steps is the number of bits of n, 31 for a symbolic n.
Tensor insertion_points(const Tensor& lines, const Tensor& values, bool right)
{
    const ops::IndexChecksOff checks_off;
    const Dim n = lines.size(1);
    const Tensor none = cast(values * 0.0, i32), end = ops::size_like(none, n),
                 last = maximum(end - 1.0, 0.0);
    Tensor low = none, high = none + end;
    std::int64_t steps = 31;
    if (n.is_constant())
        for (steps = 0; n.value() >> steps > 0;) ++steps;
    for (std::int64_t i = 0; i < steps; ++i) {
        const Tensor middle = low + floor_divide(high - low, 2.0);
        const Tensor at = gather(lines, 1, minimum(middle, last));
        const Tensor open = low < high;
        const Tensor up = logical_and(open, right ? logical_not(at > values) : at < values);
        low = where(up, middle + 1.0, low);
        high = where(logical_and(open, logical_not(up)), middle, high);
    }
    return low;
}

} // namespace

Tensor quantile(const Tensor& x, double q, std::int64_t dim, bool keepdim, Choice<QuantileInterpolation> how)
{
    constexpr const char* op = "quantile";
    ops::require_floating(op, x.dtype());
    if (!(q >= 0 && q <= 1))
        detail::fail(ErrorKind::argument, op, "The quantile (", q, ") must be from 0 to 1.");
    if (x.dim() == 0) return ops::copied(x);
    const auto d = static_cast<std::int64_t>(shape::normalize_dim(op, dim, x.shape().size()));
    const Dim size = x.size(d);
    shape::require_at_least(op, size, 1, [&] {
        return "The shape (" + to_string(x.shape()) +
               ") has no element to be a quantile: reduce over a size of " + "at least 1.";
    });
    const ops::IndexChecksOff checks_off;
    const Tensor in_order = sort(x, d).first, last = narrow(in_order, d, size - 1, 1);
    Shape one = last.shape();
    const DType position_dtype = x.dtype() == f64 ? f64 : f32;
    const Tensor max_position = ops::size_like(cast(last, position_dtype), size - 1),
                 position = max_position * q, first = floor(position);
    const auto at = [&](const Tensor& number) { // the elements at a position of shape []
        const Tensor index = expand(reshape(cast(number, i32), Shape(one.size(), 1)), one);
        return gather(in_order, d, index);
    };
    const Tensor below = at(first), above = at(ceil(position));
    Tensor y;
    switch (how) {
    case QuantileInterpolation::lower: y = below; break;
    case QuantileInterpolation::higher: y = above; break;
    case QuantileInterpolation::nearest: y = at(round(position)); break;
    case QuantileInterpolation::midpoint: y = lerp(below, above, 0.5); break;
    case QuantileInterpolation::linear: y = lerp(below, above, cast(position - first, x.dtype())); break;
    }
    y = where(isnan(last), last, y); // NaN comes last
    return keepdim ? y : squeeze(y, d);
}
Tensor quantile(const Tensor& x, double q) { return quantile(reshape(x, {x.numel()}), q, 0); }

Tensor searchsorted(const Tensor& sequence, const Tensor& given, bool right)
{
    constexpr const char* op = "searchsorted";
    const Tensor values = given.dim() == 0 ? reshape(given, {1}) : given;
    const auto sentence = [&] {
        return "The sequence's shape (" + to_string(sequence.shape()) + ") and the values' (" +
               to_string(given.shape()) + ") differ before the last dimension.";
    };
    if (sequence.dim() == 0 || (sequence.dim() != 1 && sequence.dim() != values.dim()))
        detail::fail(ErrorKind::shape, op, sentence());
    Dim lines = 1;
    for (std::size_t d = 0; d + 1 < sequence.shape().size(); ++d) {
        shape::require_equal(op, sequence.shape()[d], values.shape()[d], sentence);
        lines *= sequence.shape()[d];
    }
    const Dim each = sequence.dim() == 1 ? values.numel() : values.size(-1);
    const Tensor points = insertion_points(reshape(sequence.detach(), {lines, sequence.size(-1)}),
                                           reshape(values.detach(), {lines, each}), right);
    return reshape(points, given.shape());
}

Tensor bucketize(const Tensor& values, const Tensor& boundaries, bool right)
{
    if (boundaries.dim() != 1)
        detail::fail(ErrorKind::shape, "bucketize", "The boundaries' shape (", to_string(boundaries.shape()),
                     ") is not a vector's.");
    return searchsorted(boundaries, values, right);
}

// Returns the last element of the longest run of equal elements in the sorted line.
std::pair<Tensor, Tensor> mode(const Tensor& x, std::int64_t dim, bool keepdim)
{
    constexpr const char* op = "mode";
    const std::size_t d = shape::normalize_dim(op, dim, std::max<std::size_t>(x.shape().size(), 1));
    if (x.dim() == 0) return {ops::copied(x), ops::full_on(ops::evaluator_of(x), {}, 0, i32)};
    const auto along = static_cast<std::int64_t>(d);
    const Dim size = x.shape()[d];
    shape::require_at_least(op, size, 1, [&] {
        return "The shape (" + to_string(x.shape()) +
               ") has no element to be the most frequent one: take a dimension of at least 1.";
    });
    const auto [sorted, order] = sort(x.detach(), along);
    const Tensor position = expand(ops::along_dim(ops::count_like(x, size), d, x.shape().size()), x.shape());
    const Tensor same_as_before =
        cat({zeros_like(narrow(position, along, 0, 1)),
             cast(eq(narrow(sorted, along, 1, size - 1), narrow(sorted, along, 0, size - 1)), i32)},
            along);
    const Tensor begin = cummax(where(eq(same_as_before, 0), position, 0.0), along).first;
    const Tensor longest = argmax(position - begin, along, true);
    const ops::IndexChecksOff checks_off;
    const Tensor index = gather(order, along, longest), values = gather(x, along, index);
    if (keepdim) return {values, index};
    return {select(values, along, 0), select(index, along, 0)};
}

Tensor isin(const Tensor& elements, const Tensor& test_elements, bool, bool invert)
{
    const Tensor found =
        any(eq(unsqueeze(elements, -1), reshape(test_elements, {test_elements.numel()})), {-1});
    return invert ? logical_not(found) : found;
}

} // namespace reprise
