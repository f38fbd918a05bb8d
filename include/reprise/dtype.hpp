// Element types.
#pragma once
#include <cstddef>
#include <cstdint>

namespace reprise {

enum class DType : std::uint8_t { f32, f16, bf16, f64, i32, i64, i16, i8, u8, boolean };

inline constexpr DType f32 = DType::f32, f16 = DType::f16, bf16 = DType::bf16, f64 = DType::f64;
inline constexpr DType i32 = DType::i32, i64 = DType::i64, i16 = DType::i16, i8 = DType::i8, u8 = DType::u8;
inline constexpr DType boolean = DType::boolean;

std::size_t size_of(DType) noexcept; // bytes in memory: 1 for bool and u8, 2 for f16 and bf16
const char* name_of(DType) noexcept; // "f32"
bool is_floating(DType) noexcept;
bool is_integer(DType) noexcept; // i64, i32, i16, i8, u8; not bool

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
template <> struct DTypeOf<std::int64_t> {
    static constexpr DType value = DType::i64;
};
template <> struct DTypeOf<std::uint8_t> {
    static constexpr DType value = DType::u8;
};
template <> struct DTypeOf<bool> {
    static constexpr DType value = DType::boolean;
};

} // namespace reprise
