#include "onnx/element_type.hpp"

#include <array>
#include <cmath>
#include <limits>

#include <reprise/ops/elementwise.hpp>

#include "onnx/proto.hpp"

namespace reprise::onnx {

namespace {

using Proto = proto::TensorProto;
using Kind = ElementType::Kind;

constexpr SmallFloat e4m3fn{4, 3, 7, 448, false, true, false};
constexpr SmallFloat e4m3fnuz{4, 3, 8, 240, false, true, true};
constexpr SmallFloat e5m2{5, 2, 15, 57344, true, true, false};
constexpr SmallFloat e5m2fnuz{5, 2, 16, 57344, false, true, true};
constexpr SmallFloat e2m1{2, 1, 1, 6, false, false, false};

constexpr std::array<ElementType, 23> types{{
    {Proto::FLOAT, "float32", f32, 32, Kind::floating},
    {Proto::FLOAT16, "float16", f16, 16, Kind::floating},
    {Proto::BFLOAT16, "bfloat16", bf16, 16, Kind::floating},
    {Proto::DOUBLE, "float64", f64, 64, Kind::floating},
    {Proto::INT64, "int64", i64, 64, Kind::with_sign},
    {Proto::INT32, "int32", i32, 32, Kind::with_sign},
    {Proto::INT16, "int16", i16, 16, Kind::with_sign},
    {Proto::INT8, "int8", i8, 8, Kind::with_sign},
    {Proto::UINT8, "uint8", u8, 8, Kind::without_sign},
    {Proto::BOOL, "bool", boolean, 8, Kind::logical},
    {Proto::UINT16, "uint16", i32, 16, Kind::without_sign, false},
    {Proto::UINT32, "uint32", i64, 32, Kind::without_sign, false},
    {Proto::UINT64, "uint64", i64, 64, Kind::without_sign, false},
    {Proto::INT4, "int4", i8, 4, Kind::with_sign, false},
    {Proto::UINT4, "uint4", u8, 4, Kind::without_sign, false},
    {Proto::INT2, "int2", i8, 2, Kind::with_sign, false},
    {Proto::UINT2, "uint2", u8, 2, Kind::without_sign, false},
    {Proto::FLOAT8E4M3FN, "float8e4m3fn", f32, 8, Kind::floating, false, &e4m3fn},
    {Proto::FLOAT8E4M3FNUZ, "float8e4m3fnuz", f32, 8, Kind::floating, false, &e4m3fnuz},
    {Proto::FLOAT8E5M2, "float8e5m2", f32, 8, Kind::floating, false, &e5m2},
    {Proto::FLOAT8E5M2FNUZ, "float8e5m2fnuz", f32, 8, Kind::floating, false, &e5m2fnuz},
    {Proto::FLOAT4E2M1, "float4e2m1", f32, 4, Kind::floating, false, &e2m1},
}};

} // namespace

const ElementType* find_element_type(int number) noexcept
{
    for (const ElementType& type : types)
        if (type.number == number && type.bits) return &type;
    return nullptr;
}

const ElementType& element_type_of(DType dtype) noexcept
{
    for (const ElementType& type : types)
        if (type.held == dtype && type.native) return type;
    return types[0];
}

const char* element_type_name(int number) noexcept
{
    if (const ElementType* type = find_element_type(number)) return type->name;
    switch (number) {
    case Proto::STRING: return "string";
    case Proto::COMPLEX64: return "complex64";
    case Proto::COMPLEX128: return "complex128";
    case Proto::FLOAT8E8M0: return "float8e8m0";
    default: return "undefined";
    }
}

Tensor wrapped(const Tensor& x, const ElementType& type)
{
    if (type.native || type.is_floating() || type.bits == 64) return x;
    const std::int64_t values = std::int64_t{1} << type.bits;
    const Tensor low = bitwise_and(x, values - 1);
    if (type.kind == Kind::without_sign) return low;
    return where(ge(low, static_cast<double>(values / 2)), sub(low, static_cast<double>(values)), low);
}

Tensor rounded(const Tensor& given, const SmallFloat& type, bool saturate)
{
    const Tensor x = cast(given, f32), size = abs(x);
    // The power of two at or below each number, but not below that of the subnormal numbers.
    const int lowest = 1 - type.bias, highest = std::ilogb(type.largest);
    Tensor power = full_like(size, std::ldexp(1.0, lowest));
    for (int e = lowest + 1; e <= highest; ++e)
        power = where(ge(size, std::ldexp(1.0, e)), std::ldexp(1.0, e), power);
    const Tensor step = mul(power, std::ldexp(1.0, -type.mantissa_bits));
    Tensor near = mul(round(div(size, step)), step);
    const double infinity = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double beyond = saturate || !type.has_nan ? type.largest : type.has_infinity ? infinity : nan;
    near = where(gt(near, type.largest), beyond, near);
    near = where(isnan(x), type.has_nan ? nan : 0, near);
    const Tensor negative = lt(x, 0);
    return where(negative, neg(near), type.unsigned_zero ? near : where(signbit(x), neg(near), near));
}

double decode(std::uint32_t pattern, const SmallFloat& type)
{
    const int bits = 1 + type.exponent_bits + type.mantissa_bits;
    const std::uint32_t sign = pattern >> (bits - 1) & 1;
    const std::uint32_t mantissa = pattern & ((1u << type.mantissa_bits) - 1);
    const std::uint32_t exponent = pattern >> type.mantissa_bits & ((1u << type.exponent_bits) - 1);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    if (type.unsigned_zero && sign && !mantissa && !exponent) return nan;
    const bool last = exponent == (1u << type.exponent_bits) - 1;
    if (type.has_infinity && last) {
        const double infinity = std::numeric_limits<double>::infinity();
        return mantissa ? nan : sign ? -infinity : infinity;
    }
    if (!type.unsigned_zero && type.has_nan && last && mantissa == (1u << type.mantissa_bits) - 1) return nan;
    const double scale =
        std::ldexp(1.0, (exponent ? static_cast<int>(exponent) : 1) - type.bias - type.mantissa_bits);
    const double whole = (exponent ? 1u << type.mantissa_bits : 0) + mantissa;
    return (sign ? -whole : whole) * scale;
}

} // namespace reprise::onnx
