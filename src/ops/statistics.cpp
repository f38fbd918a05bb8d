// Reductions composed of sum, amax and amin.
#include <cmath>
#include <limits>

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/accumulated.hpp"
#include "ops/autocast.hpp"
#include "ops/reduce.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// sqrt with the gradient 0 instead of infinity at 0, as in PyTorch for std and norm.
Tensor root(const Tensor& x)
{
    const Tensor zero = x == 0.0;
    return where(zero, ops::number_like(x, 0), sqrt(where(zero, ops::number_like(x, 1), x)));
}

// Checks the dims early, so that errors name the user's op.
void check_dims(const char* op, const Tensor& x, const Dims& dims)
{
    ops::reduction_attributes(op, x, dims, false);
}

// Returns the variance and the mean, in two passes: subtracting the mean first avoids cancellation.
std::pair<Tensor, Tensor> variance(const char* op, const Tensor& given, const Dims& dims, const VarOptions& o)
{
    ops::require_floating(op, given.dtype());
    const Tensor x = ops::accumulated(given);
    const graph::Attributes a = ops::reduction_attributes(op, x, dims, true);
    const Tensor center = mean(x, a.integers("dims"), true);
    const Tensor squares = sum(square(x - center), a.integers("dims"), o.keepdim);
    const Tensor count = ops::size_like(squares, ops::reduced_count(x.shape(), a.integers("dims")));
    const Tensor variance =
        squares / maximum(count - static_cast<double>(o.correction), ops::number_like(squares, 0));
    return {cast(variance, given.dtype()),
            cast(o.keepdim ? center : reshape(center, squares.shape()), given.dtype())};
}

} // namespace

Tensor all(const Tensor& x, const Dims& dims, bool keepdim)
{
    check_dims("all", x, dims);
    return sum(~cast(x, boolean), dims, keepdim) == 0.0;
}
Tensor any(const Tensor& x, const Dims& dims, bool keepdim)
{
    check_dims("any", x, dims);
    return sum(cast(x, boolean), dims, keepdim) != 0.0;
}
Tensor count_nonzero(const Tensor& x, const Dims& dims)
{
    check_dims("count_nonzero", x, dims);
    return sum(cast(x, boolean), dims);
}

std::pair<Tensor, Tensor> var_mean(const Tensor& x, const Dims& dims, const VarOptions& o)
{
    return variance("var_mean", x, dims, o);
}
Tensor var(const Tensor& x, const Dims& dims, const VarOptions& o)
{
    return variance("var", x, dims, o).first;
}
Tensor std(const Tensor& x, const Dims& dims, const VarOptions& o)
{
    ops::require_floating("std", x.dtype());
    return cast(root(variance("std", ops::accumulated(x), dims, o).first), x.dtype());
}

Tensor var(const Tensor& x, const Dims& dims, bool unbiased, bool keepdim)
{
    return var(x, dims, {.correction = unbiased ? 1 : 0, .keepdim = keepdim});
}
Tensor std(const Tensor& x, const Dims& dims, bool unbiased, bool keepdim)
{
    return reprise::std(x, dims, {.correction = unbiased ? 1 : 0, .keepdim = keepdim});
}

std::pair<Tensor, Tensor> var_mean(const Tensor& x, const Dims& dims, bool unbiased, bool keepdim)
{
    return var_mean(x, dims, {.correction = unbiased ? 1 : 0, .keepdim = keepdim});
}

Tensor norm(const Tensor& x, std::optional<double> order, const Dims& dims, bool keepdim)
{
    if (const ops::Autocast to = ops::Autocast::f32({&x}); to) return norm(to(x), order, dims, keepdim);
    const double p = order.value_or(2);
    ops::require_floating("norm", x.dtype());
    check_dims("norm", x, dims);
    if (std::isnan(p)) detail::fail(ErrorKind::argument, "norm", "The order (p) is not a number.");
    if (const Tensor wide = ops::accumulated(x); wide.dtype() != x.dtype())
        return cast(norm(wide, p, dims, keepdim), x.dtype());
    if (p == 2) return root(sum(square(x), dims, keepdim));
    const Tensor size = abs(x);
    if (p == 1) return sum(size, dims, keepdim);
    if (p == infinity) return amax(size, dims, keepdim);
    if (p == -infinity) return amin(size, dims, keepdim);
    if (p == 0) return sum(cast(x != 0.0, x.dtype()), dims, keepdim);
    // Elements that are 0 contribute |0|^p and have the gradient 0.  A sum that is 0 has the gradient 0, too.
    const Tensor none = size == 0.0, one = ops::number_like(size, 1), zero = ops::number_like(size, 0);
    const Tensor powers =
        where(none, ops::number_like(size, p > 0 ? 0 : infinity), pow(where(none, one, size), p));
    const Tensor total = sum(powers, dims, keepdim), flat = total == 0.0;
    return where(flat, zero, pow(where(flat, one, total), 1 / p));
}

// Computes m + log(sum of exp(x - m)) with the maximum m.  An infinite m is the result, -infinity without elements.
Tensor logsumexp(const Tensor& x, const Dims& dims, bool keepdim)
{
    if (const ops::Autocast to = ops::Autocast::f32({&x}); to) return logsumexp(to(x), dims, keepdim);
    ops::require_floating("logsumexp", x.dtype());
    if (const Tensor wide = ops::accumulated(x); wide.dtype() != x.dtype())
        return cast(logsumexp(wide, dims, keepdim), x.dtype());
    const graph::Attributes a = ops::reduction_attributes("logsumexp", x, dims, true);
    const Tensor largest = graph::apply1(ops::amax_op, {x.detach()}, a.with("nan_shares", std::int64_t{0}));
    const Tensor shift = where(isinf(largest), ops::number_like(x, 0), largest);
    const Tensor sums = sum(exp(x - shift), a.integers("dims"), true);
    const Tensor out = log(sums) + shift;
    return keepdim ? out : reshape(out, shape::reduce("logsumexp", x.shape(), a.integers("dims"), false));
}

namespace {

// The elements along a dimension without the first one (later), and without the last one (earlier).
struct Neighbours {
    Tensor later, earlier;
    Neighbours(const Tensor& x, std::size_t d)
    {
        const Dim size = x.shape()[d], left = max(size - 1, 0);
        const auto dim = static_cast<std::int64_t>(d);
        later = narrow(x, dim, size - left, left);
        earlier = narrow(x, dim, 0, left);
    }
};

std::size_t line_of(const char* op, const Tensor& x, std::int64_t dim)
{
    if (x.dim() == 0)
        detail::fail(ErrorKind::shape, op, "The input has no dimension to go along: give one of at least 1.");
    return shape::normalize_dim(op, dim, x.shape().size());
}

} // namespace

Tensor diff(const Tensor& x, std::int64_t n, std::int64_t dim)
{
    constexpr const char* op = "diff";
    const std::size_t d = line_of(op, x, dim);
    if (n < 0) detail::fail(ErrorKind::argument, op, "The number of times (", n, ") must be at least 0.");
    Tensor y = x;
    for (std::int64_t i = 0; i < n && !same(y.shape()[d], 0); ++i) {
        const Neighbours at(y, d);
        y = x.dtype() == boolean ? logical_xor(at.later, at.earlier) : at.later - at.earlier;
    }
    return ops::copy_if_aliased(y, x);
}

Tensor trapezoid(const Tensor& y, const Tensor& x, std::int64_t dim)
{
    const std::size_t d = line_of("trapezoid", y, dim);
    Tensor steps = diff(x, 1, x.dim() == 1 ? 0 : dim);
    if (x.dim() == 1) steps = ops::along_dim(steps, d, y.shape().size());
    const Neighbours at(y, d);
    return sum((at.later + at.earlier) * steps, {dim}) / 2;
}
Tensor trapezoid(const Tensor& y, double dx, std::int64_t dim)
{
    const Neighbours at(y, line_of("trapezoid", y, dim));
    return sum(at.later + at.earlier, {dim}) * (dx / 2);
}

Tensor nansum(const Tensor& x, const Dims& dims, bool keepdim)
{
    const graph::NoAutocast in_its_dtype;
    check_dims("nansum", x, dims);
    return sum(is_floating(x.dtype()) ? where(isnan(x), 0.0, x) : x, dims, keepdim);
}
Tensor nanmean(const Tensor& x, const Dims& dims, bool keepdim)
{
    const graph::NoAutocast in_its_dtype;
    ops::require_floating("nanmean", x.dtype());
    check_dims("nanmean", x, dims);
    const Tensor wide = ops::accumulated(x), none = isnan(wide);
    const Tensor count = sum(cast(logical_not(none), wide.dtype()), dims, keepdim);
    return cast(sum(where(none, 0.0, wide), dims, keepdim) / count, x.dtype());
}
std::pair<Tensor, Tensor> aminmax(const Tensor& x, const Dims& dims, bool keepdim)
{
    return {amin(x, dims, keepdim), amax(x, dims, keepdim)};
}

} // namespace reprise
