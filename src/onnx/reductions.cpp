// Reductions over dimensions, and running sums.
#include <limits>

#include "onnx/call.hpp"
#include "onnx/host.hpp"

namespace reprise::onnx {

namespace {

// Calls f(x, dims, keepdim); without dimensions to reduce, f(x as one more dimension of size 1).
template <class F> Tensor reduce(const Call& call, const F& f)
{
    const Tensor x = call[0];
    const bool keep = call.flag("keepdims", true);
    std::vector<std::int64_t> axes = call.integers_or_list(1, "axes").value_or(std::vector<std::int64_t>());
    if (axes.empty() && call.flag("noop_with_empty_axes")) return f(unsqueeze(x, 0), Dims{0}, false);
    if (x.dim() == 0) return f(unsqueeze(x, 0), Dims{0}, false);
    for (std::int64_t& axis : axes) axis = call.axis(axis, x.dim());
    if (axes.empty())
        for (std::int64_t i = 0; i < x.dim(); ++i) axes.push_back(i);
    return f(x, Dims(axes), keep);
}

// Integers are reduced in their own type.
Tensor sum_of(const Tensor& x, const Dims& dims, bool keep) { return sum(x, dims, keep).to(x.dtype()); }

Tensor floating(const Tensor& x) { return is_floating(x.dtype()) ? x : x.to(f32); }

Value reduce_sum(Call& call) { return reduce(call, sum_of); }

Value reduce_mean(Call& call)
{
    return reduce(call, [](const Tensor& x, const Dims& dims, bool keep) {
        return mean(floating(x), dims, keep).to(x.dtype());
    });
}

Value reduce_prod(Call& call)
{
    return reduce(
        call, [](const Tensor& x, const Dims& dims, bool keep) { return prod(x, dims, keep).to(x.dtype()); });
}

Value reduce_l1(Call& call)
{
    return reduce(call,
                  [](const Tensor& x, const Dims& dims, bool keep) { return sum_of(abs(x), dims, keep); });
}

Value reduce_l2(Call& call)
{
    return reduce(call, [](const Tensor& x, const Dims& dims, bool keep) {
        return norm(floating(x), 2.0, dims, keep).to(x.dtype());
    });
}

Value reduce_log_sum(Call& call)
{
    return reduce(call, [](const Tensor& x, const Dims& dims, bool keep) {
        return log(sum(floating(x), dims, keep)).to(x.dtype());
    });
}

Value reduce_log_sum_exp(Call& call)
{
    return reduce(call, [](const Tensor& x, const Dims& dims, bool keep) {
        return logsumexp(floating(x), dims, keep).to(x.dtype());
    });
}

Value reduce_sum_square(Call& call)
{
    return reduce(call,
                  [](const Tensor& x, const Dims& dims, bool keep) { return sum_of(square(x), dims, keep); });
}

// Whether a dimension has no elements; a symbol counts as having some.
bool is_empty(const Tensor& x, const Dims& dims)
{
    for (const std::int64_t dim : dims)
        if (x.size(dim).is_constant() && x.size(dim).value() == 0) return true;
    return false;
}

// Bools are reduced as integers, and the extremum of nothing is the lowest or the highest number.
Tensor extremum(const Tensor& x, const Dims& dims, bool keep, bool largest)
{
    if (is_empty(x, dims)) {
        const double limit = std::numeric_limits<double>::infinity();
        const Tensor nothing = sum(floating(x), dims, keep);
        return full_like(nothing, largest ? -limit : limit).to(x.dtype());
    }
    if (x.dtype() == boolean) return largest ? any(x, dims, keep) : all(x, dims, keep);
    return largest ? amax(x, dims, keep) : amin(x, dims, keep);
}

Value reduce_max(Call& call)
{
    return reduce(call,
                  [&](const Tensor& x, const Dims& d, bool keep) { return extremum(x, d, keep, true); });
}

Value reduce_min(Call& call)
{
    return reduce(call,
                  [&](const Tensor& x, const Dims& d, bool keep) { return extremum(x, d, keep, false); });
}

template <bool largest> Value arg_extremum(Call& call)
{
    const Tensor x = call[0];
    const std::int64_t axis = call.axis("axis", 0, x.dim());
    const bool keep = call.flag("keepdims", true), last = call.flag("select_last_index");
    return (largest ? argmax(x, axis, keep, last) : argmin(x, axis, keep, last)).to(i64);
}

template <Tensor (*f)(const Tensor&, std::int64_t, const ScanOptions&)> Value scan(Call& call)
{
    const Tensor x = call[0];
    const std::int64_t axis = call.axis(call.integers(1).at(0), x.dim());
    const ScanOptions options{.exclusive = call.flag("exclusive"), .reverse = call.flag("reverse")};
    return f(x, axis, options).to(x.dtype());
}

const Operator rows[] = {
    {"ArgMax", arg_extremum<true>},
    {"ArgMin", arg_extremum<false>},
    {"CumProd", scan<cumprod>},
    {"CumSum", scan<cumsum>},
    {"ReduceL1", reduce_l1},
    {"ReduceL2", reduce_l2},
    {"ReduceLogSum", reduce_log_sum},
    {"ReduceLogSumExp", reduce_log_sum_exp},
    {"ReduceMax", reduce_max, {.typed = Typed::as_input}},
    {"ReduceMean", reduce_mean},
    {"ReduceMin", reduce_min, {.typed = Typed::as_input}},
    {"ReduceProd", reduce_prod, {.typed = Typed::arithmetic, .on_host = host_reduce_prod}},
    {"ReduceSum", reduce_sum, {.typed = Typed::arithmetic, .on_host = host_reduce_sum}},
    {"ReduceSumSquare", reduce_sum_square, {.typed = Typed::arithmetic}},
};

} // namespace

Operators reduction_operators() { return rows; }

} // namespace reprise::onnx
