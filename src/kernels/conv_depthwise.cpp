// Depthwise convolutions: each group has one input channel and any number of output channels.  The kernels read windows
// from the image, since a matrix product would have only as many rows as a group has output channels.
#include "kernels/conv_sizes.hpp"
#include "kernels/variants.hpp"
#include "ops/records.hpp"

namespace reprise::kernels {

namespace {

using device::Capabilities;
using ops::ConvProblem;
using ops::Lowering;
using ops::View;
using ops::records::Absent;
using ops::records::Input;
using Wanted = ConvProblem::Wanted;

// Output channels per input channel.
Dim multiplier(const ConvProblem& p) { return floor_div(p.y.sizes()[1], p.groups); }

// Lets the plan give the launch an image in f16 or bf16: constant 1 is the dtype of x, 2 that of dy.
void read_halves(ops::LaunchSpec& spec, std::uint32_t operand, std::uint32_t constant)
{
    spec.constants.resize(3, static_cast<std::uint32_t>(f32));
    spec.converts.push_back({operand, constant});
    spec.converting_kernel = spec.kernel + "_dtypes";
}

void emit_weight(Lowering& l, const ConvProblem& p, const Dim& flops)
{
    const Dim taps = image_of(p.weight), out = p.y.sizes()[1], columns = p.x.sizes()[0] * image_of(p.y);
    const Dim share = max(256, taps),
              parts = ceil_div(columns, share); // `sums` has at most as many elements as dy
    const View sums = l.temporary(f32, {parts, out, taps});
    const ops::records::conv_depthwise_weight record{.x = p.x,
                                                     .dy = p.y,
                                                     .sums = sums,
                                                     .images = p.x.sizes()[0],
                                                     .channels = p.groups,
                                                     .multiplier = multiplier(p),
                                                     .windows = windows_of(p),
                                                     .parts = parts,
                                                     .share = share};
    ops::LaunchSpec spec = record.launch({.groups = ceil_div(parts * out * taps, 64), .flops = flops});
    read_halves(spec, 0, 1);
    read_halves(spec, 1, 2);
    l.launch(std::move(spec));
    add_parts(l, sums, as_matrix(p.weight, out, taps), parts);
}

void emit_x(Lowering& l, const Capabilities& caps, const ConvProblem& p, const Dim& flops)
{
    const ops::records::conv_depthwise_input record{.dy = p.y,
                                                    .weight = p.weight,
                                                    .dx = p.x,
                                                    .images = p.x.sizes()[0],
                                                    .channels = p.groups,
                                                    .multiplier = multiplier(p),
                                                    .windows = windows_of(p)};
    const Dim elements = p.x.sizes()[0] * p.x.sizes()[1] * image_of(p.x);
    ops::LaunchSpec spec = record.launch({.groups = ceil_div(elements, 64), .flops = flops});
    if (!caps.is_cuda()) read_halves(spec, 0, 2); // compiled for CUDA, the variant would spill registers
    l.launch(std::move(spec));
}

} // namespace

std::string refuse_depthwise(const Capabilities&, const ConvProblem& p)
{
    if (p.x.dtype == f64) return "it computes in f32";
    if (p.groups == 1) return "the channels are in one group";
    if (!same(p.weight.sizes()[1], 1)) return "a group has several channels";
    return {};
}

void conv_depthwise(Lowering& l, const Capabilities& caps, const ConvProblem& p)
{
    // It computes f16 and bf16 in f32: on tensor cores a tile would have only one row.  Kernels read the images as they
    // are stored, in place of casts.
    if (p.x.dtype != f32) return conv_in_f32(l, caps, p);
    const Dim out = p.y.sizes()[1], elements = p.y.sizes()[0] * out * image_of(p.y);
    const Dim flops = 2 * elements * image_of(p.weight);
    if (p.wanted == Wanted::weight) return emit_weight(l, p, flops);
    if (p.wanted == Wanted::x) return emit_x(l, caps, p, flops);
    const ops::records::conv_depthwise record{.x = p.x,
                                              .weight = p.weight,
                                              .bias = p.bias ? Input(*p.bias) : Absent{View()},
                                              .y = p.y,
                                              .images = p.x.sizes()[0],
                                              .channels = p.groups,
                                              .multiplier = multiplier(p),
                                              .windows = windows_of(p)};
    ops::LaunchSpec spec =
        record.launch({.constants = {p.bias ? 1u : 0u}, .groups = ceil_div(elements, 64), .flops = flops});
    read_halves(spec, 0, 1);
    l.launch(std::move(spec));
}

} // namespace reprise::kernels
