// Computes a tile of a matrix product in a block: C = A B through shared memory, with f32 sums in registers.
//
// A tile type defines the number of rows and columns per block and the number of steps of k per iteration, and
// multiplies the contents of its Room (shared memory).  Loaders provide A and B:
//   fetch(i)        reads the thread's elements of the i-th iteration into registers, 0 outside of the matrix
//   store(side)     writes them to shared memory
// and Steps::prepare(i) writes the data that they need for that iteration to shared memory, two iterations before it is
// multiplied.  A writer has
//   rows            number of rows of C from the tile's first row on
//   column(c)       position of the tile's column c, `nowhere` if it does not exist
//   put(at, r, sum) writes an element of the column
#pragma once
#include "common/block.cuh"
#include "common/fragments.cuh"

namespace rp {

constexpr uint nowhere = ~0u;

// Distributes `lines` (rows of A, columns of B) x `steps` of k over threads: neighbouring threads take neighbouring
// steps, each of several lines, or a thread takes several neighbouring steps of one line.
template <uint lines, uint steps, uint threads, bool neighbours_in_k> struct Share {
    static constexpr bool along_k = neighbours_in_k;
    static constexpr uint count = lines * steps / threads;
    static_assert(count * threads == lines * steps && threads % (along_k ? steps : lines) == 0);
    static RP_DEVICE uint line(uint i)
    {
        return along_k ? threadIdx.x / steps + i * (threads / steps) : threadIdx.x % lines;
    }
    static RP_DEVICE uint step(uint i) { return along_k ? threadIdx.x % steps : threadIdx.x / lines * count + i; }
};
template <class Tile, bool along_k> using ShareOfA = Share<Tile::rows, Tile::steps, Tile::threads, along_k>;
template <class Tile, bool along_k> using ShareOfB = Share<Tile::columns, Tile::steps, Tile::threads, along_k>;

template <class S, class Side, class Cell> RP_DEVICE void store_share(Side& side, const Cell (&v)[S::count])
{
    if constexpr (S::along_k) {
#pragma unroll
        for (uint i = 0; i < S::count; ++i) side.store(S::line(i), S::step(i), v[i]);
    } else {
        side.store_line(S::line(0), S::step(0), v);
    }
}

// Each of four warps computes a quarter of a tile; a warp without existing rows or columns multiplies nothing.
template <class Tile> RP_DEVICE bool warp_is_idle(uint present_rows, uint present_columns)
{
    static_assert(Tile::threads == 4 * warp_lanes);
    return warp_of_block() / 2 * (Tile::rows / 2) >= present_rows ||
           warp_of_block() % 2 * (Tile::columns / 2) >= present_columns;
}

// f16, bf16: fragments (common/fragments.cuh) for tensor cores.
template <class Half, uint width, uint depth> struct TensorTile {
    using Cell = unsigned short;
    static constexpr uint rows = 64, columns = width, steps = depth, threads = 128;

    template <uint lines> struct alignas(16) Side {
        uint v[lines][steps / 2 + 4]; // two halves per word; 4 pad, so that a fragment uses 32 banks
        RP_DEVICE void store(uint line, uint step, uint x) { reinterpret_cast<Cell*>(v[line])[step] = Cell(x); }
        RP_DEVICE void store_eight(uint line, uint step, uvec4 x) { *reinterpret_cast<uvec4*>(&v[line][step / 2]) = x; }
        template <class T, uint n> RP_DEVICE void store_line(uint line, uint step, const T (&x)[n])
        {
            static_assert(n % 8 == 0);
#pragma unroll
            for (uint i = 0; i < n; i += 8)
                store_eight(line, step + i, {word(&x[i]), word(&x[i + 2]), word(&x[i + 4]), word(&x[i + 6])});
        }
        template <class T> static RP_DEVICE uint word(const T* x) { return uint(x[0]) | uint(x[1]) << 16; }
    };
    struct Room {
        Side<rows> a[2];
        Side<columns> b[2];
    };
    static constexpr uint down = 2, across = columns / 16; // fragments per warp

    float sum[down][across][4] = {};
    uint first_row = warp_of_block() / 2 * (16 * down), first_column = warp_of_block() % 2 * (8 * across);
    uint g = lane_of_warp() / 4, t = lane_of_warp() % 4; // see common/fragments.cuh
    bool idle;

    RP_DEVICE TensorTile(uint present_rows, uint present_columns)
        : idle(warp_is_idle<TensorTile>(present_rows, present_columns))
    {}
    RP_DEVICE void multiply(const Room& room, uint buffer)
    {
#pragma unroll
        for (uint word = 0; word < steps / 2; word += 8) {
            uint a[down][4];
#pragma unroll
            for (uint i = 0; i < down; ++i)
#pragma unroll
                for (uint q = 0; q < 4; ++q)
                    a[i][q] = room.a[buffer].v[first_row + 16 * i + g + q % 2 * 8][word + t + q / 2 * 4];
#pragma unroll
            for (uint j = 0; j < across; ++j) {
                const uint(&column)[steps / 2 + 4] = room.b[buffer].v[first_column + 8 * j + g];
                const uint b[2] = {column[word + t], column[word + t + 4]};
#pragma unroll
                for (uint i = 0; i < down; ++i) mma<Half>(sum[i][j], a[i], b);
            }
        }
    }
    template <class Writer> RP_DEVICE void write(const Writer& to) const
    {
#pragma unroll
        for (uint j = 0; j < 2 * across; ++j) {
            const uint at = to.column(first_column + j / 2 * 8 + 2 * t + j % 2);
            if (at == nowhere) continue;
#pragma unroll
            for (uint i = 0; i < 2 * down; ++i) {
                const uint row = first_row + 8 * i + g;
                if (row < to.rows) to.put(at, row, sum[i / 2][j / 2][i % 2 * 2 + j % 2]);
            }
        }
    }
};

// Computes the tile's sums over k below `depth`, double-buffered: one half of the room is multiplied while the next
// iteration is fetched.
template <class Tile, class A, class B, class Steps>
RP_DEVICE void multiply_all(Tile& tile, typename Tile::Room& room, A& a, B& b, Steps& steps, uint depth)
{
    const uint count = (depth + Tile::steps - 1u) / Tile::steps;
    steps.prepare(0);
    barrier();
    if (count == 0u) return;
    a.fetch(0);
    b.fetch(0);
    steps.prepare(1);
    a.store(room.a[0]);
    b.store(room.b[0]);
    barrier();
    for (uint i = 0; i < count; ++i) {
        const bool more = i + 1 < count;
        if (more) {
            a.fetch(i + 1);
            b.fetch(i + 1);
            steps.prepare(i + 2);
        }
        if (!tile.idle) tile.multiply(room, i % 2);
        if (more) {
            a.store(room.a[(i + 1) % 2]);
            b.store(room.b[(i + 1) % 2]);
        }
        barrier();
    }
}

} // namespace rp
