// Windows of images as the columns of a matrix, and their sums: what shaders/im2col.comp and col2im.comp take.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "ops/lowering.hpp"
#include "shape/rules.hpp"

namespace reprise::ops {

struct Patches {
    Dim n, channels;
    std::array<Dim, 3> in, out, kernel; // depth, height, width
    std::array<std::int64_t, 3> stride, padding, dilation;
    // Of the matrix [channels * kernel][...]: what is written of a row, from row to row, from an image's first column
    // to that of the next.
    Dim columns, pitch, between;

    static Dim volume(const std::array<Dim, 3>& d) { return d[0] * d[1] * d[2]; }
    // Of a matrix of so many elements, which kernels count in 32 bits.
    DimVector ints(const Dim& elements) const
    {
        DimVector list{n, channels};
        for (const auto& sizes : {in, out, kernel}) list.insert(list.end(), sizes.begin(), sizes.end());
        for (const auto& sizes : {stride, padding, dilation})
            list.insert(list.end(), sizes.begin(), sizes.end());
        list.insert(list.end(), {columns, pitch, between, elements});
        return list;
    }
    LaunchSpec im2col(const View& x, const View& col) const
    {
        return {.kernel = "im2col",
                .operands = {{x, Use::read}, {col, Use::write}},
                .ints = ints(shape::element_count(col.sizes())),
                .groups = channels * ceil_div(columns, 64)};
    }
    LaunchSpec col2im(const View& col, const View& x) const
    {
        const bool dilated = std::any_of(dilation.begin(), dilation.end(), [](auto d) { return d != 1; });
        return {.kernel = "col2im",
                .constants = {dilated ? 1u : 0u},
                .operands = {{col, Use::read}, {x, Use::write}},
                .ints = ints(shape::element_count(col.sizes())),
                .groups = ceil_div(n * channels * volume(in), 64)};
    }
};

} // namespace reprise::ops
