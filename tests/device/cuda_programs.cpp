// Products and convolutions of programs on CUDA, with cuBLASLt (tests/cuda_emulation/cublaslt.cpp) and without it.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <thread>

#include <reprise/ops.hpp>
#include <reprise/program.hpp>
#include <reprise/testing.hpp>

#include "device/cuda_compiler.hpp"
#include "graph/cell.hpp"
#include "support/devices.hpp"
#include "testing/op_suite.hpp"
#include "testing/values.hpp"

namespace reprise::device::cuda {
namespace {

TEST(CudaCompiler, WritesPositionsAsCompilersOfGlslDo)
{
    EXPECT_EQ(with_glsl_positions("mine(3): error: x\n  f(1) y\na b(2): c\nother.cuh(12): f(4): d"),
              "mine:3: error: x\n  f(1) y\na b(2): c\nother.cuh:12: f(4): d");
    EXPECT_EQ(with_glsl_positions(""), "");
    EXPECT_EQ(with_glsl_positions("(3): x\nmine(): y\nmine(3"), ":3: x\nmine(): y\nmine(3");
}

TEST(CudaProductPrograms, HaveTheBitsOfEagerCodeAtAnySizeFromSeveralThreads)
{
    for (const DType dtype : {f32, f64, f16, bf16}) {
        const Tensor w = test::random_tensor({24, 17}, 1).to(dtype);
        const auto f =
            [&](const Tensor&
                    x) { // a product, and one of operands that the library does not take as they are
                const Tensor every_other = slice(x, 1, {0, 24, 2}), y = matmul(x, w);
                return matmul(transpose(y, 0, 1), every_other);
            };
        const Program program = record(f, {spec({symbol("n"), 24}, dtype)});
        const auto check = [&](int seed) {
            for (int round = 0; round < 3; ++round)
                for (const std::int64_t n : {1, 5, 2, 40, 5, 1, 129, 0}) {
                    const Tensor x = test::random_tensor({n, 24}, static_cast<std::uint64_t>(seed)).to(dtype);
                    EXPECT_EQ(test::bits(program(x)), test::bits(f(x))) << n;
                }
        };
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i) threads.emplace_back(check, i);
        for (std::thread& t : threads) t.join();
    }
}

const device::Capabilities& capabilities() { return test::inner(default_device()).capabilities(); }

// That the device multiplies as they are.
std::vector<DType> halves()
{
    if (capabilities().bf16_products) return {f16, bf16};
    return {f16};
}

// No conversion stands beside them; without a library, products of f32 are shared out.
TEST(CudaProductPrograms, OfHalvesHaveNoMoreLaunchesThanOfFloats)
{
    const auto launches = [](DType dtype) {
        const std::uint64_t before = stats().launches;
        record([](const Tensor& a, const Tensor& b) { return matmul(transpose(a, 0, 1), b); },
               {spec({symbol("n"), 24}, dtype), spec({symbol("n"), 8}, dtype)});
        return stats().launches - before;
    };
    for (const DType half : halves()) EXPECT_LE(launches(half), launches(f32)) << name_of(half);
}

// A matrix of batch 2 that lies in one way or another.
enum class Lies { by_rows, by_columns, with_an_odd_pitch, as_every_other_column };
Tensor lying(Lies how, const Dim& rows, const Dim& columns, std::uint64_t seed, DType dtype)
{
    const auto random = [&](const Dim& r, const Dim& c) {
        return test::random_tensor({2, r, c}, seed).to(dtype);
    };
    switch (how) {
    case Lies::by_rows: return random(rows, columns);
    case Lies::by_columns: return transpose(random(columns, rows), 1, 2);
    case Lies::with_an_odd_pitch: return narrow(random(rows, columns + 3), 2, 0, columns);
    case Lies::as_every_other_column: return slice(random(rows, 2 * columns), 2, {0, 2 * columns, 2});
    }
    return {};
}

// Of one tile and of several, whole and not, of steps of k that are fetched in eights, in ones and across.
TEST(CudaProductPrograms, OfHalvesRoundOnce)
{
    struct Sizes {
        std::int64_t m, k, n;
    };
    constexpr Lies ways[] = {Lies::by_rows, Lies::by_columns, Lies::with_an_odd_pitch,
                             Lies::as_every_other_column};
    for (const DType dtype : {f16, bf16})
        for (const auto& [m, k, n] : {Sizes{33, 70, 19}, {130, 72, 70}, {64, 32, 64}, {65, 1, 129}})
            for (const Lies of_a : ways)
                for (const Lies of_b : ways) {
                    SCOPED_TRACE(::testing::Message()
                                 << name_of(dtype) << " " << m << " " << k << " " << n << " "
                                 << static_cast<int>(of_a) << static_cast<int>(of_b));
                    const Tensor a = lying(of_a, m, k, 3, dtype), b = lying(of_b, k, n, 4, dtype);
                    const std::vector<float> exact = matmul(a.to(f32), b.to(f32)).to_vector<float>(),
                                             got = matmul(a, b).to(f32).to_vector<float>();
                    const float unit = std::ldexp(1.0F, dtype == f16 ? -11 : -8);
                    for (std::size_t i = 0; i < got.size(); ++i)
                        ASSERT_NEAR(got[i], exact[i], std::abs(exact[i]) * unit + 1e-5F) << i;
                }
}

// 1 + 2^-12 has more than 10 bits behind the first: where they are rounded, a product with ones is whole.
TEST(CudaProductPrograms, RoundTheirOperandsWhereTheDeviceMay)
{
    const reprise::Device gpu = default_device();
    const bool rounds = !capabilities().product_library.empty() && capabilities().compute_capability >= 80;
    const float exact = 1 + std::ldexp(1.0F, -12);
    const auto f = [](const Tensor& a, const Tensor& b) { return matmul(a, b); };
    const Program program = record(f, {spec({symbol("n"), 64}), spec({64, 64})});
    const Tensor a = full({64, 64}, exact), b = ones({64, 64});
    const Tensor image = full({1, 2, 3, 3}, exact), weight = ones({2, 2, 3, 3});
    for (int round = 0; round < 3; ++round)
        for (const bool may : {false, true}) {
            gpu.set_tensor_float32(may);
            const float want = may && rounds ? 64.0F : 64 * exact;
            EXPECT_EQ(program(a, b).to_vector<float>(), std::vector<float>(64 * 64, want));
            EXPECT_EQ(f(a, b).to_vector<float>(), std::vector<float>(64 * 64, want));
            EXPECT_EQ(matmul(a.to(f64), b.to(f64)).to(f32).to_vector<float>(),
                      std::vector<float>(64 * 64, 64 * exact));
            EXPECT_EQ(conv2d(image, weight).to_vector<float>(), std::vector<float>(2, 18 * exact));
        }
    gpu.set_tensor_float32(false);
}

// Rows whose results are of ops that take halves as they are.
std::vector<std::string> rows_of_products()
{
    std::vector<std::string> names;
    const auto is_product = [](const Tensor& t) {
        const graph::Op* const op = graph::read(t).node->op;
        return op && (op->half_products || op->half_convolutions);
    };
    for (const test::OpInfo& row : test::op_infos()) {
        const test::Sample& sample = row.samples.front();
        const test::Data data = test::draw(row, sample, sample.sizes.front());
        for (const Tensor& t : sample.call(test::inputs(sample, data, {default_device()})))
            if (is_product(t)) {
                names.push_back(row.name);
                break;
            }
    }
    return names;
}

// All samples, where `reprise verify` tries two.
TEST(CudaHalves, OfAllSamplesHaveTheValuesAndGradientsOfTheReference)
{
    const std::vector<std::string> names = rows_of_products();
    EXPECT_GE(names.size(), 8u); // products, convolutions of 1 to 3 dimensions and their gradients
    for (const std::string& name : names)
        testing::verify(
            default_device(),
            [](const std::vector<testing::Verified>& row) {
                for (const testing::Verified& v : row) EXPECT_TRUE(v.passed()) << v.op << ": " << v.message;
            },
            name, 1000);
}

// The product's graph, captured at the second call, has the address of the bias.
TEST(CudaHalves, OfALinearTakeTheBiasOfEachCall)
{
    const auto f = [](const Tensor& x, const Tensor& w, const Tensor& b) {
        Tensor y = linear(x, w, b);
        for (int i = 0; i < 10; ++i) y = flip(y, {1}); // as many launches as make a capture worth while
        return y;
    };
    for (const DType t : {f16, bf16}) {
        const auto numbers = [&](const Shape& shape, std::uint64_t seed) {
            return cast(test::random_tensor(shape, seed, -1, 1), t);
        };
        const Tensor x = numbers({6, 8}, 1), w = numbers({12, 8}, 2), first = numbers({12}, 3),
                     second = numbers({12}, 4);
        const std::vector<Spec> specs = {spec({6, 8}, t), spec({12, 8}, t), spec({12}, t)};
        const Program program = record(f, specs);
        for (const Tensor& b : {first, first, first, second, first})
            EXPECT_EQ(test::bits(program(x, w, b)), test::bits(record(f, specs)(x, w, b))) << name_of(t);
    }
}

struct Case {
    const char* name;
    Shape x, weight;
    ConvOptions<2> options;
    bool biased = true;
};

std::vector<Tensor> convolved(const Case& c, DType dtype, bool wide) // y and the three gradients, in f32
{
    std::vector<Variable> in;
    std::vector<Shape> shapes{c.x, c.weight};
    if (c.biased) shapes.push_back({c.weight[0]});
    for (const Shape& s : shapes) {
        const Tensor rounded = test::random_tensor(s, in.size()).to(dtype);
        in.emplace_back(wide ? rounded.to(f32) : rounded);
    }
    const Tensor y = conv2d(in[0], in[1], c.biased ? in[2] : Tensor(), c.options);
    const Tensor dy = test::random_tensor(y.shape(), 9).to(dtype);
    std::vector<Tensor> out = grad({y}, {in.begin(), in.end()}, {.cotangents = {wide ? dy.to(f32) : dy}});
    out.push_back(y);
    for (Tensor& t : out) t = t.to(f32);
    return out;
}

TEST(CudaConvolutions, OfHalvesRoundTheirResultsOnly)
{
    const Case cases[] = {
        {"plain", {2, 5, 9, 7}, {6, 5, 3, 3}, {.padding = {1, 1}}},
        {"strided", {3, 4, 11, 10}, {70, 4, 3, 2}, {.stride = {2, 3}, .padding = {1, 0}}},
        {"dilated groups", {2, 6, 12, 12}, {4, 3, 3, 3}, {.dilation = {2, 3}, .groups = 2}},
        {"one channel a group", {2, 4, 8, 8}, {4, 1, 3, 3}, {.padding = {1, 1}, .groups = 4}},
        {"pointwise", {3, 5, 4, 3}, {7, 5, 1, 1}, {}, false},
        {"pointwise with a bias", {3, 5, 4, 3}, {7, 5, 1, 1}, {}},
        {"many positions", {4, 2, 24, 24}, {3, 2, 3, 3}, {}},
    };
    for (const Case& c : cases)
        for (const DType dtype : {f16, bf16}) {
            SCOPED_TRACE(std::string(c.name) + " " + name_of(dtype));
            const auto got = convolved(c, dtype, false), exact = convolved(c, dtype, true);
            const float unit = std::ldexp(1.0F, dtype == f16 ? -11 : -8);
            for (std::size_t k = 0; k < got.size(); ++k) {
                const auto values = got[k].to_vector<float>(), want = exact[k].to_vector<float>();
                for (std::size_t i = 0; i < values.size(); ++i)
                    ASSERT_NEAR(values[i], want[i], std::abs(want[i]) * unit + 1e-4F) << k << " " << i;
            }
        }
}

TEST(CudaConvolutions, OfHalvesHaveTheLaunchesOfFloats)
{
    const auto launches = [](DType dtype) {
        const std::uint64_t before = stats().launches;
        record(
            [](const Tensor& x, const Tensor& w) {
                return conv2d(x, w, {}, {.padding = {1, 1}});
            },
            {spec({symbol("n"), 8, 6, 6}, dtype), spec({4, 8, 3, 3}, dtype)});
        return stats().launches - before;
    };
    for (const DType half : halves()) EXPECT_EQ(launches(half), launches(f32)) << name_of(half);
}

} // namespace
} // namespace reprise::device::cuda
