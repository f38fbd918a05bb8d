// Where kernels are compiled: by nvcc and NVRTC for a GPU, or as host C++ for the emulation in tests/, which says itself
// what a thread, a block and shared memory are.
#pragma once

#ifdef __CUDACC__
#define RP_DEVICE __device__ __forceinline__
#define RP_KERNEL_DEFINITION(name, threads)                                                                 \
    extern "C" __global__ void __launch_bounds__(threads) name(const void* rp_record, rp::Constants rp_constants)
#define RP_LAUNCH_SHAPE(name, threads, blocks) extern "C" __constant__ rp::LaunchShape name##_shape = {threads, blocks};

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
} // namespace rp_host
#else
#include "cuda_emulation/kernel.hpp"
#endif
