// Launches of the kernels of shaders/common/rows.glsl, which compute rows.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "ops/launch_where.hpp"
#include "shape/rules.hpp"

namespace reprise::ops {

// How a launch divides rows among invocations, and accesses their elements.
struct RowsDivision {
    std::int64_t
        unit; // of strides between rows, in elements: 4 if rows are accessed as vectors or texels, else 1
    Dim lane_bits; // log2 of the number of invocations that compute a row
    Dim groups;
};

// An operand of LaunchSpec::converts, by index, with its view, for a second output that of operand `copies`.
struct Convertible {
    std::uint32_t operand;
    View view;
    std::optional<std::uint32_t> copies{};
};

// Appends the dtypes of the operands, f32, to the constants, and lets the plan change those of contiguous rows whose
// length is a multiple of 4 (shaders/common/row_dtypes.glsl), of results only if no chain can convert them.
inline LaunchSpec converting(const Lowering& l, LaunchSpec spec, const std::vector<Convertible>& operands)
{
    const bool chains = l.fuses() && l.half_access() && !same(spec.result_columns, 0);
    for (const auto& [operand, view, copies] : operands) {
        const auto constant = static_cast<std::uint32_t>(spec.constants.size());
        const bool converts = !chains || spec.operands[operand].use == Use::read;
        if (converts && view.contiguous() && view.sizes().back().divisible_by(4))
            spec.converts.push_back({operand, constant, copies});
        spec.constants.push_back(static_cast<std::uint32_t>(view.dtype));
    }
    return spec;
}

// launch_of(division) returns the launch.  `aligned` says whether a unit of 4 is possible.  Then the kernel also takes
// the operands of `convertible` in f16 and bf16, by constants behind the others; on GPUs a variant does.
template <class LaunchOf> void launch_rows(Lowering& l, const Dim& columns, const Dim& rows, bool aligned,
                                           const LaunchOf& launch_of,
                                           const std::vector<Convertible>& convertible = {})
{
    if (l.groups_share_rows()) {
        const Dim is_medium = is_at_least(columns, 64), is_long = is_at_least(columns, 1025);
        const Dim lanes = 4 + 28 * is_medium + 224 * is_long;
        LaunchSpec spec =
            launch_of({aligned ? 4 : 1, 2 + 3 * is_medium + 3 * is_long, ceil_div(rows * lanes, 256)});
        spec.kernel += aligned ? "_group_vec4" : "_group";
        if (aligned && !convertible.empty()) {
            spec.converting_kernel = spec.kernel + "_dtypes";
            spec = converting(l, std::move(spec), convertible);
        }
        return l.launch(std::move(spec));
    }
    const auto without_chain = [&](std::int64_t unit) { // only variants with GROUP can compute one
        LaunchSpec spec = launch_of({unit, 0, ceil_div(rows, 64)});
        spec.result_columns = 0;
        return aligned ? converting(l, std::move(spec), convertible) : spec;
    };
    if (!l.texels() || !aligned) return l.launch(without_chain(1));
    l.launch(texel_variant(without_chain(4)), without_chain(1));
}

} // namespace reprise::ops
