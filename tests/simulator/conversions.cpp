// Conversions of a number's value from one type to another.
#include "operations.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace reprise::simulator {

namespace {

using spv::Op;

// Saturates, with 0 for NaN, where SPIR-V leaves the value undefined.
template <class To, class From> To saturated(From v)
{
    if (std::isnan(v)) return 0;
    const From below = std::ldexp(From{1}, std::numeric_limits<To>::digits); // the first that is too large
    if (v >= below) return std::numeric_limits<To>::max();
    if (v <= (std::is_signed_v<To> ? -below : From{0})) return std::numeric_limits<To>::min();
    return static_cast<To>(v);
}

template <class To, class From> struct Converted {
    To operator()(From v) const
    {
        if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) return saturated<To>(v);
        else return static_cast<To>(v);
    }
};

// The value of an f16, which keeps subnormal numbers.
struct Widened {
    float operator()(std::uint32_t half) const // its low 16 bits
    {
        const std::uint32_t sign = (half & 0x8000U) << 16, exponent = half >> 10 & 31U,
                            fraction = half & 0x3FFU;
        if (exponent == 0)
            return std::copysign(std::ldexp(static_cast<float>(fraction), -24), sign != 0 ? -1.0F : 1.0F);
        return std::bit_cast<float>(sign | (exponent == 31 ? 255U : exponent + 112) << 23 | fraction << 13);
    }
};
struct WidenedHigh {
    float operator()(std::uint32_t word) const { return Widened()(word >> 16); }
};

struct Conversion {
    Op opcode;
    Scalar from, to;
    Step::Function run;
};
template <class To, class From> constexpr Conversion row(Op op, Scalar from, Scalar to)
{
    return {op, from, to, apply_1<Converted<To, From>, To, From>};
}

constexpr Scalar I16 = Scalar::i16, I32 = Scalar::i32, I64 = Scalar::i64, F32 = Scalar::f32,
                 F64 = Scalar::f64;
constexpr std::array conversions{
    row<std::uint32_t, float>(Op::OpConvertFToU, F32, I32),
    row<std::uint64_t, float>(Op::OpConvertFToU, F32, I64),
    row<std::uint32_t, double>(Op::OpConvertFToU, F64, I32),
    row<std::uint64_t, double>(Op::OpConvertFToU, F64, I64),
    row<std::int32_t, float>(Op::OpConvertFToS, F32, I32),
    row<std::int64_t, float>(Op::OpConvertFToS, F32, I64),
    row<std::int32_t, double>(Op::OpConvertFToS, F64, I32),
    row<std::int64_t, double>(Op::OpConvertFToS, F64, I64),
    row<float, std::uint32_t>(Op::OpConvertUToF, I32, F32),
    row<float, std::uint64_t>(Op::OpConvertUToF, I64, F32),
    row<double, std::uint32_t>(Op::OpConvertUToF, I32, F64),
    row<double, std::uint64_t>(Op::OpConvertUToF, I64, F64),
    row<float, std::int32_t>(Op::OpConvertSToF, I32, F32),
    row<float, std::int64_t>(Op::OpConvertSToF, I64, F32),
    row<double, std::int32_t>(Op::OpConvertSToF, I32, F64),
    row<double, std::int64_t>(Op::OpConvertSToF, I64, F64),
    row<double, float>(Op::OpFConvert, F32, F64),
    row<float, double>(Op::OpFConvert, F64, F32),
    row<std::uint32_t, std::uint16_t>(Op::OpUConvert, I16, I32),
    row<std::uint64_t, std::uint16_t>(Op::OpUConvert, I16, I64),
    row<std::uint16_t, std::uint32_t>(Op::OpUConvert, I32, I16),
    row<std::uint64_t, std::uint32_t>(Op::OpUConvert, I32, I64),
    row<std::uint16_t, std::uint64_t>(Op::OpUConvert, I64, I16),
    row<std::uint32_t, std::uint64_t>(Op::OpUConvert, I64, I32),
    row<std::int32_t, std::int16_t>(Op::OpSConvert, I16, I32),
    row<std::int64_t, std::int16_t>(Op::OpSConvert, I16, I64),
    row<std::int16_t, std::int32_t>(Op::OpSConvert, I32, I16),
    row<std::int64_t, std::int32_t>(Op::OpSConvert, I32, I64),
    row<std::int16_t, std::int64_t>(Op::OpSConvert, I64, I16),
    row<std::int32_t, std::int64_t>(Op::OpSConvert, I64, I32),
};

} // namespace

void unpack_low_half(const Lanes& lanes, const Step& s) { apply_1<Widened, float, std::uint32_t>(lanes, s); }
void unpack_high_half(const Lanes& lanes, const Step& s)
{
    apply_1<WidenedHigh, float, std::uint32_t>(lanes, s);
}

Step::Function find_conversion(spv::Op op, Scalar from, Scalar to)
{
    const auto found = std::ranges::find_if(
        conversions, [&](const Conversion& c) { return c.opcode == op && c.from == from && c.to == to; });
    return found == conversions.end() ? nullptr : found->run;
}

} // namespace reprise::simulator
