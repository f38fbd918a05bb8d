// sort: the first `count` elements of each sorted line and their indices.  argsort, topk, kthvalue and median use it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/ops/sorting.hpp>

#include "ops/full.hpp"
#include "ops/index_check.hpp"
#include "ops/launch_where.hpp"
#include "ops/records.hpp"
#include "ops/reduce.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

// The constants of shaders/sort.comp.
constexpr std::int64_t short_line = 256, block = 64, fan = 4;
constexpr std::int64_t longest = std::int64_t{1} << 31;

// -- sort: x -> values and indices (i32), `count` per line --
TensorTypes infer(const Op&, const InputTypes& in, const Attributes& a)
{
    Shape sizes = in[0].shape;
    sizes[static_cast<std::size_t>(a.integer("dim"))] = a.get<Dim>("count");
    return {{in[0].dtype, sizes}, {i32, sizes}};
}

std::vector<Tensor> vjp(const VjpArguments& a)
{
    if (!a.cotangents[0].defined()) return {{}};
    const std::int64_t dim = a.node.attributes.integer("dim");
    return {graph::apply1(
        sort_vjp_op, {a.cotangents[0], a.outputs[1]},
        {{"dim", dim}, {"size", a.node.inputs[0].type().shape[static_cast<std::size_t>(dim)]}})};
}

// Merge sort: sorts runs of 64, then merges to runs of 256, 1024, ... as often as the upper bound of the size needs.
void lower_long(Lowering& l, const View& x, const AroundDim& lines, const Dim& n, const Dim& count,
                const std::vector<std::uint32_t>& constants)
{
    const View values = l.output(0), indices = l.output(1);
    const Dim all = lines.outer * lines.inner;
    const Shape lined{all, n};
    const DType key = size_of(x.dtype) == 8 ? i64 : i32; // the width of an element
    View keys[] = {l.temporary(key, lined), l.temporary(key, lined)};
    View orders[] = {l.temporary(i32, lined), l.temporary(i32, lined)};
    const records::sort_blocks blocks{.x = x,
                                      .keys = keys[0],
                                      .indices = orders[0],
                                      .outer = lines.outer,
                                      .n = n,
                                      .inner = lines.inner,
                                      .most = min(count, block)};
    l.launch(blocks.launch({.constants = constants, .groups = ceil_div(all * n, 64), .moves = true}));
    Dim merges = 0;
    std::size_t from = 0;
    for (std::int64_t width = block; width < longest && !n.at_most(width); width *= fan, from = 1 - from) {
        const Dim needed = is_at_least(n, width + 1), runs = ceil_div(n, width), run_size = min(count, width);
        l.when(needed, [&] {
            const records::sort_merge merge{.keys = keys[from],
                                            .indices = orders[from],
                                            .keys_after = keys[1 - from],
                                            .indices_after = orders[1 - from],
                                            .lines = all,
                                            .n = n,
                                            .width = width,
                                            .runs = runs,
                                            .most = run_size,
                                            .most_after = min(count, fan * width)};
            l.launch(merge.launch({.groups = ceil_div(all * runs * run_size, 64), .moves = true}));
        });
        merges += needed;
    }
    const records::sort_finish finish{.x = x,
                                      .even_indices = orders[0],
                                      .odd_indices = orders[1],
                                      .values = values,
                                      .indices = indices,
                                      .outer = lines.outer,
                                      .n = n,
                                      .inner = lines.inner,
                                      .count = count,
                                      .odd = mod(merges, 2)};
    l.launch(finish.launch({.groups = ceil_div(all * count, 64), .moves = true}));
}

void lower(Lowering& l, const Node& node)
{
    const View x = l.contiguous(l.input(0));
    const auto dim = static_cast<std::size_t>(node.attributes.integer("dim"));
    const AroundDim lines(x.sizes(), dim);
    const Dim n = x.sizes()[dim], count = node.attributes.get<Dim>("count");
    const std::vector<std::uint32_t> constants = {is_floating(x.dtype) ? 1u : 0u,
                                                  node.attributes.integer("descending") != 0 ? 1u : 0u};
    const Dim is_long = is_at_least(n, short_line + 1);
    const auto of_short = [&] {
        const records::sort_short record{.x = x,
                                         .values = l.output(0),
                                         .indices = l.output(1),
                                         .outer = lines.outer,
                                         .n = n,
                                         .inner = lines.inner,
                                         .count = count};
        l.launch(record.launch(
            {.constants = constants, .groups = ceil_div(lines.outer * n * lines.inner, 64), .moves = true}));
    };
    if (n.at_most(short_line)) return of_short();
    if (same(is_long, 1)) return lower_long(l, x, lines, n, count, constants);
    l.when(1 - is_long, of_short);
    l.when(is_long, [&] { lower_long(l, x, lines, n, count, constants); });
}

template <class Before>
void order_lines(const ReferenceArguments& a, const Before& before) // before(x, index, index) in a line
{
    for_each_row(a, [&](std::span<const HostTensor> in, std::span<const HostTensor> out) {
        const HostTensor &x = in[0], &values = out[0], &indices = out[1];
        std::vector<std::int64_t> order(static_cast<std::size_t>(x.count()));
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(),
                         [&](std::int64_t p, std::int64_t q) { return before(x, p, q); });
        order.resize(static_cast<std::size_t>(values.count()));
        indices.put_all(order);
        for (std::int64_t e = 0; e < values.count(); ++e)
            values.copy(values.offset(e), x, x.offset(order[static_cast<std::size_t>(e)]));
    });
}

void reference(const ReferenceArguments& a)
{
    const bool descending = a.attributes.integer("descending") != 0;
    if (!is_floating(a.inputs[0].dtype))
        return order_lines(a, [=](const HostTensor& x, std::int64_t p, std::int64_t q) {
            const auto v = x.at_as<std::int64_t>(p), w = x.at_as<std::int64_t>(q);
            return descending ? v > w : v < w;
        });
    order_lines(a, [=](const HostTensor& x, std::int64_t p, std::int64_t q) {
        const double v = x.at(descending ? q : p), w = x.at(descending ? p : q);
        return v < w || (std::isnan(w) && !std::isnan(v));
    });
}

// -- sort_vjp: dy and indices (unique in each line) -> dx with `size` elements per line; linear in dy --
TensorTypes infer_vjp(const Op& op, const InputTypes& in, const Attributes& a)
{
    require_floating(op.name, in[0].dtype);
    TensorType t = in[0];
    t.shape[static_cast<std::size_t>(a.integer("dim"))] = a.get<Dim>("size");
    return {t};
}

std::vector<Tensor> vjp_vjp(const VjpArguments& a)
{
    const IndexChecksOff checks_off;
    return {gather(a.cotangents[0], a.node.attributes.integer("dim"), a.inputs[1]), {}};
}

void lower_vjp(Lowering& l, const Node& node)
{
    const View dy = l.contiguous(l.input(0)), indices = l.contiguous(l.input(1)), to = l.output();
    require_floating_kernel(node.op->name, dy.dtype);
    const auto dim = static_cast<std::size_t>(node.attributes.integer("dim"));
    const AroundDim lines(to.sizes(), dim);
    const Dim n = to.sizes()[dim], count = dy.sizes()[dim];
    if (!same(count, n)) launch_full(l, to, Scalar(0));
    const records::sort_put record{.dy = dy,
                                   .indices = indices,
                                   .dx = LaunchOperand{to, same(count, n) ? Use::write : Use::update},
                                   .outer = lines.outer,
                                   .n = n,
                                   .inner = lines.inner,
                                   .count = count};
    l.launch(record.launch({.groups = ceil_div(lines.outer * count * lines.inner, 64), .moves = true}));
}

void reference_vjp(const ReferenceArguments& a)
{
    for_each_row(a, [](std::span<const HostTensor> in, std::span<const HostTensor> out) {
        for (std::int64_t e = 0; e < out[0].count(); ++e) out[0].put(e, 0);
        for (std::int64_t e = 0; e < in[0].count(); ++e)
            out[0].put(in[1].at_as<std::int64_t>(e), in[0].at(e));
    });
}

// Returns the dtype to which elements are converted for the kernels, which sort words of 32 or 64 bits.
DType sorted_as(DType dtype)
{
    if (dtype == f16 || dtype == bf16) return f32;
    return dtype == boolean || (is_integer(dtype) && size_of(dtype) < 4) ? i32 : dtype;
}

// Treats a tensor without dimensions as a line of one element.
std::pair<Tensor, Tensor> ordered(const char* op, const Tensor& x, std::int64_t dim, bool descending,
                                  const Dim* count)
{
    const Shape sizes = x.shape();
    const std::size_t d = shape::normalize_dim(op, dim, std::max<std::size_t>(sizes.size(), 1));
    const Tensor lines = sizes.empty() ? reshape(x, {1}) : x;
    const Dim size = lines.shape()[d], wanted = count ? *count : size;
    const auto sentence = [&] {
        return "So many elements (" + wanted.text() + ") are not in dimension (" + std::to_string(d) +
               ") of the shape (" + to_string(sizes) + ").";
    };
    shape::require_at_least(op, wanted, 0, sentence);
    shape::require_at_least(op, size, wanted, sentence);
    const auto out = graph::apply(
        sort_op, {cast(lines, sorted_as(x.dtype()))},
        {{"dim", static_cast<std::int64_t>(d)}, {"descending", std::int64_t{descending}}, {"count", wanted}});
    const Tensor values = cast(out[0], x.dtype());
    if (!sizes.empty() || !same(wanted, 1)) return {values, out[1]};
    return {reshape(values, {}), reshape(out[1], {})};
}

// Returns the last of the first k elements in order.
std::pair<Tensor, Tensor> kth(const char* op, const Tensor& x, const Dim& k, std::int64_t dim, bool keepdim)
{
    shape::require_at_least(op, k, 1, [&] {
        return "Elements are counted from 1: there is no element (" + k.text() + ") of the shape (" +
               to_string(x.shape()) + ") in order.";
    });
    const auto [values, indices] = ordered(op, x, dim, false, &k);
    if (x.dim() == 0) return {values, indices};
    const auto last = [&](const Tensor& t) {
        const Tensor one = narrow(t, dim, k - 1, 1);
        return keepdim ? one : squeeze(one, dim);
    };
    return {last(values), last(indices)};
}

} // namespace

const Op sort_op{
    .name = "sort", .infer = infer, .vjp = vjp, .lower = lower, .reference = reference, .doubles = true};
const Op sort_vjp_op{.name = "sort_vjp",
                     .infer = infer_vjp,
                     .vjp = vjp_vjp,
                     .lower = lower_vjp,
                     .reference = reference_vjp,
                     .doubles = true};

} // namespace ops

std::pair<Tensor, Tensor> sort(const Tensor& x, std::int64_t dim, bool descending)
{
    return ops::ordered("sort", x, dim, descending, nullptr);
}
Tensor argsort(const Tensor& x, std::int64_t dim, bool descending)
{
    return ops::ordered("argsort", x, dim, descending, nullptr).second;
}
std::pair<Tensor, Tensor> topk(const Tensor& x, const Dim& k, const TopkOptions& o)
{
    return ops::ordered("topk", x, o.dim, o.largest, &k);
}
std::pair<Tensor, Tensor> topk(const Tensor& x, const Dim& k, std::int64_t dim, bool largest, bool sorted)
{
    return topk(x, k, {.dim = dim, .largest = largest, .sorted = sorted});
}
std::pair<Tensor, Tensor> kthvalue(const Tensor& x, const Dim& k, std::int64_t dim, bool keepdim)
{
    return ops::kth("kthvalue", x, k, dim, keepdim);
}

std::pair<Tensor, Tensor> median(const Tensor& x, std::int64_t dim, bool keepdim)
{
    constexpr const char* op = "median";
    const std::size_t d = shape::normalize_dim(op, dim, std::max<std::size_t>(x.shape().size(), 1));
    if (x.dim() == 0) return ops::kth(op, x, 1, dim, keepdim);
    const Dim size = x.shape()[d];
    shape::require_at_least(op, size, 1, [&] {
        return "The shape (" + to_string(x.shape()) +
               ") has no element to be in the middle: take a dimension of at least 1.";
    });
    const auto [values, indices] = ops::kth(op, x, floor_div(size + 1, 2), dim, true);
    const auto shaped = [&](const Tensor& t) { return keepdim ? t : squeeze(t, dim); };
    if (!is_floating(x.dtype())) return {shaped(values), shaped(indices)};
    const Dim one = 1;
    const Tensor highest = ops::ordered(op, x, dim, true, &one).second;
    const ops::IndexChecksOff checks_off;
    const Tensor index = where(isnan(gather(x.detach(), dim, highest)), highest, indices);
    return {shaped(gather(x, dim, index)), shaped(index)};
}

Tensor median(const Tensor& x)
{
    if (same(x.numel(), 0) && !is_floating(x.dtype()))
        detail::fail(ErrorKind::shape, "median", "The shape (", to_string(x.shape()),
                     ") has no element to be in the middle, and the dtype (", name_of(x.dtype()),
                     ") has no NaN to say so: give at least one element.");
    if (same(x.numel(), 0)) return ops::number_like(x, std::numeric_limits<double>::quiet_NaN());
    return median(reshape(x, {x.numel()}), 0).first;
}

} // namespace reprise
