#include "ops/lowering.hpp"

#include <algorithm>

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

bool has_texel_rows(const graph::Strided& v)
{
    if (v.sizes.empty() || !v.sizes.back().divisible_by(4) || !same(v.strides.back(), 1)) return false;
    return v.offset.divisible_by(4) && std::all_of(v.strides.begin(), v.strides.end() - 1,
                                                   [](const Dim& stride) { return stride.divisible_by(4); });
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
