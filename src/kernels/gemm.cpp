// Variants of the matrix product.  On one device all kernels of f32 belong to one numeric class, so that the results
// have the same bits whichever runs: shaders/common/gemm.glsl, on GPUs gemm_tile.cpp.  A device with a library for
// products uses only the library's variant.
#include <algorithm>
#include <array>
#include <span>

#include <reprise/error.hpp>

#include "kernels/choice.hpp"
#include "kernels/matrix.hpp"
#include "kernels/native.hpp"
#include "ops/records.hpp"
#include "shape/rules.hpp"

namespace reprise::kernels {

namespace {

using device::Capabilities;
using ops::GemmProblem;
using ops::Lowering;
using ops::View;

// Returns [batch, rows, columns] as [batch, 1, rows, columns].
View two_batches(View v)
{
    if (v.sizes().size() == 4) return v;
    v.layout.sizes.insert(v.layout.sizes.begin() + 1, Dim(1));
    v.layout.strides.insert(v.layout.strides.begin() + 1, Dim(0));
    return v;
}

GemmProblem two_batches(const GemmProblem& p)
{
    return {two_batches(p.a), two_batches(p.b), two_batches(p.c), p.format, p.bias};
}

struct Tile {
    std::int64_t rows, columns;
};

// Returns a launch with workgroups and flops, but without arguments.
ops::LaunchSpec by_tiles(const char* kernel, const GemmProblem& p, Tile tile)
{
    const Dim &m = p.c.sizes()[2], &n = p.c.sizes()[3];
    const Dim batches = p.c.sizes()[0] * p.c.sizes()[1];
    return {.kernel = kernel,
            .groups = batches * ceil_div(m, tile.rows) * ceil_div(n, tile.columns),
            .disjoint = true,
            .flops = 2 * batches * m * n * p.a.sizes()[3]};
}

bool is_half(const View& v) { return v.dtype == f16 || v.dtype == bf16; }

// Makes the launch one of the kernel's variant for operands of f16 and bf16, if there is one.  The variant's last
// constants are WIDENING, NARROWS, BIASED, SINGLE_A and SINGLE_B.
ops::LaunchSpec of_halves(const Lowering& l, const GemmProblem& p, ops::LaunchSpec spec)
{
    if (!is_half(p.a) && !is_half(p.b)) return spec;
    spec.kernel += "_half";
    spec.constants.push_back(l.widening(is_half(p.a) ? p.a.dtype : p.b.dtype));
    for (const bool set : {is_half(p.c), p.bias.has_value(), !is_half(p.a), !is_half(p.b)})
        spec.constants.push_back(set ? 1 : 0);
    return spec;
}

ops::records::Input bias_of(const GemmProblem& p)
{
    if (p.bias) return *p.bias;
    return ops::records::Absent{p.a};
}

ops::LaunchSpec with_record(const GemmProblem& p, ops::LaunchSpec spec)
{
    const Matrix a(p.a), b(p.b);
    return ops::records::gemm_address{
        .a = a.view, .b = b.view, .c = p.c, .bias = bias_of(p), .sizes = gemm_sizes(p, a, b)}
        .launch(std::move(spec));
}
ops::LaunchSpec by_address(const Lowering& l, const char* kernel, const GemmProblem& p, Tile tile)
{
    return with_record(p, of_halves(l, p, by_tiles(kernel, p, tile)));
}

// Handles any dtype and strides.  A library for products runs instead of this launch.
ops::LaunchSpec general(const Lowering& l, const Capabilities& c, const GemmProblem& p)
{
    if (!c.is_cuda() || !is_half(p.a)) {
        ops::LaunchSpec spec = by_address(l, "gemm_address", p, {8, 32});
        if (p.a.dtype != p.b.dtype) return spec;
        if (p.a.dtype == bf16) spec.kernel = "gemm_address_bf16";
        if (p.a.dtype == f16 && c.unpacks_subnormals) spec.kernel = "gemm_address_f16";
        return spec;
    }
    std::string kernel = p.a.dtype == f16 ? "gemm_half_f16" : "gemm_half_bf16";
    if (p.bias) kernel += "_bias";
    return with_record(p, by_tiles(kernel.c_str(), p, {64, 64}));
}

constexpr std::int64_t chunk = 512; // of K, as in common/gemm.glsl

// The constant ONE_CHUNK of gemm_texel.
std::uint32_t has_one_chunk(const GemmProblem& p) { return p.a.sizes()[3].at_most(chunk) ? 1 : 0; }

// Whether the kernel may omit the code for sizes that don't fill whole texels and steps of k.
bool is_even(const GemmProblem& p)
{
    const Matrix c(p.c);
    for (const Dim& d : {c.columns(), c.row, c.outer, c.inner, p.c.layout.offset})
        if (!d.divisible_by(4)) return false;
    return p.a.sizes()[3].divisible_by(16);
}

// Loads texels.  Operands whose layout does not allow it are packed first.
void emit_texel(Lowering& l, const Capabilities&, const GemmProblem& p)
{
    Matrix a(p.a), b(p.b);
    const bool transposed = !a.texel_rows() && a.texel_columns();
    if (!a.texel_rows() && !transposed) a = Matrix(l.packed(p.a, a.rows(), round_up(a.columns(), 4)));
    if (!b.texel_rows()) b = Matrix(l.packed(p.b, b.rows(), round_up(b.columns(), 4)));
    ops::records::GemmSizes sizes = gemm_sizes(p, a, b);
    if (transposed) sizes.a_row_stride = a.column_pitch();
    ops::LaunchSpec spec = by_tiles(transposed ? "gemm_texel_tn" : "gemm_texel_nn", p, {16, 32});
    spec.constants = {is_even(p) ? 1u : 0u, has_one_chunk(p)};
    spec.texels = true;
    const ops::records::gemm_texel_nn record{
        .a = a.view, .b = b.view, .c = p.c, .bias = bias_of(p), .sizes = sizes};
    l.launch(record.launch(of_halves(l, p, std::move(spec))),
             by_address(l, "gemm_address_shuffle", p, {16, 32}));
}

Dim is_one(const Dim& d) // 1 where d is 1, else 0; d must not be negative
{
    return floor_div(2, d + 1) - 2 * floor_div(1, d + 1);
}

// 1 where a library accepts a matrix without a copy: rows or columns are contiguous and 16-byte aligned.  It depends on
// strides and offset at the call, not on sizes or on what is constant, so that the library gets the same operands.
Dim library_accepts(const View& v)
{
    const Dim &row = v.layout.strides[2], &column = v.layout.strides[3];
    const Dim by_rows = row.at_most(0) ? Dim(0) : is_one(column),
              by_columns = column.at_most(0) ? Dim(0) : is_one(row);
    const auto elements = static_cast<std::int64_t>(16 / size_of(v.dtype));
    const Dim aligned = 1 - min(mod(v.layout.offset, elements), 1);
    return (by_rows + by_columns - by_rows * by_columns) * aligned;
}

// Copies a view to contiguous memory; a matrix that is repeated along the batch is copied once.
View contiguous_batch(Lowering& l, const View& v)
{
    return ops::copied_once(v, 2, [&](const View& once) { return l.contiguous(once); });
}

void emit_library(Lowering& l, const Capabilities& caps, const GemmProblem& p)
{
    const Dim a_accepted = library_accepts(p.a), b_accepted = library_accepts(p.b);
    for (const bool copy_a : {false, true})
        for (const bool copy_b : {false, true}) {
            const Dim here = (copy_a ? 1 - a_accepted : a_accepted) * (copy_b ? 1 - b_accepted : b_accepted);
            if (same(here, 0)) continue;
            l.when(here, [&] {
                l.launch(general(l, caps,
                                 {.a = copy_a ? contiguous_batch(l, p.a) : p.a,
                                  .b = copy_b ? contiguous_batch(l, p.b) : p.b,
                                  .c = p.c,
                                  .bias = p.bias}));
            });
        }
}

View transposed(View v) // swaps rows and columns
{
    const std::size_t rank = v.layout.sizes.size();
    std::swap(v.layout.sizes[rank - 2], v.layout.sizes[rank - 1]);
    std::swap(v.layout.strides[rank - 2], v.layout.strides[rank - 1]);
    return v;
}

// Computes C^T = B^T A^T, for a B that is stored by columns (x W^T): this packs A, which is smaller.
void emit_turned(Lowering& l, const Capabilities&, const GemmProblem& p)
{
    const Matrix a(transposed(p.b));
    Matrix b(transposed(p.a));
    if (!b.texel_rows()) b = Matrix(l.packed(b.view, b.rows(), round_up(b.columns(), 4)));
    const GemmProblem turned{.a = a.view, .b = transposed(p.a), .c = transposed(p.c), .bias = p.bias};
    ops::records::GemmSizes sizes = gemm_sizes(turned, a, b);
    sizes.c_row_stride = p.c.layout.strides[2];
    const ops::records::gemm_texel_nn record{
        .a = a.view, .b = b.view, .c = p.c, .bias = bias_of(p), .sizes = sizes};
    ops::LaunchSpec spec = by_tiles("gemm_texel_nn_turned", turned, {16, 32});
    spec.constants = {p.a.sizes()[3].divisible_by(16) ? 1u : 0u, has_one_chunk(p)};
    spec.texels = true;
    l.launch(record.launch(of_halves(l, turned, std::move(spec))),
             by_address(l, "gemm_address_shuffle", p, {16, 32}));
}

void emit_shuffle(Lowering& l, const Capabilities&, const GemmProblem& p)
{
    l.launch(by_address(l, "gemm_address_shuffle", p, {16, 32}));
}
void emit_address(Lowering& l, const Capabilities& c, const GemmProblem& p) { l.launch(general(l, c, p)); }

constexpr const char* f32_only = "it computes in f32";

Dim serves_all(const Capabilities&, const GemmProblem&) { return 1; }

std::string refuse_library(const Capabilities& c, const GemmProblem&)
{
    return c.product_library.empty() ? "the device has no library for products" : "";
}

// Results of f16 and bf16 are stored by fours.
std::string refuse_result(const GemmProblem& p)
{
    if (p.c.dtype == f32) return {};
    const Matrix c(p.c);
    for (const Dim& d : {c.columns(), c.row, c.outer, c.inner, p.c.layout.offset})
        if (!is_half(p.c) || !d.divisible_by(4)) return f32_only;
    return {};
}

std::string refuse_texel(const Capabilities& c, const GemmProblem& p)
{
    if (std::string reason = refuse_result(p); !reason.empty()) return reason;
    if (!c.prefer_texels) return "the device has no texel view of its slab, or loads by address are as fast";
    if (!c.subgroup_shuffle || c.subgroup_size != 8) return "it needs subgroups of 8 lanes with shuffle";
    if (!p.c.layout.offset.divisible_by(4)) return "the output is not 16-byte aligned";
    return {};
}

std::string refuse_turned(const Capabilities& caps, const GemmProblem& p)
{
    if (std::string reason = refuse_texel(caps, p); !reason.empty()) return reason;
    const Matrix b(p.b), c(p.c);
    if (b.texel_rows() || !b.texel_columns()) return "the second operand is not stored by columns";
    for (const Dim& d : {c.columns(), c.row, c.outer, c.inner})
        if (!d.divisible_by(4)) return "the output has no whole texels";
    return {};
}

// 1 where A has at most half as many elements as B and at least 32 rows, the columns of a tile.
Dim turned_serves(const Capabilities&, const GemmProblem& p)
{
    const Dim &m = p.c.sizes()[2], &n = p.c.sizes()[3];
    if (!n.is_constant() || n.at_most(127)) return 0;
    const Dim enough = min(floor_div(m, 32), 1), too_many = min(floor_div(m, floor_div(n, 2) + 1), 1);
    return enough * (1 - too_many);
}

std::string refuse_shuffle(const Capabilities& c, const GemmProblem& p)
{
    if (std::string reason = refuse_result(p); !reason.empty()) return reason;
    if (c.gpu_kernels()) return "it is made for CPUs";
    if (!c.subgroup_shuffle || c.subgroup_size != 8) return "it needs subgroups of 8 lanes with shuffle";
    return {};
}

std::string refuse_nothing(const Capabilities&, const GemmProblem&) { return {}; }

constexpr std::array<Variant<GemmProblem>, 8> variants = {{
    {"native", refuse_native_gemm, native_gemm_serves, native_gemm},
    {"library", refuse_library, serves_all, emit_library},
    {"turned", refuse_turned, turned_serves, emit_turned},
    {"texel", refuse_texel, serves_all, emit_texel},
    {"shuffle", refuse_shuffle, serves_all, emit_shuffle},
    {"matrix", refuse_gemm_matrix, serves_all, gemm_matrix},
    {"tile", refuse_gemm_tile, serves_all, gemm_tile},
    {"address", refuse_nothing, serves_all, emit_address},
}};
constexpr std::span kernels_only = std::span(variants).subspan(1); // without native code

// -- products with a quantised matrix (GemmProblem::format), in the same numeric classes --

// Makes the launch one of the kernel's variant for an A of f16 or bf16, if it is so.  The last constants are FORMAT and
// WIDENING.
ops::LaunchSpec of_quantized(const Lowering& l, const GemmProblem& p, ops::LaunchSpec spec)
{
    spec.constants.push_back(*p.format);
    if (!is_half(p.a)) return spec;
    spec.kernel += "_half";
    spec.constants.push_back(l.widening(p.a.dtype));
    return spec;
}

ops::LaunchSpec quantized_by_address(const Lowering& l, const GemmProblem& p)
{
    return with_record(p, of_quantized(l, p, by_tiles("gemm_address_quantized", p, {8, 32})));
}

void emit_quantized_address(Lowering& l, const Capabilities&, const GemmProblem& p)
{
    l.launch(quantized_by_address(l, p));
}

void emit_quantized_texel(Lowering& l, const Capabilities&, const GemmProblem& p)
{
    Matrix a(p.a);
    const Matrix b(p.b);
    if (!a.texel_rows()) a = Matrix(l.packed(p.a, a.rows(), round_up(a.columns(), 4)));
    const bool transposed = same(b.row, 1); // b is stored by columns
    ops::LaunchSpec spec =
        by_tiles(transposed ? "gemm_texel_quantized_nt" : "gemm_texel_quantized_nn", p, {16, 32});
    spec.constants = {is_even(p) ? 1u : 0u, has_one_chunk(p)};
    spec.texels = true;
    const ops::records::gemm_texel_nn record{
        .a = a.view, .b = b.view, .c = p.c, .bias = bias_of(p), .sizes = gemm_sizes(p, a, b)};
    l.launch(record.launch(of_quantized(l, p, std::move(spec))), quantized_by_address(l, p));
}

// A panel takes about a quarter of the matrix and at most 1 MiB, but at least 32 columns.
constexpr std::int64_t panel_elements = 1 << 18, wanted_panels = 4, panel_multiple = 32;

std::string refuse_panels(const Capabilities& c, const GemmProblem& p)
{
    if (p.c.dtype != f32) return f32_only;
    if (c.is_cuda() || c.gpu_kernels()) return "it is made for CPUs";
    if (!p.b.sizes()[2].is_constant() || !p.b.sizes()[3].is_constant())
        return "the matrix has no constant size";
    return {};
}

// Computes the columns of C in panels: the columns of B for each are dequantised to one buffer.  On SwiftShader loads
// of quantised elements inside of the product take 20 times as long, as branches on the format remain in its code.
void emit_panels(Lowering& l, const Capabilities& caps, const GemmProblem& p)
{
    const std::int64_t k = p.b.sizes()[2].value(), n = p.b.sizes()[3].value();
    const bool by_columns = same(p.b.layout.strides[2], 1);
    const auto divided = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    const std::int64_t fitting = std::max<std::int64_t>(panel_elements / std::max<std::int64_t>(k, 1),
                                                        panel_multiple),
                       panels =
                           std::max(divided(n, fitting / panel_multiple * panel_multiple), wanted_panels),
                       most = panel_multiple * divided(divided(n, panels), panel_multiple);
    const View buffer = l.temporary(f32, {k * std::min(n, most)});
    for (std::int64_t first = 0; first < n; first += most) {
        const std::int64_t width = std::min(n - first, most);
        const ops::records::dequantize record{.q = p.b,
                                              .indices = ops::records::Absent{p.b},
                                              .y = buffer,
                                              .count = by_columns ? width : k,
                                              .width = by_columns ? k : width,
                                              .first_row = by_columns ? first : 0,
                                              .first_column = by_columns ? 0 : first,
                                              .rows = by_columns ? n : k,
                                              .columns = by_columns ? k : n};
        l.launch(record.launch({.constants = {*p.format}, .groups = ceil_div(k * width, 256)}));
        GemmProblem panel{p.a, buffer, p.c};
        panel.b.layout = {{1, 1, k, width}, {0, 0, by_columns ? 1 : width, by_columns ? k : 1}, 0};
        panel.c.layout.sizes[3] = width;
        panel.c.layout.offset += first;
        emit_fitting(kernels_only, l, caps, panel);
    }
}

constexpr std::array<Variant<GemmProblem>, 5> quantized_variants = {{
    {"native", refuse_native_gemm, native_gemm_serves, native_gemm},
    {"texel", refuse_texel, serves_all, emit_quantized_texel},
    {"tile", refuse_gemm_tile, serves_all, gemm_tile},
    {"panels", refuse_panels, serves_all, emit_panels},
    {"address", refuse_nothing, serves_all, emit_quantized_address},
}};

void check(const Capabilities& c, const GemmProblem& p)
{
    if (multiplies_halves(c, p.a.dtype) && p.c.dtype != p.a.dtype && !p.format)
        detail::fail(ErrorKind::internal, "matmul", "A product of (", name_of(p.a.dtype),
                     ") has no result of (", name_of(p.c.dtype), ") on this device.");
    if (!is_floating(p.c.dtype))
        detail::fail(ErrorKind::unsupported, "matmul", "There are no kernels for (", name_of(p.c.dtype),
                     ") yet: cast to f32.");
}

ops::LaunchSpec pack_spec(const char* kernel, const Matrix& from, const View& to, bool texels, bool aligned)
{
    const Dim &rows = to.sizes()[2], &pitch = to.sizes()[3], &inners = to.sizes()[1];
    const Dim batches = to.sizes()[0] * inners;
    const ops::records::pack record{.source = from.view,
                                    .packed = to,
                                    .rows = from.rows(),
                                    .columns = from.columns(),
                                    .row_stride = from.row,
                                    .column_stride = from.column,
                                    .outer_stride = from.outer,
                                    .packed_rows = rows,
                                    .packed_row_stride = pitch,
                                    .packed_matrix_stride = rows * pitch,
                                    .batches = batches,
                                    .inners = inners,
                                    .inner_stride = from.inner};
    ops::LaunchSpec spec{
        .kernel = kernel, .groups = batches * ceil_div(rows, 16) * ceil_div(pitch, 64), .texels = texels};
    if (texels) spec.constants = {aligned ? 1u : 0u};
    if (is_half(from.view)) spec.kernel += "_half";
    return record.launch(std::move(spec));
}

constexpr Tile cpu_tile{16, 32};
constexpr std::int64_t enough_cpu_tiles = 4; // to occupy the cores

// Whether to split K: a small product over a long K (weight gradients) has too few tiles to occupy the device.
bool worth_splitting(const Capabilities& caps, const GemmProblem& p)
{
    if (!caps.product_library.empty()) return false;     // the library splits by itself
    if (refuse_gemm_tile(caps, p).empty()) return false; // it splits by itself, too
    const Dim &m = p.c.sizes()[2], &n = p.c.sizes()[3], &k = p.a.sizes()[3];
    if (!same(p.c.sizes()[0], 1) || !same(p.c.sizes()[1], 1) || !m.is_constant() || !n.is_constant())
        return false;
    if (p.c.dtype != f32 || k.at_most(8 * chunk - 1)) return false;
    const bool cpu = !caps.gpu_kernels();
    const Tile tile = cpu ? cpu_tile : Tile{64, 64};
    const std::int64_t tiles = (ceil_div(m, tile.rows) * ceil_div(n, tile.columns)).value();
    return tiles < (cpu ? enough_cpu_tiles : 128);
}

// Returns the product over k from `first`, as a batch of `count` parts of `length` steps.  A partial chunk is one part.
GemmProblem part(const GemmProblem& p, const View& sums, const Dim& first, const Dim& count,
                 const Dim& length)
{
    GemmProblem q = p;
    const Dim between = same(length, Dim(chunk)) ? length : Dim(0);
    const Dim &m = p.c.sizes()[2], &n = p.c.sizes()[3];
    q.a.layout.offset += first * p.a.layout.strides[3];
    q.a.layout.sizes = {count, 1, m, length};
    q.a.layout.strides[0] = between * p.a.layout.strides[3];
    q.b.layout.offset += first * p.b.layout.strides[2];
    q.b.layout.sizes = {count, 1, length, n};
    q.b.layout.strides[0] = between * p.b.layout.strides[2];
    q.c = sums;
    q.c.layout = {{count, 1, m, n}, {m * n, 0, n, 1}, floor_div(first, chunk) * m * n};
    return q;
}

// Computes whole chunks as a batch, the remaining partial chunk separately, then adds the partial sums in order.
void emit_split(Lowering& l, const Capabilities& caps, const GemmProblem& p)
{
    const Dim &m = p.c.sizes()[2], &n = p.c.sizes()[3], &k = p.a.sizes()[3];
    const Dim whole = floor_div(k, chunk), rest = k - whole * chunk, chunks = ceil_div(k, chunk);
    const View sums = l.temporary(p.c.dtype, {chunks, m, n});
    emit_fitting(kernels_only, l, caps, part(p, sums, 0, whole, chunk));
    emit_fitting(kernels_only, l, caps, part(p, sums, whole * chunk, min(rest, 1), rest));
    add_parts(l, sums, p.c, chunks);
}

} // namespace

bool multiplies_halves(const Capabilities& c, DType t)
{
    return (t == f16 && c.half_products) || (t == bf16 && c.bf16_products);
}

bool products_write_halves(const Capabilities& c, DType t, const Shape& result)
{
    if (multiplies_halves(c, t)) return true;
    constexpr std::int64_t may_be_split = enough_cpu_tiles * cpu_tile.rows * cpu_tile.columns; // elements
    return products_mix_dtypes(c) && !result.empty() && result.back().divisible_by(4) &&
           !shape::element_count(result).at_most(may_be_split);
}

View as_matrix(View v, const Dim& rows, const Dim& columns)
{
    v.layout.sizes = {1, 1, rows, columns};
    v.layout.strides = {0, 0, columns, 1};
    return v;
}

void add_parts(Lowering& l, const View& partial, const View& c, const Dim& parts)
{
    const Dim &rows = c.sizes()[2], &columns = c.sizes()[3];
    const Dim batches = c.sizes()[0] * c.sizes()[1];
    const ops::records::gemm_sum record{.partial = partial,
                                        .c = c,
                                        .rows = rows,
                                        .columns = columns,
                                        .chunks = parts,
                                        .row_stride = c.layout.strides[2],
                                        .batches = batches,
                                        .inners = c.sizes()[1],
                                        .outer_stride = c.layout.strides[0],
                                        .inner_stride = c.layout.strides[1]};
    l.launch(record.launch(
        {.groups = ceil_div(batches * rows * columns, 64), .result_columns = ops::columns_if_whole(c)}));
}

View packed(Lowering& l, const Capabilities& caps, const View& v, const Dim& rows, const Dim& columns)
{
    Shape sizes = v.sizes();
    sizes[sizes.size() - 2] = rows;
    sizes[sizes.size() - 1] = columns;
    const View to = l.temporary(v.dtype, sizes), all = two_batches(to);
    const Matrix from(two_batches(v));
    const bool across = same(from.column, 1), down = !across && same(from.row, 1);
    const ops::LaunchSpec plain = pack_spec("pack", from, all, false, false);
    if (!caps.prefer_texels || !(across || down)) {
        l.launch(plain);
        return to;
    }
    const Dim& pitch = across ? from.row : from.column;
    const bool aligned = pitch.divisible_by(4) && from.outer.divisible_by(4) && from.inner.divisible_by(4) &&
                         v.layout.offset.divisible_by(4);
    if (is_half(v) && !aligned) {
        l.launch(plain);
        return to;
    }
    l.launch(pack_spec(across ? "pack_texel" : "pack_texel_transposed", from, all, true, aligned), plain);
    return to;
}

void gemm(Lowering& l, const Capabilities& caps, const GemmProblem& p)
{
    check(caps, p);
    const GemmProblem q = two_batches(p);
    if (q.format) return emit_fitting(quantized_variants, l, caps, q);
    if (!worth_splitting(caps, q)) return emit_fitting(variants, l, caps, q);
    const Dim is_native = refuse_native_gemm(caps, q).empty() ? native_gemm_serves(caps, q) : Dim(0);
    if (!same(is_native, 0)) l.when(is_native, [&] { native_gemm(l, caps, q); });
    if (!same(is_native, 1)) l.when(1 - is_native, [&] { emit_split(l, caps, q); });
}

std::vector<Refusal> explain_gemm(const Capabilities& caps, const GemmProblem& p)
{
    return refusals(variants, caps, two_batches(p));
}

} // namespace reprise::kernels
