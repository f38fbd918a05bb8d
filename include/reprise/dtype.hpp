// Element types of tensors (dtypes).
#pragma once
#include <version>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 170000
#error "Reprise needs libc++ 17 or newer: older ones do not compile calls such as slice(x, 0, {.start = 1})"
#endif

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace reprise {

// The type of a tensor's elements: f for floating-point numbers, i for signed and u for unsigned integers, with the
// number of bits; bf16 is bfloat16, which has the range of f32.
enum class DType : std::uint8_t {
    f32,
    f16,
    bf16,
    f64,
    i32,
    i64,
    i16,
    i8,
    u8,
    boolean,
    // libtorch's names
    Float = f32,
    Half = f16,
    BFloat16 = bf16,
    Double = f64,
    Int = i32,
    Long = i64,
    Short = i16,
    Char = i8,
    Byte = u8,
    Bool = boolean
};
using ScalarType = DType; // libtorch's name

inline constexpr DType f32 = DType::f32,         // single precision floating point
    f16 = DType::f16,                            // half precision floating point
    bf16 = DType::bf16,                          // bfloat16: 8 bits of exponent, 7 of mantissa
    f64 = DType::f64;                            // double precision floating point
inline constexpr DType i32 = DType::i32,         // 32-bit signed integers
    i64 = DType::i64,                            // 64-bit signed integers
    i16 = DType::i16,                            // 16-bit signed integers
    i8 = DType::i8,                              // 8-bit signed integers
    u8 = DType::u8;                              // 8-bit unsigned integers
inline constexpr DType boolean = DType::boolean; // true or false, printed as "bool"

// -- libtorch's names --

inline constexpr DType kFloat32 = f32, // f32
    kFloat = f32,                      // f32
    kFloat64 = f64,                    // f64
    kDouble = f64;                     // f64
inline constexpr DType kFloat16 = f16, // f16
    kHalf = f16,                       // f16
    kBFloat16 = bf16;                  // bf16
inline constexpr DType kInt64 = i64,   // i64
    kLong = i64,                       // i64
    kInt32 = i32,                      // i32
    kInt = i32,                        // i32
    kInt16 = i16,                      // i16
    kShort = i16;                      // i16
inline constexpr DType kInt8 = i8,     // i8
    kChar = i8,                        // i8
    kUInt8 = u8,                       // u8
    kByte = u8,                        // u8
    kBool = boolean;                   // boolean

inline constexpr DType kF32 = f32, // f32
    kF16 = f16,                    // f16
    kF64 = f64,                    // f64
    kI64 = i64,                    // i64
    kI32 = i32,                    // i32
    kI16 = i16,                    // i16
    kI8 = i8,                      // i8
    kU8 = u8;                      // u8

// The size of an element in bytes: 1 for bool, i8 and u8, 8 for f64 and i64.
std::size_t size_of(DType) noexcept;
const char* name_of(DType) noexcept;            // the name: "f32", and "bool" for boolean
bool is_floating(DType) noexcept;               // f32, f16, bf16 and f64
bool is_integer(DType) noexcept;                // i64, i32, i16, i8 and u8; not bool
std::ostream& operator<<(std::ostream&, DType); // prints name_of()

// name_of() as a string, under libtorch's name.
inline std::string toString(DType dtype) { return name_of(dtype); }

// The dtype of a C++ number type, DTypeOf<T>::value; undefined for other types.
template <class T> struct DTypeOf;
// The dtype of float.
template <> struct DTypeOf<float> {
    static constexpr DType value = DType::f32; // f32
};
// The dtype of double.
template <> struct DTypeOf<double> {
    static constexpr DType value = DType::f64; // f64
};
// The dtype of std::int8_t.
template <> struct DTypeOf<std::int8_t> {
    static constexpr DType value = DType::i8; // i8
};
// The dtype of std::int16_t.
template <> struct DTypeOf<std::int16_t> {
    static constexpr DType value = DType::i16; // i16
};
// The dtype of std::int32_t.
template <> struct DTypeOf<std::int32_t> {
    static constexpr DType value = DType::i32; // i32
};
// The dtype of long; std::int64_t is long or long long.
template <> struct DTypeOf<long> {
    // i64, or i32 where long has 4 bytes.
    static constexpr DType value = sizeof(long) == 8 ? DType::i64 : DType::i32;
};
// The dtype of long long.
template <> struct DTypeOf<long long> {
    static constexpr DType value = DType::i64; // i64
};
// The dtype of std::uint8_t.
template <> struct DTypeOf<std::uint8_t> {
    static constexpr DType value = DType::u8; // u8
};
// The dtype of bool.
template <> struct DTypeOf<bool> {
    static constexpr DType value = DType::boolean; // boolean
};

} // namespace reprise
