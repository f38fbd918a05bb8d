// Reductions that are made of sum, amax and amin.
#include <cmath>
#include <limits>

#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/reduce.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// sqrt whose gradient is 0, not infinite, at 0: PyTorch's choice for std and norm.
Tensor root(const Tensor& x)
{
    const Tensor zero = x == 0.0;
    return where(zero, ops::number_like(x, 0), sqrt(where(zero, ops::number_like(x, 1), x)));
}

} // namespace

Tensor all(const Tensor& x, const Dims& dims, bool keepdim)
{
    return sum(~cast(x, boolean), dims, keepdim) == 0.0;
}
Tensor any(const Tensor& x, const Dims& dims, bool keepdim)
{
    return sum(cast(x, boolean), dims, keepdim) != 0.0;
}
Tensor count_nonzero(const Tensor& x, const Dims& dims) { return sum(cast(x, boolean), dims); }

// By the mean first, so that nothing cancels.
std::pair<Tensor, Tensor> var_mean(const Tensor& x, const Dims& dims, const VarOptions& o)
{
    ops::require_floating("var", x.dtype());
    const graph::Attributes a = ops::reduction_attributes("var", x, dims, true);
    const Tensor center = mean(x, a.integers("dims"), true);
    const Tensor squares = sum(square(x - center), a.integers("dims"), o.keepdim);
    const Tensor count = ops::size_like(squares, ops::reduced_count(x.shape(), a.integers("dims")));
    return {squares / maximum(count - static_cast<double>(o.correction), ops::number_like(squares, 0)),
            o.keepdim ? center : reshape(center, squares.shape())};
}
Tensor var(const Tensor& x, const Dims& dims, const VarOptions& o) { return var_mean(x, dims, o).first; }
Tensor std(const Tensor& x, const Dims& dims, const VarOptions& o) { return root(var(x, dims, o)); }

Tensor norm(const Tensor& x, double p, const Dims& dims, bool keepdim)
{
    ops::require_floating("norm", x.dtype());
    if (std::isnan(p)) detail::fail(ErrorKind::argument, "norm", "The order (p) is not a number.");
    if (p == 2) return root(sum(square(x), dims, keepdim));
    const Tensor size = abs(x);
    if (p == 1) return sum(size, dims, keepdim);
    if (p == infinity) return amax(size, dims, keepdim);
    if (p == -infinity) return amin(size, dims, keepdim);
    if (p == 0) return sum(cast(x != 0.0, x.dtype()), dims, keepdim);
    // Elements that are 0 count |0|^p and have no slope, and so has a sum that is 0.
    const Tensor none = size == 0.0, one = ops::number_like(size, 1), zero = ops::number_like(size, 0);
    const Tensor powers =
        where(none, ops::number_like(size, p > 0 ? 0 : infinity), pow(where(none, one, size), p));
    const Tensor total = sum(powers, dims, keepdim), flat = total == 0.0;
    return where(flat, zero, pow(where(flat, one, total), 1 / p));
}

// m + log(sum of exp(x - m)) with m the largest; where that is infinite it is the result.
Tensor logsumexp(const Tensor& x, const Dims& dims, bool keepdim)
{
    ops::require_floating("logsumexp", x.dtype());
    const graph::Attributes a = ops::reduction_attributes("logsumexp", x, dims, true);
    const Tensor largest = amax(x, a.integers("dims"), true).detach();
    const Tensor shift = where(isinf(largest), ops::number_like(x, 0), largest);
    const Tensor sums = sum(exp(x - shift), a.integers("dims"), true);
    const Tensor out = log(sums) + shift;
    return keepdim ? out : reshape(out, shape::reduce("logsumexp", x.shape(), a.integers("dims"), false));
}

Tensor argmax(const Tensor& x) { return argmax(reshape(x, {x.numel()}), 0); }
Tensor argmin(const Tensor& x, std::int64_t dim, bool keepdim) { return argmax(-x, dim, keepdim); }
Tensor argmin(const Tensor& x) { return argmax(-x); }

std::pair<Tensor, Tensor> min(const Tensor& x, std::int64_t dim, bool keepdim)
{
    if (!is_floating(x.dtype())) return {amin(x, {dim}, keepdim), argmin(x, dim, keepdim)};
    const auto [largest, indices] = max(-x, dim, keepdim);
    return {-largest, indices};
}

} // namespace reprise
