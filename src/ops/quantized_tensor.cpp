// QuantizedTensor and the functions that take it.
#include <cstring>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/autocast.hpp"
#include "ops/index_check.hpp"
#include "ops/indices.hpp"
#include "ops/quantized.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"
#include "shape/rules.hpp"

namespace reprise {

using detail::fail;

namespace {

std::int64_t number_of(QuantizedFormat format) { return static_cast<std::int64_t>(format); }

// Throws unless rows of `columns` elements consist of whole blocks.
void require_matrix(const char* op, const Shape& sizes, QuantizedFormat format)
{
    const std::int64_t block = block_size(format);
    if (sizes.size() != 2 || !sizes[1].divisible_by(block) || sizes[1].at_most(0))
        fail(ErrorKind::shape, op, "The shape (", to_string(sizes),
             ") must be [rows, k], with a k that is a multiple of (", block, ") for ", name_of(format), ".");
}

// Throws where a scale, or a minimum of q4_k, is NaN or infinite.
void require_finite_scales(const char* op, std::span<const std::byte> bytes, std::int64_t columns,
                           QuantizedFormat format)
{
    const ops::Layout layout = ops::layout_of(format);
    const bool by_rows = format == QuantizedFormat::int8;
    const auto step = static_cast<std::size_t>(by_rows ? layout.row_bytes(columns).value() : layout.bytes);
    const std::int64_t blocks_of_row = by_rows ? 1 : columns / layout.elements;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
        float scale = 0, minimum = 0;
        if (by_rows) std::memcpy(&scale, &bytes[at], sizeof scale);
        else scale = ops::half_at(&bytes[at]);
        if (format == QuantizedFormat::q4_k) minimum = ops::half_at(&bytes[at + 2]);
        for (const float x : {scale, minimum})
            if (!std::isfinite(x)) {
                const auto block = static_cast<std::int64_t>(at / step);
                fail(ErrorKind::argument, op, "The scale (", x, ") of block ", block % blocks_of_row,
                     " in row ", block / blocks_of_row, " is not finite: the bytes are no valid ",
                     name_of(format), ".");
            }
    }
}

// Returns x weight^T, or x weight, plus the bias if it is defined.  16-bit results are rounded after it is added.
Tensor multiply(const char* op, const Tensor& x, const QuantizedTensor& weight, bool transposed,
                const Tensor& bias = {})
{
    const Shape matrix = weight.shape();
    const graph::TensorType& type = graph::type_of(x);
    const Shape sizes = type.shape;
    const DType dtype = type.dtype;
    ops::require_floating(op, dtype);
    const auto sentence = [&] {
        return "The input's shape (" + to_string(sizes) + ") does not end in the size that the weight (" +
               to_string(matrix) + ") takes.";
    };
    if (sizes.empty()) fail(ErrorKind::shape, op, sentence());
    shape::require_equal(op, sizes.back(), matrix[transposed ? 1 : 0], sentence);
    Shape out = sizes;
    out.back() = matrix[transposed ? 0 : 1];
    if (bias.defined()) shape::require_broadcastable(op, bias.shape(), out);
    const Tensor rows = sizes.size() == 1 ? unsqueeze(x, 0) : flatten(x, 0, -2);
    const Tensor y =
        graph::apply1(ops::quantized_matmul_op, {rows, weight.bytes()},
                      {{"format", number_of(weight.format())}, {"transposed", std::int64_t{transposed}}});
    const Tensor product = reshape(y, out);
    return cast(bias.defined() ? product + cast(bias, product.dtype()) : product, dtype);
}

} // namespace

std::optional<BlockType> block_type_of(QuantizedFormat format)
{
    switch (format) {
    case QuantizedFormat::q8_0: return BlockType::q8_0;
    case QuantizedFormat::q4_0: return BlockType::q4_0;
    case QuantizedFormat::q4_k: return BlockType::q4_k;
    default: return std::nullopt;
    }
}

std::optional<QuantizedFormat> quantized_format_of(BlockType type)
{
    for (const QuantizedFormat format : {QuantizedFormat::q8_0, QuantizedFormat::q4_0, QuantizedFormat::q4_k})
        if (block_type_of(format) == type) return format;
    return std::nullopt;
}

const char* name_of(QuantizedFormat format)
{
    const std::optional<BlockType> type = block_type_of(format);
    return type ? name_of(*type) : "int8";
}

std::int64_t block_size(QuantizedFormat format) { return ops::layout_of(format).elements; }

QuantizedTensor::QuantizedTensor(const Tensor& bytes, QuantizedFormat format) : bytes_(bytes), format_(format)
{
    constexpr const char* op = "quantized_tensor";
    const graph::TensorType& type = graph::type_of(bytes);
    if (type.dtype != u8)
        fail(ErrorKind::dtype, op, "The dtype of the bytes (", name_of(type.dtype), ") must be u8.");
    const ops::Layout layout = ops::layout_of(format);
    if (type.shape.size() != 2 || type.shape[1].at_most(layout.head) ||
        !(type.shape[1] - layout.head).divisible_by(layout.bytes))
        fail(ErrorKind::shape, op, "The shape of the bytes (", to_string(type.shape),
             ") must be [rows, bytes of a row], with (", layout.bytes, ") bytes for each block of ",
             name_of(format), layout.head > 0 ? " and 4 for the scale." : ".");
}

QuantizedTensor QuantizedTensor::from_bytes(std::span<const std::byte> bytes, const Shape& sizes,
                                            QuantizedFormat format, const CreationOptions& options)
{
    constexpr const char* op = "quantized_tensor";
    require_matrix(op, sizes, format);
    const Dim row = ops::layout_of(format).row_bytes(sizes[1]);
    if (!same(sizes[0] * row, Dim(static_cast<std::int64_t>(bytes.size()))))
        fail(ErrorKind::shape, op, "There are (", bytes.size(), ") bytes for ", name_of(format),
             to_string(sizes), ", which takes (", sizes[0] * row, ").");
    require_finite_scales(op, bytes, sizes[1].value(), format);
    return {reprise::from_bytes(bytes, {sizes[0], row}, {.dtype = u8, .device = options.device}), format};
}

QuantizedTensor QuantizedTensor::from_int8(std::span<const std::int8_t> values, std::span<const float> scales,
                                           const Shape& sizes, const CreationOptions& options)
{
    require_matrix("quantized_tensor", sizes, QuantizedFormat::int8);
    if (!same(sizes[0], Dim(static_cast<std::int64_t>(scales.size()))) ||
        !same(sizes[0] * sizes[1], Dim(static_cast<std::int64_t>(values.size()))))
        fail(ErrorKind::shape, "quantized_tensor", "There are (", values.size(), ") values and (",
             scales.size(), ") scales for int8", to_string(sizes), ".");
    std::vector<std::byte> bytes;
    const std::size_t row = scales.empty() ? 0 : values.size() / scales.size();
    for (std::size_t i = 0; i < scales.size(); ++i) {
        const auto scale = std::as_bytes(scales.subspan(i, 1)),
                   elements = std::as_bytes(values.subspan(i * row, row));
        bytes.insert(bytes.end(), scale.begin(), scale.end());
        bytes.insert(bytes.end(), elements.begin(), elements.end());
    }
    return from_bytes(bytes, sizes, QuantizedFormat::int8, options);
}

Shape QuantizedTensor::shape() const
{
    const Shape sizes = bytes_.shape();
    return {sizes[0], ops::layout_of(format_).columns(sizes[1])};
}

QuantizedTensor QuantizedTensor::to(const Device& device) const { return {bytes_.to(device), format_}; }

QuantizedTensor quantize(const Tensor& x, QuantizedFormat format)
{
    ops::require_floating("quantize", x.dtype());
    require_matrix("quantize", x.shape(), format);
    return {graph::apply1(ops::quantize_op, {cast(x.detach(), f32)}, {{"format", number_of(format)}}),
            format};
}

Tensor dequantize(const QuantizedTensor& q, DType dtype)
{
    ops::require_floating("dequantize", dtype);
    return cast(graph::apply1(ops::dequantize_op, {q.bytes()}, {{"format", number_of(q.format())}}), dtype);
}

Tensor linear(const Tensor& x, const QuantizedTensor& weight, const Tensor& bias)
{
    if (const ops::Autocast to = ops::Autocast::low({&x, &bias}); to) return linear(to(x), weight, to(bias));
    if (bias.defined()) ops::check_dtype("linear", "bias", bias.dtype(), x.dtype());
    return multiply("linear", x, weight, true, bias);
}

Tensor matmul(const Tensor& x, const QuantizedTensor& weight)
{
    if (const ops::Autocast to = ops::Autocast::low({&x}); to) return matmul(to(x), weight);
    return multiply("matmul", x, weight, false);
}

Tensor embedding(const Tensor& indices, const QuantizedTensor& weight)
{
    ops::require_indices("embedding", "indices", indices.dtype());
    const Shape matrix = weight.shape();
    ops::check_indices({"embedding"}, indices, matrix[0]);
    Shape to = indices.shape();
    to.push_back(matrix[1]);
    const Tensor rows =
        graph::apply1(ops::dequantize_op, {weight.bytes(), reshape(indices, {indices.numel()})},
                      {{"format", number_of(weight.format())}});
    return reshape(rows, to);
}

} // namespace reprise
