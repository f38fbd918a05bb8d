// Frozen matrices in few bits, which products take as they are.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <reprise/block_type.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// How the elements of a QuantizedTensor are stored.  q8_0, q4_0 and q4_k are ggml's, as GGUF files have them.
enum class QuantizedFormat : std::uint8_t {
    q8_0, // 34 bytes for 32 elements: scale d (f16), 32 i8; an element is d q
    q4_0, // 18 bytes for 32 elements: d (f16), 16 bytes; byte j has elements j (low half) and j + 16: d (q - 8)
    q4_k, // 144 bytes for 256 elements: parts of 32 have a scale and a minimum of 6 bits: d s q - dmin m
    int8, // a row is its scale d (f32) and an i8 for each element: d q
};
std::optional<BlockType> block_type_of(QuantizedFormat); // the same in GGUF files; none for int8
std::optional<QuantizedFormat> quantized_format_of(
    BlockType);                       // the reverse; none for types that no product takes
const char* name_of(QuantizedFormat); // "q8_0"
// The elements of a block, of which a row has a whole number: 32, 256 (q4_k) or 4 (int8).
std::int64_t block_size(QuantizedFormat);

// A matrix [rows, k] in few bits, without gradient.  Its bytes are a tensor u8 [rows, bytes of a row] in the published
// layout of the format.  k is a multiple of block_size().  Copying it copies the handle.
class QuantizedTensor {
public:
    QuantizedTensor() = default; // undefined
    // Takes bytes that lie on a device already; they are not looked at.  Error(dtype) unless they are u8;
    // Error(shape) unless they are a matrix whose rows consist of whole blocks.
    QuantizedTensor(const Tensor& bytes, QuantizedFormat);
    // Copies the bytes of a matrix [rows, k], such as those of a GGUF file, to options.device.  Error(shape) where
    // their number is not that of the shape, or k is no multiple of the block; Error(argument) where a scale is NaN
    // or infinite.
    static QuantizedTensor from_bytes(std::span<const std::byte>, const Shape&, QuantizedFormat,
                                      const CreationOptions& options = {});
    // Makes an int8 matrix of its whole numbers [rows, k], row-major, and the scale of each row.  Errors as
    // from_bytes().
    static QuantizedTensor from_int8(std::span<const std::int8_t> values, std::span<const float> scales,
                                     const Shape&, const CreationOptions& options = {});

    bool defined() const noexcept { return bytes_.defined(); } // false after QuantizedTensor()
    QuantizedFormat format() const { return format_; }         // how elements are stored
    Shape shape() const;                                       // [rows, k]
    const Tensor& bytes() const { return bytes_; }    // u8 [rows, bytes of a row]; undefined as this is
    Device device() const { return bytes_.device(); } // the device that holds the bytes
    QuantizedTensor to(const Device&) const;          // the same matrix on another device

private:
    Tensor bytes_;
    QuantizedFormat format_ = QuantizedFormat::q8_0;
};

// Rounds a matrix of any floating dtype to a format, on its device.  q8_0, q4_0 and q4_k are computed by the steps of
// ggml's reference functions, int8 with the scale max |row| / 127, to nearest.  No gradient flows.  Elements that
// are NaN, infinite or too large for a scale of f16 are not refused; their blocks are wrong then.  Error(shape) unless
// it is a matrix whose rows consist of whole blocks; Error(dtype) for integers and bools.
QuantizedTensor quantize(const Tensor&, QuantizedFormat);
// The elements [rows, k], computed in f32 and rounded to a floating dtype, else Error(dtype).
Tensor dequantize(const QuantizedTensor&, DType dtype = f32);

// x weight^T + bias: x [..., k], weight [rows, k], bias [rows] or undefined -> [..., rows], in the dtype of x, which is
// floating.  Elements of the weight are dequantised in the kernel, in f32; x of f16 and bf16 is widened to f32, and the
// product rounded once.  In f32 it has the bits of linear(x, dequantize(weight), bias), on CUDA up to the order of
// sums. Gradients of every order flow to x and bias.  Error(shape) and Error(dtype) as linear().
Tensor linear(const Tensor& x, const QuantizedTensor& weight, const Tensor& bias = {});
// x weight: x [..., rows], weight [rows, k] -> [..., k], otherwise as above.
Tensor matmul(const Tensor& x, const QuantizedTensor& weight);
// The rows with these indices: indices [...] -> f32 [..., k], as embedding() of the dequantised matrix.
Tensor embedding(const Tensor& indices, const QuantizedTensor& weight);

} // namespace reprise
