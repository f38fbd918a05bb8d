// Implicit-GEMM convolution of f16 and bf16 on CUDA: the matrix of windows is never stored (cuda/conv_implicit.cu).
#include "kernels/conv_sizes.hpp"
#include "kernels/variants.hpp"
#include "ops/records.hpp"

namespace reprise::kernels {

namespace {

using ops::ConvProblem;
using ops::Lowering;
using ops::Use;
using ops::View;
using Wanted = ConvProblem::Wanted;

constexpr std::int64_t tile_rows = 64, tile_columns = 128;
// For gradients of weights: the number of blocks that occupies a large device, and the fewest positions for a block.
constexpr std::int64_t target_blocks = 512, min_positions = 256;

struct Problem {
    const ConvProblem& c;
    Dim n, ci, co, taps, positions; // ci, co: channels of a group; positions: output elements of all images

    explicit Problem(const ConvProblem& p)
        : c(p), n(p.x.sizes()[0]), ci(p.weight.sizes()[1]), co(floor_div(p.weight.sizes()[0], p.groups)),
          taps(image_of(p.weight)), positions(n * image_of(p.y))
    {}
    std::string kernel(const std::string& name) const { return name + "_" + name_of(c.x.dtype); }
    Dim tiles(const Dim& rows, const Dim& columns) const
    {
        return c.groups * ceil_div(rows, tile_rows) * ceil_div(columns, tile_columns);
    }
    // After the first four, three ints each: D H W of x, of y, of the weight; stride, padding, dilation.
    DimVector ints() const
    {
        DimVector list{n, ci, co, c.groups};
        for (const View* v : {&c.x, &c.y, &c.weight})
            list.insert(list.end(), v->sizes().begin() + 2, v->sizes().end());
        for (const auto& sizes : {c.stride, c.padding, c.dilation})
            list.insert(list.end(), sizes.begin(), sizes.end());
        return list;
    }
    // Appends the element counts.  The kernel counts in 32 bits: writing the record rejects tensors with more elements.
    DimVector with_counts(DimVector list) const
    {
        for (const View* v : {&c.x, &c.y, &c.weight})
            list.push_back(v->sizes()[0] * v->sizes()[1] * image_of(*v));
        return list;
    }
    Dim flops() const { return 2 * positions * c.groups * co * ci * taps; }
};

void emit_y(Lowering& l, const Problem& p)
{
    const ConvProblem& c = p.c;
    l.launch({.kernel = p.kernel("conv_implicit_y"),
              .constants = {c.bias ? 1u : 0u},
              .operands = {{c.weight, Use::read},
                           {c.x, Use::read},
                           {c.bias.value_or(View()), Use::read, !c.bias},
                           {c.y, Use::write}},
              .ints = p.with_counts(p.ints()),
              .groups = p.tiles(p.co, p.positions),
              .flops = p.flops()});
}

void emit_x(Lowering& l, const Problem& p)
{
    const ConvProblem& c = p.c;
    Dim phases = 1, largest = p.n;
    for (std::size_t i = 0; i < 3; ++i) {
        const Dim& size = c.x.sizes()[2 + i];
        phases *= c.stride[i] == 1 ? Dim(1) : min(c.stride[i], size);
        largest *= ceil_div(size, c.stride[i]);
    }
    l.launch({.kernel = p.kernel("conv_implicit_x"),
              .operands = {{c.weight, Use::read}, {c.y, Use::read}, {c.x, Use::write}},
              .ints = p.with_counts(p.ints()),
              .groups = phases * p.tiles(p.ci, largest),
              .flops = p.flops()});
}

// Splits the sum: there are few tiles but many positions.  Separate blocks sum parts of the positions, and gemm_sum
// adds the partial sums in order.
void emit_weight(Lowering& l, const Problem& p)
{
    const ConvProblem& c = p.c;
    const Dim tiles = p.tiles(p.co, p.ci * p.taps);
    const Dim parts_to_be_busy = ceil_div(target_blocks, max(1, tiles));
    const Dim max_parts = max(1, min(parts_to_be_busy, ceil_div(p.positions, min_positions)));
    const Dim length = max(1, ceil_div(p.positions, max_parts));
    const Dim parts = max(1, ceil_div(p.positions, length)); // at least 1, even without positions
    const Dim rows = c.groups * p.co, columns = p.ci * p.taps;
    const View sums = l.temporary(f32, {parts, rows, columns});
    DimVector ints = p.ints();
    ints.insert(ints.end(), {parts, length});
    l.launch({.kernel = p.kernel("conv_implicit_weight"),
              .operands = {{c.y, Use::read}, {c.x, Use::read}, {sums, Use::write}},
              .ints = p.with_counts(std::move(ints)),
              .groups = parts * tiles,
              .flops = p.flops()});
    View sum = sums;
    if (!same(parts, 1)) {
        sum = l.temporary(f32, {rows, columns});
        add_parts(l, sums, as_matrix(sum, rows, columns), parts);
    }
    sum.layout.sizes = c.weight.layout.sizes;
    sum.layout.strides = c.weight.layout.strides;
    l.copy(sum, c.weight);
}

} // namespace

std::string refuse_implicit(const device::Capabilities& caps, const ConvProblem& p)
{
    if (!caps.is_cuda()) return "it is CUDA's";
    return size_of(operand_dtype(p)) == 2 ? "" : "it multiplies f16 and bf16";
}

void conv_implicit(Lowering& l, const device::Capabilities&, const ConvProblem& c)
{
    const Problem p(c);
    switch (c.wanted) {
    case Wanted::y: return emit_y(l, p);
    case Wanted::x: return emit_x(l, p);
    case Wanted::weight: return emit_weight(l, p);
    }
}

} // namespace reprise::kernels
