// Direct convolution for CPUs: 3 x 3 and 1 x 1 windows are read from the image (shaders/common/conv_direct.glsl).  The
// gradient of the input is the convolution of dy with the flipped weight; for a stride of 2 it has a separate kernel.
#include "kernels/variants.hpp"
#include "ops/launch_where.hpp"
#include "ops/records.hpp"

namespace reprise::kernels {

namespace {

using device::Capabilities;
using ops::as_f32;
using ops::ConvProblem;
using ops::is_at_least;
using ops::is_multiple;
using ops::launch_with_texels;
using ops::Lowering;
using ops::View;
using ops::records::Absent;
using ops::records::Input;
using Wanted = ConvProblem::Wanted;

constexpr std::int64_t pixels = 32; // of a workgroup: 8 lanes with 4 each

// Sizes of the convolution that runs, with input x [n, ci, h, w] and output y [n, co, oh, ow].
struct Problem {
    Dim n, ci, h, w, co, oh, ow, taps;
    std::int64_t stride;
    DType dtype; // of x and y; the weight is f32

    Problem(const View& x, const View& weight, const View& y, std::int64_t step)
        : n(x.sizes()[0]), ci(x.sizes()[1]), h(x.sizes()[3]), w(x.sizes()[4]), co(y.sizes()[1]),
          oh(y.sizes()[3]), ow(y.sizes()[4]), taps(weight.sizes()[3] * weight.sizes()[4]), stride(step),
          dtype(x.dtype)
    {}
    bool points() const { return same(taps, 1); }
    std::string kernel(const char* name) const
    {
        return std::string(name) + (points() ? "_point" : "") +
               (dtype == f32 ? "" : std::string("_") + name_of(dtype));
    }
    // Specialization constants: whether a workgroup's pixels may end inside of a row of `width` pixels, the stride, and
    // `rest` (see for_each_rest).
    std::vector<std::uint32_t> constants(const Dim& width, std::uint32_t rest) const
    {
        const std::int64_t constant = width.is_constant() ? width.value() : 0;
        const bool edges = constant == 0 || pixels % constant != 0;
        return {edges ? 1u : 0u, static_cast<std::uint32_t>(stride), rest};
    }
};

// Calls `emit` with the specialization constant `rest`: the image's width % 4, or 0 where it does not matter.  Emits
// all values that are possible, each for the calls with that width.
void for_each_rest(Lowering& l, const ConvProblem& c, const std::function<void(std::uint32_t)>& emit)
{
    if (c.stride[1] != 1 || same(c.weight.sizes()[3], 1)) return emit(0);
    const Dim rest = mod(c.x.sizes()[4], 4);
    for (std::int64_t r = 0; r < 4; ++r) {
        const Dim here = 1 - min(1, max(rest - r, r - rest));
        if (!same(here, 0)) l.when(here, [&] { emit(static_cast<std::uint32_t>(r)); });
    }
}

// Returns the size if it is a constant below `bound`, else `bound`.
std::uint32_t constant_below(const Dim& d, std::int64_t bound)
{
    const bool small = d.is_constant() && d.value() > 0 && d.value() < bound;
    return static_cast<std::uint32_t>(small ? d.value() : bound);
}

// Emits y = conv(x, w).  The rows of w are padded to a multiple of 4 channels.
void emit(Lowering& l, const Problem& p, const View& x, const View& w, const std::optional<View>& bias,
          const View& y, std::uint32_t rest)
{
    std::vector<std::uint32_t> constants = p.constants(p.ow, rest);
    const std::uint32_t channels = constant_below(p.ci, 4);
    constants.insert(constants.end(), {bias ? 1u : 0u, channels, p.ci.divisible_by(channels) ? 1u : 0u,
                                       constant_below(p.co, 8)});
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
                                      .disjoint = true,
                                      .flops = 2 * p.n * p.oh * p.ow * p.co * p.ci * p.taps}));
}

void emit_y(Lowering& l, const ConvProblem& c)
{
    const Problem p(c.x, c.weight, c.y, c.stride[1]);
    View w = as_f32(l, c.weight);
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
    const ops::records::conv2d_flip flip{.weight = as_f32(l, c.weight),
                                         .turned = turned,
                                         .out_channels =
                                             p.ci, // p describes the reverse convolution, from y to x
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
                                      .disjoint = true,
                                      .flops = 2 * p.n * p.h * p.w * p.co * p.ci * p.taps}));
}

// Calls `emit` with the number of lanes that have different output channels: the channels / 4, rounded up to a power of
// two, at most 8.  Emits all counts that are possible, each for the calls with that many channels.
void for_each_lanes(Lowering& l, const Dim& channels, const std::function<void(std::int64_t)>& emit)
{
    Dim open = 1;
    for (const std::int64_t lanes : {8, 4, 2, 1}) {
        const Dim enough = lanes == 1 ? Dim(1) : is_at_least(channels, 2 * lanes + 1), here = open * enough;
        if (!same(here, 0)) l.when(here, [&] { emit(lanes); });
        open *= 1 - enough;
    }
}

// dy: [N][pixels][pitch], channels last and padded to `pitch`
void emit_weight(Lowering& l, const ConvProblem& c, const View& dy, const Dim& pitch, std::uint32_t rest,
                 std::int64_t lanes)
{
    constexpr std::int64_t target_groups = 32, max_pixels = 65536; // of a part: longer sums lose precision
    const Problem p(c.x, c.weight, c.y, c.stride[1]);
    const std::int64_t side = p.points() ? 8 : 2;
    const Dim image = p.oh * p.ow;
    const Dim tiles = ceil_div(p.co, 4 * lanes) * ceil_div(p.ci, side);
    const Dim parts =
        min(p.n, max(ceil_div(target_groups, max(tiles, 1)), ceil_div(p.n * image, max_pixels)));
    const View sums = l.temporary(f32, {parts, p.co, p.ci, p.taps});
    std::vector<std::uint32_t> constants = p.constants(p.ow, rest);
    constants.insert(constants.end(), {constant_below(p.ci, side), static_cast<std::uint32_t>(lanes)});
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
    const View sum = c.weight.dtype == f32 ? c.weight : l.temporary(f32, c.weight.sizes());
    add_parts(l, sums, as_matrix(sum, p.co, p.ci * p.taps), parts);
    if (c.weight.dtype != f32) l.copy(sum, c.weight);
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

std::string refuse_device(const Capabilities& caps)
{
    if (!caps.prefer_texels)
        return "the device has no texel view of its slab, or loads by address are as fast";
    if (!caps.subgroup_shuffle || caps.subgroup_size != 8)
        return "it needs subgroups of 8 lanes with shuffle";
    return {};
}

} // namespace

bool direct_reads_and_writes(const Capabilities& caps, DType t)
{
    return (t == f32 || t == bf16 || (t == f16 && caps.unpacks_subnormals)) && refuse_device(caps).empty();
}

std::string refuse_direct(const Capabilities& caps, const ConvProblem& p)
{
    if (p.x.dtype == f64) return "it computes in f32";
    if (p.x.dtype != p.y.dtype) return "x and y have different dtypes";
    if (std::string reason = refuse_device(caps); !reason.empty()) return reason;
    if (!direct_reads_and_writes(caps, p.x.dtype))
        return "the device's unpackHalf2x16 loses subnormal numbers";
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

// 1 where images are whole texels of 4 elements; with a stride of 2, where the rows of the output are.
Dim direct_serves(const ConvProblem& p)
{
    const Dim &height = p.x.sizes()[3], &width = p.x.sizes()[4];
    if (p.stride[1] != 1) return is_multiple(width, 8) * is_at_least(width, 8);
    const bool points = same(p.weight.sizes()[3], 1);
    return is_multiple(height * width, 4) * is_at_least(width, points ? 1 : 4);
}

void conv_direct(Lowering& l, const device::Capabilities&, const ConvProblem& p)
{
    switch (p.wanted) {
    case Wanted::y: return emit_y(l, p);
    case Wanted::x: return emit_x(l, p);
    case Wanted::weight: return emit_weight(l, p);
    }
}

} // namespace reprise::kernels
