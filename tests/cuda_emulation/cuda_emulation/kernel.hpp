// What a kernel of cuda/ is compiled against as host C++ (cuda/common/host.cuh): a thread's place in plain variables,
// as the emulated device runs one thread at a time, and what threads of a block do together, which are fibers then.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#define RP_DEVICE inline
#define RP_UNROLL
#define RP_DONT_UNROLL

struct Dim3 {
    unsigned x = 1, y = 1, z = 1;
};
// Seen by kernels that are made at run time, too.
extern __attribute__((visibility("default"))) Dim3 threadIdx, blockIdx, blockDim, gridDim;

#define RP_SHARED(type, name, count)                                                                         \
    static cuda_emulation::Shared<type, count> name##_room;                                                  \
    type(&name)[count] = name##_room.of_block()

namespace cuda_emulation {
// Of the blocks that ran so far, the one that runs.
extern __attribute__((visibility("default"))) std::uint64_t block_number;
// A block's, filled with NaNs when it begins.
template <class T, std::size_t count> class Shared {
public:
    using Array = T[count];
    Array& of_block()
    {
        if (block_ != block_number) std::memset(room_, 0xFF, sizeof room_);
        block_ = block_number;
        return *reinterpret_cast<Array*>(room_);
    }

private:
    alignas(16) unsigned char room_[sizeof(Array)];
    std::uint64_t block_ = 0;
};
// The calling fiber goes on once all of its block have come.
__attribute__((visibility("default"))) void sync_block();
// What the lanes of the calling fiber's warp give, once all have given theirs; until the lane's next exchange.
__attribute__((visibility("default"))) const std::uint64_t* exchange(std::uint64_t mine);
} // namespace cuda_emulation

namespace rp_host {
template <class To, class From> To bits(From v)
{
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &v, sizeof to);
    return to;
}
inline float square_root(float v) { return std::sqrt(v); }
inline double square_root(double v) { return std::sqrt(v); }
// Rounded twice: x86-64 has no instruction for it, and std::fma() is a call for each element of a product.
inline float fma(float a, float b, float c) { return a * b + c; }
inline float of_half(unsigned bits)
{
    const float sign = bits & 0x8000u ? -1.0f : 1.0f, mantissa = static_cast<float>(bits & 0x3FFu);
    const int exponent = static_cast<int>(bits >> 10 & 31);
    if (exponent == 31) return mantissa != 0 ? NAN : sign * INFINITY;
    return sign * (exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(mantissa + 1024, exponent - 25));
}
inline int leading_zeros(unsigned v) { return v == 0 ? 32 : __builtin_clz(v); }
inline void* global(unsigned long long address) { return reinterpret_cast<void*>(address); }
inline void sync_block() { cuda_emulation::sync_block(); }
template <class T> T shuffle(T v, unsigned lane)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8); // as the hardware has it
    std::uint64_t word = 0;
    std::memcpy(&word, &v, sizeof v);
    word = cuda_emulation::exchange(word)[lane % 32];
    std::memcpy(&v, &word, sizeof v);
    return v;
}
template <class T> T shuffle_xor(T v, unsigned lanes) { return shuffle(v, threadIdx.x % 32 ^ lanes); }
} // namespace rp_host

namespace rp {
struct Constants;
}

namespace cuda_emulation {

using KernelFunction = void (*)(const void* record, const rp::Constants&);

struct LaunchShape {
    std::uint32_t threads, blocks;
};

// A kernel by name, from before main(); the threads of a cooperative one's block wait for each other.
struct __attribute__((visibility("default"))) Registration {
    Registration(const char* name, LaunchShape, KernelFunction, bool cooperative);
};

} // namespace cuda_emulation

// `threads` are a constant of the kernel's own struct.
#define RP_LAUNCH_SHAPE(name, threads, blocks, together)                                                     \
    static void name##_body(const void*, const rp::Constants&);                                              \
    static_assert(!(together) || (threads) % 32 == 0, "whole warps");                                        \
    static const cuda_emulation::Registration name##_registration(#name, {threads, blocks}, &name##_body,    \
                                                                  together);
#define RP_KERNEL_DEFINITION(name, threads)                                                                  \
    static void name##_body([[maybe_unused]] const void* rp_record,                                          \
                            [[maybe_unused]] const rp::Constants& rp_constants)
