// The launch ABI on CUDA.  A kernel gets the address of its record, laid out as shaders/common/abi.glsl says, and its
// constants (on Vulkan: specialization constants).  A launch of g groups has g * `blocks` blocks of `threads` threads in
// one dimension; kernels guard the surplus.
#pragma once
#include "common/host.cuh"
#include "common/glsl.cuh"

namespace rp {

constexpr uint max_constants = 24;

struct Constants {
    uint count;
    uint v[max_constants];
};

// What the host reads of a kernel's module: <name>_shape.
struct LaunchShape {
    uint threads, blocks; // of a block; of a group
};

template <class T> struct Elements {
    T* v;
    RP_DEVICE Elements() {}
    RP_DEVICE explicit Elements(uvec2 address)
        : v(static_cast<T*>(rp_host::global((static_cast<unsigned long long>(address.y) << 32) | address.x)))
    {}
};

struct Operand {
    uvec2 address;
    uint texel, units; // views are Vulkan's; units of 16 bytes
};

// 0, 1, ... of a parameter pack
template <uint... i> struct Indices {};
template <uint n, uint... i> struct Counted : Counted<n - 1, n - 1, i...> {};
template <uint... i> struct Counted<0, i...> {
    using type = Indices<i...>;
};
template <uint n> using CountTo = typename Counted<n>::type;

using Floats = Elements<float>;
using Doubles = Elements<double>;
using Ints = Elements<int>;
using Words = Elements<uint>;
using Longs = Elements<uvec2>;
using Vec4s = Elements<vec4>;

RP_DEVICE uvec2 address_of(const void* p)
{
    const auto at = reinterpret_cast<unsigned long long>(p);
    return {uint(at), uint(at >> 32)};
}

// Of a kernel whose text is GLSL.
struct Invocation {
    uvec2 rp_record_address;
    const Constants& rp_constants;
    RP_DEVICE Invocation(const void* record, const Constants& constants)
        : rp_record_address(address_of(record)), rp_constants(constants)
    {}
    template <class T> RP_DEVICE T constant(uint id, T otherwise) const
    {
        return id < rp_constants.count ? T(rp_constants.v[id]) : otherwise;
    }
};

} // namespace rp

// The threads of a block have nothing to do with each other.
#define RP_KERNEL(name, threads, blocks)                                                                    \
    RP_LAUNCH_SHAPE(name, threads, blocks, false)                                                           \
    RP_KERNEL_DEFINITION(name, threads)
// They do what common/block.cuh has; `threads` are whole warps.
#define RP_KERNEL_OF_BLOCK(name, threads, blocks)                                                            \
    RP_LAUNCH_SHAPE(name, threads, blocks, true)                                                            \
    RP_KERNEL_DEFINITION(name, threads)
