#include "ops/lowering.hpp"

#include <algorithm>

#include <reprise/error.hpp>

#include "shape/rules.hpp"

namespace reprise::ops {

std::optional<View> as_words(View v)
{
    const auto elements = 4 / static_cast<std::int64_t>(size_of(v.dtype)); // of a word; 0 of wider ones
    if (elements <= 1) return v;
    graph::Strided& s = v.layout;
    if (s.sizes.empty() || !same(s.strides.back(), 1) || !s.sizes.back().divisible_by(elements) ||
        !s.offset.divisible_by(elements))
        return std::nullopt;
    for (std::size_t d = 0; d + 1 < s.sizes.size(); ++d) {
        if (same(s.sizes[d], 1)) s.strides[d] = 0; // has no effect
        if (!s.strides[d].divisible_by(elements)) return std::nullopt;
        s.strides[d] = floor_div(s.strides[d], elements);
    }
    s.sizes.back() = floor_div(s.sizes.back(), elements);
    s.offset = floor_div(s.offset, elements);
    v.dtype = i32;
    return v;
}

View as_f32(Lowering& l, const View& v)
{
    if (v.dtype == f32) return v;
    const View to = l.temporary(f32, v.sizes());
    l.copy(v, to);
    return to;
}

Dim columns_if_whole(const View& v)
{
    return v.contiguous() && same(v.layout.offset, 0) ? v.sizes().back() : Dim(0);
}

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
