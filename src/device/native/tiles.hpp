// Tiles of matrix products in the vector instructions of the host: the loops that native code (gemm.hpp, conv.hpp)
// spends its time in.
#pragma once
#include <cstdint>
#include <span>

namespace reprise::device::native {

// Sums are chains of fma in the order of k, so the tiles of all instruction sets give the same bits.
struct Tile {
    const char* instructions; // "AVX-512"
    std::int64_t rows, columns;
    // sums[r * pitch + c] = sum over i < k of a[i * rows + r] b[offsets[i] + c];
    // with `add` it is added to what is there.
    void (*multiply)(std::int64_t k, const float* a, const float* b, const std::int64_t* offsets, float* sums,
                     std::int64_t pitch, bool add);
};

constexpr std::int64_t max_rows = 12, max_columns = 32; // of all tiles
constexpr std::int64_t chunk = 512; // the terms of one chain, at most; sums of chunks are added in order

// From so many multiplications on, about 0.1 ms of work for two cores with AVX-512, native code saves more than a host
// call costs.
constexpr std::uint64_t default_native_from = 1 << 22;

// Those that this processor can run, fastest first.
std::span<const Tile> tiles();

// Writes to[i][r] = rows[r][i] for i < k and r < count, and zeros for r up to `width`.
void pack_rows(const float* const* rows, std::int64_t count, std::int64_t k, std::int64_t width, float* to);

// to[i] += from[i] for i < count.
void add_to(float* to, const float* from, std::int64_t count);

constexpr std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Returns memory of the calling thread for so many floats, valid until its next call with the same slot, 0 to 3.  It is
// aligned to 64 bytes, so that no load of a panel crosses a cache line.  A thread keeps it, as fresh pages cost more
// than a small product.
float* scratch(std::size_t slot, std::int64_t floats);

} // namespace reprise::device::native
