// Computes one function (forward or derivative) of a row of reprise/elementwise.def, like shaders/elementwise.comp:
// with the same record, constants and bits.  The types of operands follow from the formula's parameters.
#pragma once
#include "common/i64.cuh"
#include "common/kernel.cuh"
#include "common/shaders.cuh"

namespace rp {

enum Mode : uint { contiguous, scalar, strided, immediate, rows, splat }; // as in shaders/elementwise.comp

constexpr uint elementwise_threads = 128, elements_of_thread = 4; // a group computes 512 elements

// The operands of one launch.  Real: the type of its floats.
template <class Real, uint slots> struct Elementwise {
    uint count, rank;
    const Operand* operand;
    const Real* f;
    const int* n;
    const Constants& constants;

    RP_DEVICE Elementwise(const void* record, const Constants& c)
        : rank(c.v[1]), operand(static_cast<const Operand*>(record)),
          f(reinterpret_cast<const Real*>(operand + slots + 1)), n(reinterpret_cast<const int*>(f + slots)), constants(c)
    {
        count = uint(n[0]);
    }
    RP_DEVICE uint dtype(uint slot) const { return constants.v[2u + 2u * slot]; }
    RP_DEVICE uint mode(uint slot) const { return constants.v[3u + 2u * slot]; }
    RP_DEVICE uint result_dtype() const { return constants.v[12]; }
    RP_DEVICE uint size(uint d) const { return uint(n[1u + d]); }
    RP_DEVICE int stride(uint slot, uint d) const { return n[1u + rank + slot * rank + d]; }
    RP_DEVICE int immediate_int(uint slot) const { return n[1u + rank * (slots + 1u) + slot]; }
    RP_DEVICE Long immediate_long(uint slot) const
    {
        const int* words = n + 1u + rank * (slots + 1u) + 2u * slot;
        return Long::of((static_cast<unsigned long long>(uint(words[1])) << 32) | uint(words[0]));
    }
};

RP_DEVICE uint load_bits_of(uvec2 address, uint dtype, uint e)
{
    if (is_word(dtype)) return Words(address).v[e];
    if (is_two_bytes(dtype)) return Elements<unsigned short>(address).v[e];
    return Elements<unsigned char>(address).v[e];
}
RP_DEVICE void store_bits_of(uvec2 address, uint dtype, uint e, uint bits)
{
    if (is_word(dtype)) Words(address).v[e] = bits;
    else if (is_two_bytes(dtype)) Elements<unsigned short>(address).v[e] = static_cast<unsigned short>(bits);
    else Elements<unsigned char>(address).v[e] = static_cast<unsigned char>(bits);
}

// Loads an element of any dtype as T.
RP_DEVICE void load_as(float& v, uvec2 address, uint dtype, uint e) { v = float_of(load_bits_of(address, dtype, e), dtype); }
RP_DEVICE void load_as(int& v, uvec2 address, uint dtype, uint e) { v = int_of(load_bits_of(address, dtype, e), dtype); }
RP_DEVICE void load_as(bool& v, uvec2 address, uint dtype, uint e) { v = bool_of(load_bits_of(address, dtype, e), dtype); }
RP_DEVICE void load_as(double& v, uvec2 address, uint dtype, uint e)
{
    if (dtype == DTYPE_F64) {
        v = Doubles(address).v[e];
    } else if (dtype == DTYPE_I64) {
        v = double(Elements<long long>(address).v[e]);
    } else {
        const uint bits = load_bits_of(address, dtype, e);
        v = dtype == DTYPE_F32 || is_half(dtype) ? double(float_of(bits, dtype)) : double(int_of(bits, dtype));
    }
}
RP_DEVICE void load_as(Long& v, uvec2 address, uint dtype, uint e)
{
    if (dtype == DTYPE_I64) {
        v = Elements<long long>(address).v[e];
    } else {
        const uint bits = load_bits_of(address, dtype, e);
        v = dtype == DTYPE_F32 || is_half(dtype) ? rp_to_i64(double(float_of(bits, dtype))) : Long(int_of(bits, dtype));
    }
}
template <class T> RP_DEVICE void store_as(T v, uvec2 address, uint dtype, uint e)
{
    store_bits_of(address, dtype, e, bits_of(v, dtype));
}
RP_DEVICE void store_as(double v, uvec2 address, uint dtype, uint e)
{
    if (dtype == DTYPE_F64) {
        Doubles(address).v[e] = v;
        return;
    }
    if (dtype == DTYPE_I64) {
        Elements<long long>(address).v[e] = rp_to_i64(v).value;
        return;
    }
    const bool real = dtype == DTYPE_F32 || is_half(dtype);
    const uint whole = dtype == DTYPE_BOOL ? uint(rp_is_nonzero(v)) : uint(rp_to_i32(v));
    store_bits_of(address, dtype, e, real ? bits_of(float(v), dtype) : whole);
}

RP_DEVICE void store_as(Long v, uvec2 address, uint dtype, uint e)
{
    if (dtype == DTYPE_I64) {
        Elements<long long>(address).v[e] = v.value;
        return;
    }
    const bool real = dtype == DTYPE_F32 || is_half(dtype);
    const uint whole = dtype == DTYPE_BOOL ? uint(rp_is_nonzero(v)) : uint(v.bits());
    store_bits_of(address, dtype, e, real ? bits_of(float(v.value), dtype) : whole);
}

template <class T> struct Immediate { // for float and double
    template <class E> static RP_DEVICE T of(const E& e, uint slot) { return T(e.f[slot]); }
};
template <> struct Immediate<int> {
    template <class E> static RP_DEVICE int of(const E& e, uint slot) { return e.immediate_int(slot); }
};
template <> struct Immediate<Long> {
    template <class E> static RP_DEVICE Long of(const E& e, uint slot) { return e.immediate_long(slot); }
};
template <uint words> struct Truth {
    template <class E> static RP_DEVICE bool of(const E& e, uint slot)
    {
        if constexpr (words == 2) return rp_is_nonzero(e.immediate_long(slot));
        else if constexpr (words == 1) return e.immediate_int(slot) != 0;
        else return rp_is_nonzero(e.f[slot]);
    }
};

template <auto F> struct Formula;

template <class R, class... T, R (*F)(T...)> struct Formula<F> {
    static constexpr uint slots = sizeof...(T);

    template <class U, uint words, class E> static RP_DEVICE U immediate_of(const E& e, uint slot)
    {
        if constexpr (sizeof(U) == 1) return Truth<words>::of(e, slot);
        else return Immediate<U>::of(e, slot);
    }

    // -- operands of any dtype and any strides: one element at a time --
    template <uint words, class U, class E> static RP_DEVICE U value(const E& e, uint slot, uint element, uint at)
    {
        const uint mode = e.mode(slot);
        U v;
        if (mode == immediate) v = immediate_of<U, words>(e, slot);
        else load_as(v, e.operand[slot].address, e.dtype(slot), mode == contiguous ? element : (mode == scalar ? 0u : at));
        return v;
    }
    template <uint words, class E, uint... slot> static RP_DEVICE R call(const E& e, uint element, const uint* at, Indices<slot...>)
    {
        return F(value<words, T>(e, slot, element, at[slot])...);
    }
    template <class Real, uint words> static RP_DEVICE void run(const void* record, const Constants& constants)
    {
        const Elementwise<Real, slots> e(record, constants);
        const uvec2 result = e.operand[slots].address;
        uint element = blockIdx.x * (elementwise_threads * elements_of_thread) + threadIdx.x;
#pragma unroll 1
        for (uint i = 0; i < elements_of_thread && element < e.count; ++i, element += elementwise_threads) {
            uint at[slots] = {};
            uint rest = element;
#pragma unroll 1
            for (uint d = e.rank; d-- > 0;) {
                const uint size = e.size(d), outer = d > 0 ? rest / size : 0, c = rest - outer * size;
                for (uint slot = 0; slot < slots; ++slot) at[slot] += uint(int(c) * e.stride(slot, d));
                rest = outer;
            }
            store_as(call<words>(e, element, at, CountTo<slots>()), result, e.result_dtype(), element);
        }
    }

    // -- operands of the formula's own types, contiguous or of one element: four elements at a time --
    template <uint words, class U, class E> static RP_DEVICE Vec4<U> four(const E& e, uint slot, uint group)
    {
        const uint mode = e.mode(slot);
        const uvec2 address = e.operand[slot].address;
        if (mode == immediate) return Vec4<U>(immediate_of<U, words>(e, slot));
        if constexpr (sizeof(U) == 1) {
            if (mode == scalar) return Vec4<U>(Elements<unsigned char>(address).v[0] != 0);
            const uint word = Words(address).v[group];
            return {(word & 0xFFu) != 0u, (word & 0xFF00u) != 0u, (word & 0xFF0000u) != 0u, (word >> 24) != 0u};
        } else {
            if (mode == scalar) return Vec4<U>(Elements<U>(address).v[0]);
            return Elements<Vec4<U>>(address).v[group];
        }
    }
    static RP_DEVICE void put(uvec2 address, uint group, Vec4<bool> v)
    {
        Words(address).v[group] = uint(v.x) | (uint(v.y) << 8) | (uint(v.z) << 16) | (uint(v.w) << 24);
    }
    template <class U> static RP_DEVICE void put(uvec2 address, uint group, Vec4<U> v)
    {
        Elements<Vec4<U>>(address).v[group] = v;
    }
    static RP_DEVICE Vec4<R> apply(Vec4<T>... v) { return {F(v.x...), F(v.y...), F(v.z...), F(v.w...)}; }
    template <uint words, class E, uint... slot> static RP_DEVICE Vec4<R> call_four(const E& e, uint group, Indices<slot...>)
    {
        return apply(four<words, T>(e, slot, group)...);
    }
    template <class Real, uint words> static RP_DEVICE void run_plain(const void* record, const Constants& constants)
    {
        const Elementwise<Real, slots> e(record, constants);
        const uint group = blockIdx.x * elementwise_threads + threadIdx.x;
        if (elements_of_thread * group >= e.count) return;
        put(e.operand[slots].address, group, call_four<words>(e, group, CountTo<slots>()));
    }
};

// The number of ints of an immediate; 0: it is one of the floats.
namespace f32 {
constexpr uint words = 0;
}
namespace i32 {
constexpr uint words = 1;
}
namespace i64 {
constexpr uint words = 2;
}
namespace f64 {
constexpr uint words = 0;
}
// The type of a record's floats.
#define RP_FLOATS_OF_f32 float
#define RP_FLOATS_OF_i32 float
#define RP_FLOATS_OF_i64 float
#define RP_FLOATS_OF_f64 double

} // namespace rp

#define RP_KERNEL_OF_ROW(kernel, type, function)                                                                         \
    RP_KERNEL(kernel, rp::elementwise_threads, 1)                                                                      \
    {                                                                                                                  \
        rp::Formula<&rp::type::function>::run<RP_FLOATS_OF_##type, rp::type::words>(rp_record, rp_constants);       \
    }
#define RP_KERNEL_OF_ROW_PLAIN(kernel, type, function)                                                                   \
    RP_KERNEL(kernel, rp::elementwise_threads, 1)                                                                      \
    {                                                                                                                  \
        rp::Formula<&rp::type::function>::run_plain<RP_FLOATS_OF_##type, rp::type::words>(rp_record, rp_constants); \
    }
