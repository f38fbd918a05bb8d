// The functions of GLSL.std.450.
#include "operations.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include <spirv/unified1/GLSL.std.450.h>

namespace reprise::simulator {

namespace {

using u32 = std::uint32_t;

template <class F, class T, int operands> constexpr Step::Function applied()
{
    if constexpr (operands == 1) return apply_1<F, T, T>;
    else if constexpr (operands == 2) return apply_2<F, T, T, T>;
    else return apply_3<F, T>;
}
template <int operands, class F> GlslOperation floats(u32 number, const char* name, F)
{
    return {number,
            name,
            operands,
            {nullptr, nullptr, nullptr, nullptr, nullptr, applied<F, float, operands>(),
             applied<F, double, operands>()}};
}
template <int operands, class F, class... T> GlslOperation integers(u32 number, const char* name)
{
    return {number, name, operands, {nullptr, nullptr, applied<F, T, operands>()...}};
}
template <int operands, class F> GlslOperation unsigned_(u32 number, const char* name, F)
{
    return integers<operands, F, u32, std::uint64_t>(number, name);
}
template <int operands, class F> GlslOperation signed_(u32 number, const char* name, F)
{
    return integers<operands, F, std::int32_t, std::int64_t>(number, name);
}

// GLSL defines min() and max() by these comparisons; with NaN SPIR-V lets a device choose.
constexpr auto smaller = [](auto a, auto b) { return b < a ? b : a; };
constexpr auto larger = [](auto a, auto b) { return a < b ? b : a; };
constexpr auto clamped = [](auto v, auto low, auto high) { return smaller(larger(v, low), high); };
constexpr auto sign = [](auto v) { return v > 0 ? 1 : v < 0 ? -1 : 0; };
// The number of the highest bit that is set; -1 if there is none.
constexpr auto highest_bit = [](u32 v) { return static_cast<u32>(std::bit_width(v)) - 1; };
constexpr auto lowest_bit = [](u32 v) { return v == 0 ? ~0U : static_cast<u32>(std::countr_zero(v)); };
constexpr auto highest_differing_bit = [](u32 v) { return highest_bit(v >> 31 != 0 ? ~v : v); };

template <class F> GlslOperation bits(u32 number, const char* name, F)
{
    return {number, name, 1, {nullptr, nullptr, apply_1<F, u32, u32>}};
}

// As on GPUs, which multiply by a rounded inverse square root: wrong by an ulp or two.
constexpr auto gpu_square_root = [](auto a) {
    const auto root = std::sqrt(a);
    return sizeof a == 4 && std::isnormal(root) ? a * (1 / root) : root;
};

#define NAMED(name) GLSLstd450##name, #name
const std::array table{
    floats<3>(NAMED(Fma), [](auto a, auto b, auto c) { return std::fma(a, b, c); }),
    floats<1>(NAMED(Sqrt), gpu_square_root),
    floats<1>(NAMED(InverseSqrt), [](auto a) { return 1 / std::sqrt(a); }),
    floats<1>(NAMED(FAbs), [](auto a) { return std::fabs(a); }),
    floats<1>(NAMED(Floor), [](auto a) { return std::floor(a); }),
    floats<1>(NAMED(Ceil), [](auto a) { return std::ceil(a); }),
    floats<1>(NAMED(Trunc), [](auto a) { return std::trunc(a); }),
    floats<1>(NAMED(Round), [](auto a) { return std::nearbyint(a); }),
    floats<1>(NAMED(RoundEven), [](auto a) { return std::nearbyint(a); }),
    floats<1>(NAMED(Fract), [](auto a) { return a - std::floor(a); }),
    floats<1>(NAMED(Exp), [](auto a) { return std::exp(a); }),
    floats<1>(NAMED(Exp2), [](auto a) { return std::exp2(a); }),
    floats<1>(NAMED(Log), [](auto a) { return std::log(a); }),
    floats<1>(NAMED(Log2), [](auto a) { return std::log2(a); }),
    floats<1>(NAMED(Sin), [](auto a) { return std::sin(a); }),
    floats<1>(NAMED(Cos), [](auto a) { return std::cos(a); }),
    floats<1>(NAMED(Tan), [](auto a) { return std::tan(a); }),
    floats<1>(NAMED(Tanh), [](auto a) { return std::tanh(a); }),
    floats<2>(NAMED(Pow), [](auto a, auto b) { return std::pow(a, b); }),
    floats<1>(NAMED(FSign), sign),
    floats<2>(NAMED(FMin), smaller),
    floats<2>(NAMED(FMax), larger),
    floats<2>(NAMED(NMin), [](auto a, auto b) { return std::fmin(a, b); }),
    floats<2>(NAMED(NMax), [](auto a, auto b) { return std::fmax(a, b); }),
    floats<3>(NAMED(FClamp), clamped),
    unsigned_<2>(NAMED(UMin), smaller),
    unsigned_<2>(NAMED(UMax), larger),
    unsigned_<3>(NAMED(UClamp), clamped),
    signed_<2>(NAMED(SMin), smaller),
    signed_<2>(NAMED(SMax), larger),
    signed_<3>(NAMED(SClamp), clamped),
    unsigned_<1>(NAMED(SAbs), [](auto v) { return v >> (8 * sizeof v - 1) != 0 ? 0 - v : v; }),
    signed_<1>(NAMED(SSign), sign),
    bits(NAMED(FindUMsb), highest_bit),
    bits(NAMED(FindSMsb), highest_differing_bit),
    bits(NAMED(FindILsb), lowest_bit),
};
#undef NAMED

} // namespace

const GlslOperation* find_glsl_operation(std::uint32_t number)
{
    const auto found = std::ranges::find(table, number, &GlslOperation::number);
    return found == table.end() ? nullptr : &*found;
}

} // namespace reprise::simulator
