// argmax and argmin, and max and min over one dimension, which are composed of them.
#include <cmath>
#include <string>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/losses.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/ops/sorting.hpp>

#include "ops/records.hpp"
#include "ops/reduce.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

TensorTypes infer(const Op& op, const InputTypes& in, const Attributes& a)
{
    if (in[0].dtype == boolean) wrong_dtype(op.name, in[0].dtype, "a dtype of numbers");
    shape::require_at_least(op.name, reduced_count(in[0].shape, a.integers("dims")), 1, [&] {
        return "The shape (" + to_string(in[0].shape) +
               ") has no element to be the largest: reduce over a size of at least 1.";
    });
    return {{i32, reduced_shape(op, in[0], a)}};
}

// Over more than 256 elements, reduces in two levels: each of up to 1024 runs first, then their results. Nothing is
// rounded, so the division into runs does not change the result.
void lower(Lowering& l, const Node& n)
{
    View x = l.input(0);
    const View to = l.output();
    require_floating_kernel(n.op->name, x.dtype);
    const Reduction r = split(l, x, n.attributes.integers("dims"));
    const Dim stride = r.strides.empty() ? Dim(0) : r.strides[0];
    const auto rank = static_cast<std::uint32_t>(r.kept_sizes.size());
    if (r.count.at_most(256)) {
        const records::argmax record{.x = x,
                                     .indices = to,
                                     .outputs = r.outputs,
                                     .count = r.count,
                                     .stride = stride,
                                     .sizes = r.kept_sizes,
                                     .strides = r.kept_strides};
        return l.launch(record.launch({.constants = {rank}, .groups = ceil_div(r.outputs, 64)}));
    }
    const Dim runs = min(ceil_div(r.count, 256), 1024);
    const View values = l.temporary(x.dtype, {runs, r.outputs}),
               indices = l.temporary(i32, {runs, r.outputs});
    const records::argmax_runs of_runs{.x = x,
                                       .values = values,
                                       .indices = indices,
                                       .outputs = r.outputs,
                                       .count = r.count,
                                       .stride = stride,
                                       .runs = runs,
                                       .run_size = ceil_div(r.count, max(runs, 1)),
                                       .sizes = r.kept_sizes,
                                       .strides = r.kept_strides};
    l.launch(of_runs.launch({.constants = {rank}, .groups = ceil_div(r.outputs * runs, 64)}));
    const records::argmax_partials of_partials{
        .values = values, .indices_of_runs = indices, .indices = to, .outputs = r.outputs, .runs = runs};
    l.launch(of_partials.launch({.constants = {rank}, .groups = ceil_div(r.outputs, 64)}));
}

// Finds the first of equal elements; the first NaN takes precedence over all. `element` reads x at an offset.
template <class T>
void find_largest(const ReferenceArguments& a, T (HostTensor::*element)(std::int64_t) const)
{
    const HostTensor &x = a.inputs[0], &y = a.outputs[0];
    const auto outputs = static_cast<std::size_t>(y.count());
    std::vector<T> largest(outputs);
    std::vector<std::int64_t> index(outputs), seen(outputs);
    for_each_reduced(x, a.attributes.integers("dims"), [&](std::int64_t o, std::int64_t at) {
        const auto k = static_cast<std::size_t>(o);
        const T v = (x.*element)(at);
        if (seen[k] == 0 || v > largest[k] || (std::isnan(v) && !std::isnan(largest[k]))) {
            largest[k] = v;
            index[k] = seen[k];
        }
        ++seen[k];
    });
    for (std::size_t k = 0; k < outputs; ++k) y.set_whole(y.offset(static_cast<std::int64_t>(k)), index[k]);
}

void reference(const ReferenceArguments& a)
{
    if (is_floating(a.inputs[0].dtype)) find_largest(a, &HostTensor::get);
    else find_largest(a, &HostTensor::get_whole);
}

} // namespace

const Op argmax_op{.name = "argmax", .infer = infer, .lower = lower, .reference = reference, .doubles = true};

} // namespace ops

namespace {

// Returns the index of the first of equal elements; the first NaN takes precedence over all.
Tensor index_of(const char* op, const Tensor& given, std::int64_t dim, bool keepdim, bool smallest)
{
    const Tensor x = given.dtype() == boolean ? cast(given, i32) : given;
    const graph::Attributes a = ops::reduction_attributes(op, x, {dim}, keepdim);
    shape::require_at_least(op, ops::reduced_count(x.shape(), a.integers("dims")), 1, [&] {
        return "The shape (" + to_string(x.shape()) + ") has no element to be the " +
               (smallest ? "least" : "largest") + ": reduce over a size of at least 1.";
    });
    if (is_floating(x.dtype())) return graph::apply1(ops::argmax_op, {smallest ? -x : x}, a);
    const Tensor index = topk(x, 1, {.dim = dim, .largest = !smallest}).second;
    return keepdim ? index : squeeze(index, dim);
}

// The last of equal elements is the first one of the flipped tensor.
Tensor chosen(const char* op, const Tensor& x, std::int64_t dim, bool keepdim, bool smallest, bool last)
{
    if (!last || x.dim() == 0) return index_of(op, x, dim, keepdim, smallest);
    const std::size_t along = shape::normalize_dim(op, dim, x.shape().size());
    const Tensor index = index_of(op, flip(x, {dim}), dim, keepdim, smallest);
    return ops::size_like(index, x.shape()[along] - 1) - index;
}

// Returns values and indices. The values are gathered at the indices, so that only those elements get a gradient.
std::pair<Tensor, Tensor> extremum_of(const char* op, const Tensor& x, std::int64_t dim, bool keepdim,
                                      bool smallest)
{
    const Tensor indices = index_of(op, x, dim, keepdim, smallest);
    if (!is_floating(x.dtype()))
        return {smallest ? amin(x, {dim}, keepdim) : amax(x, {dim}, keepdim), indices};
    if (x.dim() == 0) return {ops::copied(x), indices};
    const std::size_t along = shape::normalize_dim(op, dim, x.shape().size());
    const Tensor rows = x.unsqueeze(-1).transpose(static_cast<std::int64_t>(along), -1);
    const Dim size = x.shape()[along], count = indices.numel();
    const Tensor taken = graph::apply1(ops::nll_op, {reshape(rows, {count, size}), reshape(indices, {count})},
                                       {{"ignore", std::int64_t{-1}}});
    return {reshape(-taken, indices.shape()), indices};
}

} // namespace

Tensor argmax(const Tensor& x, std::int64_t dim, bool keepdim, bool select_last_index)
{
    return chosen("argmax", x, dim, keepdim, false, select_last_index);
}
Tensor argmin(const Tensor& x, std::int64_t dim, bool keepdim, bool select_last_index)
{
    return chosen("argmin", x, dim, keepdim, true, select_last_index);
}
Tensor argmax(const Tensor& x) { return index_of("argmax", reshape(x, {x.numel()}), 0, false, false); }
Tensor argmin(const Tensor& x) { return index_of("argmin", reshape(x, {x.numel()}), 0, false, true); }

std::pair<Tensor, Tensor> max(const Tensor& x, std::int64_t dim, bool keepdim)
{
    return extremum_of("max", x, dim, keepdim, false);
}
std::pair<Tensor, Tensor> min(const Tensor& x, std::int64_t dim, bool keepdim)
{
    return extremum_of("min", x, dim, keepdim, true);
}

} // namespace reprise
