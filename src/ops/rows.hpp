// Launches of the kernels of shaders/common/rows.glsl, which compute rows.
#pragma once
#include <cstdint>
#include <utility>

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

// launch_of(division) returns the launch.  `aligned` says whether a unit of 4 is possible.
template <class LaunchOf>
void launch_rows(Lowering& l, const Dim& columns, const Dim& rows, bool aligned, const LaunchOf& launch_of)
{
    if (l.groups_share_rows()) {
        const Dim is_medium = is_at_least(columns, 64), is_long = is_at_least(columns, 1025);
        const Dim lanes = 4 + 28 * is_medium + 224 * is_long;
        LaunchSpec spec =
            launch_of({aligned ? 4 : 1, 2 + 3 * is_medium + 3 * is_long, ceil_div(rows * lanes, 256)});
        spec.kernel += aligned ? "_group_vec4" : "_group";
        return l.launch(std::move(spec));
    }
    const auto without_chain = [&](std::int64_t unit) { // only variants with GROUP can compute one
        LaunchSpec spec = launch_of({unit, 0, ceil_div(rows, 64)});
        spec.result_columns = 0;
        return spec;
    };
    if (!l.texels() || !aligned) return l.launch(without_chain(1));
    l.launch(texel_variant(without_chain(4)), without_chain(1));
}

} // namespace reprise::ops
