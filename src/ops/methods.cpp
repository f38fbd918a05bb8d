// Tensor's members that are ops, and tensors from host memory.
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise {

Tensor Tensor::t() const
{
    if (dim() > 2)
        detail::fail(ErrorKind::shape, "t", "The shape (", to_string(shape()),
                     ") is not a matrix's: use transpose(a, b).");
    return dim() < 2 ? *this : reprise::transpose(*this, 0, 1);
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
    Tensor t = graph::make_tensor(
        graph::leaf(type, evaluator, evaluator->upload("from_vector", type, bytes), false));
    if (options.requires_grad) t.requires_grad_();
    return t;
}

Tensor detail::from_numbers(std::span<const std::byte> bytes, DType dtype, const Shape& shape,
                            const CreationOptions& options)
{
    const DType wanted = options.dtype_or(dtype);
    if (wanted == dtype)
        return from_bytes(bytes, shape,
                          {.dtype = dtype, .device = options.device, .requires_grad = options.requires_grad});
    Tensor t = cast(from_bytes(bytes, shape, {.dtype = dtype, .device = options.device}), wanted).detach();
    if (options.requires_grad) t.requires_grad_();
    return t;
}

Tensor from_vector(const std::vector<bool>& v, const Shape& shape, const CreationOptions& options)
{
    const std::vector<std::uint8_t> bytes(v.begin(), v.end());
    return detail::from_numbers(std::as_bytes(std::span(bytes)), boolean, shape, options);
}

} // namespace reprise
