// Random numbers of several distributions and the variants of dropout, composed of other ops.
#include <cmath>
#include <string>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/normalization.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/ops/sorting.hpp>

#include "ops/dropout.hpp"
#include "ops/full.hpp"
#include "ops/random.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {

namespace {

constexpr std::int64_t two_31 = std::int64_t{1} << 31;

Tensor integers(const char* op, const std::shared_ptr<graph::Evaluator>& evaluator, std::int64_t low,
                std::int64_t high, const Shape& shape, DType dtype)
{
    ops::require_sizes(op, shape);
    if (dtype == boolean) ops::wrong_dtype(op, dtype, "a dtype of numbers");
    constexpr std::int64_t max_count = 2 * two_31 - 1, exact = std::int64_t{1} << 53; // constants are doubles
    if (low >= high || low < -exact || high > exact || high - low > max_count)
        detail::fail(ErrorKind::argument, op, "There are no integers from (", low, ") to (", high,
                     ") exclusive, or more than 32 bits count, or some beyond 2^53: choose another range.");
    ops::require_holds(op, dtype, static_cast<double>(low));
    ops::require_holds(op, dtype, static_cast<double>(high - 1));
    const auto drawn = [&](std::int64_t from) {
        return ops::draw(ops::random_integers_op, evaluator, shape, i32, from, high - low);
    };
    if (low >= -two_31 && high <= two_31) return cast(drawn(low), dtype);
    const DType wide = is_floating(dtype) ? i64 : dtype;
    return cast(cast(drawn(-two_31), wide) + static_cast<double>(low + two_31), dtype);
}

void check_std(double std)
{
    if (!(std >= 0))
        detail::fail(ErrorKind::argument, "normal", "The standard deviation (", std, ") must be at least 0.");
}

// Multiplies each channel by 0 or 1 / (1 - p).
Tensor channel_dropout(const char* op, const Tensor& x, double p, bool training, std::size_t batched,
                       bool may_lack_batch, const char* wanted)
{
    ops::require_probability(op, p);
    ops::require_floating(op, x.dtype());
    const Shape sizes = x.shape();
    if (sizes.size() != batched && sizes.size() + 1 != batched)
        detail::fail(ErrorKind::shape, op, "The shape (", to_string(sizes), ") must be ", wanted, ".");
    if (!training || p == 0) return x;
    const std::size_t leading = may_lack_batch && sizes.size() != batched ? 1 : 2;
    Shape channels(sizes.size(), 1);
    for (std::size_t d = 0; d < leading; ++d) channels[d] = sizes[d];
    return x * dropout(ops::full_on(ops::evaluator_of(x), channels, 1, x.dtype()), p);
}

// Inverse transform sampling: returns the first index whose cumulative weight exceeds a random fraction of the total.
// The minimum ensures that rounding never selects an index of weight 0 at the end.
Tensor drawn_with_replacement(const Tensor& weights, const Dim& count)
{
    const Tensor sums = cumsum(weights, -1);
    const Tensor whole = narrow(sums, -1, weights.size(-1) - 1, 1);
    Shape drawn = weights.shape();
    drawn.back() = count;
    const Tensor at = ops::uniform_like(weights, drawn) * whole;
    const Tensor index = sum(less_equal(unsqueeze(sums, -2), unsqueeze(at, -1)), {-1});
    return cast(minimum(index, sum(less(sums, whole), {-1}, true)), i32);
}

} // namespace

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape, const CreationOptions& options)
{
    return ops::with_grad(
        integers("randint", ops::evaluator_for(options), low, high, shape, options.dtype_or(i32)), options);
}
Tensor randint(std::int64_t high, const Shape& shape, const CreationOptions& options)
{
    return randint(0, high, shape, options);
}
Tensor randint_like(const Tensor& x, std::int64_t high) { return randint_like(x, 0, high); }
Tensor randint_like(const Tensor& x, std::int64_t low, std::int64_t high)
{
    return integers("randint_like", ops::evaluator_of(x), low, high, x.shape(), x.dtype());
}

// Sorts random keys of 32 bits; equal keys are too rare to matter.
Tensor randperm(const Dim& n, const CreationOptions& options)
{
    const DType dtype = options.dtype_or(i32);
    if (dtype == boolean) ops::wrong_dtype("randperm", boolean, "a dtype of numbers");
    const Tensor keys = integers("randperm", ops::evaluator_for(options), -two_31, two_31 - 1, {n}, i32);
    return cast(argsort(keys), dtype);
}

Tensor bernoulli(const Tensor& p)
{
    ops::require_floating("bernoulli", p.dtype());
    return cast(less(ops::uniform_like(p, p.shape()), cast(p.detach(), f32)), p.dtype());
}
Tensor Tensor::bernoulli() const { return reprise::bernoulli(*this); }
Tensor bernoulli(const Tensor& x, double p)
{
    ops::require_probability("bernoulli", p);
    return cast(ops::uniform_like(x, x.shape()) < p, x.dtype());
}

Tensor normal(double mean, double std, const Shape& shape, const CreationOptions& options)
{
    check_std(std);
    ops::require_sizes("normal", shape);
    ops::require_floating("normal", options.dtype_or(f32));
    CreationOptions plain = options;
    plain.requires_grad = false;
    return ops::with_grad(randn(shape, plain) * std + mean, options);
}
Tensor normal(const Tensor& mean, const Tensor& std)
{
    ops::require_floating("normal", mean.dtype());
    const Shape both = shape::broadcast("normal", mean.shape(), std.shape());
    const Tensor drawn = ops::draw(ops::random_normal_op, ops::evaluator_of(mean), both, mean.dtype());
    return drawn * std.detach() + mean.detach();
}
Tensor normal(const Tensor& mean, double std)
{
    check_std(std);
    return normal(mean, ops::number_like(mean, std));
}
Tensor normal(double mean, const Tensor& std) { return normal(ops::number_like(std, mean), std); }

// Without replacement, selects the largest quotients of weights and exponentially distributed numbers (Efraimidis and
// Spirakis, 2006).
Tensor multinomial(const Tensor& weights, const Dim& count, bool replacement)
{
    constexpr const char* op = "multinomial";
    ops::require_floating(op, weights.dtype());
    const Shape sizes = weights.shape();
    if (sizes.size() != 1 && sizes.size() != 2)
        detail::fail(ErrorKind::shape, op, "The shape (", to_string(sizes), ") must be [C] or [N, C].");
    const auto sentence = [&] {
        return "So many indices (" + count.text() + ") can't be drawn from (" + sizes.back().text() +
               ") weights" + (replacement ? "." : " without replacement.");
    };
    shape::require_at_least(op, count, 1, sentence);
    shape::require_at_least(op, sizes.back(), replacement ? Dim(1) : count, sentence);
    const Tensor w = cast(weights.detach(), f32);
    if (replacement) return drawn_with_replacement(w, count);
    const Tensor exponential = maximum(-log1p(-ops::uniform_like(w, sizes)), 0x1p-25);
    return topk(w / exponential, count).second;
}

Tensor dropout1d(const Tensor& x, double p, bool training)
{
    return channel_dropout("dropout1d", x, p, training, 3, true, "[N, C, L] or [C, L]");
}
Tensor dropout2d(const Tensor& x, double p, bool training)
{
    return channel_dropout("dropout2d", x, p, training, 4, false, "[N, C, H, W] or [N, C, L]");
}
Tensor dropout3d(const Tensor& x, double p, bool training)
{
    return channel_dropout("dropout3d", x, p, training, 5, true, "[N, C, D, H, W] or [C, D, H, W]");
}

Tensor alpha_dropout(const Tensor& x, double p, bool training)
{
    ops::require_probability("alpha_dropout", p);
    ops::require_floating("alpha_dropout", x.dtype());
    if (!training || p == 0) return x;
    if (p == 1) return x * 0.0;
    constexpr double limit = -1.7580993408473766; // the limit of selu at minus infinity
    const double scale = 1 / std::sqrt((1 - p) * (1 + p * limit * limit));
    const Tensor dropped = ops::uniform_like(x, x.shape()) < p;
    return where(dropped, ops::number_like(x, limit), x) * scale - scale * p * limit;
}

} // namespace reprise
