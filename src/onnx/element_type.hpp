// ONNX's element types, and the dtypes of the tensors that hold them.
#pragma once
#include <cstdint>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::onnx {

// The layout of a floating type of 8 or 4 bits.
struct SmallFloat {
    int exponent_bits, mantissa_bits, bias;
    double largest;             // the largest finite number
    bool has_infinity, has_nan; // without infinities, numbers that are too large become NaN
    bool unsigned_zero;         // the pattern of -0 is NaN
};

// A type of TensorProto.DataType that the library can hold.  A type without a dtype of its own is held in a wider one:
// unsigned integers in signed ones, integers of few bits in i8 and u8, and floating numbers of 8 or 4 bits in f32.
struct ElementType {
    enum class Kind : std::uint8_t { floating, with_sign, without_sign, logical };
    int number;       // of TensorProto.DataType
    const char* name; // ONNX's name
    DType held;       // the dtype of the tensors that hold it
    unsigned bits;    // of an element in a file
    Kind kind;
    bool native = true;                // whether it is the type that tensors of the dtype have without a note
    const SmallFloat* small = nullptr; // for floating types of 8 or 4 bits

    bool is_floating() const noexcept { return kind == Kind::floating; }
};

// Returns a type by its number; null for one that the library can't hold.
const ElementType* find_element_type(int number) noexcept;
// Returns the type that a dtype stands for.
const ElementType& element_type_of(DType) noexcept;
// Returns ONNX's name of a type, also of one that the library can't hold; "undefined" for an unknown number.
const char* element_type_name(int number) noexcept;

// Returns the tensor with each integer reduced to the bits of its type, as arithmetic on that type wraps around.
// Tensors of types that wrap by themselves, and of floating types, are returned unchanged.
Tensor wrapped(const Tensor&, const ElementType&);
// Returns the tensor with each number rounded to the nearest one of the type, halves to even.  With `saturate` numbers
// beyond the largest become the largest; else they become infinite or NaN.
Tensor rounded(const Tensor&, const SmallFloat&, bool saturate);

// Returns the number that a pattern of bits stands for.
double decode(std::uint32_t pattern, const SmallFloat&);

} // namespace reprise::onnx
