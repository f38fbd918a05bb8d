// Products and convolutions of f16 and bf16.  Kernels of GPUs (REPRISE_KERNELS=gpu) read such operands as they are and
// compute in f32, by cooperative matrices where the device has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include <reprise/reprise.hpp>

#include "kernels/chain.hpp"
#include "kernels/tuning.hpp"
#include "kernels/variants.hpp"
#include "support/devices.hpp"
#include "support/spy_device.hpp"

namespace {

using namespace reprise;
using Floats = std::vector<float>;
using testing::HasSubstr;
using testing::Not;
using Product = std::function<Tensor(const Tensor&, const Tensor&)>; // its two operands have one dtype

const device::Capabilities& capabilities() { return test::inner(default_device()).capabilities(); }
bool has_matrices(DType t)
{
    const device::Capabilities& c = capabilities();
    const std::uint32_t side = t == f16 ? c.f16_matrix_side : c.bf16_matrix_side;
    return side != 0 && kernels::tiles_read_halves(c) &&
           kernels::has_kernel(std::string("gemm_matrix_") + name_of(t) + (side == 8 ? "_8" : ""));
}

// Numbers that the dtype has.
Tensor numbers(const Shape& sizes, DType t, std::uint32_t seed)
{
    std::int64_t count = 1;
    for (const Dim& d : sizes) count *= d.value();
    Floats out(static_cast<std::size_t>(count));
    for (float& x : out) {
        seed = seed * 1664525u + 1013904223u;
        x = static_cast<float>(seed >> 8) / 8388608.0f - 1.0f;
    }
    return cast(from_vector(out, sizes), t);
}

// The same numbers by columns, or from an element on that is not aligned.
enum class Stored { by_rows, by_columns, at_an_odd_element };
Tensor stored(const Tensor& x, Stored as)
{
    if (as == Stored::by_columns) return x.mT().contiguous().mT();
    if (as == Stored::by_rows) return x;
    return cat({zeros({1}, {.dtype = x.dtype()}), x.flatten()}).narrow(0, 1, x.numel()).view(x.shape());
}

// A product of halves is that of their numbers in f32, rounded once: exactly so on Vulkan without cooperative matrices,
// whose sums have another order.
void expect_product(const Tensor& a, const Tensor& b, const Product& multiply)
{
    const DType t = a.dtype();
    const Tensor found = multiply(a, b), wide = multiply(cast(a, f32), cast(b, f32));
    ASSERT_EQ(found.dtype(), t);
    const Floats got = cast(found, f32).to_vector<float>(),
                 want = cast(cast(wide, t), f32).to_vector<float>();
    if (capabilities().id.starts_with("vulkan") && !has_matrices(t)) {
        EXPECT_EQ(got, want);
        return;
    }
    const double unit = t == f16 ? 0x1p-11 : 0x1p-8;
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], want[i], 2 * unit * std::fabs(want[i]) + 1e-4) << i;
}

Tensor multiply(const Tensor& a, const Tensor& b) { return matmul(a, b); }
Tensor multiply_and_add_first_row(const Tensor& a, const Tensor& b)
{
    return linear(a, b.mT(), b.narrow(0, 0, 1).flatten());
}

TEST(HalfProducts, OfSizesAroundATile)
{
    const std::vector<std::array<std::int64_t, 3>> sizes{
        {1, 1, 1},     {1, 64, 17},   {3, 5, 7},     {64, 64, 16},  {65, 63, 31},  {4, 68, 33},
        {66, 130, 40}, {12, 20, 512}, {8, 12, 1100}, {40, 132, 20}, {100, 36, 520}};
    const std::vector<std::pair<Stored, Stored>> layouts{{Stored::by_rows, Stored::by_rows},
                                                         {Stored::by_columns, Stored::by_rows},
                                                         {Stored::by_rows, Stored::by_columns},
                                                         {Stored::by_columns, Stored::at_an_odd_element},
                                                         {Stored::at_an_odd_element, Stored::by_columns}};
    for (const DType t : {f16, bf16})
        for (const auto& [m, n, k] : sizes)
            for (const auto& [as, bs] : layouts) {
                SCOPED_TRACE(testing::Message() << name_of(t) << ' ' << m << " x " << k << " x " << n << ", "
                                                << int(as) << int(bs));
                const Tensor a = stored(numbers({m, k}, t, 1), as), b = stored(numbers({k, n}, t, 2), bs);
                expect_product(a, b, multiply);
                expect_product(a, b, multiply_and_add_first_row);
            }
}

// Tiles of both sizes give the same bits.
TEST(HalfProducts, OfLargeTiles)
{
    const test::PlansOfTheirOwn plans;
    for (const DType t : {f16, bf16}) {
        for (const Stored as : {Stored::by_rows, Stored::by_columns}) {
            const Tensor a = stored(numbers({132, 36}, t, 1), as), b = stored(numbers({36, 260}, t, 2), as);
            const kernels::ForcedTuning small(
                {.large_tiles = kernels::never, .large_matrix_tiles = kernels::never});
            const Floats by_small = cast(matmul(a, b), f32).to_vector<float>();
            const kernels::ForcedTuning large({.large_tiles = 0, .large_side = 0, .large_matrix_tiles = 0});
            expect_product(a, b, multiply);
            EXPECT_EQ(cast(matmul(a, b), f32).to_vector<float>(), by_small);
        }
        const kernels::ForcedTuning large({.large_tiles = 0, .large_side = 0, .large_matrix_tiles = 0});
        const std::string plan = record(multiply, {spec({132, 20}, t), spec({20, 260}, t)}).text();
        ops::GemmProblem problem{};
        problem.a.dtype = problem.b.dtype = t;
        EXPECT_EQ(plan.find("_large") != std::string::npos, kernels::has_large_tiles(capabilities(), problem))
            << plan;
    }
}

TEST(HalfProducts, OfBatchesOfHeads)
{
    for (const DType t : {f16, bf16})
        expect_product(numbers({2, 9, 3, 40}, t, 3).transpose(1, 2), numbers({2, 3, 40, 24}, t, 4), multiply);
}

// Plans of constant sizes, of which kernels store results in 16 bits if their rows are whole texels.
TEST(HalfProducts, OfConstantSizes)
{
    const test::PlansOfTheirOwn plans;
    for (const DType t : {f16, bf16})
        for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{
                 {40, 132, 20}, {100, 36, 520}, {33, 128, 7}, {260, 12, 64}, {66, 130, 40}})
            for (const Stored as : {Stored::by_rows, Stored::by_columns})
                for (const Stored bs : {Stored::by_rows, Stored::by_columns, Stored::at_an_odd_element}) {
                    SCOPED_TRACE(testing::Message() << name_of(t) << ' ' << m << " x " << k << " x " << n
                                                    << ", " << int(as) << int(bs));
                    const Tensor a = stored(numbers({m, k}, t, 1), as), b = stored(numbers({k, n}, t, 2), bs);
                    expect_product(a, b, multiply);
                    expect_product(a, b, multiply_and_add_first_row);
                }
}

TEST(HalfProducts, OfNoElements)
{
    EXPECT_EQ(matmul(zeros({0, 5}, {.dtype = f16}), zeros({5, 3}, {.dtype = f16})).numel(), 0);
    const Tensor none = matmul(zeros({2, 0}, {.dtype = bf16}), zeros({0, 3}, {.dtype = bf16}));
    EXPECT_THAT(cast(none, f32).to_vector<float>(), testing::Each(0.0f));
    for (const DType t : {f16, bf16})
        for (const std::int64_t n : {3, 64}) {
            const auto none_of = [t](const Shape& sizes) { return zeros(sizes, {.dtype = t}); };
            const Tensor bias = full({n}, 1.5, {.dtype = t});
            const Tensor of_no_sums = linear(none_of({64, 0}), none_of({n, 0}), bias);
            EXPECT_THAT(cast(of_no_sums, f32).to_vector<float>(), testing::Each(1.5f));
            EXPECT_EQ(linear(none_of({0, 5}), none_of({n, 5}), bias).numel(), 0);
        }
}

// A bias is added before the rounding whatever the rank of the input, and one element is repeated.
TEST(HalfProducts, OfOneRowWithABiasHaveTheBitsOfMany)
{
    for (const DType t : {f16, bf16}) {
        const Tensor x = numbers({5, 24}, t, 1), w = numbers({36, 24}, t, 2), bias = numbers({36}, t, 3);
        const auto bits = [](const Tensor& y) { return to_bytes(y); };
        EXPECT_EQ(bits(linear(x[1], w, bias)), bits(linear(x, w, bias)[1]));
        const Tensor one = bias.narrow(0, 4, 1);
        EXPECT_EQ(bits(linear(x, w, one)), bits(linear(x, w, one.expand({36}).contiguous())));
        EXPECT_EQ(bits(linear(x, w, numbers({36, 2}, t, 3).select(1, 0))),
                  bits(linear(x, w, numbers({36, 2}, t, 3).select(1, 0).contiguous())));
    }
}

// Gradients are those of a product and a sum, also gradients of gradients.
TEST(HalfProducts, GradientsOfALinearWithABias)
{
    for (const DType t : {f16, bf16}) {
        const auto gradients = [t](bool composed) {
            const Tensor x = numbers({6, 8}, t, 1).requires_grad_(),
                         w = numbers({12, 8}, t, 2).requires_grad_(),
                         bias = numbers({12}, t, 3).requires_grad_(),
                         dy = numbers({6, 12}, t, 4).requires_grad_();
            const Tensor y = composed ? matmul(x, w.t()) + bias : linear(x, w, bias);
            const std::vector<Tensor> d = autograd::grad({y}, {x, w, bias}, {dy}, std::nullopt, true);
            (d[0] * d[0]).sum().backward();
            std::vector<std::vector<std::byte>> out;
            for (const Tensor& g : {d[0], d[1], d[2], w.grad(), dy.grad()}) out.push_back(to_bytes(g));
            return out;
        };
        EXPECT_EQ(gradients(false), gradients(true));
    }
}

// The default device, with kernels that widen f16 by integers, as on devices whose unpackHalf2x16 loses subnormal
// numbers.
class WithCapabilities : public test::SpyDevice {
public:
    WithCapabilities(std::shared_ptr<device::Device> to, void (*change)(device::Capabilities&))
        : SpyDevice(std::move(to)), capabilities_(SpyDevice::capabilities())
    {
        change(capabilities_);
    }
    const device::Capabilities& capabilities() const override { return capabilities_; }

private:
    device::Capabilities capabilities_;
};

void take_every_number()
{
    const float largest = std::numeric_limits<float>::infinity();
    for (const DType t : {f16, bf16}) {
        Floats all{0.0f, -0.0f, largest, -largest};
        for (int exponent = t == f16 ? -14 : -126; exponent <= (t == f16 ? 15 : 127); ++exponent)
            for (const float fraction : {1.0f, 1.0078125f, 1.5f, 1.9921875f})
                for (const float sign : {1.0f, -1.0f}) all.push_back(std::ldexp(sign * fraction, exponent));
        if (t == f16)
            for (int i = 1; i < 1024; ++i) all.push_back(std::ldexp(static_cast<float>(i), -24));
        const auto count = static_cast<std::int64_t>(all.size());
        const Tensor x = cast(from_vector(all, {count, 1}), t), one = cast(from_vector({1.0f}, {1, 1}), t);
        EXPECT_EQ(cast(matmul(x, one), f32).to_vector<float>(), all) << name_of(t);
        EXPECT_EQ(cast(matmul(one, x.t()), f32).to_vector<float>(), all) << name_of(t);
        // Of a window of nine, one tap is inside of the image.
        const Tensor tap =
            cast(from_vector({0.0f, 0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f, 0.0f}, {1, 1, 3, 3}), t);
        EXPECT_EQ(cast(conv2d(x.view({count, 1, 1, 1}), tap, {}, {.padding = 1}), f32).to_vector<float>(),
                  all)
            << name_of(t);
        const std::int64_t rows = (count + 3) / 4;
        Floats padded = all;
        padded.resize(static_cast<std::size_t>(rows * 4), 1.0f);
        const Tensor image = cast(from_vector(padded, {1, 1, rows, 4}), t);
        EXPECT_EQ(cast(conv2d(image, one.view({1, 1, 1, 1})), f32).to_vector<float>(), padded) << name_of(t);
        const Tensor nan = full({1, 1}, std::nan(""), {.dtype = t});
        EXPECT_TRUE(std::isnan(cast(matmul(nan, one), f32).to_vector<float>()[0])) << name_of(t);
    }
}

// Every number of a dtype comes through a product with 1: also subnormal ones and infinities.
TEST(HalfProducts, TakeEveryNumber) { take_every_number(); }

TEST(HalfProducts, TakeEveryNumberByIntegers)
{
    const test::UseDevice use(test::open(
        std::make_shared<WithCapabilities>(default_device().context()->device(),
                                           [](device::Capabilities& c) { c.unpacks_subnormals = false; })));
    take_every_number();
}

// Where no operand is in the slab, other kernels run; the sizes are those of results that are written in 16 bits.
TEST(HalfProducts, OutsideOfTheSlab)
{
    for (const DType t : {f16, bf16})
        for (const auto& [m, n, k] : std::vector<std::array<std::int64_t, 3>>{{40, 132, 20}, {100, 36, 520}})
            for (const Stored bs : {Stored::by_rows, Stored::by_columns}) {
                const auto product = [&, m = m, n = n, k = k] {
                    const Tensor a = numbers({m, k}, t, 1), b = stored(numbers({k, n}, t, 2), bs);
                    return cast(cat({matmul(a, b), multiply_and_add_first_row(a, b)}), f32)
                        .to_vector<float>();
                };
                const Floats want = product();
                const test::UseDevice use(test::open(
                    std::make_shared<WithCapabilities>(default_device().context()->device(),
                                                       [](device::Capabilities& c) { c.slab_bytes = 0; })));
                EXPECT_EQ(product(), want) << name_of(t) << ' ' << m << ' ' << int(bs);
            }
}

// What lies beyond the last k, and in rows and columns beyond the last ones, does not reach the result.
TEST(HalfProducts, ReadNothingOutside)
{
    for (const DType t : {f16, bf16}) {
        const Tensor nan = full({80, 80}, std::nan(""), {.dtype = t});
        const auto inside = [&](const Tensor& x) {
            const Tensor padded = cat({cat({x, nan.narrow(0, 0, x.size(0)).narrow(1, 0, 7)}, 1),
                                       nan.narrow(0, 0, 7).narrow(1, 0, x.size(1) + 7)});
            return padded.narrow(0, 0, x.size(0)).narrow(1, 0, x.size(1));
        };
        for (const std::int64_t k : {3, 18, 33}) {
            const Tensor a = numbers({5, k}, t, 5), b = numbers({k, 9}, t, 6);
            const Floats got = cast(matmul(inside(a), inside(b)), f32).to_vector<float>();
            EXPECT_EQ(got, cast(matmul(a, b), f32).to_vector<float>()) << name_of(t) << ' ' << k;
        }
    }
}

// Symbolic sizes, and both sizes of tiles, belong to one numeric class.
TEST(HalfProducts, HaveOneNumericClass)
{
    const test::PlansOfTheirOwn plans;
    const kernels::ForcedTuning tuning({.large_tiles = 4, .large_side = 128, .large_matrix_tiles = 4});
    const Dim m = symbol("m"), k = symbol("k");
    for (const DType t : {f16, bf16}) {
        const Program product =
            record([](Tensor x, Tensor y) { return matmul(x, y); }, {spec({m, k}, t), spec({k, 256}, t)});
        const Program biased = record(multiply_and_add_first_row, {spec({m, k}, t), spec({k, 256}, t)});
        for (const auto& [rows, steps] :
             std::vector<std::array<std::int64_t, 2>>{{260, 36}, {3, 7}, {64, 1030}}) {
            const Tensor x = numbers({rows, steps}, t, 7), y = numbers({steps, 256}, t, 8);
            const Tensor all = matmul(x, y);
            EXPECT_EQ(cast(product(x, y), f32).to_vector<float>(), cast(all, f32).to_vector<float>());
            EXPECT_EQ(to_bytes(biased(x, y)), to_bytes(multiply_and_add_first_row(x, y)));
            if (rows > 200 && capabilities().product_library.empty()) { // a library chooses by size
                EXPECT_EQ(cast(matmul(x.narrow(0, 0, 70), y), f32).to_vector<float>(),
                          cast(all.narrow(0, 0, 70), f32).to_vector<float>());
            }
        }
    }
}

TEST(HalfProducts, OfConvolutions)
{
    const test::PlansOfTheirOwn plans;
    for (const DType t : {f16, bf16})
        for (const auto& [channels, size] :
             std::vector<std::array<std::int64_t, 2>>{{3, 8}, {3, 9}, {20, 8}, {40, 9}}) {
            const Tensor x = numbers({2, channels, size, size}, t, 9),
                         w = numbers({channels, channels, 3, 3}, t, 10);
            SCOPED_TRACE(testing::Message() << name_of(t) << ' ' << channels << ' ' << size);
            expect_product(x, w, [](const Tensor& a, const Tensor& b) {
                const Tensor bias = b.flatten().narrow(0, 0, b.size(0).value());
                return conv2d(a, b, bias, {.stride = {2, 1}, .padding = {1, 1}});
            });
            const Tensor y = conv2d(x, w, {}, {.padding = {1, 1}});
            expect_product(w, y, [](const Tensor& a, const Tensor& b) {
                return conv2d_input(b.shape(), a, b, {.padding = {1, 1}});
            });
            expect_product(x, y, [](const Tensor& a, const Tensor& b) {
                const Dim of_a = a.size(1), of_b = b.size(1);
                return conv2d_weight(a, {of_b, of_a, 3, 3}, b, {.padding = {1, 1}});
            });
        }
}

// CPUs compute 2 images and 2 rows by kernels, and 9 images and 100 rows by native code.
TEST(HalfProducts, OfAnyBatch)
{
    const Dim n = symbol("n");
    for (const DType t : {f16, bf16}) {
        const Tensor filter = numbers({16, 16, 3, 3}, t, 15), matrix = numbers({256, 256}, t, 16);
        const auto convolve = [&](const Tensor& x, const Tensor& w) {
            return conv2d(x, w, w.flatten().narrow(0, 0, 16), {.padding = 1});
        };
        const auto multiply_and_add = [](const Tensor& x, const Tensor& w) {
            return linear(x, w, w.flatten().narrow(0, 0, 256));
        };
        const Program of_images =
                          record([&](Tensor x) { return convolve(x, filter); }, {spec({n, 16, 16, 16}, t)}),
                      of_rows =
                          record([&](Tensor x) { return multiply_and_add(x, matrix); }, {spec({n, 256}, t)});
        for (const auto& [images, rows] : {std::pair{2, 2}, {9, 100}, {2, 2}}) {
            const Tensor x = numbers({images, 16, 16, 16}, t, 17), y = numbers({rows, 256}, t, 18);
            EXPECT_EQ(of_images(x).to_vector<float>(), convolve(x, filter).to_vector<float>());
            EXPECT_EQ(of_rows(y).to_vector<float>(), multiply_and_add(y, matrix).to_vector<float>());
            expect_product(x, filter, convolve);
            expect_product(y, matrix, multiply_and_add);
        }
    }
}

// Images of the kernels that read windows where they lie: each width % 4, strides, windows of one element, chunks of
// channels.
void check_convolutions_without_patches(const std::vector<DType>& dtypes)
{
    struct Case {
        std::array<std::int64_t, 4> x;
        std::int64_t out_channels, side, stride;
    };
    const test::PlansOfTheirOwn plans;
    for (const DType t : dtypes)
        for (const Case& c : std::vector<Case>{{{2, 5, 6, 40}, 9, 3, 1},
                                               {{2, 3, 4, 5}, 6, 3, 1},
                                               {{1, 2, 2, 70}, 3, 3, 1},
                                               {{2, 4, 8, 7}, 9, 3, 1},
                                               {{1, 70, 3, 4}, 2, 3, 1},
                                               {{2, 4, 7, 48}, 10, 3, 2},
                                               {{2, 9, 2, 2}, 3, 1, 1},
                                               {{3, 8, 7, 16}, 10, 1, 2}}) {
            SCOPED_TRACE(testing::Message() << name_of(t) << ' ' << c.x[1] << ' ' << c.x[3] << ' ' << c.side);
            const Shape weight{c.out_channels, c.x[1], c.side, c.side};
            const std::int64_t padding = c.side / 2;
            const Tensor x = numbers({c.x.begin(), c.x.end()}, t, 11), w = numbers(weight, t, 12);
            const ConvOptions<2> options{.stride = c.stride, .padding = padding};
            expect_product(x, w, [&](const Tensor& a, const Tensor& b) {
                return conv2d(a, b, b.flatten().narrow(0, 0, c.out_channels), options);
            });
            const Tensor y = conv2d(x, w, {}, options);
            expect_product(w, y, [&](const Tensor& a, const Tensor& b) {
                return conv2d_input(x.shape(), a, b, options);
            });
            expect_product(
                x, y, [&](const Tensor& a, const Tensor& b) { return conv2d_weight(a, weight, b, options); });
        }
}

TEST(HalfProducts, OfConvolutionsWithoutPatches) { check_convolutions_without_patches({f16, bf16}); }

TEST(HalfProducts, OfConvolutionsWithoutPatchesOutsideOfTheSlab)
{
    const test::UseDevice use(test::open(std::make_shared<WithCapabilities>(
        default_device().context()->device(), [](device::Capabilities& c) { c.slab_bytes = 0; })));
    check_convolutions_without_patches({bf16});
}

// A convolution and its gradients cast no images where direct convolutions read and write them.
TEST(HalfProducts, OfDirectConvolutionsCastNoImages)
{
    for (const DType t : {f16, bf16})
        for (const std::int64_t side : {1, 3}) {
            if (!kernels::direct_reads_and_writes(capabilities(), t)) continue;
            const ConvOptions<2> options{.padding = side / 2};
            const Shape image{2, 4, 8, 8}, weight{4, 4, side, side};
            const Spec x = spec(image, t), w = spec(weight, t), y = x;
            const std::vector<std::string> plans{
                record([&](Tensor a, Tensor b) { return conv2d(a, b, {}, options); }, {x, w}).text(),
                record([&](Tensor a, Tensor b) { return conv2d_input(image, a, b, options); }, {w, y}).text(),
                record([&](Tensor a, Tensor b) { return conv2d_weight(a, weight, b, options); }, {x, y})
                    .text()};
            for (const std::string& plan : plans) {
                EXPECT_THAT(plan, HasSubstr(side == 1 ? std::string("direct_point_") + name_of(t)
                                                      : std::string("direct_") + name_of(t)));
                EXPECT_THAT(plan, Not(HasSubstr("f32 x 512"))) << plan; // elements of an image
            }
        }
}

// Depthwise convolutions, and windows that become patches, read images as they are.
TEST(HalfProducts, OfOtherConvolutionsReadImagesAsTheyAre)
{
    struct Case {
        std::array<std::int64_t, 4> x;
        std::int64_t out_channels, side, groups, stride;
    };
    const test::PlansOfTheirOwn plans;
    for (const DType t : {f16, bf16})
        for (const Case& c :
             std::vector<Case>{{{2, 6, 5, 7}, 6, 3, 6, 1},
                               {{1, 3, 8, 8}, 6, 3, 3, 2},
                               {{2, 4, 6, 8}, 3, 5, 1, 1},
                               {{3, 3, 7, 5}, 4, 5, 1, 2},
                               {{1, 4, 9, 12}, 6, 5, 2, 1},
                               {{8, 16, 32, 32}, 3, 5, 1, 1},    // divided into parts of the batch
                               {{7, 13, 31, 31}, 3, 5, 1, 1}}) { // at any element
            SCOPED_TRACE(testing::Message()
                         << name_of(t) << ' ' << c.x[3] << ' ' << c.side << ' ' << c.groups);
            const Shape image{c.x.begin(), c.x.end()},
                weight{c.out_channels, c.x[1] / c.groups, c.side, c.side};
            const ConvOptions<2> options{.stride = c.stride, .padding = c.side / 2, .groups = c.groups};
            const Tensor x = numbers(image, t, 13), w = numbers(weight, t, 14);
            const Product forward = [&](const Tensor& a, const Tensor& b) {
                return conv2d(a, b, b.flatten().narrow(0, 0, c.out_channels), options);
            };
            const Product by_weight = [&](const Tensor& a, const Tensor& b) {
                return conv2d_weight(a, weight, b, options);
            };
            const Tensor y = conv2d(x, w, {}, options);
            expect_product(x, w, forward);
            expect_product(x, y, by_weight);
            expect_product(
                w, y, [&](const Tensor& a, const Tensor& b) { return conv2d_input(image, a, b, options); });
            const bool by_patches = kernels::products_mix_dtypes(capabilities()); // CPUs
            if (capabilities().host_kernels || (c.groups != c.x[1] && !by_patches)) continue;
            for (const std::string& plan : {record(forward, {spec(image, t), spec(weight, t)}).text(),
                                            record(by_weight, {spec(image, t), spec(y.shape(), t)}).text()})
                EXPECT_THAT(plan, HasSubstr("_dtypes (")) << plan;
        }
}

// Attention of halves and its gradients are those of their numbers in f32, but for roundings: each number of features
// has kernels.
TEST(HalfProducts, OfAttention)
{
    for (const DType t : {f16, bf16})
        for (const std::int64_t features : {24, 64, 96, 200}) {
            if (t == bf16 && features > 24)
                continue; // the kernels are those of f16, which lavapipe compiles slowly
            const auto results = [&](DType computed) {
                std::vector<Tensor> in;
                for (std::uint32_t i = 0; i < 3; ++i)
                    in.push_back(
                        cast(numbers({1, 2, 20, features}, t, i), computed).detach().requires_grad_());
                const Tensor y = scaled_dot_product_attention(in[0], in[1], in[2], {.is_causal = true});
                const Tensor slope = cast(numbers({1, 2, 20, features}, t, 3), computed);
                sum(y * slope).backward();
                return std::vector<Tensor>{y, in[0].grad(), in[1].grad(), in[2].grad()};
            };
            const std::vector<Tensor> found = results(t), want = results(f32);
            for (std::size_t i = 0; i < found.size(); ++i) {
                EXPECT_EQ(found[i].dtype(), t);
                const Floats got = cast(found[i], f32).to_vector<float>(), exact = want[i].to_vector<float>();
                ASSERT_EQ(got.size(), exact.size());
                const double unit = t == f16 ? 0x1p-11 : 0x1p-8;
                for (std::size_t e = 0; e < got.size(); ++e)
                    ASSERT_NEAR(got[e], exact[e], 8 * unit)
                        << name_of(t) << " " << features << " " << i << " " << e;
            }
        }
}

// Operands are not widened by launches of their own.
TEST(HalfProducts, ReadHalvesAsTheyAre)
{
    for (const DType t : {f16, bf16}) {
        const std::string product =
            record([](Tensor x, Tensor y) { return matmul(x, y); }, {spec({64, 64}, t), spec({64, 64}, t)})
                .text();
        const std::string convolution = record([](Tensor x, Tensor y) { return conv2d(x, y); },
                                               {spec({2, 4, 8, 8}, t), spec({4, 4, 3, 3}, t)})
                                            .text();
        const device::Capabilities& caps = capabilities();
        if (!kernels::products_read_halves(caps)) continue;
        const bool tiles = kernels::tiles_read_halves(caps);
        const char* const kernel = has_matrices(t)           ? "gemm_matrix_"
                                   : tiles                   ? "gemm_tile_half"
                                   : caps.prefer_texels      ? "gemm_texel_nn_half"
                                   : caps.subgroup_size == 8 ? "gemm_address_shuffle_half"
                                   : t == bf16               ? "gemm_address_bf16"
                                   : caps.unpacks_subnormals ? "gemm_address_f16"
                                                             : "gemm_address_half";
        EXPECT_THAT(product, HasSubstr(kernel)) << product;
        if (tiles)
            EXPECT_GT(product.find("cast"), product.find(kernel))
                << product; // the result's, not the operands'
        else EXPECT_THAT(product, Not(HasSubstr("cast"))) << product;
        if (!tiles) continue;
        EXPECT_THAT(convolution, HasSubstr("conv_tile_y_half")) << convolution;
        for (const std::string& text : {product, convolution})
            EXPECT_EQ(text.find("cast"), text.rfind("cast")) << text; // the result's
    }
}

} // namespace
