// A convolution as a matrix product (im2col): the patches of the input become columns.
//   y     W col(x) + bias               [Co, K] [K, P]
//   dx    sum over windows of W^T dy    [K, Co] [Co, P]
//   dW^T  col(x) dy^T                   [K, P] [P, Co]
// with K = Ci kd kh kw and P = N OD OH OW columns.  With groups it is a batch of these products, each with one group's
// channels.  The patches are computed again in the backward pass, not saved, and for large batches part by part.
#include <functional>

#include "kernels/conv_sizes.hpp"
#include "kernels/variants.hpp"
#include "ops/launch_where.hpp"
#include "ops/patches.hpp"

namespace reprise::kernels {

namespace {

using ops::ConvProblem;
using ops::is_at_least;
using ops::is_multiple;
using ops::launch_where;
using ops::LaunchSpec;
using ops::Lowering;
using ops::Patches;
using ops::View;
using ops::records::Absent;
using ops::records::Input;

struct Problem {
    Patches windows;
    Dim ci, co, groups; // ci, co: channels of a group

    explicit Problem(const ConvProblem& c)
        : ci(c.weight.sizes()[1]), co(floor_div(c.weight.sizes()[0], c.groups)), groups(c.groups)
    {
        windows = {.n = c.x.sizes()[0],
                   .channels = c.x.sizes()[1],
                   .in = image_sizes(c.x),
                   .out = image_sizes(c.y),
                   .kernel = image_sizes(c.weight),
                   .stride = c.stride,
                   .padding = c.padding,
                   .dilation = c.dilation,
                   .between = Patches::volume(image_sizes(c.y))};
        windows.columns = windows.pitch = pitch();
    }
    Dim taps() const { return ci * Patches::volume(windows.kernel); } // K
    Dim image() const { return Patches::volume(windows.out); }        // elements of an output image
    Dim columns() const { return windows.n * image(); }               // P
    Dim pitch() const { return round_up(columns(), 4); }              // of a row of P columns
    Dim elements() const { return groups * taps() * pitch(); }        // of the patches
    Dim out_channels() const { return groups * co; }
    // The launch of a texel variant, which supports no depth and no dilation.
    template <class Record> LaunchSpec flat(const View& from, const View& to, const Dim& workgroups) const
    {
        const Patches& p = windows;
        const Record record{.from = from,
                            .to = to,
                            .images = p.n,
                            .channels = p.channels,
                            .height = p.in[1],
                            .width = p.in[2],
                            .out_height = p.out[1],
                            .out_width = p.out[2],
                            .kernel_height = p.kernel[1],
                            .kernel_width = p.kernel[2],
                            .stride_y = p.stride[1],
                            .stride_x = p.stride[2],
                            .padding_y = p.padding[1],
                            .padding_x = p.padding[2],
                            .pitch = p.pitch,
                            .elements = elements()};
        return record.launch({.groups = workgroups});
    }
};

// 1 where neighbouring outputs read neighbouring inputs: 2-D images, stride and dilation 1, output rows as long as the
// image's, at least 4.
Dim rows_match(const Patches& p)
{
    constexpr std::array<std::int64_t, 3> ones = {1, 1, 1};
    if (!same(p.in[0], 1) || !same(p.kernel[0], 1) || p.padding[0] != 0) return 0;
    if (p.stride != ones || p.dilation != ones || !same(p.out[2], p.in[2])) return 0;
    return is_at_least(p.in[2], 4);
}

// Patches take kd kh kw times the memory of the input, so a large batch is split into parts that are computed one after
// the other.  The number of parts depends on sizes and device only, since it decides how a weight's gradient is summed.
// If the batch is symbolic, all possible parts are recorded: few where a launch with 0 workgroups costs time, and one
// if the images are so small that even a batch of 256 needs no second part.
constexpr std::int64_t large_batch = 256;

Dim max_parts(const Lowering& l) { return l.launches_are_cheap() ? 8 : 4; }
Dim min_part_elements(const Lowering& l) { return l.launches_are_cheap() ? 1 << 20 : 1 << 22; } // of patches

Dim parts_of(const Lowering& l, const ConvProblem& c)
{
    if (c.x.dtype == f64) return 1; // gemm_sum adds f32
    const Problem p(c);
    const Dim patches = p.groups * p.taps() * p.image() * min(p.windows.n, large_batch);
    Dim parts = max(1, min(min(max_parts(l), p.windows.n), floor_div(patches, min_part_elements(l))));
    if (c.wanted == ConvProblem::Wanted::weight) // partial sums must be smaller than a part of the patches
        parts = min(parts, max(1, floor_div(p.columns(), max(1, 4 * p.co))));
    return parts;
}

View narrow(View v, const Dim& first, const Dim& images)
{
    Dim image = 1;
    for (std::size_t d = 1; d < v.sizes().size(); ++d) image *= v.sizes()[d];
    v.layout.offset += first * image;
    v.layout.sizes[0] = images;
    return v;
}

void for_each_part(Lowering& l, const ConvProblem& c,
                   const std::function<void(const ConvProblem&, std::int64_t)>& emit)
{
    const Dim parts = parts_of(l, c), &n = c.x.sizes()[0];
    if (same(parts, 1)) return emit(c, 0);
    const Dim images = ceil_div(n, parts);
    for (std::int64_t i = 0; max_parts(l).at_least(i + 1); ++i) {
        if (parts.at_most(i)) return;
        const Dim first = i * images, count = max(0, min(images, n - first));
        ConvProblem part = c;
        part.x = narrow(c.x, first, count);
        part.y = narrow(c.y, first, count);
        l.when(is_at_least(parts, i + 1), [&] { emit(part, i); });
    }
}

// Returns a matrix [rows, columns] per group, with `group` elements from one group's first element to the next one's.
View matrix(View v, const Problem& p, const Dim& rows, const Dim& columns, const Dim& row_stride,
            const Dim& column_stride, const Dim& group)
{
    v.layout.sizes = {p.groups, rows, columns};
    v.layout.strides = {same(p.groups, 1) ? Dim(0) : group, row_stride, column_stride};
    return v;
}

// Returns the windows of x as columns, [groups][K][pitch]; the padding columns are 0.
View patches(Lowering& l, const Problem& p, const View& x)
{
    const View col = l.temporary(x.dtype, {p.groups * p.taps(), p.pitch()});
    const Patches& w = p.windows;
    const auto reads_halves = [&](LaunchSpec spec) { // on CPUs, in place of a cast
        if (x.dtype != f32 || !l.products_mix_dtypes()) return spec;
        spec.constants = {static_cast<std::uint32_t>(f32)};
        spec.converts = {{0, 0}};
        spec.converting_kernel = spec.kernel + "_dtypes";
        return spec;
    };
    launch_where(l, rows_match(w) * is_multiple(p.image(), 4) * is_multiple(x.layout.offset, 4),
                 reads_halves(p.flat<ops::records::im2col_texel>(
                     x, col, w.channels * ceil_div(w.n * ceil_div(p.image(), 16), 64))),
                 reads_halves(w.im2col(x, col)));
    return col;
}

// dx = sum over windows of dcol
void add_patches(Lowering& l, const Problem& p, const View& dcol, const View& dx)
{
    const Patches& w = p.windows;
    const Dim planes = w.n * w.channels, plane = w.in[1] * w.in[2];
    launch_where(l, rows_match(w) * is_multiple(plane, 4),
                 p.flat<ops::records::col2im_texel>(dcol, dx, ceil_div(planes * ceil_div(plane, 16), 64)),
                 w.col2im(dcol, dx));
}

// to[b][a][q] = from[a][b][q] + bias[a]
struct Swap {
    View from, to;
    const View* bias; // or null
    Dim a, b, image, from_pitch, to_pitch;
};
void swap(Lowering& l, const Swap& s)
{
    const ops::records::conv2d_swap record{.from = s.from,
                                           .bias = s.bias ? Input(*s.bias) : Absent{s.from},
                                           .to = s.to,
                                           .a = s.a,
                                           .b = s.b,
                                           .image = s.image,
                                           .from_pitch = s.from_pitch,
                                           .to_pitch = s.to_pitch};
    const std::vector<std::uint32_t> constants{s.bias ? 1u : 0u};
    const Dim elements = s.b * s.to_pitch;
    launch_where(
        l, is_multiple(s.image, 4),
        record.launch(
            {.kernel = "conv2d_swap_texel", .constants = constants, .groups = ceil_div(elements, 256)}),
        record.launch({.constants = constants, .groups = ceil_div(elements, 64)}));
}

void emit_y(Lowering& l, const ConvProblem& c)
{
    const Problem p(c);
    const Dim pitch = p.pitch();
    const View col = patches(l, p, c.x), rows = l.temporary(c.y.dtype, {p.out_channels(), pitch});
    l.gemm({matrix(c.weight, p, p.co, p.taps(), p.taps(), 1, p.co * p.taps()),
            matrix(col, p, p.taps(), pitch, pitch, 1, p.taps() * pitch),
            matrix(rows, p, p.co, pitch, pitch, 1, p.co * pitch)});
    swap(l, {.from = rows,
             .to = c.y,
             .bias = c.bias ? &*c.bias : nullptr,
             .a = p.out_channels(),
             .b = p.windows.n,
             .image = p.image(),
             .from_pitch = pitch,
             .to_pitch = p.out_channels() * p.image()});
}

void emit_x(Lowering& l, const ConvProblem& c)
{
    const Problem p(c);
    const Dim pitch = p.pitch();
    const View rows = l.temporary(c.y.dtype, {p.out_channels(), pitch}),
               dcol = l.temporary(c.y.dtype, {p.groups * p.taps(), pitch});
    swap(l, {.from = c.y,
             .to = rows,
             .bias = nullptr,
             .a = p.windows.n,
             .b = p.out_channels(),
             .image = p.image(),
             .from_pitch = p.out_channels() * p.image(),
             .to_pitch = pitch});
    l.gemm({matrix(c.weight, p, p.taps(), p.co, 1, p.taps(), p.co * p.taps()),
            matrix(rows, p, p.co, pitch, pitch, 1, p.co * pitch),
            matrix(dcol, p, p.taps(), pitch, pitch, 1, p.taps() * pitch)});
    add_patches(l, p, dcol, c.x);
}

// Computes dW^T as [groups][K][Co of a group], with rows padded to a multiple of 4.
void emit_transposed_weight(Lowering& l, const ConvProblem& c, const View& transposed)
{
    const Problem p(c);
    View dy = c.y;
    const Dim channels = round_up(p.out_channels(), 4), padded_co = round_up(p.co, 4);
    const View col = patches(l, p, c.x);
    dy.layout.sizes = {p.windows.n, p.image(), p.out_channels()};
    dy.layout.strides = {p.out_channels() * p.image(), 1, p.image()};
    const View rows = l.packed(dy, p.image(), channels);    // [P][Co]
    const Dim width = same(p.groups, 1) ? padded_co : p.co; // after a group's channels come the next group's
    l.gemm({matrix(col, p, p.taps(), p.columns(), p.pitch(), 1, p.taps() * p.pitch()),
            matrix(rows, p, p.columns(), width, channels, 1, p.co),
            matrix(transposed, p, p.taps(), width, padded_co, 1, p.taps() * padded_co)});
}

void emit_weight(Lowering& l, const ConvProblem& c)
{
    const Problem p(c);
    const Dim parts = parts_of(l, c), rows = p.groups * p.taps(), padded_co = round_up(p.co, 4);
    View sums = l.temporary(c.y.dtype, {parts, rows, padded_co}), transposed = sums, dweight = c.weight;
    for_each_part(l, c, [&](const ConvProblem& part, std::int64_t i) {
        View sum = sums;
        sum.layout.offset += i * rows * padded_co;
        emit_transposed_weight(l, part, sum);
    });
    if (!same(parts, 1)) {
        transposed = l.temporary(c.y.dtype, {rows, padded_co});
        add_parts(l, sums, as_matrix(transposed, rows, padded_co), parts);
    }
    transposed.layout.sizes = dweight.layout.sizes = {p.groups, p.co, p.taps()};
    transposed.layout.strides = {p.taps() * padded_co, 1, padded_co};
    dweight.layout.strides = {p.co * p.taps(), p.taps(), 1};
    l.copy(transposed, dweight);
}

} // namespace

void conv_patches(Lowering& l, const device::Capabilities&, const ConvProblem& c)
{
    if (c.wanted == ConvProblem::Wanted::weight) return emit_weight(l, c);
    for_each_part(l, c, [&](const ConvProblem& part, std::int64_t) {
        (c.wanted == ConvProblem::Wanted::y ? emit_y : emit_x)(l, part);
    });
}

} // namespace reprise::kernels
