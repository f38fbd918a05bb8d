// A convolution as a product of matrices: the patches of the input become columns.
//   y     W col(x) + bias               [Co, K] [K, P]
//   dx    sum over windows of W^T dy    [K, Co] [Co, P]
//   dW^T  col(x) dy^T                   [K, P] [P, Co]
// with K = Ci kd kh kw and P = N OD OH OW columns; with groups it is a batch of such with the channels of one.  The
// patches are made anew in the backward pass, not kept.
#include "kernels/variants.hpp"
#include "ops/launch_where.hpp"
#include "ops/patches.hpp"

namespace reprise::kernels {

namespace {

using ops::ConvProblem;
using ops::is_at_least;
using ops::is_multiple;
using ops::launch_where;
using ops::LaunchOperand;
using ops::LaunchSpec;
using ops::Lowering;
using ops::Patches;
using ops::Use;
using ops::View;

std::array<Dim, 3> image_of(const View& v) { return {v.sizes()[2], v.sizes()[3], v.sizes()[4]}; }

struct Problem {
    Patches windows;
    Dim ci, co, groups; // channels of a group

    explicit Problem(const ConvProblem& c)
        : ci(c.weight.sizes()[1]), co(floor_div(c.weight.sizes()[0], c.groups)), groups(c.groups)
    {
        windows = {.n = c.x.sizes()[0],
                   .channels = c.x.sizes()[1],
                   .in = image_of(c.x),
                   .out = image_of(c.y),
                   .kernel = image_of(c.weight),
                   .stride = c.stride,
                   .padding = c.padding,
                   .dilation = c.dilation,
                   .between = Patches::volume(image_of(c.y))};
        windows.columns = windows.pitch = pitch();
    }
    Dim taps() const { return ci * Patches::volume(windows.kernel); } // K
    Dim image() const { return Patches::volume(windows.out); }        // elements of an output image
    Dim columns() const { return windows.n * image(); }               // P
    Dim pitch() const { return round_up(columns(), 4); }              // of a row of P columns
    Dim out_channels() const { return groups * co; }
    // Of the texel variants, which know no depth and no dilation.
    LaunchSpec flat(LaunchSpec s, const char* kernel, const Dim& workgroups) const
    {
        const Patches& p = windows;
        s.kernel = kernel;
        s.constants.clear();
        s.ints = {p.n,         p.channels,  p.in[1],     p.in[2],      p.out[1],     p.out[2], p.kernel[1],
                  p.kernel[2], p.stride[1], p.stride[2], p.padding[1], p.padding[2], p.pitch};
        s.groups = workgroups;
        return s;
    }
};

// Flat images with output rows that are as long as the image's and begin one row apart: windows of neighbours are
// neighbours.
Dim rows_match(const Patches& p)
{
    constexpr std::array<std::int64_t, 3> ones = {1, 1, 1};
    if (p.in[0] != Dim(1) || p.kernel[0] != Dim(1) || p.padding[0] != 0) return 0;
    if (p.stride != ones || p.dilation != ones || p.out[2] != p.in[2]) return 0;
    return is_at_least(p.in[2], 4);
}

// A matrix of each group: [rows, columns], the first element of the next `group` elements on.
View matrix(View v, const Problem& p, const Dim& rows, const Dim& columns, const Dim& row_stride,
            const Dim& column_stride, const Dim& group)
{
    v.layout.sizes = {p.groups, rows, columns};
    v.layout.strides = {p.groups == Dim(1) ? Dim(0) : group, row_stride, column_stride};
    return v;
}

// [groups][K][pitch]: the windows of x as columns; the surplus columns are 0.
View patches(Lowering& l, const Problem& p, const View& x)
{
    const View col = l.temporary(x.dtype, {p.groups * p.taps(), p.pitch()});
    const Patches& w = p.windows;
    const LaunchSpec any = w.im2col(x, col);
    launch_where(l, rows_match(w) * is_multiple(p.image(), 4),
                 p.flat(any, "im2col_texel", w.channels * ceil_div(w.n * ceil_div(p.image(), 16), 64)), any);
    return col;
}

// dx = sum over windows of dcol
void add_patches(Lowering& l, const Problem& p, const View& dcol, const View& dx)
{
    const Patches& w = p.windows;
    const Dim planes = w.n * w.channels, plane = w.in[1] * w.in[2];
    const LaunchSpec any = w.col2im(dcol, dx);
    launch_where(l, rows_match(w) * is_multiple(plane, 4),
                 p.flat(any, "col2im_texel", ceil_div(planes * ceil_div(plane, 16), 64)), any);
}

// to[b][a][q] = from[a][b][q] + bias[a]
struct Swap {
    View from, to;
    const View* bias; // or null
    Dim a, b, image, from_pitch, to_pitch;
};
void swap(Lowering& l, const Swap& s)
{
    const std::vector<LaunchOperand> operands{
        {s.from, Use::read}, {s.bias ? *s.bias : s.from, Use::read, s.bias == nullptr}, {s.to, Use::write}};
    const std::vector<std::uint32_t> constants{s.bias ? 1u : 0u};
    const std::vector<Dim> ints{s.a, s.b, s.image, s.from_pitch, s.to_pitch};
    const Dim elements = s.b * s.to_pitch;
    launch_where(l, is_multiple(s.image, 4),
                 {.kernel = "conv2d_swap_texel",
                  .constants = constants,
                  .operands = operands,
                  .ints = ints,
                  .groups = ceil_div(elements, 256)},
                 {.kernel = "conv2d_swap",
                  .constants = constants,
                  .operands = operands,
                  .ints = ints,
                  .groups = ceil_div(elements, 64)});
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

void emit_weight(Lowering& l, const ConvProblem& c)
{
    const Problem p(c);
    View dy = c.y, dweight = c.weight;
    const Dim channels = round_up(p.out_channels(), 4), of_group = round_up(p.co, 4);
    const View col = patches(l, p, c.x);
    dy.layout.sizes = {p.windows.n, p.image(), p.out_channels()};
    dy.layout.strides = {p.out_channels() * p.image(), 1, p.image()};
    const View rows = l.packed(dy, p.image(), channels);    // [P][Co]
    const Dim width = p.groups == Dim(1) ? of_group : p.co; // beyond a group lies the next one
    View transposed = l.temporary(c.y.dtype, {p.groups, p.taps(), of_group});
    l.gemm({matrix(col, p, p.taps(), p.columns(), p.pitch(), 1, p.taps() * p.pitch()),
            matrix(rows, p, p.columns(), width, channels, 1, p.co),
            matrix(transposed, p, p.taps(), width, of_group, 1, p.taps() * of_group)});
    transposed.layout.sizes = dweight.layout.sizes = {p.groups, p.co, p.taps()};
    transposed.layout.strides = {p.taps() * of_group, 1, of_group};
    dweight.layout.strides = {p.co * p.taps(), p.taps(), 1};
    l.copy(transposed, dweight);
}

} // namespace

void conv_patches(Lowering& l, const ConvProblem& p)
{
    using Wanted = ConvProblem::Wanted;
    (p.wanted == Wanted::y ? emit_y : p.wanted == Wanted::x ? emit_x : emit_weight)(l, p);
}

} // namespace reprise::kernels
