#include "device/native/elements.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace reprise::device::native {

namespace {

using Half = std::uint16_t;

// Conversions of the bits of one number, or of a vector of numbers: then conditions are vectors of masks.
template <class Mask, class Bits> Bits choose(Mask condition, Bits yes, Bits no)
{
    if constexpr (std::is_same_v<Mask, bool>) return condition ? yes : no;
    else return (yes & std::bit_cast<Bits>(condition)) | (no & ~std::bit_cast<Bits>(condition));
}

constexpr std::uint32_t infinity = 0x7F800000, sign_of_half = 0x8000;
constexpr std::uint32_t least_normal_half = 0x38800000; // 2^-14

struct Bf16 {
    template <class Floats, class Bits> static Bits widened(Bits h) { return h << 16; }
    template <class Floats, class Bits> static Bits narrowed(Bits v)
    {
        const Bits nearest = (v + 0x7FFFU + (v >> 16 & 1U)) >> 16, nan = 0x7FC0U | (v >> 16 & sign_of_half);
        return choose((v & 0x7FFFFFFFU) > infinity, nan, nearest);
    }
};

struct F16 {
    template <class Floats, class Bits> static Bits widened(Bits h)
    {
        const Bits exponent = h & 0x7C00U, low = (h & 0x03FFU) << 13;
        // Avoids operands that are subnormal in f32, with which processors take a hundred times as long.
        const Floats subnormal = std::bit_cast<Floats>(least_normal_half | low) - 0x1p-14F;
        Bits v = choose(exponent == 0U, std::bit_cast<Bits>(subnormal), 0x38000000U + (exponent << 13) + low);
        v = choose(exponent == 0x7C00U, infinity | low, v);  // or NaN
        return (v & 0x7FFFFFFFU) | (h & sign_of_half) << 16; // 0 - 0 is -0 if the thread rounds downwards
    }
    template <class Floats, class Bits> static Bits narrowed(Bits v)
    {
        const Bits magnitude = v & 0x7FFFFFFFU;
        const Bits normal = (magnitude - 0x38000000U + 0x0FFFU + (magnitude >> 13 & 1U)) >> 13;
        // In 0.5 + x the last bit of the mantissa stands for the least subnormal half.
        const Floats sum = std::bit_cast<Floats>(magnitude) + 0.5F;
        Bits h = choose(magnitude < least_normal_half, std::bit_cast<Bits>(sum) - 0x3F000000U, normal);
        h = choose(magnitude >= 0x477FF000U, Bits{} + 0x7C00U, h); // those that round to infinity
        h = choose(magnitude > infinity, Bits{} + 0x7E00U, h);
        return h | (v >> 16 & sign_of_half);
    }
};

#ifdef __GNUC__
constexpr std::int64_t lanes = 4;
using Halves4 [[gnu::vector_size(8)]] = Half;
using Bits4 [[gnu::vector_size(16)]] = std::uint32_t;
using Floats4 [[gnu::vector_size(16)]] = float;
#endif

template <class Format> void widen(const Half* from, std::int64_t step, std::int64_t count, float* to)
{
    std::int64_t i = 0;
#ifdef __GNUC__
    for (; step == 1 && i + lanes <= count; i += lanes) {
        Halves4 h;
        std::memcpy(&h, from + i, sizeof h);
        const Bits4 v = Format::template widened<Floats4>(__builtin_convertvector(h, Bits4));
        std::memcpy(to + i, &v, sizeof v);
    }
#endif
    for (; i < count; ++i)
        to[i] = std::bit_cast<float>(Format::template widened<float>(std::uint32_t{from[i * step]}));
}

template <class Format> void narrow(const float* from, std::int64_t count, Half* to, std::int64_t step)
{
    std::int64_t i = 0;
#ifdef __GNUC__
    for (; step == 1 && i + lanes <= count; i += lanes) {
        Bits4 v;
        std::memcpy(&v, from + i, sizeof v);
        const Halves4 h = __builtin_convertvector(Format::template narrowed<Floats4>(v), Halves4);
        std::memcpy(to + i, &h, sizeof h);
    }
#endif
    for (; i < count; ++i)
        to[i * step] =
            static_cast<Half>(Format::template narrowed<float>(std::bit_cast<std::uint32_t>(from[i])));
}

} // namespace

void Elements::read(std::int64_t first, std::int64_t count, float* to, std::int64_t step) const
{
    if (reader) return (*reader)(data, first, count, to);
    const Half* const halves = static_cast<const Half*>(data) + first;
    if (dtype == f16) widen<F16>(halves, step, count, to);
    else if (dtype == bf16) widen<Bf16>(halves, step, count, to);
    else if (step == 1) std::copy_n(floats() + first, count, to);
    else
        for (std::int64_t i = 0; i < count; ++i) to[i] = floats()[first + i * step];
}

void Elements::write(const float* from, std::int64_t count, std::int64_t first, std::int64_t step) const
{
    Half* const halves = static_cast<Half*>(data) + first;
    if (dtype == f16) narrow<F16>(from, count, halves, step);
    else if (dtype == bf16) narrow<Bf16>(from, count, halves, step);
    else if (step == 1) std::copy_n(from, count, floats() + first);
    else
        for (std::int64_t i = 0; i < count; ++i) floats()[first + i * step] = from[i];
}

} // namespace reprise::device::native
