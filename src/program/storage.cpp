#include "program/storage.hpp"

namespace reprise::program {

std::vector<std::int64_t> sizes_of(const graph::TensorType& t)
{
    std::vector<std::int64_t> out;
    for (const Dim& d : t.shape) out.push_back(d.value());
    return out;
}

std::int64_t count_of(const graph::TensorType& t)
{
    std::int64_t n = 1;
    for (const Dim& d : t.shape) n *= d.value();
    return n;
}

std::uint64_t bytes_of(const graph::TensorType& t)
{
    return static_cast<std::uint64_t>(count_of(t)) * size_of(t.dtype);
}

bool is_row_major(const Stored& s, const graph::TensorType& t)
{
    if (s.offset != 0) return false;
    std::int64_t stride = 1;
    for (std::size_t d = t.shape.size(); d-- > 0;) {
        const std::int64_t size = t.shape[d].value();
        if (size != 1 && s.strides[d] != stride) return false;
        stride *= size;
    }
    return true;
}

} // namespace reprise::program
