// C[b] = A[b] B[b] in f16 or bf16 with sums in f32, on tensor cores if the device has them. The record is that of
// shaders/gemm_address.comp.
//
//   operands   A, B with any strides, C with contiguous columns; all f16 or bf16; with _bias each
//              row of sums gets the bias, one number for each column of C, before it is rounded
//   ints       M, N, K, rsA, rsB, ldc, batch, strideA, strideB, strideC, csA, csB, inners, innerA, innerB, innerC
//   groups     batch * ceil(M / 64) * ceil(N / 64)
//   requires   offsets below 2^31 elements
// architectures: 80
#include "common/tile.cuh"

namespace rp::products {

// Loads lines: rows of A or columns of B.
template <class Tile> struct LoadOfLines {
    static constexpr uint lines = Tile::rows, at_once = 8; // elements in 16 bytes
    static_assert(Tile::rows == Tile::columns);
    using Neighbours = Share<lines, Tile::steps, Tile::threads, true>;
    using Alone = Share<lines, Tile::steps, Tile::threads, false>;
    using Cell = typename Tile::Cell;
    static constexpr uint eights = Neighbours::count / at_once;

    enum class Way { eights, neighbours, alone };
    const Cell* matrix; // the tile's first line
    uint present, depth; // numbers of existing lines and steps of k
    int line_stride, step_stride;
    Way way;
    uint v[Neighbours::count]; // one element each, or, with Way::eights, two each in the first half

    RP_DEVICE LoadOfLines(const Cell* from, uint count, uint k, int between_lines, int between_steps)
        : matrix(from), present(count), depth(k), line_stride(between_lines), step_stride(between_steps)
    {
        const bool aligned = reinterpret_cast<unsigned long long>(from) % 16 == 0;
        const bool whole = aligned && (uint(line_stride) | depth) % at_once == 0;
        way = step_stride != 1 ? Way::alone : (whole ? Way::eights : Way::neighbours);
    }
    static RP_DEVICE uint line_of_eight(uint j) { return (threadIdx.x + j * Tile::threads) / (Tile::steps / at_once); }
    static RP_DEVICE uint step_of_eight() { return threadIdx.x % (Tile::steps / at_once) * at_once; }

    RP_DEVICE void fetch(uint i)
    {
        const uint first = i * Tile::steps;
        if (way == Way::eights) {
            const uint step = first + step_of_eight();
#pragma unroll
            for (uint j = 0; j < eights; ++j) {
                const uint line = line_of_eight(j);
                uvec4 eight = uvec4(0u);
                if (line < present && step < depth)
                    eight = *reinterpret_cast<const uvec4*>(matrix + (int(line) * line_stride + int(step)));
#pragma unroll
                for (uint q = 0; q < 4; ++q) v[4 * j + q] = eight[q];
            }
        } else if (way == Way::neighbours) {
            fetch_each<Neighbours>(first);
        } else {
            fetch_each<Alone>(first);
        }
    }
    template <class S> RP_DEVICE void fetch_each(uint first)
    {
#pragma unroll
        for (uint j = 0; j < S::count; ++j) {
            const uint line = S::line(j), step = first + S::step(j);
            v[j] = 0u;
            if (line < present && step < depth) v[j] = matrix[int(line) * line_stride + int(step) * step_stride];
        }
    }
    template <class Side> RP_DEVICE void store(Side& side) const
    {
        if (way == Way::eights) {
#pragma unroll
            for (uint j = 0; j < eights; ++j)
                side.store_eight(line_of_eight(j), step_of_eight(),
                                 {v[4 * j], v[4 * j + 1], v[4 * j + 2], v[4 * j + 3]});
        } else if (way == Way::neighbours) {
            store_share<Neighbours>(side, v);
        } else {
            store_share<Alone>(side, v);
        }
    }
};

struct NothingOfSteps {
    RP_DEVICE void prepare(uint) const {}
};

struct WriterOfHalves {
    unsigned short* matrix; // the tile's first element
    uint dtype, rows, columns;
    int row_stride;

    RP_DEVICE uint column(uint c) const { return c < columns ? c : nowhere; }
    RP_DEVICE void put(uint at, uint row, float sum) const
    {
        matrix[int(at) + int(row) * row_stride] = static_cast<unsigned short>(bits_of(sum, dtype));
    }
};
struct WriterOfBiasedHalves : WriterOfHalves {
    const unsigned short* bias; // of the tile's first column

    RP_DEVICE void put(uint at, uint row, float sum) const
    {
        WriterOfHalves::put(at, row, sum + float_of(bias[at], dtype));
    }
};
template <class Half, bool biased> RP_DEVICE void gemm_half(const void* record)
{
    using Tile = TensorTile<Half, 64, 32>;
    using Halves = Elements<unsigned short>;
    RP_SHARED(typename Tile::Room, room, 1);
    const auto* operand = static_cast<const Operand*>(record);
    const int* n = reinterpret_cast<const int*>(operand + 4);
    const uint M = uint(n[0]), N = uint(n[1]), K = uint(n[2]), batches = uint(n[6]), inners = uint(n[12]);

    const uint across = (N + Tile::columns - 1u) / Tile::columns, down = (M + Tile::rows - 1u) / Tile::rows;
    const uint strip = blockIdx.x / across, batch = strip / down;
    if (batch >= batches) return;
    const uint row = (strip - batch * down) * Tile::rows, column = (blockIdx.x - strip * across) * Tile::columns;
    const int outer = int(batch / inners), inner = int(batch) - outer * int(inners);
    const int first_a = outer * n[7] + inner * n[13] + int(row) * n[3];
    const int first_b = outer * n[8] + inner * n[14] + int(column) * n[11];

    Tile tile(M - row, N - column);
    LoadOfLines<Tile> a(Halves(operand[0].address).v + first_a, M - row, K, n[3], n[10]);
    LoadOfLines<Tile> b(Halves(operand[1].address).v + first_b, N - column, K, n[11], n[4]);
    NothingOfSteps steps;
    multiply_all(tile, room[0], a, b, steps, K);
    const int first_c = outer * n[9] + inner * n[15] + int(row) * n[5] + int(column);
    const WriterOfHalves to{Halves(operand[2].address).v + first_c, Half::dtype, M - row, N - column, n[5]};
    if constexpr (biased) tile.write(WriterOfBiasedHalves{to, Halves(operand[3].address).v + column});
    else tile.write(to);
}

} // namespace rp::products

RP_KERNEL_OF_BLOCK(gemm_half_f16, 128, 1) { rp::products::gemm_half<rp::F16, false>(rp_record); }
RP_KERNEL_OF_BLOCK(gemm_half_bf16, 128, 1) { rp::products::gemm_half<rp::BF16, false>(rp_record); }
RP_KERNEL_OF_BLOCK(gemm_half_f16_bias, 128, 1) { rp::products::gemm_half<rp::F16, true>(rp_record); }
RP_KERNEL_OF_BLOCK(gemm_half_bf16_bias, 128, 1) { rp::products::gemm_half<rp::BF16, true>(rp_record); }
