#include "device/native/tiles.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>

// Not on Windows, where GCC does not align vectors on the stack, and not with MSVC.
#if defined(__GNUC__) && !defined(_WIN32) && (defined(__x86_64__) || defined(__aarch64__))
#define REPRISE_HAS_TILES 1
#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <arm_neon.h>
#endif
#endif

namespace reprise::device::native {

namespace {

#ifdef REPRISE_HAS_TILES
#if defined(__x86_64__)

namespace avx512 {
using Vector = __m512;
constexpr int width = 16, rows = 12, vectors = 2;
} // namespace avx512
#define TILE_NAMESPACE avx512
#define TILE_NAME "AVX-512"
#define TILE_TARGET __attribute__((target("avx512f")))
#define TILE_ZERO _mm512_setzero_ps
#define TILE_LOAD _mm512_loadu_ps
#define TILE_STORE _mm512_storeu_ps
#define TILE_BROADCAST _mm512_set1_ps
#define TILE_ADD _mm512_add_ps
#define TILE_FMA _mm512_fmadd_ps
#include "device/native/tile.inc"

namespace avx2 {
using Vector = __m256;
constexpr int width = 8, rows = 4, vectors = 3;
} // namespace avx2
#define TILE_NAMESPACE avx2
#define TILE_NAME "AVX2"
#define TILE_TARGET __attribute__((target("avx2,fma")))
#define TILE_ZERO _mm256_setzero_ps
#define TILE_LOAD _mm256_loadu_ps
#define TILE_STORE _mm256_storeu_ps
#define TILE_BROADCAST _mm256_set1_ps
#define TILE_ADD _mm256_add_ps
#define TILE_FMA _mm256_fmadd_ps
#include "device/native/tile.inc"

constexpr std::array all_tiles{avx512::tile, avx2::tile};

std::span<const Tile> find_tiles()
{
    const std::span<const Tile> all(all_tiles);
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return {};
    return __builtin_cpu_supports("avx512f") ? all : all.subspan(1);
}

#else

namespace neon {
using Vector = float32x4_t;
constexpr int width = 4, rows = 8, vectors = 3;
inline Vector fma(Vector a, Vector b, Vector c) { return vfmaq_f32(c, a, b); }
} // namespace neon
#define TILE_NAMESPACE neon
#define TILE_NAME "NEON"
#define TILE_TARGET
#define TILE_ZERO() vdupq_n_f32(0)
#define TILE_LOAD vld1q_f32
#define TILE_STORE vst1q_f32
#define TILE_BROADCAST vdupq_n_f32
#define TILE_ADD vaddq_f32
#define TILE_FMA fma
#include "device/native/tile.inc"

constexpr std::array all_tiles{neon::tile};

std::span<const Tile> find_tiles() { return all_tiles; }

#endif

using Four [[gnu::vector_size(16), gnu::aligned(4)]] = float;

// Writes the columns of four rows of four elements.
void transpose(const float* const* rows, std::int64_t i, std::int64_t width, float* to)
{
    Four a, b, c, d;
    std::memcpy(&a, rows[0] + i, sizeof a);
    std::memcpy(&b, rows[1] + i, sizeof b);
    std::memcpy(&c, rows[2] + i, sizeof c);
    std::memcpy(&d, rows[3] + i, sizeof d);
    const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5),
               ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7),
               cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    const Four columns[] = {
        __builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
        __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5), __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7)};
    for (int k = 0; k < 4; ++k) std::memcpy(to + k * width, &columns[k], sizeof columns[k]);
}

std::int64_t add_fours(float* to, const float* from, std::int64_t count)
{
    std::int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        Four a, b;
        std::memcpy(&a, to + i, sizeof a);
        std::memcpy(&b, from + i, sizeof b);
        a += b;
        std::memcpy(to + i, &a, sizeof a);
    }
    return i;
}

#else

std::span<const Tile> find_tiles() { return {}; }

std::int64_t add_fours(float*, const float*, std::int64_t) { return 0; }

void transpose(const float* const* rows, std::int64_t i, std::int64_t width, float* to)
{
    for (int k = 0; k < 4; ++k)
        for (int r = 0; r < 4; ++r) to[k * width + r] = rows[r][i + k];
}

#endif

struct FreeAligned {
    void operator()(float* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
};

} // namespace

std::span<const Tile> tiles()
{
    static const std::span<const Tile> found = find_tiles();
    return found;
}

void pack_rows(const float* const* rows, std::int64_t count, std::int64_t k, std::int64_t width, float* to)
{
    std::int64_t r = 0;
    for (; r + 4 <= count; r += 4) {
        std::int64_t i = 0;
        for (; i + 4 <= k; i += 4) transpose(rows + r, i, width, to + i * width + r);
        for (; i < k; ++i)
            for (std::int64_t j = r; j < r + 4; ++j) to[i * width + j] = rows[j][i];
    }
    for (; r < count; ++r)
        for (std::int64_t i = 0; i < k; ++i) to[i * width + r] = rows[r][i];
    for (; r < width; ++r)
        for (std::int64_t i = 0; i < k; ++i) to[i * width + r] = 0;
}

void add_to(float* to, const float* from, std::int64_t count)
{
    for (std::int64_t i = add_fours(to, from, count); i < count; ++i) to[i] += from[i];
}

float* scratch(std::size_t slot, std::int64_t floats)
{
    struct Memory {
        std::unique_ptr<float[], FreeAligned> floats{};
        std::int64_t size = 0;
    };
    thread_local std::array<Memory, 4> memories;
    Memory& m = memories.at(slot);
    if (m.size < floats) {
        m = {};
        const auto bytes = static_cast<std::size_t>(floats) * sizeof(float);
        m.floats.reset(static_cast<float*>(::operator new[](bytes, std::align_val_t{64})));
        m.size = floats;
    }
    return m.floats.get();
}

} // namespace reprise::device::native
