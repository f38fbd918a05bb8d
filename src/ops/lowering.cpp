#include "ops/lowering.hpp"

#include <reprise/error.hpp>

#include "shape/rules.hpp"

namespace reprise::ops {

bool View::contiguous() const
{
    const shape::Strides want = shape::contiguous_strides(layout.sizes);
    for (std::size_t i = 0; i < want.size(); ++i)
        if (!same(layout.sizes[i], 1) && !same(layout.strides[i], want[i])) return false;
    return true;
}

bool has_texel_rows(const View& v)
{
    return v.sizes()[1].divisible_by(4) && same(v.layout.strides[1], 1) &&
           v.layout.strides[0].divisible_by(4) && v.layout.offset.divisible_by(4);
}

void add_words(DimVector& ints, const Dim& d)
{
    constexpr std::int64_t word = std::int64_t{1} << 32;
    ints.push_back(mod(d, word));
    ints.push_back(floor_div(d, word));
}

void require_floating_kernel(const char* op, DType dtype)
{
    if (!is_floating(dtype))
        detail::fail(ErrorKind::unsupported, op, "There are kernels for floating dtypes only, not for (",
                     name_of(dtype), "): cast the input first, or use the reference device.");
}

} // namespace reprise::ops
