// The members of Tensor that call ops, and tensors created from host memory.
#include <numeric>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/ops/sorting.hpp>

#include "graph/cell.hpp"
#include "ops/index_check.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {

#include "ops/tensor_methods.inc" // members that call a free function (cmake/RepriseTensorMethods.cmake)

Tensor Tensor::t() const
{
    if (dim() > 2)
        detail::fail(ErrorKind::shape, "t", "The shape (", to_string(shape()),
                     ") is not a matrix's: use transpose(a, b).");
    return dim() < 2 ? *this : reprise::transpose(*this, 0, 1);
}
Tensor Tensor::T() const
{
    std::vector<std::int64_t> order(static_cast<std::size_t>(dim()));
    std::iota(order.rbegin(), order.rend(), 0);
    return reprise::permute(*this, order);
}
Tensor Tensor::mT() const
{
    if (dim() < 2)
        detail::fail(ErrorKind::shape, "mT", "The shape (", to_string(shape()), ") is not a matrix's.");
    return reprise::transpose(*this, -2, -1);
}
Tensor Tensor::where(const Tensor& condition, const Tensor& other) const
{
    return reprise::where(condition, *this, other);
}
Tensor Tensor::where(const Tensor& condition, double other) const
{
    return reprise::where(condition, *this, other);
}
Tensor Tensor::multinomial(const Dim& count, bool replacement) const
{
    return reprise::multinomial(*this, count, replacement);
}

Tensor Tensor::unfold(std::int64_t dim, const Dim& size, std::int64_t step) const
{
    constexpr const char* op = "unfold";
    const std::size_t d = shape::normalize_dim(op, dim, shape().size());
    const auto along = static_cast<std::int64_t>(d);
    if (step < 1) detail::fail(ErrorKind::argument, op, "The step (", step, ") must be at least 1.");
    const Dim whole = shape()[d];
    shape::require_at_least(op, size, 0, [&] { return "The size (" + size.text() + ") is negative."; });
    shape::require_at_least(op, whole, size, [&] {
        return "The size (" + size.text() + ") is larger than dimension (" + std::to_string(d) +
               ") of the shape (" + to_string(shape()) + ").";
    });
    const Dim count = floor_div(whole - size, step) + 1;
    const Tensor start = reprise::unsqueeze(ops::count_like(*this, count) * static_cast<double>(step), 1);
    const Tensor at = start + ops::count_like(*this, size); // [count, size]
    const ops::IndexChecksOff checks_off;
    const Tensor found = reprise::index_select(*this, along, reprise::reshape(at, {count * size}));
    Shape split = shape();
    split[d] = count;
    split.insert(split.begin() + along + 1, size);
    const Tensor windows = reprise::movedim(reprise::reshape(found, split), along + 1, -1);
    graph::link_view(windows, *this); // in PyTorch the windows share memory
    return windows;
}

Tensor Tensor::to(DType t) const { return cast(*this, t); }
Tensor Tensor::to(DType t, bool, bool copy) const { return copy ? to(t).clone() : to(t); }
Tensor Tensor::to(const CreationOptions& o) const
{
    const Tensor there = o.device ? to(*o.device) : *this;
    return o.dtype ? there.to(*o.dtype) : there;
}

Tensor from_bytes(std::span<const std::byte> bytes, const Shape& shape, const CreationOptions& options)
{
    for (const Dim& d : shape)
        if (d.value() < 0)
            detail::fail(ErrorKind::shape, "from_vector", "The shape (", to_string(shape),
                         ") has a negative size: sizes start at 0.");
    const DType dtype = options.dtype_or(f32);
    const std::size_t values = bytes.size() / size_of(dtype);
    if (bytes.size() % size_of(dtype) != 0 ||
        !same(shape::element_count(shape), Dim(static_cast<std::int64_t>(values))))
        detail::fail(ErrorKind::shape, "from_vector", "There are (", values, ") values for the shape (",
                     to_string(shape), ").");
    const graph::TensorType type{dtype, shape};
    const auto evaluator = ops::evaluator_for(options);
    const graph::Value value =
        graph::leaf(type, evaluator, evaluator->upload("from_vector", type, bytes), false);
    return ops::with_grad(graph::make_tensor(value), options);
}

Tensor detail::from_numbers(std::span<const std::byte> bytes, DType dtype, const Shape& shape,
                            const CreationOptions& options)
{
    const DType wanted = options.dtype_or(dtype);
    if (wanted == dtype)
        return from_bytes(bytes, shape,
                          {.dtype = dtype, .device = options.device, .requires_grad = options.requires_grad});
    const Tensor given = from_bytes(bytes, shape, {.dtype = dtype, .device = options.device});
    return ops::with_grad(cast(given, wanted).detach(), options);
}

Tensor from_vector(const std::vector<bool>& v, const Shape& shape, const CreationOptions& options)
{
    const std::vector<std::uint8_t> bytes(v.begin(), v.end());
    return detail::from_numbers(std::as_bytes(std::span(bytes)), boolean, shape, options);
}

} // namespace reprise
