// Matrix fragments distributed over the lanes of a warp, in the layout of PTX's mma.m16n8k16, and their product.
//
// With g = lane / 4 and t = lane % 4; a word has two halves with neighbouring k, the lower k in the low bits:
//   A  16 rows x 16 k      words 0..3: (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8)
//   B  16 k x 8 columns    words 0, 1: (2t, g), (2t + 8, g)
//   D  16 rows x 8 columns floats 0..3: (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)
#pragma once
#include "common/block.cuh"
#include "common/shaders.cuh"

namespace rp {

struct F16 {
    static constexpr uint dtype = DTYPE_F16;
};
struct BF16 {
    static constexpr uint dtype = DTYPE_BF16;
};

template <class Half> RP_DEVICE float lower_of(uint word) { return float_of(word & 0xFFFFu, Half::dtype); }
template <class Half> RP_DEVICE float upper_of(uint word) { return float_of(word >> 16, Half::dtype); }

// mma() for devices without a matching instruction: one rounding per step.
template <class Half> RP_DEVICE void mma_by_shuffles(float (&d)[4], const uint (&a)[4], const uint (&b)[2])
{
    using Words = unsigned long long;
    const uint g = lane_of_warp() / 4, t = lane_of_warp() % 4;
    const Words a_of_lane[2] = {Words(a[2]) << 32 | a[0], Words(a[3]) << 32 | a[1]};
    const Words b_of_lane = Words(b[1]) << 32 | b[0];
#pragma unroll 1
    for (uint source = 0; source < 4; ++source) { // k of 2 source and 2 source + 8; not unrolled, to save registers
        const Words rows[2] = {shuffle(a_of_lane[0], 4 * g + source), shuffle(a_of_lane[1], 4 * g + source)};
#pragma unroll
        for (uint column = 0; column < 2; ++column) {
            const Words words = shuffle(b_of_lane, 4 * (2 * t + column) + source);
#pragma unroll
            for (uint i = 0; i < 2; ++i)
#pragma unroll
                for (uint half = 0; half < 2; ++half) {
                    float& sum = d[2 * i + column];
                    const uint x = uint(rows[i] >> (32 * half)), y = uint(words >> (32 * half));
                    sum = rp_host::fma(lower_of<Half>(x), lower_of<Half>(y), sum);
                    sum = rp_host::fma(upper_of<Half>(x), upper_of<Half>(y), sum);
                }
        }
    }
}

// D += A B.  All lanes of the warp must call it.
template <class Half> RP_DEVICE void mma(float (&d)[4], const uint (&a)[4], const uint (&b)[2])
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (Half::dtype == DTYPE_F16)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#elif defined(__CUDA_ARCH__)
    // Turing has an instruction for f16 and half of the k; its words are those of each half of k here.
    if constexpr (Half::dtype == DTYPE_F16) {
#pragma unroll
        for (uint half = 0; half < 2; ++half)
            asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(b[half]));
    } else {
        mma_by_shuffles<Half>(d, a, b);
    }
#else
    mma_by_shuffles<Half>(d, a, b);
#endif
}

} // namespace rp
