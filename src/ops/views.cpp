// Ops on shapes, whose results are views of their input, and contiguous.
#include <algorithm>
#include <numeric>
#include <sstream>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/lowering.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

using graph::Strided;
using Integers = std::vector<std::int64_t>;

// -- reshape --
TensorTypes infer_reshape(const Op&, const InputTypes& in, const Attributes& a)
{
    return {{in[0].dtype, a.shape("shape")}};
}

std::vector<Tensor> vjp_reshape(const VjpArguments& a)
{
    return {reshape(a.cotangents[0], a.node.inputs[0].type().shape)};
}

// Matches the sizes from the innermost dimension outward: the product of each group of output sizes must be the size
// of one run of contiguous input dimensions.
bool view_reshape(const Node& n, std::size_t, Strided& s)
{
    const Shape& to = n.outputs[0].shape;
    if (std::any_of(to.begin(), to.end(), [](const Dim& d) { return same(d, 0); })) { // any strides
        s.sizes = to;
        s.strides = shape::contiguous_strides(to);
        return true;
    }
    DimVector sizes, strides; // of the input, without sizes of 1
    for (std::size_t i = 0; i < s.sizes.size(); ++i)
        if (!same(s.sizes[i], 1)) {
            if (!strides.empty() &&
                same(strides.back(), s.strides[i] * s.sizes[i])) { // merged with its outer neighbour
                sizes.back() *= s.sizes[i];
                strides.back() = s.strides[i];
            } else {
                sizes.push_back(s.sizes[i]);
                strides.push_back(s.strides[i]);
            }
        }
    if (sizes.size() == 1) { // one run: any sizes with the same product, even if only a guard ensures it
        s.strides = shape::contiguous_strides(to);
        for (Dim& stride : s.strides) stride *= strides[0];
        s.sizes = to;
        return true;
    }
    DimVector out(to.size(), Dim(1));
    std::size_t run = sizes.size();
    Dim tiled = 1; // elements of this run that the output has used so far
    for (std::size_t i = to.size(); i-- > 0;) {
        if (same(to[i], 1)) continue;
        if (same(tiled, 1)) {
            if (run == 0) return false;
            --run;
        }
        out[i] = strides[run] * tiled;
        tiled *= to[i];
        if (same(tiled, sizes[run])) tiled = 1;
        else if (tiled.is_constant() && sizes[run].is_constant() &&
                 sizes[run].value() % std::max<std::int64_t>(tiled.value(), 1) != 0)
            return false;
    }
    if (run != 0 || !same(tiled, 1)) return false;
    s.sizes = to;
    s.strides = std::move(out);
    return true;
}

// -- permute --
TensorTypes infer_permute(const Op&, const InputTypes& in, const Attributes& a)
{
    Shape shape;
    for (std::int64_t d : a.integers("dims")) shape.push_back(in[0].shape[static_cast<std::size_t>(d)]);
    return {{in[0].dtype, shape}};
}

std::vector<Tensor> vjp_permute(const VjpArguments& a)
{
    return {permute(a.cotangents[0], inverse_order(a.node.attributes.integers("dims")))};
}

bool view_permute(const Node& n, std::size_t, Strided& s)
{
    const Strided before = s;
    const Integers& dims = n.attributes.integers("dims");
    for (std::size_t i = 0; i < dims.size(); ++i) {
        s.sizes[i] = before.sizes[static_cast<std::size_t>(dims[i])];
        s.strides[i] = before.strides[static_cast<std::size_t>(dims[i])];
    }
    return true;
}

// -- expand --
TensorTypes infer_expand(const Op& op, const InputTypes& in, const Attributes& a)
{
    Shape to = a.shape("shape");
    shape::require_broadcastable(op.name, in[0].shape, to);
    return {{in[0].dtype, std::move(to)}};
}

std::vector<Tensor> vjp_expand(const VjpArguments& a)
{
    return {sum_to(a.cotangents[0], a.node.inputs[0].type().shape)};
}

bool view_expand(const Node& n, std::size_t, Strided& s)
{
    const Shape& to = n.outputs[0].shape;
    const std::size_t added = to.size() - s.sizes.size();
    DimVector strides(to.size(), Dim(0));
    for (std::size_t i = 0; i < s.sizes.size(); ++i)
        if (!same(s.sizes[i], 1)) strides[i + added] = s.strides[i]; // only the constant 1 is repeated
    s.sizes = to;
    s.strides = std::move(strides);
    return true;
}

// -- narrow --
TensorTypes infer_narrow(const Op&, const InputTypes& in, const Attributes& a)
{
    TensorType t = in[0];
    t.shape[static_cast<std::size_t>(a.integer("dim"))] = a.get<Dim>("length");
    return {t};
}

std::vector<Tensor> vjp_narrow(const VjpArguments& a)
{
    const Attributes& at = a.node.attributes;
    const std::int64_t d = at.integer("dim");
    return {graph::apply1(pad_op, {a.cotangents[0]},
                          {{"dim", d},
                           {"start", at.get<Dim>("start")},
                           {"size", a.node.inputs[0].type().shape[static_cast<std::size_t>(d)]},
                           {"value", 0.0}})};
}

bool view_narrow(const Node& n, std::size_t, Strided& s)
{
    const auto d = static_cast<std::size_t>(n.attributes.integer("dim"));
    s.offset += n.attributes.get<Dim>("start") * s.strides[d];
    s.sizes[d] = n.attributes.get<Dim>("length");
    return true;
}

// -- contiguous: a copy of an input that is not contiguous --
TensorTypes infer_contiguous(const Op&, const InputTypes& in, const Attributes&) { return {in[0]}; }
std::vector<Tensor> vjp_contiguous(const VjpArguments& a) { return {a.cotangents[0]}; }
void lower_contiguous(Lowering& l, const Node&) { l.copy(l.input(0), l.output()); }
void reference_contiguous(const ReferenceArguments& a)
{
    const HostTensor &from = a.inputs[0], &to = a.outputs[0];
    for (std::int64_t i = 0; i < to.count(); ++i) to.copy(to.offset(i), from, from.offset(i));
}

} // namespace

Tensor along_dim(const Tensor& vector, std::size_t dim, std::size_t rank)
{
    Shape sizes(rank, 1);
    sizes[dim] = vector.size(0);
    return reshape(vector, sizes);
}

std::vector<std::int64_t> inverse_order(const std::vector<std::int64_t>& order)
{
    std::vector<std::int64_t> back(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
    return back;
}

Tensor copied(const Tensor& t)
{
    Tensor copy = t.clone();
    copy.cell()->link = std::make_shared<graph::ViewLink>();
    return copy;
}

Tensor copy_if_aliased(const Tensor& t, const Tensor& x)
{
    return t.cell() == x.cell() || t.cell()->link ? copied(t) : t;
}

bool leading_sizes_are_one(const Shape& sizes, std::int64_t dim)
{
    return std::all_of(sizes.begin(), sizes.begin() + dim, [](const Dim& d) { return same(d, 1); });
}

Tensor put_range(const Tensor& x, std::int64_t dim, const Dim& start, const Dim& length, const Tensor& values)
{
    const Dim end = start + length, after = x.size(dim) - end;
    std::vector<Tensor> parts;
    if (!same(start, 0)) parts.push_back(narrow(x, dim, 0, start));
    if (!same(length, 0)) parts.push_back(values);
    if (!same(after, 0)) parts.push_back(narrow(x, dim, end, after));
    return parts.empty() ? x : parts.size() == 1 ? parts[0] : cat(parts, dim);
}

void link_range(const Tensor& part, const Tensor& x, std::int64_t dim, const Dim& start, const Dim& length)
{
    graph::ViewLink& link = graph::link_view(part, x);
    const bool selected = part.dim() < x.dim();
    link.gather = [=](const Tensor& base) {
        return selected ? select(base, dim, start) : narrow(base, dim, start, length);
    };
    link.scatter = [=](const Tensor& base, const Tensor& value) {
        return put_range(base, dim, start, length, selected ? unsqueeze(value, dim) : value);
    };
    link.in_order = leading_sizes_are_one(x.shape(), dim) && graph::in_order(x);
}

namespace {
// Returns x in another shape.  Writes into the result reach x, unless the strides of x may require a copy.
Tensor reshaped(const Tensor& x, Shape to, bool always_view = false)
{
    const Tensor view = graph::apply1(reshape_op, {x}, {{"shape", std::move(to)}});
    graph::ViewLink& link = *view.cell()->link;
    link.in_order = graph::in_order(x);
    if (always_view || link.in_order) {
        link.gather = [shape = view.shape()](const Tensor& base) { return reshape(base, shape); };
        link.scatter = [](const Tensor& base, const Tensor& value) { return reshape(value, base.shape()); };
    }
    return view;
}

Tensor permuted(const Tensor& x, Integers order)
{
    const Tensor view = graph::apply1(permute_op, {x}, {{"dims", order}});
    graph::ViewLink& link = *view.cell()->link;
    link.in_order = std::is_sorted(order.begin(), order.end()) && graph::in_order(x);
    link.gather = [order](const Tensor& base) { return permute(base, order); };
    link.scatter = [order = std::move(order)](const Tensor&, const Tensor& value) {
        return permute(value, inverse_order(order));
    };
    return view;
}
} // namespace

const Op reshape_op{.name = "reshape", .infer = infer_reshape, .vjp = vjp_reshape, .view = view_reshape};
const Op permute_op{.name = "permute", .infer = infer_permute, .vjp = vjp_permute, .view = view_permute};
const Op expand_op{.name = "expand", .infer = infer_expand, .vjp = vjp_expand, .view = view_expand};
const Op narrow_op{.name = "narrow", .infer = infer_narrow, .vjp = vjp_narrow, .view = view_narrow};
const Op contiguous_op{.name = "contiguous",
                       .infer = infer_contiguous,
                       .vjp = vjp_contiguous,
                       .lower = lower_contiguous,
                       .reference = reference_contiguous,
                       .narrow = true,
                       .doubles = true};

} // namespace ops

Tensor reshape(const Tensor& x, const Shape& shape)
{
    const Shape& from = graph::type_of(x).shape;
    Shape to = shape::reshape("reshape", from, shape);
    return same(to, from) ? x : ops::reshaped(x, std::move(to));
}

Tensor flatten(const Tensor& x, std::int64_t from, std::int64_t to)
{
    return reshape(x, shape::flatten("flatten", graph::type_of(x).shape, from, to));
}

Tensor permute(const Tensor& x, const std::vector<std::int64_t>& dims)
{
    const std::size_t rank = graph::type_of(x).shape.size();
    const auto order = shape::normalize_dims("permute", dims, rank);
    if (order.size() != rank)
        detail::fail(ErrorKind::argument, "permute", "There are (", order.size(), ") dims for a tensor of (",
                     rank, "): name each dimension once.");
    return ops::permuted(x, {order.begin(), order.end()});
}

Tensor transpose(const Tensor& x, std::int64_t a, std::int64_t b)
{
    const std::size_t rank = graph::type_of(x).shape.size(), dims_count = std::max<std::size_t>(rank, 1);
    const std::size_t first = shape::normalize_dim("transpose", a, dims_count),
                      second = shape::normalize_dim("transpose", b, dims_count);
    if (rank == 0) return x;
    std::vector<std::int64_t> dims(rank);
    std::iota(dims.begin(), dims.end(), 0);
    std::swap(dims[first], dims[second]);
    return ops::permuted(x, std::move(dims));
}

Tensor ops::expand_for(const char* op, const Tensor& x, const Shape& shape)
{
    const Shape& from = graph::type_of(x).shape;
    Shape to = shape;
    const std::size_t rank = from.size();
    if (to.size() < rank)
        detail::fail(ErrorKind::shape, op, "The shape (", to_string(shape),
                     ") has fewer dimensions than the tensor's (", to_string(from),
                     "): give at least as many.");
    for (std::size_t i = 0; i < rank; ++i)
        if (Dim& size = to[to.size() - rank + i]; same(size, -1)) size = from[i];
    shape::require_broadcastable(op, from, to);
    return same(to, from) ? x : graph::apply1(ops::expand_op, {x}, {{"shape", std::move(to)}});
}

Tensor expand(const Tensor& x, const Shape& shape) { return ops::expand_for("expand", x, shape); }

Tensor squeeze(const Tensor& x)
{
    Shape to = shape::squeeze(x.shape());
    return same(to, x.shape()) ? x : ops::reshaped(x, std::move(to), true);
}
Tensor squeeze(const Tensor& x, const Dims& dims)
{
    shape::normalize_dims("squeeze", dims, std::max<std::size_t>(x.shape().size(), 1));
    if (x.dim() == 0) return x;
    Shape to = shape::squeeze("squeeze", x.shape(), dims);
    return same(to, x.shape()) ? x : ops::reshaped(x, std::move(to), true);
}
Tensor squeeze(const Tensor& x, std::int64_t dim) { return squeeze(x, Dims{dim}); }
Tensor unsqueeze(const Tensor& x, std::int64_t dim)
{
    return ops::reshaped(x, shape::unsqueeze("unsqueeze", x.shape(), dim), true);
}

Tensor narrow(const Tensor& x, std::int64_t dim, const Dim& start, const Dim& length)
{
    const std::size_t d = shape::normalize_dim("narrow", dim, x.shape().size());
    const Dim size = x.shape()[d];
    const auto sentence = [&] {
        std::ostringstream text;
        text << "The range from (" << start << ") of length (" << length << ") is not inside dimension (" << d
             << ") of the shape (" << to_string(x.shape()) << ").";
        return text.str();
    };
    const Dim from = start.is_constant() && start.value() < 0 ? size + start : start;
    shape::require_at_least("narrow", from, 0, sentence);
    shape::require_at_least("narrow", length, 0, sentence);
    shape::require_at_least("narrow", size, from + length, sentence);
    const auto along = static_cast<std::int64_t>(d);
    const Tensor part =
        graph::apply1(ops::narrow_op, {x}, {{"dim", along}, {"start", from}, {"length", length}});
    ops::link_range(part, x, along, from, length);
    return part;
}

} // namespace reprise
