#include "execution/storage.hpp"

#include "shape/checked.hpp"

namespace reprise::execution {

std::uint64_t bytes_of(const graph::TensorType& t) { return bytes_of(t.dtype, t.shape); }
std::uint64_t bytes_of(DType dtype, const Shape& shape)
{
    auto bytes = static_cast<std::int64_t>(size_of(dtype));
    for (const Dim& d : shape)
        if (d.value() == 0) return 0; // before multiplying, as the other sizes might overflow
    for (const Dim& d : shape) bytes = shape::checked_multiply(bytes, d.value());
    return static_cast<std::uint64_t>(bytes);
}

Strides row_major_strides(const Shape& shape)
{
    Strides strides(shape.size());
    std::int64_t stride = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
        strides[d] = stride;
        stride *= shape[d].value();
    }
    return strides;
}

std::optional<std::uint64_t> Stored::dense_offset(const graph::TensorType& type) const
{
    if (row_major()) return 0;
    const Strides dense = row_major_strides(type.shape);
    for (std::size_t d = 0; d < dense.size(); ++d)
        if (layout->strides[d] != dense[d] && type.shape[d].value() > 1) return std::nullopt;
    return static_cast<std::uint64_t>(layout->offset) * size_of(type.dtype);
}

Stored::Stored(std::shared_ptr<device::Memory> m, std::uint64_t b, std::optional<Layout> l)
    : memory(std::move(m)), layout(l ? std::make_unique<const Layout>(std::move(*l)) : nullptr), bytes(b)
{}

} // namespace reprise::execution
