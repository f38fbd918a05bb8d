// What the launches of attention share: views, masks and arguments.
#include "ops/attention_launch.hpp"

#include <utility>

#include "ops/dropout.hpp"
#include "ops/random.hpp"
#include "shape/rules.hpp"

namespace reprise::ops {

View swapped(View v, std::size_t a, std::size_t b)
{
    std::swap(v.layout.sizes[a], v.layout.sizes[b]);
    std::swap(v.layout.strides[a], v.layout.strides[b]);
    return v;
}

View wide_mask(Lowering& l, const View& mask)
{
    if (size_of(mask.dtype) == 4) return mask;
    return copied_once(mask, 3, [&](const View& once) {
        const View to = l.temporary(is_floating(mask.dtype) ? f32 : i32, once.sizes());
        l.copy(once, to);
        return to;
    });
}

View padded(Lowering& l, View v, const Dim& columns)
{
    const View filled = l.packed(v, v.sizes()[2], columns);
    v.value = filled.value;
    v.layout = {{v.sizes()[0], v.sizes()[1], v.sizes()[2], columns}, {}, filled.layout.offset};
    v.layout.strides = shape::contiguous_strides(v.layout.sizes);
    return v;
}
View in_texels(Lowering& l, const View& v)
{
    return has_texel_rows(v.layout) ? v : padded(l, v, round_up(v.sizes()[3], 4));
}

records::RowStrides row_strides(const View& v, std::int64_t unit)
{
    const auto& s = v.layout.strides;
    return {.batch = floor_div(s[0], unit), .head = floor_div(s[1], unit), .row = floor_div(s[2], unit)};
}

records::AttentionSizes sizes_of(const AttentionSizes& s, const Dim& all_heads)
{
    return {.queries = s.queries,
            .keys = s.keys,
            .heads = s.heads,
            .key_heads = s.key_heads,
            .features = s.features,
            .value_features = s.value_features,
            .all_heads = all_heads};
}

namespace {

Mask mask_of(Lowering& l, const graph::Attributes& a, std::size_t input)
{
    if (a.integer("masked") == 0) return {};
    return Mask(wide_mask(l, l.input(input)));
}

} // namespace

PassArguments::PassArguments(Lowering& l, const graph::Attributes& a, std::size_t mask_input)
    : PassArguments(a, mask_of(l, a, mask_input))
{}

PassArguments::PassArguments(const graph::Attributes& a, const Mask& m)
    : mask(m.operand), mask_strides{.batch = m.strides[0],
                                    .head = m.strides[1],
                                    .row = m.strides[2],
                                    .column = m.strides[3]},
      random{0, 0, 0, 0, 0}, constants{static_cast<std::uint32_t>(a.integer("causal")), m.kind,
                                       a.number("p") != 0 ? 1u : 0u}
{
    if (a.number("p") != 0) random = random_state(a);
}

} // namespace reprise::ops
