// The matrix product on GPUs: tiles in shared memory, and the numeric class of products there.  Operands of f16 and
// bf16 are read as they are: the result is f32, which the caller rounds.  On CUDA only products with a quantised matrix
// are computed so, as its library for products does not take one.
//
// K is divided into parts of equal length, and only into one unless a long K meets a result that is too small to occupy
// the device.  A part is a chain of fma; the parts are added in order.  Their number depends on the sizes alone, so
// eager code and programs get the same bits.  The sums of parts take 3 MiB at most: the more tiles, the fewer parts.
#include "kernels/chain.hpp"
#include "kernels/matrix.hpp"
#include "kernels/spirv_compiler.hpp"
#include "kernels/tuning.hpp"
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
constexpr std::int64_t wanted_groups = 192;   // at most; occupies a GPU of about 100 compute units
constexpr std::uint32_t shared_bytes = 17408; // of the smaller tile, which takes more
constexpr std::uint32_t matrix_shared_bytes = 24576, large_matrix_shared_bytes = 45056; // of gemm_matrix
constexpr std::int64_t max_parts = 32;

// The least K that is divided, and the least length of a part: of cooperative matrices more, as their rounds take less
// time than a launch that adds parts.
struct Shortest {
    std::int64_t k, part;
};
constexpr Shortest of_lanes{512, 64}, of_matrices{1024, 128};

struct Parts {
    Dim count, length;
};

Parts parts_of(const Dim& batches, const Dim& m, const Dim& n, const Dim& k, const Shortest& shortest)
{
    if (k.at_most(shortest.k - 1)) return {1, k};
    const Dim tiles = max(batches * ceil_div(m, side) * ceil_div(n, side), 1);
    const Dim wanted =
        1 + ops::is_at_least(k, shortest.k) * (min(max(floor_div(wanted_groups, tiles), 1), max_parts) - 1);
    const Dim length = max(16 * ceil_div(ceil_div(k, wanted), 16), shortest.part);
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

// A kernel for tiles of 64 x 64 elements, and one for 128 x 128.
struct TileKernels {
    std::string small, large;
    std::vector<std::uint32_t> constants{}; // from number 3 on
    Shortest shortest = of_lanes;
    bool fusible = true; // the run-time compiler knows the extensions that they need
};

// Record: of gemm_tile or of gemm_matrix, which have the same members.
template <class Record> ops::LaunchSpec tiles(const GemmProblem& p, const TileKernels& kernels,
                                              const Parts& parts, const Output& partial, bool large)
{
    const Matrix a(p.a), b(p.b), c(p.c);
    const std::int64_t tile = large ? large_side : side;
    const bool vectors = c.texel_rows() && c.columns().divisible_by(4);
    const bool splits = same(min(parts.count - 1, 1), 1); // at all sizes: then only `partial` is written
    const Dim batches = p.c.sizes()[0] * p.c.sizes()[1];
    const Record record{.a = a.view,
                        .b = b.view,
                        .c = splits ? Output(ops::records::Absent{p.c}) : Output(p.c),
                        .partial = partial,
                        .sizes = gemm_sizes(p, a, b),
                        .parts = parts.count,
                        .part_length = parts.length};
    std::vector<std::uint32_t> constants{loads_of(a, false), loads_of(b, true), vectors ? 1u : 0u};
    constants.insert(constants.end(), kernels.constants.begin(), kernels.constants.end());
    return record.launch(
        {.kernel = large ? kernels.large : kernels.small,
         .constants = std::move(constants),
         .groups = parts.count * batches * ceil_div(c.rows(), tile) * ceil_div(c.columns(), tile),
         .flops = 2 * batches * c.rows() * c.columns() * a.columns(),
         .result_columns = splits || !kernels.fusible ? Dim(0) : ops::columns_if_whole(p.c)});
}

// Emits the launches of all sizes of tiles, and the sum of parts.
template <class Record> void emit_tiles(ops::Lowering& l, const GemmProblem& p, const TileKernels& kernels,
                                        std::uint32_t least_tiles, std::uint32_t least_side)
{
    const Dim &m = p.c.sizes()[2], &n = p.c.sizes()[3], &k = p.a.sizes()[3];
    const Dim batches = p.c.sizes()[0] * p.c.sizes()[1];
    const Parts parts = parts_of(batches, m, n, k, kernels.shortest);
    const Dim is_split = min(parts.count - 1, 1);
    const bool is_whole = same(is_split, 0); // at all sizes
    const View sums = is_whole ? p.c : l.temporary(f32, {is_split * parts.count, batches, m, n});
    const Output partial = is_whole ? Output(ops::records::Absent{p.c}) : sums;

    const Dim large_tiles = batches * ceil_div(m, large_side) * ceil_div(n, large_side);
    const Dim sides = ops::is_at_least(m, least_side) * ops::is_at_least(n, least_side);
    const bool has_large = !kernels.large.empty() && least_tiles != never;
    const Dim large = has_large ? sides * ops::is_at_least(large_tiles, least_tiles) : Dim(0);
    for (const bool of_large : {true, false}) {
        const Dim fits = of_large ? large : 1 - large;
        if (!same(fits, 0))
            l.when(fits, [&] { l.launch(tiles<Record>(p, kernels, parts, partial, of_large)); });
    }
    if (!is_whole) l.when(is_split, [&] { add_parts(l, sums, p.c, parts.count); });
}

std::uint32_t matrix_side(const device::Capabilities& c, const GemmProblem& p)
{
    return p.a.dtype == f16 ? c.f16_matrix_side : c.bf16_matrix_side;
}

// The kernel that multiplies cooperative matrices of the problem's dtype.
std::string matrix_kernel(const device::Capabilities& c, const GemmProblem& p)
{
    return std::string("gemm_matrix_") + name_of(p.a.dtype) + (matrix_side(c, p) == 8 ? "_8" : "");
}

std::uint32_t matrix_lanes(const device::Capabilities& c) { return 4 * c.subgroup_size; } // four subgroups

// Whether the kernel for tiles of 128 x 128 elements exists and fits.
bool has_large_matrices(const device::Capabilities& c, const GemmProblem& p)
{
    return c.shared_bytes >= large_matrix_shared_bytes && has_kernel(matrix_kernel(c, p) + "_large");
}

std::string refuse_tiles(const device::Capabilities& c)
{
    if (c.is_cuda()) return "it is Vulkan's";
    return c.gpu_kernels() ? "" : "barriers and shared memory are slow on CPUs";
}

} // namespace

bool tiles_read_halves(const device::Capabilities& c)
{
    return refuse_tiles(c).empty() && c.half_access && c.shared_bytes >= shared_bytes;
}

// The kernels of CPUs load words.
bool products_mix_dtypes(const device::Capabilities& c)
{
    return !c.gpu_kernels() && !c.is_cuda() && !c.host_kernels;
}
bool products_read_halves(const device::Capabilities& c)
{
    return tiles_read_halves(c) || products_mix_dtypes(c);
}

std::string refuse_gemm_tile(const device::Capabilities& c, const GemmProblem& p)
{
    if (p.c.dtype != f32) return "it computes in f32";
    if (std::string reason = refuse_tiles(c); !reason.empty() && !(p.format && c.is_cuda())) return reason;
    return c.shared_bytes < shared_bytes ? "it needs 17 KiB of shared memory" : "";
}

void gemm_tile(ops::Lowering& l, const device::Capabilities& c, const GemmProblem& p)
{
    const Tuning t = tuning_of(c);
    TileKernels kernels{"gemm_tile", "gemm_tile_large"};
    if (p.format && p.a.dtype != f32)
        kernels = {
            "gemm_tile_quantized_half", "gemm_tile_quantized_half_large", {*p.format, l.widening(p.a.dtype)}};
    else if (p.format) kernels = {"gemm_tile_quantized", "gemm_tile_quantized_large", {*p.format}};
    else if (p.a.dtype != f32) kernels = {"gemm_tile_half", "gemm_tile_half_large", {l.widening(p.a.dtype)}};
    emit_tiles<ops::records::gemm_tile>(l, p, kernels, t.large_tiles, t.large_side);
}

std::string refuse_gemm_matrix(const device::Capabilities& c, const GemmProblem& p)
{
    if (p.a.dtype != f16 && p.a.dtype != bf16) return "the operands are not f16 or bf16";
    if (p.c.dtype != f32) return "it computes in f32";
    if (std::string reason = refuse_tiles(c); !reason.empty()) return reason;
    if (matrix_side(c, p) == 0) return "the device has no cooperative matrices of the dtype";
    if (c.shared_bytes < matrix_shared_bytes) return "it needs 24 KiB of shared memory";
    if (matrix_lanes(c) > c.workgroup_invocations) return "it needs workgroups of four subgroups";
    return has_kernel(matrix_kernel(c, p)) ? ""
                                           : "the library has no kernel for the dtype and the matrices' size";
}

void gemm_matrix(ops::Lowering& l, const device::Capabilities& c, const GemmProblem& p)
{
    const std::string small = matrix_kernel(c, p), large = has_large_matrices(c, p) ? small + "_large" : "";
    const SpirvCompiler* const compiler = spirv_compiler();
    const bool fusible = compiler && compiler->knows("GL_KHR_cooperative_matrix") &&
                         (p.a.dtype == f16 || compiler->knows("GL_EXT_bfloat16"));
    const Tuning t = tuning_of(c);
    emit_tiles<ops::records::gemm_matrix>(l, p, {small, large, {matrix_lanes(c)}, of_matrices, fusible},
                                          t.large_matrix_tiles, t.large_side);
}

bool has_large_tiles(const device::Capabilities& c, const GemmProblem& p)
{
    if (refuse_gemm_matrix(c, p).empty()) return has_large_matrices(c, p);
    return refuse_gemm_tile(c, p).empty() && (p.a.dtype == f32 || tiles_read_halves(c));
}

} // namespace reprise::kernels
