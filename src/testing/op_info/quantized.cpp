// Matrices in few bits.
#include <reprise/quantized.hpp>

#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

// A matrix [rows, k] whose elements are neither symmetric nor of one magnitude.
QuantizedTensor weight(const Dim& rows, const Dim& columns, QuantizedFormat format, const Tensor& like)
{
    const Tensor i = arange(rows * columns, {.dtype = f32, .device = like.device()});
    return quantize(reshape(sin(i * 1.7) * cos(i * 0.01) + 0.1, {rows, columns}), format);
}

constexpr std::pair<QuantizedFormat, std::int64_t> formats[] = {{QuantizedFormat::q8_0, 32},
                                                                {QuantizedFormat::q4_0, 32},
                                                                {QuantizedFormat::q4_k, 256},
                                                                {QuantizedFormat::int8, 4}};

std::vector<std::byte> zeros_of(std::size_t count) { return std::vector<std::byte>(count); }

} // namespace

void add_quantized(Rows& rows)
{
    rows.op("quantize").differentiable = false;
    for (const auto& [format, block] : formats)
        rows.forward(name_of(format), {arg({n(), 2 * block}, -3, 2)},
                     [format = format](const Inputs& in) { return quantize(in[0], format).bytes(); });
    rows.mistake("half of a block", ErrorKind::shape, "a multiple of (32) for q4_0", [] {
        quantize(ones({2, 48}), QuantizedFormat::q4_0);
    });
    rows.mistake("a vector", ErrorKind::shape, "[rows, k]",
                 [] { quantize(ones({32}), QuantizedFormat::q8_0); });
    rows.mistake("no columns", ErrorKind::shape, "([2, 0])", [] {
        quantize(ones({2, 0}), QuantizedFormat::q8_0);
    });
    rows.mistake("integers", ErrorKind::dtype, "i32", [] {
        quantize(ones({2, 32}, {.dtype = i32}), QuantizedFormat::q8_0);
    });

    rows.op("dequantize").differentiable = false;
    for (const auto& [format, block] : formats) {
        rows.forward(name_of(format), {arg({n(), 2 * block})},
                     [format = format](const Inputs& in) { return dequantize(quantize(in[0], format)); });
        rows.forward(std::string("some rows of ") + name_of(format), {whole({2, n()}, 0, 4)},
                     [format = format, block = block](const Inputs& in) {
                         return embedding(in[0], weight(5, block, format, in[0]));
                     });
    }
    rows.mistake("an integer dtype", ErrorKind::dtype, "i8", [] {
        dequantize(quantize(ones({2, 32}), QuantizedFormat::q8_0), i8);
    });
    rows.mistake("bytes of another dtype", ErrorKind::dtype, "(i8) must be u8", [] {
        QuantizedTensor(zeros({2, 34}, {.dtype = i8}), QuantizedFormat::q8_0);
    });
    rows.mistake("rows of half blocks", ErrorKind::shape, "([2, 18])", [] {
        QuantizedTensor(zeros({2, 18}, {.dtype = u8}), QuantizedFormat::q8_0);
    });
    rows.mistake("a byte too few", ErrorKind::shape, "(67) bytes for q8_0[1, 64], which takes (68)", [] {
        QuantizedTensor::from_bytes(zeros_of(67), {1, 64}, QuantizedFormat::q8_0);
    });
    rows.mistake("scales too few", ErrorKind::shape, "(8) values and (1) scales", [] {
        QuantizedTensor::from_int8(std::vector<std::int8_t>(8), std::vector<float>(1), {2, 4});
    });
    rows.mistake("a scale that is NaN", ErrorKind::argument, "(nan) of block 1 in row 2", [] {
        std::vector<std::byte> bytes = zeros_of(3 * 2 * 18);
        bytes[5 * 18 + 1] = std::byte{0x7E};
        QuantizedTensor::from_bytes(bytes, {3, 64}, QuantizedFormat::q4_0);
    });
    rows.mistake("a minimum that is infinite", ErrorKind::argument, "(-inf) of block 0 in row 1", [] {
        std::vector<std::byte> bytes = zeros_of(2 * 144);
        bytes[147] = std::byte{0xFC};
        QuantizedTensor::from_bytes(bytes, {2, 256}, QuantizedFormat::q4_k);
    });

    rows.op("quantized_matmul").tolerance = 5e-6;
    for (const auto& [format, block] : formats) {
        rows.sample(std::string("by ") + name_of(format), {arg({n(), block})}, {0, 1, 3, 40},
                    [format = format, block = block](const Inputs& in) {
                        return linear(in[0], weight(5, block, format, in[0]));
                    });
        rows.sample(std::string("by the transpose of ") + name_of(format), {arg({2, n(), 3})}, {0, 1, 20},
                    [format = format, block = block](const Inputs& in) {
                        return matmul(in[0], weight(3, block, format, in[0]));
                    });
    }
    rows.sample("a vector", {arg({8})}, {1},
                [](const Inputs& in) { return linear(in[0], weight(1, 8, QuantizedFormat::int8, in[0])); });
    rows.sample("rows of an unknown number", {arg({n(), 32})}, {0, 1, 5}, [](const Inputs& in) {
        return linear(in[0], weight(in[0].size(0), 32, QuantizedFormat::q8_0, in[0]));
    });
    rows.mistake("another length", ErrorKind::shape,
                 "([2, 32]) does not end in the size that the weight ([4, 64])", [] {
                     linear(ones({2, 32}), quantize(ones({4, 64}), QuantizedFormat::q8_0));
                 });
    rows.mistake("a scalar", ErrorKind::shape, "([]) does not end", [] {
        matmul(ones({}), quantize(ones({4, 64}), QuantizedFormat::q8_0));
    });
    rows.mistake("integers", ErrorKind::dtype, "i32", [] {
        linear(ones({2, 64}, {.dtype = i32}), quantize(ones({4, 64}), QuantizedFormat::q8_0));
    });

    rows.composed("quantized_linear").tolerance = 5e-6;
    rows.sample("with a bias", {arg({n(), 64}), arg({33})}, {0, 1, 17}, [](const Inputs& in) {
        return linear(in[0], weight(33, 64, QuantizedFormat::q4_0, in[0]), in[1]);
    });
    rows.mistake("a bias of another dtype", ErrorKind::dtype, "(f16)", [] {
        linear(ones({2, 64}), quantize(ones({4, 64}), QuantizedFormat::q8_0), ones({4}, {.dtype = f16}));
    });
    rows.mistake("a bias of another size", ErrorKind::shape, "[3]", [] {
        linear(ones({2, 64}), quantize(ones({4, 64}), QuantizedFormat::q8_0), ones({3}));
    });
}

} // namespace reprise::test
