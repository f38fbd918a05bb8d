// A convolution as a product of matrices: the patches of the input become columns.
//   y     W col(x) + bias               [Co, K] [K, P]
//   dx    sum over windows of W^T dy    [K, Co] [Co, P]
//   dW^T  col(x) dy^T                   [K, P] [P, Co]
// with K = Ci kh kw and P = N OH OW columns.  The patches are made anew in the backward pass, not kept.
#include "kernels/variants.hpp"
#include "ops/launch_where.hpp"

namespace reprise::kernels {

namespace {

using ops::ConvProblem;
using ops::is_at_least;
using ops::is_multiple;
using ops::launch_where;
using ops::LaunchOperand;
using ops::Lowering;
using ops::Use;
using ops::View;

struct Problem {
    Dim n, ci, h, w, co, oh, ow, kh, kw;
    std::array<std::int64_t, 2> stride, padding;

    explicit Problem(const ConvProblem& c)
        : n(c.x.sizes()[0]), ci(c.x.sizes()[1]), h(c.x.sizes()[2]), w(c.x.sizes()[3]),
          co(c.weight.sizes()[0]), oh(c.y.sizes()[2]), ow(c.y.sizes()[3]), kh(c.weight.sizes()[2]),
          kw(c.weight.sizes()[3]), stride(c.stride), padding(c.padding)
    {}
    Dim taps() const { return ci * kh * kw; }            // K
    Dim image() const { return oh * ow; }                // elements of an output image
    Dim columns() const { return n * image(); }          // P
    Dim pitch() const { return round_up(columns(), 4); } // of a row of P columns
    std::vector<Dim> ints() const
    {
        return {n, ci, h, w, oh, ow, kh, kw, stride[0], stride[1], padding[0], padding[1], pitch()};
    }
};

// Output rows that are as long as the image's and begin one row apart: windows of neighbours are neighbours.
Dim rows_match(const Problem& p)
{
    if (p.stride != std::array<std::int64_t, 2>{1, 1} || p.ow != p.w) return 0;
    return is_at_least(p.w, 4);
}

View matrix(View v, const Dim& rows, const Dim& columns, const Dim& row_stride, const Dim& column_stride)
{
    v.layout.sizes = {1, rows, columns};
    v.layout.strides = {0, row_stride, column_stride};
    return v;
}

// [K][pitch]: the windows of x as columns; the surplus columns are 0.
View patches(Lowering& l, const Problem& p, const View& x)
{
    const View col = l.temporary(f32, {p.taps(), p.pitch()});
    const std::vector<LaunchOperand> operands{{x, Use::read}, {col, Use::write}};
    launch_where(l, rows_match(p) * is_multiple(p.image(), 4),
                 {.kernel = "im2col_texel",
                  .operands = operands,
                  .ints = p.ints(),
                  .groups = p.ci * ceil_div(p.n * ceil_div(p.image(), 16), 64)},
                 {.kernel = "im2col",
                  .operands = operands,
                  .ints = p.ints(),
                  .groups = p.ci * ceil_div(p.pitch(), 64)});
    return col;
}

// dx = sum over windows of dcol
void add_patches(Lowering& l, const Problem& p, const View& dcol, const View& dx)
{
    const std::vector<LaunchOperand> operands{{dcol, Use::read}, {dx, Use::write}};
    const Dim planes = p.n * p.ci, plane = p.h * p.w;
    launch_where(
        l, rows_match(p) * is_multiple(plane, 4),
        {.kernel = "col2im_texel",
         .operands = operands,
         .ints = p.ints(),
         .groups = ceil_div(planes * ceil_div(plane, 16), 64)},
        {.kernel = "col2im", .operands = operands, .ints = p.ints(), .groups = ceil_div(planes * plane, 64)});
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
    const View col = patches(l, p, c.x), rows = l.temporary(f32, {p.co, pitch});
    l.gemm({matrix(c.weight, p.co, p.taps(), p.taps(), 1), matrix(col, p.taps(), pitch, pitch, 1),
            matrix(rows, p.co, pitch, pitch, 1)});
    swap(l, {.from = rows,
             .to = c.y,
             .bias = c.bias ? &*c.bias : nullptr,
             .a = p.co,
             .b = p.n,
             .image = p.image(),
             .from_pitch = pitch,
             .to_pitch = p.co * p.image()});
}

void emit_x(Lowering& l, const ConvProblem& c)
{
    const Problem p(c);
    const Dim pitch = p.pitch();
    const View rows = l.temporary(f32, {p.co, pitch}), dcol = l.temporary(f32, {p.taps(), pitch});
    swap(l, {.from = c.y,
             .to = rows,
             .bias = nullptr,
             .a = p.n,
             .b = p.co,
             .image = p.image(),
             .from_pitch = p.co * p.image(),
             .to_pitch = pitch});
    l.gemm({matrix(c.weight, p.taps(), p.co, 1, p.taps()), matrix(rows, p.co, pitch, pitch, 1),
            matrix(dcol, p.taps(), pitch, pitch, 1)});
    add_patches(l, p, dcol, c.x);
}

void emit_weight(Lowering& l, const ConvProblem& c)
{
    const Problem p(c);
    View dy = c.y;
    const Dim channels = round_up(p.co, 4);
    const View col = patches(l, p, c.x);
    dy.layout.sizes = {p.n, p.image(), p.co};
    dy.layout.strides = {p.co * p.image(), 1, p.image()};
    const View rows = l.packed(dy, p.image(), channels); // [P][Co]
    View transposed = l.temporary(f32, {p.taps(), channels});
    l.gemm({matrix(col, p.taps(), p.columns(), p.pitch(), 1),
            matrix(rows, p.columns(), channels, channels, 1),
            matrix(transposed, p.taps(), channels, channels, 1)});
    transposed.layout.sizes = c.weight.sizes();
    transposed.layout.strides = {1, p.kh * p.kw * channels, p.kw * channels, channels};
    l.copy(transposed, c.weight);
}

} // namespace

void conv_patches(Lowering& l, const ConvProblem& p)
{
    using Wanted = ConvProblem::Wanted;
    (p.wanted == Wanted::y ? emit_y : p.wanted == Wanted::x ? emit_x : emit_weight)(l, p);
}

} // namespace reprise::kernels
