// The matrix product on GPUs: tiles in shared memory, and the numeric class of products there.
//
// K is divided into parts of equal length, and only into one unless a long K meets a result that is too small to occupy the
// device.  A part is a chain of fma; the parts are added in order.  Their number depends on the sizes alone, so eager code
// and programs get the same bits.  The sums of parts take 4 MiB at most: the more tiles, the fewer parts.
#include "kernels/matrix.hpp"
#include "kernels/variants.hpp"
#include "ops/launch_where.hpp"
#include "ops/records.hpp"
#include "shape/rules.hpp"

namespace reprise::kernels {

namespace {

using ops::GemmProblem;
using ops::View;
using ops::records::Output;

constexpr std::int64_t side = 64, large_side = 128;
constexpr std::int64_t wanted_groups = 256;   // at most; occupies a GPU of about 100 compute units
constexpr std::uint32_t shared_bytes = 17408; // of the smaller tile, which takes more
constexpr std::int64_t min_k = 512, min_part = 64, max_parts = 32;

struct Parts {
    Dim count, length;
};

Parts parts_of(const Dim& batches, const Dim& m, const Dim& n, const Dim& k)
{
    if (k.at_most(min_k - 1)) return {1, k};
    const Dim tiles = max(batches * ceil_div(m, side) * ceil_div(n, side), 1);
    const Dim wanted =
        1 + ops::is_at_least(k, min_k) * (min(max(floor_div(wanted_groups, tiles), 1), max_parts) - 1);
    const Dim length = max(16 * ceil_div(ceil_div(k, wanted), 16), min_part);
    return {max(ceil_div(k, length), 1), length};
}

// How gemm_tile loads an operand: its constants of the same names.
enum Loads : std::uint32_t { along_k, along_lines, vectors_along_k, vectors_along_lines };

Loads loads_of(const Matrix& x, bool k_is_row) // k_is_row: of B, whose lines are its columns
{
    const Dim &k = k_is_row ? x.rows() : x.columns(), &lines = k_is_row ? x.columns() : x.rows();
    const Dim& k_stride = k_is_row ? x.row : x.column;
    const bool k_vectors = k_is_row ? x.texel_columns() : x.texel_rows();
    const bool line_vectors = k_is_row ? x.texel_rows() : x.texel_columns();
    if (k_vectors && k.divisible_by(4)) return vectors_along_k;
    if (line_vectors && lines.divisible_by(4) && !lines.at_most(3)) return vectors_along_lines;
    return same(k_stride, 1) ? along_k : along_lines;
}

ops::LaunchSpec tiles(const GemmProblem& p, const Parts& parts, const Output& partial, bool large)
{
    const Matrix a(p.a), b(p.b), c(p.c);
    const std::int64_t tile = large ? large_side : side;
    const bool vectors = c.texel_rows() && c.columns().divisible_by(4);
    const bool splits = same(min(parts.count - 1, 1), 1); // at all sizes: then only `partial` is written
    const Dim batches = p.c.sizes()[0] * p.c.sizes()[1];
    const ops::records::gemm_tile record{.a = a.view,
                                         .b = b.view,
                                         .c = splits ? Output(ops::records::Absent{p.c}) : Output(p.c),
                                         .partial = partial,
                                         .sizes = gemm_sizes(p, a, b),
                                         .parts = parts.count,
                                         .part_length = parts.length};
    return record.launch(
        {.kernel = large ? "gemm_tile_large" : "gemm_tile",
         .constants = {loads_of(a, false), loads_of(b, true), vectors ? 1u : 0u},
         .groups = parts.count * batches * ceil_div(c.rows(), tile) * ceil_div(c.columns(), tile),
         .flops = 2 * batches * c.rows() * c.columns() * a.columns(),
         .result_columns = splits ? Dim(0) : columns_if_whole(p.c)});
}

} // namespace

std::string refuse_gemm_tile(const device::Capabilities& c, const GemmProblem& p)
{
    if (p.c.dtype != f32) return "it computes in f32";
    if (c.is_cuda()) return "it is Vulkan's";
    if (!c.gpu_kernels()) return "barriers and shared memory are slow on CPUs";
    return c.shared_bytes < shared_bytes ? "it needs 17 KiB of shared memory" : "";
}

void gemm_tile(ops::Lowering& l, const GemmProblem& p)
{
    const Dim &m = p.c.sizes()[2], &n = p.c.sizes()[3], &k = p.a.sizes()[3];
    const Dim batches = p.c.sizes()[0] * p.c.sizes()[1];
    const Parts parts = parts_of(batches, m, n, k);
    const Dim is_split = min(parts.count - 1, 1);
    const bool never = same(is_split, 0);
    const View sums = never ? p.c : l.temporary(f32, {is_split * parts.count, batches, m, n});
    const Output partial = never ? Output(ops::records::Absent{p.c}) : sums;

    const Dim large = ops::is_at_least(m, 1024) * ops::is_at_least(n, 1024);
    for (const bool of_large : {true, false}) {
        const Dim fits = of_large ? large : 1 - large;
        if (!same(fits, 0)) l.when(fits, [&] { l.launch(tiles(p, parts, partial, of_large)); });
    }
    if (!never) l.when(is_split, [&] { add_parts(l, sums, p.c, parts.count); });
}

} // namespace reprise::kernels
