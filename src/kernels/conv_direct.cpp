// Windows of 3 x 3 and 1 x 1 read where they lie (shaders/common/conv_direct.glsl), for CPUs.  The gradient by the
// input is the convolution of dy with the weight turned around, or with a stride of 2 a kernel of its own.
#include "kernels/variants.hpp"
#include "ops/launch_where.hpp"
#include "ops/records.hpp"

namespace reprise::kernels {

namespace {

using device::Capabilities;
using ops::ConvProblem;
using ops::is_at_least;
using ops::is_multiple;
using ops::launch_with_texels;
using ops::Lowering;
using ops::View;
using ops::records::Absent;
using ops::records::Input;
using Wanted = ConvProblem::Wanted;

constexpr std::int64_t pixels = 32; // of a group: 8 lanes of 4

// Channels in, rows of pixels in, channels out, rows out: x and y of what runs.
struct Problem {
    Dim n, ci, h, w, co, oh, ow, taps;
    std::int64_t stride;

    Problem(const View& x, const View& weight, const View& y, std::int64_t step)
        : n(x.sizes()[0]), ci(x.sizes()[1]), h(x.sizes()[3]), w(x.sizes()[4]), co(y.sizes()[1]),
          oh(y.sizes()[3]), ow(y.sizes()[4]), taps(weight.sizes()[3] * weight.sizes()[4]), stride(step)
    {}
    bool points() const { return same(taps, 1); }
    std::string kernel(const char* name) const { return std::string(name) + (points() ? "_point" : ""); }
    // Of the walk through `width`: whether a group's pixels may end inside a row, the stride, width % 4.
    std::vector<std::uint32_t> constants(const Dim& width, std::uint32_t rest) const
    {
        const std::int64_t known = width.is_constant() ? width.value() : 0;
        const bool edges = known == 0 || pixels % known != 0;
        return {edges ? 1u : 0u, static_cast<std::uint32_t>(stride), rest};
    }
};

// The kernel's rest of the width: 0 where it does not matter.  All that are possible are emitted, each for the
// calls that have it.
void for_each_rest(Lowering& l, const ConvProblem& c, const std::function<void(std::uint32_t)>& emit)
{
    if (c.stride[1] != 1 || same(c.weight.sizes()[3], 1)) return emit(0);
    const Dim rest = mod(c.x.sizes()[4], 4);
    for (std::int64_t r = 0; r < 4; ++r) {
        const Dim here = 1 - min(1, max(rest - r, r - rest));
        if (!same(here, 0)) l.when(here, [&] { emit(static_cast<std::uint32_t>(r)); });
    }
}

// The size where it is known to be below `most`, else that.
std::uint32_t known(const Dim& d, std::int64_t most)
{
    const bool small = d.is_constant() && d.value() > 0 && d.value() < most;
    return static_cast<std::uint32_t>(small ? d.value() : most);
}

// y = conv(x, w): w has rows of whole fours of channels.
void emit(Lowering& l, const Problem& p, const View& x, const View& w, const std::optional<View>& bias,
          const View& y, std::uint32_t rest)
{
    std::vector<std::uint32_t> constants = p.constants(p.ow, rest);
    const std::uint32_t channels = known(p.ci, 4);
    constants.insert(constants.end(),
                     {bias ? 1u : 0u, channels, p.ci.divisible_by(channels) ? 1u : 0u, known(p.co, 8)});
    const ops::records::conv2d_direct record{.x = x,
                                             .weight = w,
                                             .bias = bias ? Input(*bias) : Absent{View()},
                                             .y = y,
                                             .images = p.n,
                                             .in_channels = p.ci,
                                             .height = p.h,
                                             .width = p.w,
                                             .out_channels = p.co,
                                             .out_height = p.oh,
                                             .out_width = p.ow,
                                             .pitch = round_up(p.ci, 4) * p.taps};
    launch_with_texels(l, 1,
                       record.launch({.kernel = p.kernel("conv2d_direct"),
                                      .constants = std::move(constants),
                                      .groups = p.n * ceil_div(p.oh * p.ow, pixels) * ceil_div(p.co, 8),
                                      .flops = 2 * p.n * p.oh * p.ow * p.co * p.ci * p.taps}));
}

void emit_y(Lowering& l, const ConvProblem& c)
{
    const Problem p(c.x, c.weight, c.y, c.stride[1]);
    View w = c.weight;
    if (!p.ci.divisible_by(4)) {
        w.layout.sizes = {1, p.co, p.ci * p.taps};
        w.layout.strides = {0, p.ci * p.taps, 1};
        w = l.packed(w, p.co, round_up(p.ci, 4) * p.taps);
    }
    for_each_rest(l, c, [&](std::uint32_t rest) { emit(l, p, c.x, w, c.bias, c.y, rest); });
}

void emit_x(Lowering& l, const ConvProblem& c)
{
    const Problem p(c.y, c.weight, c.x, 1);
    const Dim channels = round_up(p.ci, 4);
    const View turned = l.temporary(f32, {p.co, channels, p.taps});
    const ops::records::conv2d_flip flip{.weight = c.weight,
                                         .turned = turned,
                                         .out_channels = p.ci, // p is the other way around: from y to x
                                         .in_channels = p.co,
                                         .taps = p.taps,
                                         .padded_channels = channels};
    l.launch(flip.launch({.groups = ceil_div(p.co * channels * p.taps, 64)}));
    if (c.stride[1] == 1)
        return for_each_rest(l, c, [&](std::uint32_t rest) { emit(l, p, c.y, turned, {}, c.x, rest); });
    std::vector<std::uint32_t> constants = p.constants(p.w, 0);
    constants.push_back(p.ci.divisible_by(4) ? 1 : 0);
    const ops::records::conv2d_input_direct record{.dy = c.y,
                                                   .weight = turned,
                                                   .dx = c.x,
                                                   .images = p.n,
                                                   .out_channels = p.ci,
                                                   .out_height = p.h,
                                                   .out_width = p.w,
                                                   .in_channels = p.co,
                                                   .height = p.oh,
                                                   .width = p.ow,
                                                   .pitch = channels * p.taps};
    launch_with_texels(l, 1,
                       record.launch({.kernel = p.kernel("conv2d_input_direct"),
                                      .constants = std::move(constants),
                                      .groups = p.n * ceil_div(p.h * p.w, pixels) * ceil_div(p.co, 8),
                                      .flops = 2 * p.n * p.h * p.w * p.co * p.ci * p.taps}));
}

// Lanes that have different output channels: no more than there are fours of channels.  All counts that are
// possible are emitted, each for the calls that have it.
void for_each_lanes(Lowering& l, const Dim& channels, const std::function<void(std::int64_t)>& emit)
{
    Dim open = 1;
    for (const std::int64_t lanes : {8, 4, 2, 1}) {
        const Dim enough = lanes == 1 ? Dim(1) : is_at_least(channels, 2 * lanes + 1), here = open * enough;
        if (!same(here, 0)) l.when(here, [&] { emit(lanes); });
        open *= 1 - enough;
    }
}

// dy: [N][pixels] rows of `pitch` channels
void emit_weight(Lowering& l, const ConvProblem& c, const View& dy, const Dim& pitch, std::uint32_t rest,
                 std::int64_t lanes)
{
    constexpr std::int64_t wanted_groups = 32, most_pixels = 65536; // of a part: longer sums lose digits
    const Problem p(c.x, c.weight, c.y, c.stride[1]);
    const std::int64_t side = p.points() ? 8 : 2;
    const Dim image = p.oh * p.ow;
    const Dim tiles = ceil_div(p.co, 4 * lanes) * ceil_div(p.ci, side);
    const Dim parts =
        min(p.n, max(ceil_div(wanted_groups, max(tiles, 1)), ceil_div(p.n * image, most_pixels)));
    const View sums = l.temporary(f32, {parts, p.co, p.ci, p.taps});
    std::vector<std::uint32_t> constants = p.constants(p.ow, rest);
    constants.insert(constants.end(), {known(p.ci, side), static_cast<std::uint32_t>(lanes)});
    const ops::records::conv2d_weight_direct record{.x = c.x,
                                                    .dy = dy,
                                                    .sums = sums,
                                                    .images = p.n,
                                                    .in_channels = p.ci,
                                                    .height = p.h,
                                                    .width = p.w,
                                                    .out_channels = p.co,
                                                    .out_height = p.oh,
                                                    .out_width = p.ow,
                                                    .parts = parts,
                                                    .pitch = pitch};
    launch_with_texels(l, 1,
                       record.launch({.kernel = p.kernel("conv2d_weight_direct"),
                                      .constants = std::move(constants),
                                      .groups = parts * tiles,
                                      .flops = 2 * p.n * image * p.co * p.ci * p.taps}));
    const Dim row = p.ci * p.taps;
    const ops::records::gemm_sum sum{
        .partial = sums, .c = c.weight, .rows = p.co, .columns = row, .chunks = parts, .row_stride = row};
    l.launch(sum.launch({.groups = ceil_div(p.co * row, 64)}));
}

void emit_weight(Lowering& l, const ConvProblem& c)
{
    const Problem p(c.x, c.weight, c.y, c.stride[1]);
    const Dim image = p.oh * p.ow, pitch = round_up(p.co, 4);
    View dy = c.y;
    dy.layout.sizes = {p.n, image, p.co};
    dy.layout.strides = {p.co * image, 1, image};
    const View rows = l.packed(dy, image, pitch);
    for_each_rest(l, c, [&](std::uint32_t rest) {
        for_each_lanes(l, p.co, [&](std::int64_t lanes) { emit_weight(l, c, rows, pitch, rest, lanes); });
    });
}

} // namespace

std::string refuse_direct(const Capabilities& caps, const ConvProblem& p)
{
    if (p.x.dtype == f64) return "it computes in f32";
    if (!caps.prefer_texels)
        return "the device has no texel view of its slab, or loads by address are as fast";
    if (!caps.subgroup_shuffle || caps.subgroup_size != 8)
        return "it needs subgroups of 8 lanes with shuffle";
    if (p.groups != 1) return "the channels are in groups";
    if (!same(p.x.sizes()[2], 1) || !same(p.weight.sizes()[2], 1) || p.padding[0] != 0)
        return "the images have a depth";
    const Dim &kh = p.weight.sizes()[3], &kw = p.weight.sizes()[4];
    if (!same(kh, kw) || (!same(kh, 3) && !same(kh, 1))) return "the windows are neither 3 x 3 nor 1 x 1";
    const std::int64_t padding = same(kh, 3) ? 1 : 0;
    if (p.padding[1] != padding || p.padding[2] != padding)
        return "the padding is not half of the windows' size";
    if (p.stride[1] != p.stride[2] || p.stride[1] > 2) return "the stride is neither 1 nor 2";
    if (!same(kh, 1) && (p.dilation[1] != 1 || p.dilation[2] != 1)) return "the windows are dilated";
    return {};
}

// Images of whole texels; with a stride, rows of such.
Dim direct_serves(const ConvProblem& p)
{
    const Dim &height = p.x.sizes()[3], &width = p.x.sizes()[4];
    if (p.stride[1] != 1) return is_multiple(width, 8) * is_at_least(width, 8);
    const bool points = same(p.weight.sizes()[3], 1);
    return is_multiple(height * width, 4) * is_at_least(width, points ? 1 : 4);
}

void conv_direct(Lowering& l, const ConvProblem& p)
{
    switch (p.wanted) {
    case Wanted::y: return emit_y(l, p);
    case Wanted::x: return emit_x(l, p);
    case Wanted::weight: return emit_weight(l, p);
    }
}

} // namespace reprise::kernels
