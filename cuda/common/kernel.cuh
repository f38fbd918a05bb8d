// The launch ABI on CUDA.  A kernel gets the address of its record, in the layout of shaders/common/abi.glsl, and its
// constants (on Vulkan: specialization constants).  A launch of g groups has g * `blocks` blocks of `threads` threads
// in one dimension; kernels ignore surplus threads.
#pragma once
#include "common/host.cuh"
#include "common/glsl.cuh"

namespace rp {

constexpr uint max_constants = 24;

struct Constants {
    uint count;
    uint v[max_constants];
};

// The host reads this from a kernel's module: <name>_shape.
struct LaunchShape {
    uint threads, blocks; // per block; per group
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
    uint texel, units; // texel: only Vulkan has views; units: of 16 bytes
};

// The indices 0, 1, ... of a parameter pack.
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
using ReadFloats = Elements<const float>;
using ReadVec4s = Elements<const vec4>;

RP_DEVICE uvec2 address_of(const void* p)
{
    const auto at = reinterpret_cast<unsigned long long>(p);
    return {uint(at), uint(at >> 32)};
}

// Base of a kernel that is translated from GLSL.
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

// The threads of a block are independent.
#define RP_KERNEL(name, threads, blocks)                                                                    \
    RP_LAUNCH_SHAPE(name, threads, blocks, false)                                                           \
    RP_KERNEL_DEFINITION(name, threads)
// The threads of a block cooperate, with barrier() or the functions of common/block.cuh; `threads` is a multiple of the
// warp size.
#define RP_KERNEL_OF_BLOCK(name, threads, blocks)                                                            \
    RP_LAUNCH_SHAPE(name, threads, blocks, true)                                                            \
    RP_KERNEL_DEFINITION(name, threads)
// A kernel that is translated from GLSL: its threads cooperate if it has shared memory.
#define RP_KERNEL_OF_TEXT(name, threads, cooperates)                                                        \
    RP_LAUNCH_SHAPE(name, threads, 1, cooperates)                                                           \
    RP_KERNEL_DEFINITION(name, threads)
// Declares a member of the struct that a shader is translated to: a reference to the block's shared memory.  The last
// argument is the array's sizes in brackets, or nothing.
#define RP_SHARED_MEMBER(T, name, sizes)                                                                    \
    using name##_type = typename rp::SharedElement<T>::type sizes;                                          \
    static RP_DEVICE name##_type& name##_of_block()                                                         \
    {                                                                                                       \
        RP_SHARED(name##_type, room, 1);                                                                    \
        return room[0];                                                                                     \
    }                                                                                                       \
    name##_type& name = name##_of_block();
