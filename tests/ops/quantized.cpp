// Matrices in few bits: their bytes beside those of the gguf package, and products with them beside products with the
// dequantised matrices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include <reprise/reprise.hpp>

#include "kernels/tuning.hpp"
#include "support/devices.hpp"
#include "testing/values.hpp"

namespace {

#include "ops/gguf.inc"

using namespace reprise;
using enum QuantizedFormat;
using Floats = std::vector<float>;
using Bytes = std::vector<std::uint8_t>;

const device::Capabilities& capabilities() { return test::inner(default_device()).capabilities(); }

Floats floats_of(const std::vector<std::uint32_t>& bits)
{
    Floats out;
    for (const std::uint32_t b : bits) out.push_back(std::bit_cast<float>(b));
    return out;
}

Tensor numbers(std::int64_t rows, std::int64_t columns, std::uint32_t seed)
{
    return test::random_tensor({rows, columns}, seed);
}

struct Format {
    QuantizedFormat format;
    std::int64_t block;
};
constexpr Format formats[] = {{q8_0, 32}, {q4_0, 32}, {q4_k, 256}, {int8, 4}};

// -- bytes --

TEST(Quantized, HasTheBytesOfGguf)
{
    const Tensor x = from_vector(floats_of(gguf_floats), {3, 64});
    EXPECT_EQ(quantize(x, q8_0).bytes().to_vector<std::uint8_t>(), gguf_q8_0);
    EXPECT_EQ(quantize(x, q4_0).bytes().to_vector<std::uint8_t>(), gguf_q4_0);
}

TEST(Quantized, HasTheElementsOfGguf)
{
    const auto expect = [](const Bytes& bytes, const Shape& sizes, QuantizedFormat format,
                           const std::vector<std::uint32_t>& bits) {
        const QuantizedTensor q = QuantizedTensor::from_bytes(std::as_bytes(std::span(bytes)), sizes, format);
        EXPECT_EQ(q.bytes().to_vector<std::uint8_t>(), bytes);
        EXPECT_EQ(to_string(q.shape()), to_string(sizes));
        EXPECT_EQ(dequantize(q).to_vector<float>(), floats_of(bits)) << name_of(format);
    };
    expect(gguf_q8_0, {3, 64}, q8_0, gguf_q8_0_floats);
    expect(gguf_q4_0, {3, 64}, q4_0, gguf_q4_0_floats);
    expect(gguf_q4_k, {2, 256}, q4_k, gguf_q4_k_floats);
}

TEST(Quantized, OfInt8HasTheGivenNumbers)
{
    const std::vector<std::int8_t> values{-128, 127, 0, 1, 5, -6, 7, -8};
    const Floats scales{0.1f, 3};
    const QuantizedTensor q = QuantizedTensor::from_int8(values, scales, {2, 4});
    EXPECT_EQ(dequantize(q).to_vector<float>(), (Floats{-128 * 0.1f, 127 * 0.1f, 0, 0.1f, 15, -18, 21, -24}));
    EXPECT_EQ(dequantize(quantize(dequantize(q), int8))[1].to_vector<float>().size(), 4u);
}

// The root of the mean squared error over that of the elements, of normal numbers.
double error_of(QuantizedFormat format)
{
    manual_seed(5);
    const Tensor x = randn({64, 1024});
    const Tensor error = dequantize(quantize(x, format)) - x;
    return std::sqrt((error * error).mean().item<double>() / (x * x).mean().item<double>());
}

TEST(Quantized, IsAsCloseAsItsBits)
{
    EXPECT_LT(error_of(q8_0), 0.006);
    EXPECT_LT(error_of(q4_0), 0.095);
    EXPECT_LT(error_of(q4_k), 0.075);
    EXPECT_LT(error_of(int8), 0.009);
}

TEST(Quantized, OfAnyFloatingDtypeIsThatOfItsNumbers)
{
    for (const auto& [format, block] : formats)
        for (const DType t : {f16, bf16, f64}) {
            if (t == f64 && !capabilities().float64 && !capabilities().host_kernels) continue;
            const Tensor x = numbers(3, 2 * block, 1).to(t);
            EXPECT_EQ(quantize(x, format).bytes().to_vector<std::uint8_t>(),
                      quantize(x.to(f32), format).bytes().to_vector<std::uint8_t>());
            EXPECT_EQ(dequantize(quantize(x, format), t).dtype(), t);
        }
}

TEST(Quantized, TakesViewsAndGivesNoGradient)
{
    const Tensor x = numbers(64, 3, 1);
    EXPECT_EQ(quantize(x.mT(), q4_0).bytes().to_vector<std::uint8_t>(),
              quantize(x.mT().contiguous(), q4_0).bytes().to_vector<std::uint8_t>());
    const Tensor w = numbers(4, 32, 2).requires_grad_();
    EXPECT_FALSE(linear(numbers(2, 32, 3), quantize(w, q8_0)).requires_grad());
}

// -- products --

// Products with the quantised matrix and with the dequantised one have the same bits; on CUDA the dequantised one is
// multiplied by cuBLASLt, or by the kernels of CPUs.
void expect_same(const Tensor& got, const Tensor& want)
{
    ASSERT_EQ(to_string(got.shape()), to_string(want.shape()));
    ASSERT_EQ(got.dtype(), want.dtype());
    const auto a = got.to_vector<double>(), b = want.to_vector<double>();
    if (!capabilities().is_cuda()) {
        EXPECT_EQ(a, b);
        return;
    }
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-4 * (1 + std::abs(b[i]))) << i;
}

// Compares x q^T and its gradient, and then g q.
void expect_products(const Tensor& given, const QuantizedTensor& q)
{
    const Tensor w = dequantize(q, given.dtype());
    Tensor x = given.detach(), x2 = given.detach();
    x.requires_grad_();
    x2.requires_grad_();
    const Tensor y = linear(x, q), want = linear(x2, w);
    expect_same(y, want);
    const Tensor dy = test::random_tensor(y.shape(), 9).to(y.dtype());
    y.backward(dy);
    want.backward(dy);
    expect_same(x.grad(), x2.grad());
    expect_same(matmul(dy, q), matmul(dy, w));
}

TEST(QuantizedProducts, OfSizesAroundATile)
{
    for (const auto& [format, block] : formats)
        for (const std::int64_t m : {1, 3, 16, 67})
            for (const std::int64_t rows : {1, 5, 33, 64})
                for (const std::int64_t k : {block, 3 * block, 5 * block, 1024 / block * block + block}) {
                    SCOPED_TRACE(testing::Message()
                                 << name_of(format) << ' ' << m << " x " << k << " x " << rows);
                    expect_products(numbers(m, k, 1), quantize(numbers(rows, k, 2), format));
                    if (HasFailure()) return;
                }
}

TEST(QuantizedProducts, OfLongSums)
{
    for (const auto& [format, block] : formats) {
        SCOPED_TRACE(name_of(format));
        expect_products(numbers(4, 256, 1), quantize(numbers(1300, 256, 2), format));
        expect_products(numbers(9, 2560, 1), quantize(numbers(8, 2560, 2), format));
    }
}

TEST(QuantizedProducts, OfLargeTiles)
{
    const test::PlansOfTheirOwn plans;
    const kernels::ForcedTuning large({.large_tiles = 0, .large_side = 0});
    for (const auto& [format, block] : formats)
        expect_products(numbers(140, 256, 1), quantize(numbers(133, 256, 2), format));
}

TEST(QuantizedProducts, OfViews)
{
    for (const auto& [format, block] : formats) {
        const QuantizedTensor q = quantize(numbers(7, 256, 2), format);
        expect_products(numbers(256, 5, 1).mT(), q);
        expect_products(numbers(5, 260, 1).narrow(1, 3, 256), q);
        expect_products(numbers(1, 256, 1).expand({6, 256}), q);
        expect_products(numbers(6, 256, 1).view({2, 3, 256}), q);
        expect_products(numbers(1, 256, 1).view({256}), q);
        expect_products(zeros({2, 0, 256}), q);
    }
}

TEST(QuantizedProducts, OfF64)
{
    if (!capabilities().float64 && !capabilities().host_kernels) return; // SwiftShader
    for (const auto& [format, block] : formats)
        expect_products(numbers(5, 256, 1).to(f64), quantize(numbers(7, 256, 2), format));
}

// The gradient of a result of 16 bits, too, is read as it is, and the product of each rounded once.
TEST(QuantizedProducts, OfHalvesInLargeTilesAndViews)
{
    const test::PlansOfTheirOwn plans;
    const auto expect_bits_of_f32 = [](const Tensor& x, const QuantizedTensor& q) {
        Tensor leaf = x.detach(), wide = x.detach().to(f32);
        leaf.requires_grad_();
        wide.requires_grad_();
        const Tensor y = linear(leaf, q), of_wide = linear(wide, q).to(x.dtype());
        EXPECT_EQ(y.to(f32).to_vector<float>(), of_wide.to(f32).to_vector<float>());
        (y * y).sum().backward();
        (of_wide * of_wide).sum().backward();
        EXPECT_EQ(leaf.grad().to(f32).to_vector<float>(),
                  wide.grad().to(x.dtype()).to(f32).to_vector<float>());
    };
    for (const bool large : {false, true}) {
        const kernels::ForcedTuning tuning({.large_tiles = large ? 0 : kernels::never, .large_side = 0});
        for (const auto& [format, block] : formats)
            for (const DType t : {f16, bf16}) {
                SCOPED_TRACE(testing::Message() << name_of(format) << ' ' << name_of(t) << ' ' << large);
                const QuantizedTensor q = quantize(numbers(133, 512, 2), format);
                const Tensor x = numbers(140, 512, 1).to(t);
                expect_bits_of_f32(x, q);
                expect_bits_of_f32(x.narrow(0, 0, 1), q);
                expect_bits_of_f32(numbers(512, 5, 1).to(t).mT(), q);
                expect_bits_of_f32(numbers(5, 516, 1).to(t).narrow(1, 3, 512), q);
            }
    }
}

// x of 16 bits is widened, and the product rounded once, after the bias is added.
TEST(QuantizedProducts, OfHalves)
{
    for (const auto& [format, block] : formats)
        for (const DType t : {f16, bf16}) {
            const QuantizedTensor q = quantize(numbers(7, 256, 2), format);
            const Tensor x = numbers(5, 256, 1).to(t), bias = numbers(1, 7, 3)[0].to(t);
            const Tensor y = linear(x, q, bias);
            ASSERT_EQ(y.dtype(), t);
            const Tensor sums = linear(x.to(f32), dequantize(q)) + bias.to(f32);
            if (!capabilities().is_cuda()) {
                EXPECT_EQ(y.to(f32).to_vector<float>(), sums.to(t).to(f32).to_vector<float>());
            }
            Tensor leaf = x.detach();
            leaf.requires_grad_();
            linear(leaf, q).sum().backward();
            EXPECT_EQ(leaf.grad().dtype(), t);
        }
}

TEST(QuantizedProducts, WithinAutocastAreInItsDtype)
{
    const QuantizedTensor q = quantize(numbers(8, 64, 2), q4_0);
    const Tensor x = numbers(3, 64, 1), bias = numbers(1, 8, 3)[0];
    const auto in_bf16 = [&] {
        const autocast guard(bf16);
        return linear(x, q, bias);
    };
    const Tensor y = in_bf16();
    ASSERT_EQ(y.dtype(), bf16);
    EXPECT_EQ(y.to(f32).to_vector<float>(), linear(x.to(bf16), q, bias.to(bf16)).to(f32).to_vector<float>());
}

TEST(QuantizedProducts, RecordedAtAnySize)
{
    for (const auto& [format, block] : formats) {
        const QuantizedTensor q = quantize(numbers(40, 256, 2), format);
        const auto f = [&](const Tensor& x) {
            Tensor leaf = x.detach().requires_grad_();
            const Tensor y = linear(leaf, q).tanh();
            return std::vector{y, grad(y.sum(), leaf)};
        };
        const auto p = record(f, {spec({symbol("batch"), symbol("length"), 256})});
        for (const auto& [batch, length] : {std::pair{2, 3}, std::pair{1, 70}, std::pair{0, 4}}) {
            const Tensor x = numbers(batch * length, 256, 1).view({batch, length, 256});
            const std::vector<Tensor> got = p(x), want = f(x);
            for (std::size_t i = 0; i < want.size(); ++i)
                EXPECT_EQ(got[i].to_vector<float>(), want[i].to_vector<float>());
        }
    }
}

// Temporaries of forward and backward are smaller than the dequantised matrix.
TEST(QuantizedProducts, TakeNoMemoryForTheMatrix)
{
    constexpr std::int64_t k = 1024, rows = 4096;
    for (const auto& [format, block] : formats) {
        const Dim row = quantize(zeros({1, k}), format).bytes().size(1);
        const QuantizedTensor q(zeros({rows, row}, {.dtype = u8}), format);
        q.bytes().eval();
        const auto p = record(
            [&](const Tensor& x) {
                Tensor leaf = x.detach().requires_grad_();
                return grad(linear(leaf, q).sum(), leaf);
            },
            {spec({symbol("n"), k})});
        EXPECT_LT(p.arena_bytes({4}), std::uint64_t{rows * k / 2})
            << p.text(); // an eighth of its bytes in f32
        const MemoryTracker memory;
        const Tensor x = numbers(4, k, 1);
        x.eval();
        memory.reset_peak();
        const std::uint64_t before = memory.current();
        linear(x, q).to_vector<float>();
        EXPECT_LT(memory.peak() - before, std::uint64_t{rows * k}) << name_of(format); // a quarter
    }
}

// -- rows --

TEST(QuantizedEmbedding, HasTheRowsOfTheDequantisedMatrix)
{
    for (const auto& [format, block] : formats) {
        const QuantizedTensor q = quantize(numbers(9, 2 * block, 2), format);
        for (const DType t : {i32, i64}) {
            const Tensor indices = from_vector(std::vector<std::int64_t>{0, 8, 3, 3, 5, 1}, {2, 3}).to(t);
            EXPECT_EQ(embedding(indices, q).to_vector<float>(),
                      embedding(indices, dequantize(q)).to_vector<float>());
        }
        const Floats outside = embedding(from_vector({9, -1}, {2}), q).to_vector<float>();
        for (const float x : outside) EXPECT_TRUE(std::isnan(x));
    }
}

TEST(Quantized, MovesToAnotherDevice)
{
    const QuantizedTensor q = quantize(numbers(4, 64, 2), q4_0), there = q.to(Device("reference"));
    EXPECT_EQ(there.device(), Device("reference"));
    EXPECT_EQ(there.bytes().to_vector<std::uint8_t>(), q.bytes().to_vector<std::uint8_t>());
}

} // namespace
