// Element types.
#pragma once
#include <cstddef>
#include <cstdint>
#include <iosfwd>

namespace reprise {

enum class DType : std::uint8_t { f32, f16, bf16, f64, i32, i64, i16, i8, u8, boolean };

inline constexpr DType f32 = DType::f32, f16 = DType::f16, bf16 = DType::bf16, f64 = DType::f64;
inline constexpr DType i32 = DType::i32, i64 = DType::i64, i16 = DType::i16, i8 = DType::i8, u8 = DType::u8;
inline constexpr DType boolean = DType::boolean;

// libtorch's names of the same.
inline constexpr DType kFloat32 = f32, kFloat = f32, kFloat64 = f64, kDouble = f64;
inline constexpr DType kFloat16 = f16, kHalf = f16, kBFloat16 = bf16;
inline constexpr DType kInt64 = i64, kLong = i64, kInt32 = i32, kInt = i32, kInt16 = i16, kShort = i16;
inline constexpr DType kInt8 = i8, kChar = i8, kUInt8 = u8, kByte = u8, kBool = boolean;

std::size_t size_of(DType) noexcept; // bytes in memory: 1 for bool and u8, 2 for f16 and bf16
const char* name_of(DType) noexcept; // "f32"
bool is_floating(DType) noexcept;
bool is_integer(DType) noexcept;                // i64, i32, i16, i8, u8; not bool
std::ostream& operator<<(std::ostream&, DType); // name_of

// The element type of a C++ number.
template <class T> struct DTypeOf;
template <> struct DTypeOf<float> {
    static constexpr DType value = DType::f32;
};
template <> struct DTypeOf<double> {
    static constexpr DType value = DType::f64;
};
template <> struct DTypeOf<std::int8_t> {
    static constexpr DType value = DType::i8;
};
template <> struct DTypeOf<std::int16_t> {
    static constexpr DType value = DType::i16;
};
template <> struct DTypeOf<std::int32_t> {
    static constexpr DType value = DType::i32;
};
template <> struct DTypeOf<long> { // std::int64_t is this or long long
    static constexpr DType value = sizeof(long) == 8 ? DType::i64 : DType::i32;
};
template <> struct DTypeOf<long long> {
    static constexpr DType value = DType::i64;
};
template <> struct DTypeOf<std::uint8_t> {
    static constexpr DType value = DType::u8;
};
template <> struct DTypeOf<bool> {
    static constexpr DType value = DType::boolean;
};

} // namespace reprise
