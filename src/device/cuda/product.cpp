#include "device/cuda/product.hpp"
#include <algorithm>
#include <utility>

#include "device/kernel_records.hpp"

namespace reprise::device::cuda {

namespace {

std::int64_t bytes_of(Numbers n) // of an element
{
    if (n == Numbers::f64) return 8;
    return n == Numbers::f16 || n == Numbers::bf16 ? 2 : 4;
}

struct Strides {
    std::int64_t row, column; // elements
};

// Describes a matrix of rows x columns in memory as its transpose in columns, the form of cuBLASLt.  The stride of a
// dimension of size 1 is replaced by a fixed value, so that equal products have equal problems, whether or not such a
// size was a constant when the launch was planned.
std::optional<Matrix> column_major(std::int64_t rows, std::int64_t columns, Strides s)
{
    if (columns == 1) s.column = 1;
    if (rows == 1) s.row = s.column == 1 ? columns : 1;
    Matrix m;
    m.transposed = s.column != 1;
    if (m.transposed && s.row != 1) return std::nullopt;
    m.rows = m.transposed ? rows : columns;
    m.columns = m.transposed ? columns : rows;
    m.pitch = m.transposed ? s.column : s.row;
    if (m.pitch < m.rows) return std::nullopt;
    return m;
}

// The alignment of an address and of all addresses at multiples of these byte strides from it; a power of 2, at most
// 16.
std::uint32_t alignment(Address at, std::int64_t repeat, std::int64_t stride)
{
    const std::uint64_t bits =
        at | static_cast<std::uint64_t>(repeat) | static_cast<std::uint64_t>(stride) | 16;
    return static_cast<std::uint32_t>(bits & (~bits + 1));
}

// The two dimensions of a batch; merged() makes them one if the strides allow it.
struct Batch {
    std::int64_t outers, inners;
    std::array<std::int64_t, 3> outer, inner; // strides of a, b, d: elements
};

Batch merged(Batch b)
{
    if (b.outers == 1) return {1, b.inners, {}, b.inner};
    if (b.inners == 1) return {1, b.outers, {}, b.outer};
    for (std::size_t i = 0; i < 3; ++i)
        if (b.outer[i] != b.inner[i] * b.inners) return b;
    return {1, b.outers * b.inners, {}, b.inner};
}

} // namespace

std::optional<ProductKernel> product_kernel(const Kernel& k)
{
    constexpr std::array<std::pair<const char*, ProductKernel>, 6> kernels = {
        {{"gemm_address", {Numbers::f32}},
         {"gemm_address_f64", {Numbers::f64}},
         {"gemm_half_f16", {Numbers::f16}},
         {"gemm_half_bf16", {Numbers::bf16}},
         {"gemm_half_f16_bias", {Numbers::f16, true}},
         {"gemm_half_bf16_bias", {Numbers::bf16, true}}}};
    if (k.code) return std::nullopt;
    for (const auto& [name, product] : kernels)
        if (k.name == name) return product;
    return std::nullopt;
}

std::optional<Product> product_of(const LaunchArguments& l, const ProductKernel& kernel)
{
    const Numbers numbers = kernel.numbers;
    const records::gemm_address record(l); // gemm_half has the same record
    const records::GemmSizes& r = record.sizes;
    const std::int64_t rows = r.m, columns = r.n, depth = r.k, batch = r.batches, inners = r.inners;
    if (rows == 0 || columns == 0 || depth == 0 || batch == 0) return std::nullopt;
    const auto a = column_major(depth, columns, {r.b_row_stride, r.b_column_stride});
    const auto b = column_major(rows, depth, {r.a_row_stride, r.a_column_stride});
    const auto d = column_major(rows, columns, {r.c_row_stride, 1});
    if (!a || !b || !d) return std::nullopt;

    // The longer dimension of the batch is cuBLASLt's batch, the shorter one is repeated.
    Batch m = merged({batch / inners,
                      inners,
                      {r.b_outer_stride, r.a_outer_stride, r.c_outer_stride},
                      {r.b_inner_stride, r.a_inner_stride, r.c_inner_stride}});
    if (m.outers > m.inners) m = {m.inners, m.outers, m.inner, m.outer};
    Product p;
    p.problem = {numbers, m.inners, *a, *b, *d};
    p.repeats = m.outers;
    const std::array<Address, 3> addresses = {record.b.address, record.a.address, record.c.address};
    std::array<Matrix*, 3> matrices = {&p.problem.a, &p.problem.b, &p.problem.d};
    for (std::size_t i = 0; i < 3; ++i) {
        const std::int64_t element = bytes_of(numbers);
        if (m.inners > 1) matrices[i]->stride = m.inner[i];
        if (m.outers > 1) p.steps[i] = m.outer[i] * element;
        p.at[i] = addresses[i];
        matrices[i]->alignment = alignment(p.at[i], p.steps[i], matrices[i]->stride * element);
    }
    if (kernel.bias) {
        p.problem.bias = true;
        p.bias = record.bias.address;
        p.problem.d.alignment = std::min(p.problem.d.alignment, alignment(p.bias, 0, 0));
    }
    return p;
}

} // namespace reprise::device::cuda
