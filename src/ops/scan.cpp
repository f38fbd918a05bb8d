// cumsum, cumprod and the running extremum: inclusive scans along a dimension.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/accumulated.hpp"
#include "ops/autocast.hpp"
#include "ops/index_check.hpp"
#include "ops/linear_scan.hpp"
#include "ops/records.hpp"
#include "ops/reduce.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

TensorTypes infer(const Op& op, const InputTypes& in, const Attributes&)
{
    require_arithmetic(op.name, in[0].dtype);
    return {{total_dtype(in[0].dtype), in[0].shape}};
}

// Returns the sums from each element to the end.
Tensor sum_from(const Tensor& x, std::int64_t dim) { return flip(cumsum(flip(x, {dim}), dim), {dim}); }

std::vector<Tensor> vjp_cumsum(const VjpArguments& a)
{
    return {sum_from(a.cotangents[0], a.node.attributes.integer("dim"))};
}

// Element i is a factor of the products from i on.  Its gradient is the sum of dy * y from i on, divided by x, as in
// PyTorch; it overflows where the result does.  On lines where a product is 0 it is the product before i times a sum of
// products after i, a linear recurrence: without a division zeros need no special case, in gradients of any order.  The
// branch that is not selected is computed from ones, so that its own gradient stays finite.
std::vector<Tensor> vjp_cumprod(const VjpArguments& a)
{
    const std::int64_t dim = a.node.attributes.integer("dim");
    const Tensor &x = a.inputs[0], &y = a.outputs[0], &dy = a.cotangents[0];
    const Tensor zeros = any(logical_or(x == 0, y == 0), {dim}, true);
    const Tensor by_quotients = sum_from(dy * where(zeros, 1.0, y), dim) / where(zeros, 1.0, x);
    const Tensor by_products = before_each(where(zeros, y, 1.0), dim, 1) *
                               linear_scan_back(behind_each(where(zeros, x, 1.0), dim, 0), dy, dim);
    return {where(zeros, by_products, by_quotients)};
}

// Lowers to the kernels of cumsum or to those of cumprod, which have the same records.
void lower_by(const std::string& kernel, Lowering& l, const Node& n, const View& x,
              const std::vector<std::uint32_t>& constants)
{
    lower_scan(
        l, n,
        {.totals =
             [&](const ScanSizes& s, const View& totals) {
                 const records::cumsum_totals record{.x = x,
                                                     .totals = totals,
                                                     .outer = s.outer,
                                                     .n = s.n,
                                                     .inner = s.inner,
                                                     .blocks = s.blocks};
                 return record.launch({.kernel = kernel + "_totals", .constants = constants});
             },
         .carry =
             [&](const ScanSizes& s, const View& totals) {
                 const records::cumsum_carry record{
                     .totals = totals, .outer = s.outer, .n = s.n, .inner = s.inner, .blocks = s.blocks};
                 return record.launch({.kernel = kernel + "_carry", .constants = constants});
             },
         .result =
             [&](const ScanSizes& s, const records::Input& totals) {
                 const records::cumsum record{.x = x,
                                              .totals = totals,
                                              .y = l.output(),
                                              .outer = s.outer,
                                              .n = s.n,
                                              .inner = s.inner,
                                              .blocks = s.blocks};
                 return record.launch({.kernel = kernel, .constants = constants});
             }});
}

void lower(Lowering& l, const Node& n)
{
    const View x = l.contiguous(l.input(0));
    lower_by(n.op->name, l, n, x, {x.dtype == i32 ? 1u : 0u});
}

// -- running_extremum: the largest or the smallest element so far; NaN from the first NaN on --
TensorTypes infer_extremum(const Op& op, const InputTypes& in, const Attributes&)
{
    if (in[0].dtype != i64) require_floating(op.name, in[0].dtype);
    return {in[0]};
}

// Uses the kernels of cumprod, which also combine by maximum and minimum.  Integers are i64 here.
void lower_extremum(Lowering& l, const Node& n)
{
    const View x = l.contiguous(l.input(0));
    if (x.dtype != i64) require_floating_kernel(n.op->name, x.dtype);
    lower_by("cumprod", l, n, x, {0, n.attributes.integer("least") ? 2u : 1u});
}

// Computes the inclusive scan of each row by `join`; integer dtypes are computed as Whole.
template <class Whole, class Join>
void reference_scan(const ReferenceArguments& a, Whole whole_start, double start, const Join& join)
{
    const auto scan = [&](const auto first) {
        using Number = std::remove_const_t<decltype(first)>;
        for_each_row(a, [&](std::span<const HostTensor> in, std::span<const HostTensor> out) {
            std::vector<Number> all;
            for (std::int64_t e = 0; e < out[0].count(); ++e)
                all.push_back(join(all.empty() ? first : all.back(), in[0].at_as<Number>(e)));
            out[0].put_all(all);
        });
    };
    if (is_integer(a.inputs[0].dtype)) scan(whole_start);
    else scan(start);
}

void reference_extremum(const ReferenceArguments& a)
{
    using Limits = std::numeric_limits<std::int64_t>;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const bool smallest = a.attributes.integer("least") != 0;
    reference_scan(a, smallest ? Limits::max() : Limits::min(), smallest ? infinity : -infinity,
                   [smallest](auto best, auto v) {
                       return (smallest ? v < best : v > best) || std::isnan(v) ? v : best; // NaN stays
                   });
}

// Integers wrap around.
void reference(const ReferenceArguments& a)
{
    if (a.op == &cumsum_op) reference_scan(a, std::uint64_t{0}, 0, std::plus());
    else reference_scan(a, std::uint64_t{1}, 1, std::multiplies());
}

// Treats a tensor without dimensions as a line of one element.
Tensor along(const Op& op, const Tensor& x, std::int64_t given, const ScanOptions& o)
{
    const std::size_t rank = x.shape().size();
    const auto dim =
        static_cast<std::int64_t>(shape::normalize_dim(op.name, given, std::max<std::size_t>(rank, 1)));
    Tensor y = widened_to_i32(rank == 0 ? reshape(x, {1}) : x);
    if (o.reverse) y = flip(y, {dim});
    y = graph::apply1(op, {y}, {{"dim", dim}});
    if (o.exclusive) y = before_each(y, dim, &op == &cumprod_op ? 1 : 0);
    if (o.reverse) y = flip(y, {dim});
    return rank == 0 ? reshape(y, {}) : y;
}

// Returns the running extremum in x's dtype; integers are compared as i64.
Tensor running(const Tensor& x, std::int64_t dim, bool smallest)
{
    const DType dtype = is_floating(x.dtype()) ? x.dtype() : i64;
    return cast(graph::apply1(running_extremum_op, {cast(x.detach(), dtype)},
                              {{"dim", dim}, {"least", std::int64_t{smallest}}}),
                x.dtype());
}

// The index is the last position at which an element equals the running extremum: a running maximum of positions.  The
// values are gathered from there, so that the gradient flows to these elements.
std::pair<Tensor, Tensor> extremum_along(const char* op, const Tensor& x, std::int64_t given, bool smallest)
{
    if (x.dim() == 0) {
        const auto [values, indices] = extremum_along(op, reshape(x, {1}), given, smallest);
        return {reshape(values, {}), reshape(indices, {})};
    }
    const std::size_t d = shape::normalize_dim(op, given, x.shape().size());
    const auto dim = static_cast<std::int64_t>(d);
    const Tensor best = running(x, dim, smallest);
    Tensor met = eq(x.detach(), best);
    if (is_floating(x.dtype())) met = logical_or(met, isnan(x.detach()));
    const Tensor positions = along_dim(count_like(x, x.shape()[d]), d, x.shape().size());
    const Tensor indices = running(where(met, positions, 0.0), dim, false);
    const IndexChecksOff checks_off;
    return {x.requires_grad() ? gather(x, dim, indices) : best, indices};
}

} // namespace

const Op cumsum_op{.name = "cumsum",
                   .infer = infer,
                   .vjp = vjp_cumsum,
                   .lower = lower,
                   .reference = reference,
                   .doubles = true};
const Op cumprod_op{.name = "cumprod",
                    .infer = infer,
                    .vjp = vjp_cumprod,
                    .lower = lower,
                    .reference = reference,
                    .doubles = true};
const Op running_extremum_op{.name = "running_extremum",
                             .infer = infer_extremum,
                             .lower = lower_extremum,
                             .reference = reference_extremum,
                             .doubles = true};

} // namespace ops

Tensor cumsum(const Tensor& x, std::int64_t dim, const ScanOptions& o)
{
    if (const ops::Autocast to = ops::Autocast::f32({&x}); to) return cumsum(to(x), dim, o);
    return ops::along(ops::cumsum_op, x, dim, o);
}
Tensor cumprod(const Tensor& x, std::int64_t dim, const ScanOptions& o)
{
    if (const ops::Autocast to = ops::Autocast::f32({&x}); to) return cumprod(to(x), dim, o);
    return ops::along(ops::cumprod_op, x, dim, o);
}
Tensor cumsum(const Tensor& x, std::int64_t dim, DType dtype)
{
    return cast(cumsum(cast(x, dtype), dim), dtype);
}
Tensor cumprod(const Tensor& x, std::int64_t dim, DType dtype)
{
    return cast(cumprod(cast(x, dtype), dim), dtype);
}
std::pair<Tensor, Tensor> cummax(const Tensor& x, std::int64_t dim)
{
    return ops::extremum_along("cummax", x, dim, false);
}
std::pair<Tensor, Tensor> cummin(const Tensor& x, std::int64_t dim)
{
    return ops::extremum_along("cummin", x, dim, true);
}

// Adds exponentials relative to the running maximum m: y[e] = exp(m[e - 1] - m[e]) y[e - 1] + exp(x[e] - m[e]).  The
// sum is 0 as long as all elements are -infinity, and infinite from the first +infinity on.
Tensor logcumsumexp(const Tensor& given, std::int64_t dim)
{
    constexpr const char* op = "logcumsumexp";
    constexpr double infinity = std::numeric_limits<double>::infinity();
    ops::require_floating(op, given.dtype());
    if (given.dim() == 0) return ops::copied(given);
    const Tensor x = ops::accumulated(given);
    const auto d = static_cast<std::int64_t>(shape::normalize_dim(op, dim, x.shape().size()));
    const Tensor largest = ops::running(x, d, false), before = ops::before_each(largest, d, -infinity);
    const auto finite = [](const Tensor& t) { return where(isinf(t), 0.0, t); };
    const Tensor m = finite(largest), decay = where(before == -infinity, 0.0, exp(finite(before) - m));
    const Tensor sums = graph::apply1(ops::linear_scan_op, {decay, exp(x - m)}, {{"dim", d}});
    const Tensor none = sums == 0.0;
    return cast(where(none, -infinity, log(where(none, 1.0, sums)) + m), given.dtype());
}

} // namespace reprise
