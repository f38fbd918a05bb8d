#include "program/storage.hpp"

namespace reprise::program {

namespace {

bool is_row_major(const graph::TensorType& t, const std::vector<std::int64_t>& strides)
{
    std::int64_t stride = 1;
    for (std::size_t d = t.shape.size(); d-- > 0;) {
        const std::int64_t size = t.shape[d].value();
        if (size != 1 && strides[d] != stride) return false;
        stride *= size;
    }
    return true;
}

} // namespace

std::uint64_t bytes_of(const graph::TensorType& t)
{
    std::int64_t n = 1;
    for (const Dim& d : t.shape) n *= d.value();
    return static_cast<std::uint64_t>(n) * size_of(t.dtype);
}

std::vector<std::int64_t> row_major_strides(const graph::TensorType& t)
{
    std::vector<std::int64_t> strides(t.shape.size());
    std::int64_t stride = 1;
    for (std::size_t d = t.shape.size(); d-- > 0;) {
        strides[d] = stride;
        stride *= t.shape[d].value();
    }
    return strides;
}

Stored::Stored(const graph::TensorType& type, std::shared_ptr<device::Memory> m, std::vector<std::int64_t> s,
               std::int64_t o)
    : memory(std::move(m)), strides(std::move(s)), offset(o), bytes(bytes_of(type)),
      row_major(offset == 0 && is_row_major(type, strides))
{}

} // namespace reprise::program
