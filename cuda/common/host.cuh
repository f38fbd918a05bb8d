// The environment that kernels are compiled in: nvcc or NVRTC for a GPU, or host C++ for the emulation in tests/, which
// defines its own threads, blocks and shared memory.
#pragma once

#ifdef __CUDACC__
#define RP_DEVICE __device__ __forceinline__
#define RP_KERNEL_DEFINITION(name, threads)                                                                 \
    extern "C" __global__ void __launch_bounds__(threads) name(const void* rp_record, rp::Constants rp_constants)
#define RP_LAUNCH_SHAPE(name, threads, blocks, together) extern "C" __constant__ rp::LaunchShape name##_shape = {threads, blocks};
#define RP_SHARED(type, name, count) __shared__ type name[count]
#define RP_UNROLL _Pragma("unroll")
#define RP_DONT_UNROLL _Pragma("unroll 1")

namespace rp_host {
template <class To> __device__ To bits(float);
template <> __device__ __forceinline__ unsigned bits(float v) { return __float_as_uint(v); }
template <> __device__ __forceinline__ int bits(float v) { return __float_as_int(v); }
template <class To> __device__ To bits(unsigned);
template <> __device__ __forceinline__ float bits(unsigned v) { return __uint_as_float(v); }
template <class To> __device__ To bits(int);
template <> __device__ __forceinline__ float bits(int v) { return __int_as_float(v); }
template <class To> __device__ To bits(double);
template <> __device__ __forceinline__ unsigned long long bits(double v)
{
    return static_cast<unsigned long long>(__double_as_longlong(v));
}
template <class To> __device__ To bits(unsigned long long);
template <> __device__ __forceinline__ double bits(unsigned long long v)
{
    return __longlong_as_double(static_cast<long long>(v));
}
__device__ __forceinline__ float square_root(float v) { return __fsqrt_rn(v); }
__device__ __forceinline__ double square_root(double v) { return __dsqrt_rn(v); }
// a * b + c rounded once (fused), where that is intended: nothing else is contracted (-fmad=false).
__device__ __forceinline__ float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
// The value of an f16, of which subnormal numbers are kept.
__device__ __forceinline__ float of_half(unsigned bits)
{
    float v;
    asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(static_cast<unsigned short>(bits)));
    return v;
}
__device__ __forceinline__ int leading_zeros(unsigned v) { return __clz(static_cast<int>(v)); }
// An address of global memory: the conversion lets the compiler use global instead of generic loads and stores.
__device__ __forceinline__ void* global(unsigned long long address) { return __cvta_global_to_generic(address); }
// For threads that cooperate (common/block.cuh).
__device__ __forceinline__ void sync_block() { __syncthreads(); }
template <class T> __device__ __forceinline__ T shuffle(T v, unsigned lane) { return __shfl_sync(~0u, v, lane); }
template <class T> __device__ __forceinline__ T shuffle_xor(T v, unsigned lanes) { return __shfl_xor_sync(~0u, v, lanes); }
} // namespace rp_host
#else
#include "cuda_emulation/kernel.hpp"
#endif
