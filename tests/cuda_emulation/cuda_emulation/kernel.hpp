// What a kernel of cuda/ is compiled against as host C++ (cuda/common/host.cuh): a thread's place in plain variables, as
// the emulated device runs one thread at a time.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#define RP_DEVICE inline

struct Dim3 {
    unsigned x = 1, y = 1, z = 1;
};
// Seen by kernels that are made at run time, too.
extern __attribute__((visibility("default"))) Dim3 threadIdx, blockIdx, blockDim, gridDim;

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
} // namespace rp_host

namespace rp {
struct Constants;
}

namespace cuda_emulation {

using KernelFunction = void (*)(const void* record, const rp::Constants&);

struct LaunchShape {
    std::uint32_t threads, blocks;
};

// A kernel by name, from before main().
struct __attribute__((visibility("default"))) Registration {
    Registration(const char* name, LaunchShape, KernelFunction, bool cooperative);
};

} // namespace cuda_emulation

// `threads` are a constant of the kernel's own struct.
#define RP_LAUNCH_SHAPE(name, threads, blocks)                                                               \
    static void name##_body(const void*, const rp::Constants&);                                              \
    static const cuda_emulation::Registration name##_registration(#name, {threads, blocks}, &name##_body,    \
                                                                  false);
#define RP_KERNEL_DEFINITION(name, threads)                                                                  \
    static void name##_body([[maybe_unused]] const void* rp_record,                                          \
                            [[maybe_unused]] const rp::Constants& rp_constants)
