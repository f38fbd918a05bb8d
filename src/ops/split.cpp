// split: parts of a tensor along one dimension as views.  One cat concatenates their gradients.
#include <algorithm>
#include <string>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

using graph::Strided;

std::size_t dim_of(const Attributes& a) { return static_cast<std::size_t>(a.integer("dim")); }

TensorTypes infer(const Op&, const InputTypes& in, const Attributes& a)
{
    TensorTypes out;
    for (const Dim& size : a.shape("sizes")) {
        out.push_back(in[0]);
        out.back().shape[dim_of(a)] = size;
    }
    return out;
}

// If x is permuted, its gradient gets the memory order of the tensor before permute(): the next op needs no copy.
std::vector<Tensor> vjp(const VjpArguments& a)
{
    std::vector<Tensor> parts(a.cotangents.begin(), a.cotangents.end());
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (!parts[i].defined()) parts[i] = zeros_like(a.outputs[i]);
    const auto dim = static_cast<std::int64_t>(dim_of(a.node.attributes));
    const Node& before = *a.node.inputs[0].node;
    if (before.op != &permute_op) return {cat(parts, dim)};
    const auto& dims = before.attributes.integers("dims");
    for (Tensor& part : parts) part = permute(part, inverse_order(dims));
    return {permute(cat(parts, dims[static_cast<std::size_t>(dim)]), dims)};
}

bool view(const Node& n, std::size_t output, Strided& s)
{
    const auto& sizes = n.attributes.shape("sizes");
    const std::size_t d = dim_of(n.attributes);
    for (std::size_t i = 0; i < output; ++i) s.offset += sizes[i] * s.strides[d];
    s.sizes[d] = sizes[output];
    return true;
}

std::vector<Tensor> parts_of(const Tensor& x, std::size_t d, const Shape& sizes)
{
    const auto dim = static_cast<std::int64_t>(d);
    std::vector<Tensor> parts = graph::apply(split_op, {x}, {{"dim", dim}, {"sizes", sizes}});
    Dim start = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        link_range(parts[i], x, dim, start, sizes[i]);
        start += sizes[i];
    }
    return parts;
}

[[noreturn]] void fail_size(const char* op, const char* what, std::int64_t value)
{
    detail::fail(ErrorKind::argument, op, "The ", what, " (", value, ") must be at least 1.");
}

} // namespace

const Op split_op{.name = "split", .infer = infer, .vjp = vjp, .view = view};

} // namespace ops

std::vector<Tensor> split(const Tensor& x, const Shape& sizes, std::int64_t dim)
{
    const std::size_t d = shape::normalize_dim("split", dim, x.shape().size());
    Dim total = 0;
    for (const Dim& size : sizes) total += size;
    const auto sentence = [&] {
        return "The sizes (" + to_string(sizes) + ") do not add up to dimension (" + std::to_string(d) +
               ") of the shape (" + to_string(x.shape()) + ").";
    };
    for (const Dim& size : sizes) shape::require_at_least("split", size, 0, sentence);
    shape::require_equal("split", total, x.shape()[d], sentence);
    if (sizes.empty()) return {};
    return ops::parts_of(x, d, sizes);
}

std::vector<Tensor> split(const Tensor& x, std::int64_t size, std::int64_t dim)
{
    const std::size_t d = shape::normalize_dim("split", dim, x.shape().size());
    if (size < 1) ops::fail_size("split", "size", size);
    const Dim whole = x.shape()[d];
    if (!whole.is_constant())
        detail::fail(ErrorKind::shape, "split", "Dimension (", d, ") of the shape (", to_string(x.shape()),
                     ") is not known before the call: give the sizes of the parts.");
    Shape sizes;
    for (std::int64_t left = whole.value(); left > 0 || sizes.empty(); left -= size)
        sizes.emplace_back(std::min(size, left));
    return ops::parts_of(x, d, sizes);
}

std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, std::int64_t dim)
{
    const std::size_t d = shape::normalize_dim("chunk", dim, x.shape().size());
    if (chunks < 1) ops::fail_size("chunk", "number of chunks", chunks);
    const Dim whole = x.shape()[d];
    if (whole.is_constant() && !same(whole, 0)) // a size of 0 gives `chunks` empty parts
        return split(x, std::max<std::int64_t>((whole.value() + chunks - 1) / chunks, 1), dim);
    const Dim size = floor_div(whole, chunks);
    shape::require_equal("chunk", size * chunks, whole, [&] {
        return "The size (" + whole.text() + ") is no multiple of the number of chunks (" +
               std::to_string(chunks) + "), which one that is known at the call only must be.";
    });
    return ops::parts_of(x, d, Shape(static_cast<std::size_t>(chunks), size));
}

std::vector<Tensor> unbind(const Tensor& x, std::int64_t dim)
{
    const std::size_t d = shape::normalize_dim("unbind", dim, x.shape().size());
    const Dim size = x.shape()[d];
    if (!size.is_constant())
        detail::fail(ErrorKind::shape, "unbind", "Dimension (", d, ") of the shape (", to_string(x.shape()),
                     ") is not known before the call: its parts can't be counted.");
    if (same(size, 0)) return {};
    std::vector<Tensor> parts = ops::parts_of(x, d, Shape(static_cast<std::size_t>(size.value()), Dim(1)));
    const auto along = static_cast<std::int64_t>(d);
    std::int64_t at = 0;
    for (Tensor& part : parts) {
        part = squeeze(part, along);
        ops::link_range(part, x, along, at++, 1);
    }
    return parts;
}

} // namespace reprise
