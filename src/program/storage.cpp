#include "program/storage.hpp"

namespace reprise::program {

namespace {

bool is_row_major(const Shape& shape, const Strides& strides)
{
    std::int64_t stride = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
        const std::int64_t size = shape[d].value();
        if (size != 1 && strides[d] != stride) return false;
        stride *= size;
    }
    return true;
}

std::uint64_t bytes_of(DType dtype, const Shape& shape)
{
    std::int64_t n = 1;
    for (const Dim& d : shape) n *= d.value();
    return static_cast<std::uint64_t>(n) * size_of(dtype);
}

} // namespace

std::uint64_t bytes_of(const graph::TensorType& t) { return bytes_of(t.dtype, t.shape); }

Strides row_major_strides(const Shape& shape)
{
    Strides strides;
    strides.resize(shape.size());
    std::int64_t stride = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
        strides[d] = stride;
        stride *= shape[d].value();
    }
    return strides;
}

Stored::Stored(DType in_memory, const Shape& shape, std::shared_ptr<device::Memory> m, Strides s,
               std::int64_t o)
    : memory(std::move(m)), strides(std::move(s)), offset(o), bytes(bytes_of(in_memory, shape)),
      row_major(offset == 0 && is_row_major(shape, strides))
{}

} // namespace reprise::program
