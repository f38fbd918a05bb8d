// cat: concatenates tensors along a dimension; stack: along a new one.
#include <algorithm>
#include <string>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/promotion.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/launch_where.hpp"
#include "ops/records.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

std::size_t dim_of(const Attributes& a) { return static_cast<std::size_t>(a.integer("dim")); }

TensorTypes infer(const Op& op, const InputTypes& in, const Attributes& a)
{
    TensorType out = in[0];
    Dim& along = out.shape[dim_of(a)];
    along = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
        const TensorType& t = in[i];
        if (t.dtype != out.dtype)
            detail::fail(ErrorKind::internal, op.name, "The inputs' dtypes (", name_of(out.dtype), " and ",
                         name_of(t.dtype), ") differ.");
        along += t.shape[dim_of(a)];
    }
    return {out};
}

std::vector<Tensor> vjp(const VjpArguments& a)
{
    Shape sizes;
    for (const Tensor& t : a.inputs) sizes.push_back(t.shape()[dim_of(a.node.attributes)]);
    return split(a.cotangents[0], sizes, a.node.attributes.integer("dim"));
}

// Copies a view with any strides into another.
void lower_part(Lowering& l, View from, const View& to)
{
    constexpr std::size_t max_rank = 6; // of the kernels
    const auto collapsed = [&] {
        return shape::collapse(to.sizes(), {{from.layout.strides, to.layout.strides}});
    };
    shape::Collapsed c = collapsed();
    if (c.sizes.size() > max_rank) {
        from = l.contiguous(from);
        c = collapsed();
    }
    const Dim count = shape::element_count(to.sizes());
    const bool texels = has_texel_rows({c.sizes, c.strides[0], from.layout.offset}) &&
                        has_texel_rows({c.sizes, c.strides[1], to.layout.offset});
    const records::cat record{.x = from,
                              .y = to,
                              .count = count,
                              .sizes = c.sizes,
                              .x_strides = c.strides[0],
                              .y_strides = c.strides[1]};
    launch_with_texels(l, texels,
                       record.launch({.constants = {static_cast<std::uint32_t>(c.sizes.size())},
                                      .groups = ceil_div(count, 256),
                                      .disjoint = true,
                                      .moves = true}));
}

void lower(Lowering& l, const Node& n)
{
    struct Part {
        View from, to;
    };
    std::vector<Part> words;
    const auto each_part = [&](const auto& emit) {
        const std::size_t d = dim_of(n.attributes);
        View part = l.output();
        for (std::size_t i = 0; i < n.inputs.size(); ++i) {
            const View from = l.input(i);
            part.layout.sizes = from.sizes();
            emit(from, part);
            part.layout.offset += from.sizes()[d] * part.layout.strides[d];
        }
    };
    each_part([&](const View& from, const View& to) {
        const auto a = as_words(from), b = as_words(to);
        if (a && b) words.push_back({*a, *b});
    });
    if (words.size() == n.inputs.size())
        for (const Part& p : words) lower_part(l, p.from, p.to);
    else l.widened([&] { each_part([&](const View& from, const View& to) { lower_part(l, from, to); }); });
}

void reference(const ReferenceArguments& a)
{
    HostTensor part = a.outputs[0];
    const std::size_t d = dim_of(a.attributes);
    for (const HostTensor& from : a.inputs) {
        part.sizes = from.sizes;
        for (std::int64_t i = 0, count = from.count(); i < count; ++i)
            part.copy(part.offset(i), from, from.offset(i));
        part.data += from.sizes[d] * part.strides[d] * static_cast<std::int64_t>(size_of(part.dtype));
    }
}

// Removes empty vectors: as in PyTorch, they may be concatenated with tensors of any shape.
std::vector<Tensor> parts_of(const std::vector<Tensor>& tensors)
{
    const auto is_vector = [](const Tensor& t) { return t.shape().size() == 1; };
    if (std::all_of(tensors.begin(), tensors.end(), is_vector)) return tensors;
    std::vector<Tensor> parts;
    for (const Tensor& t : tensors)
        if (!is_vector(t) || !same(t.shape()[0], 0)) parts.push_back(t);
    return parts;
}

} // namespace

const Op cat_op{.name = "cat",
                .infer = infer,
                .vjp = vjp,
                .lower = lower,
                .reference = reference,
                .narrow = true,
                .doubles = true};

} // namespace ops

Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim)
{
    if (tensors.empty()) detail::fail(ErrorKind::argument, "cat", "There are no tensors to join.");
    std::vector<Tensor> parts = ops::parts_of(tensors);
    const Shape first = parts[0].shape();
    DType dtype = parts[0].dtype();
    for (const Tensor& t : tensors) dtype = promote_types(dtype, t.dtype());
    const std::size_t d = shape::normalize_dim("cat", dim, first.size());
    for (Tensor& part : parts) {
        const Shape sizes = part.shape();
        const auto sentence = [&] {
            return "The shapes (" + to_string(first) + " and " + to_string(sizes) +
                   ") differ beside dimension (" + std::to_string(d) + "), along which they are joined.";
        };
        if (sizes.size() != first.size()) detail::fail(ErrorKind::shape, "cat", sentence());
        for (std::size_t i = 0; i < sizes.size(); ++i)
            if (i != d) shape::require_equal("cat", first[i], sizes[i], sentence);
        part = cast(part, dtype);
    }
    if (parts.size() == 1) return ops::copied(parts[0]);
    return graph::apply1(ops::cat_op, parts, {{"dim", static_cast<std::int64_t>(d)}});
}

Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim)
{
    if (tensors.empty()) detail::fail(ErrorKind::argument, "stack", "There are no tensors to join.");
    const Shape first = tensors[0].shape();
    const std::size_t d = shape::normalize_dim("stack", dim, first.size() + 1);
    std::vector<Tensor> parts;
    for (const Tensor& t : tensors) {
        shape::require_same("stack", first, t.shape(), [&] {
            return "The shapes (" + to_string(first) + " and " + to_string(t.shape()) + ") differ.";
        });
        parts.push_back(unsqueeze(t, static_cast<std::int64_t>(d)));
    }
    return cat(parts, static_cast<std::int64_t>(d));
}

} // namespace reprise
