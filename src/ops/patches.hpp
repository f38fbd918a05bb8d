// The arguments of shaders/im2col.comp (windows of images as columns of a matrix) and col2im.comp (sums of columns).
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "ops/records.hpp"
#include "shape/rules.hpp"

namespace reprise::ops {

struct Patches {
    Dim n, channels;
    std::array<Dim, 3> in, out, kernel; // depth, height, width
    std::array<std::int64_t, 3> stride, padding, dilation;
    // Of the matrix [channels * kernel][...]: the elements written per row, the distance of rows, and the distance of
    // the first columns of two consecutive images.
    Dim columns, pitch, between;

    static Dim volume(const std::array<Dim, 3>& d) { return d[0] * d[1] * d[2]; }
    // Returns the record of im2col or col2im, whose kernels count the elements of the matrix in 32 bits.
    template <class Record> Record arguments(const View& from, const View& to, const Dim& elements) const
    {
        return {.from = from,
                .to = to,
                .images = n,
                .channels = channels,
                .windows = {.in_size = in,
                            .out_size = out,
                            .kernel = kernel,
                            .stride = stride,
                            .padding = padding,
                            .dilation = dilation},
                .columns = columns,
                .pitch = pitch,
                .between = between,
                .elements = elements};
    }
    LaunchSpec im2col(const View& x, const View& col) const
    {
        return arguments<records::im2col>(x, col, shape::element_count(col.sizes()))
            .launch({.groups = channels * ceil_div(columns, 64)});
    }
    LaunchSpec col2im(const View& col, const View& x) const
    {
        const bool dilated = std::any_of(dilation.begin(), dilation.end(), [](auto d) { return d != 1; });
        return arguments<records::col2im>(col, x, shape::element_count(col.sizes()))
            .launch({.constants = {dilated ? 1u : 0u}, .groups = ceil_div(n * channels * volume(in), 64)});
    }
};

} // namespace reprise::ops
