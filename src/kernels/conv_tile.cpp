// Implicit-GEMM convolution on GPUs: the matrix of windows is never stored (shaders/conv_tile.comp).
#include <algorithm>
#include <string>

#include "kernels/conv_sizes.hpp"
#include "kernels/variants.hpp"
#include "ops/launch_where.hpp"
#include "ops/records.hpp"

namespace reprise::kernels {

namespace {

using ops::ConvProblem;
using ops::View;
using ops::records::Absent;
using Wanted = ConvProblem::Wanted;

constexpr std::uint32_t shared_bytes = 29184; // of the variant with 32 rows, which takes most
constexpr std::int64_t max_taps = 31;         // depth + height + width of a kernel: bits in conv_tile.comp
// For gradients of weights: the number of tiles that occupies a GPU, the fewest positions and the largest number of
// parts.
constexpr std::int64_t wanted_tiles = 256, min_positions = 256, max_parts = 256;

// The sizes of a problem.
struct Sizes {
    Dim images, ci, co, taps,
        positions; // ci, co: channels of a group; positions: output elements of all images

    explicit Sizes(const ConvProblem& p)
        : images(p.x.sizes()[0]), ci(p.weight.sizes()[1]), co(floor_div(p.weight.sizes()[0], p.groups)),
          taps(image_of(p.weight)), positions(images * image_of(p.y))
    {}
    Dim flops(const ConvProblem& p) const { return 2 * positions * p.groups * co * ci * taps; }
};

// A kernel's variant for a number of rows of C.  All belong to one numeric class.
struct Tile {
    std::int64_t rows, columns;
    const char* suffix;

    explicit Tile(const Dim& all_rows)
        : rows(all_rows.at_most(16)   ? 16
               : all_rows.at_most(32) ? 32
                                      : 64),
          columns(rows == 64 ? 64 : 128), suffix(rows == 16   ? "_16"
                                                 : rows == 32 ? "_32"
                                                              : "")
    {}
    Dim count(const Dim& all_rows, const Dim& all_columns) const
    {
        return ceil_div(all_rows, rows) * ceil_div(all_columns, columns);
    }
};

bool aligned(const View& v, const Dim& row) { return v.layout.offset.divisible_by(4) && row.divisible_by(4); }

Dim elements_of(const View& v) { return v.sizes()[0] * v.sizes()[1] * image_of(v); }

// The kernel for the operands' dtype and a number of rows.
std::string kernel_of(const char* direction, const ConvProblem& p, const Tile& tile)
{
    return std::string("conv_tile_") + direction + (operand_dtype(p) == f32 ? "" : "_half") + tile.suffix;
}
// The constants after the first ones, which are in each emit_.
std::vector<std::uint32_t> constants_of(const ops::Lowering& l, std::vector<std::uint32_t> first,
                                        const ConvProblem& p)
{
    if (operand_dtype(p) != f32) first.push_back(l.widening(operand_dtype(p)));
    return first;
}

// LaunchSpec::result_columns: a chain sees the result as one row.
Dim columns_of_result(const View& c) { return same(ops::columns_if_whole(c), 0) ? Dim(0) : elements_of(c); }

ops::records::conv_tile record_of(const ConvProblem& p, const Sizes& s, const View& a, const View& image,
                                  const View& c)
{
    return {.a = a,
            .image = image,
            .bias = Absent{c},
            .c = c,
            .images = s.images,
            .in_channels = s.ci,
            .out_channels = s.co,
            .groups = p.groups,
            .windows = windows_of(p),
            .parts = 1,
            .part_length = 0,
            .x_elements = elements_of(p.x),
            .y_elements = elements_of(p.y),
            .weight_elements = elements_of(p.weight)};
}

void emit_y(ops::Lowering& l, const ConvProblem& p, const Sizes& s)
{
    const Tile tile(s.co);
    ops::records::conv_tile record = record_of(p, s, p.weight, p.x, p.y);
    if (p.bias) record.bias = *p.bias;
    l.launch(
        record.launch({.kernel = kernel_of("y", p, tile),
                       .constants = constants_of(l,
                                                 {p.bias ? 1u : 0u, aligned(p.y, image_of(p.y)) ? 1u : 0u,
                                                  aligned(p.weight, s.ci * s.taps) ? 1u : 0u},
                                                 p),
                       .groups = p.groups * tile.count(s.co, s.positions),
                       .flops = s.flops(p),
                       .result_columns = columns_of_result(p.y)}));
}

void emit_x(ops::Lowering& l, const ConvProblem& p, const Sizes& s)
{
    const Tile tile(s.ci);
    Dim phases = 1, largest = s.images;
    for (std::size_t i = 0; i < 3; ++i) {
        const Dim& size = p.x.sizes()[2 + i];
        phases *= p.stride[i] == 1 ? Dim(1) : min(p.stride[i], size);
        largest *= ceil_div(size, p.stride[i]);
    }
    const bool vectors = same(phases, 1) && aligned(p.x, image_of(p.x));
    l.launch(record_of(p, s, p.weight, p.y, p.x)
                 .launch({.kernel = kernel_of("x", p, tile),
                          .constants = constants_of(l, {0, vectors ? 1u : 0u, 0}, p),
                          .groups = p.groups * phases * tile.count(s.ci, largest),
                          .flops = s.flops(p),
                          .result_columns = columns_of_result(p.x)}));
}

// There are few tiles but many positions: separate groups sum parts of the positions, and gemm_sum adds the sums in
// order.  The number of parts depends on sizes, but not on the tile.  A single part is stored as it is: +0 + (-0) would
// be +0.
void emit_weight(ops::Lowering& l, const ConvProblem& p, const Sizes& s)
{
    constexpr std::int64_t longest = (std::int64_t{1} << 31) - 16;
    const Dim rows = p.groups * s.co, columns = s.ci * s.taps;
    const Dim tiles = p.groups * ceil_div(s.co, 64) * ceil_div(columns, 64);
    const Dim wanted = max(1, min(min(floor_div(wanted_tiles, max(1, tiles)), max_parts),
                                  floor_div(s.positions, min_positions)));
    const Dim length = max(16, 16 * ceil_div(ceil_div(s.positions, wanted), 16));
    const Dim parts = max(1, ceil_div(s.positions, length)); // at least 1, even without positions
    const Dim is_split = min(parts - 1, 1);
    const auto launch = [&](const View& to) {
        const Tile tile(s.co);
        ops::records::conv_tile record = record_of(p, s, p.y, p.x, to);
        record.parts = parts;
        record.part_length = min(length, longest);
        l.launch(record.launch(
            {.kernel = kernel_of("weight", p, tile),
             .constants = constants_of(
                 l, {0, aligned(to, columns) ? 1u : 0u, aligned(p.y, image_of(p.y)) ? 1u : 0u}, p),
             .groups = parts * p.groups * tile.count(s.co, columns),
             .flops = s.flops(p)}));
    };
    if (!same(is_split, 1)) l.when(1 - is_split, [&] { launch(p.weight); });
    if (same(is_split, 0)) return;
    const View sums = l.temporary(f32, {is_split * parts, rows, columns});
    l.when(is_split, [&] {
        launch(sums);
        add_parts(l, sums, as_matrix(p.weight, rows, columns), parts);
    });
}

} // namespace

Dim conv_tile_serves(const ConvProblem& p)
{
    const std::vector<Dim>& kernel = p.weight.sizes();
    return 1 - ops::is_at_least(kernel[2] + kernel[3] + kernel[4], max_taps + 1);
}

std::string refuse_conv_tile(const device::Capabilities& c, const ConvProblem& p)
{
    if (!c.gpu_kernels()) return "barriers and shared memory are slow on CPUs";
    if (const DType t = operand_dtype(p); t == f64 || (t != f32 && !tiles_read_halves(c)))
        return "it computes in f32";
    return c.shared_bytes < shared_bytes ? "it needs 28.5 KiB of shared memory" : "";
}

void conv_tile(ops::Lowering& l, const device::Capabilities&, const ConvProblem& p)
{
    const Sizes s(p);
    switch (p.wanted) {
    case Wanted::y: return emit_y(l, p, s);
    case Wanted::x: return emit_x(l, p, s);
    case Wanted::weight: return emit_weight(l, p, s);
    }
}

} // namespace reprise::kernels
