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

Tensor from_bytes(std::span<const std::byte> bytes, const Shape& shape, const TensorOptions& options)
{
    for (const Dim& d : shape)
        if (d.value() < 0)
            detail::fail(ErrorKind::shape, "from_vector", "The shape (", to_string(shape),
                         ") has a negative size: sizes start at 0.");
    const std::size_t values = bytes.size() / size_of(options.dtype);
    if (bytes.size() % size_of(options.dtype) != 0 ||
        !same(shape::element_count(shape), Dim(static_cast<std::int64_t>(values))))
        detail::fail(ErrorKind::shape, "from_vector", "There are (", values, ") values for the shape (",
                     to_string(shape), ").");
    const graph::TensorType type{options.dtype, shape};
    const auto evaluator = ops::evaluator_for(options);
    Tensor t = graph::make_tensor(
        graph::leaf(type, evaluator, evaluator->upload("from_vector", type, bytes), false));
    if (options.requires_grad) t.requires_grad_();
    return t;
}

Tensor from_vector(const std::vector<bool>& v, const Shape& shape, const TensorOptions& options)
{
    const std::vector<std::uint8_t> bytes(v.begin(), v.end());
    TensorOptions o = options;
    o.dtype = boolean;
    return from_bytes(std::as_bytes(std::span(bytes)), shape, o);
}

} // namespace reprise
