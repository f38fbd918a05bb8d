// Kernels of the library, one alone, against plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <reprise/testing.hpp>

#include "support/devices.hpp"
#include "testing/values.hpp"

namespace reprise::testing {
namespace {

using Floats = std::vector<float>;

const float nan = std::nanf("");

// A buffer of `count` floats that nobody has written.
Bytes unwritten(std::size_t count) { return bytes_of(Floats(count, nan)); }

bool has_texels() { return test::inner(default_device()).capabilities().texel_view; }

struct Pad {
    std::int32_t outer, length, size, start, inner;
};

class PadKernel : public ::testing::TestWithParam<Pad> {};
INSTANTIATE_TEST_SUITE_P(Shapes, PadKernel,
                         ::testing::Values(Pad{1, 3, 5, 1, 1}, Pad{4, 2, 7, 5, 3}, Pad{3, 0, 4, 2, 5},
                                           Pad{1, 1, 1, 0, 1}, Pad{2, 300, 310, 10, 1}));

template <class T> void check_pad(const Pad& p)
{
    const auto at = [](std::int32_t i) { return static_cast<std::size_t>(i); };
    std::vector<T> x(at(p.outer * p.length * p.inner)), want(at(p.outer * p.size * p.inner), T{5});
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i + 1);
    for (std::int32_t o = 0; o < p.outer; ++o)
        for (std::int32_t r = 0; r < p.length; ++r)
            for (std::int32_t k = 0; k < p.inner; ++k)
                want[at((o * p.size + p.start + r) * p.inner + k)] = x[at((o * p.length + r) * p.inner + k)];
    const auto out =
        run_shader(default_device(), {.name = "pad",
                                      .constants = {sizeof(T)},
                                      .buffers = {bytes_of(x), bytes_of(std::vector<T>(want.size(), T{9}))},
                                      .groups = (want.size() + 255) / 256,
                                      .ints = {p.outer, p.length, p.size, p.start, p.inner, 5}});
    EXPECT_EQ(values_of<T>(out[1]), want);
}

TEST_P(PadKernel, PutsTheInputInItsPlace)
{
    check_pad<std::uint32_t>(GetParam());
    check_pad<std::uint16_t>(GetParam());
    check_pad<std::uint8_t>(GetParam());
}

struct Pack {
    const char* name;
    std::int32_t rows, columns, row_stride, column_stride, packed_rows, pitch, batch, inners = 1;
};

class PackKernel : public ::testing::TestWithParam<Pack> {};
INSTANTIATE_TEST_SUITE_P(
    Shapes, PackKernel,
    ::testing::Values(Pack{"pack", 5, 7, 7, 1, 5, 8, 1}, Pack{"pack", 7, 5, 1, 7, 8, 8, 3},
                      Pack{"pack", 40, 130, 131, 1, 40, 132, 2, 2}, Pack{"pack", 3, 4, 8, 2, 3, 4, 2},
                      Pack{"pack_texel", 5, 7, 7, 1, 5, 8, 2}, Pack{"pack_texel", 33, 70, 71, 1, 33, 72, 1},
                      Pack{"pack_texel_transposed", 7, 5, 1, 7, 7, 8, 2},
                      Pack{"pack_texel", 5, 7, 7, 1, 5, 8, 6, 3},
                      Pack{"pack_texel_transposed", 7, 5, 1, 7, 7, 8, 6, 2}),
    [](const auto& test) { return std::string(test.param.name) + "_" + std::to_string(test.index); });

TEST_P(PackKernel, CopiesAndFillsWithZeros)
{
    const Pack p = GetParam();
    if (std::string(p.name) != "pack" && !has_texels())
        GTEST_SKIP() << "the device has no texel view of its slab";
    const std::int32_t apart = p.rows * p.row_stride + p.columns * p.column_stride; // of two matrices
    const auto at = [](std::int32_t i) { return static_cast<std::size_t>(i); };
    const Floats source = test::floats(at(p.batch * apart), 1);
    const std::int32_t outers = p.batch / p.inners; // matrices of one outer batch lie `outers` apart
    Floats want(at(p.batch * p.packed_rows * p.pitch), 0);
    for (std::int32_t b = 0; b < p.batch; ++b)
        for (std::int32_t r = 0; r < p.rows; ++r)
            for (std::int32_t c = 0; c < p.columns; ++c)
                want[at((b * p.packed_rows + r) * p.pitch + c)] = source[at(
                    (b / p.inners + b % p.inners * outers) * apart + r * p.row_stride + c * p.column_stride)];
    const auto tiles = [&](std::int32_t n, std::int32_t size) {
        return static_cast<std::uint64_t>((n + size - 1) / size);
    };
    const auto out = run_shader(
        default_device(),
        {.name = p.name,
         .constants =
             std::string(p.name) == "pack" ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{0},
         .buffers = {bytes_of(source), unwritten(want.size())},
         .groups = static_cast<std::uint64_t>(p.batch) * tiles(p.packed_rows, 16) * tiles(p.pitch, 64),
         .ints = {p.rows, p.columns, p.row_stride, p.column_stride, apart, p.packed_rows, p.pitch,
                  p.packed_rows * p.pitch, p.batch, p.inners, outers * apart}});
    EXPECT_EQ(values_of<float>(out[1]), want);
}

// The numeric class of common/reduce.glsl: blocks of 256 in 8 accumulators.
float block_sum(const Floats& x)
{
    float lanes[8] = {};
    for (std::size_t i = 0; i < x.size(); ++i) lanes[i % 8] += x[i];
    return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

TEST(SumKernel, AddsABlockInTheOrderOfItsClass)
{
    for (const std::size_t count :
         {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{100}, std::size_t{256}}) {
        const Floats x = test::floats(count, count, -100, 100);
        const auto n = static_cast<std::int32_t>(count);
        // Kept dimensions: none; reduced: one.
        const auto out = run_shader(default_device(), {.name = "sum",
                                                       .constants = {0, 1, 0, 1},
                                                       .buffers = {bytes_of(x), unwritten(1)},
                                                       .ints = {n, 1, 1, n, 1}});
        EXPECT_EQ(values_of<float>(out[1])[0], block_sum(x)) << count;
    }
}

TEST(SumKernel, WalksStrides)
{
    const Floats x = test::floats(6 * 5, 3);
    Floats want;
    for (std::size_t o = 0; o < 5; ++o) { // column sums
        Floats column;
        for (std::size_t r = 0; r < 6; ++r) column.push_back(x[r * 5 + o]);
        want.push_back(block_sum(column));
    }
    const auto out = run_shader(default_device(), {.name = "sum",
                                                   .constants = {1, 1, 1, 1},
                                                   .buffers = {bytes_of(x), unwritten(5)},
                                                   .ints = {6, 5, 1, 5, 1, 6, 5}});
    EXPECT_EQ(values_of<float>(out[1]), want);
}

TEST(ArangeKernel, CountsInEachDType)
{
    const auto run = [](DType dtype, std::size_t bytes) {
        return run_shader(default_device(), {.name = "arange",
                                             .constants = {static_cast<std::uint32_t>(dtype)},
                                             .buffers = {Bytes(bytes, std::byte{0xEE})},
                                             .ints = {5}})[0];
    };
    EXPECT_THAT(values_of<float>(run(f32, 20)), ::testing::ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(values_of<std::int32_t>(run(i32, 20)), ::testing::ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(values_of<std::uint8_t>(run(u8, 5)), ::testing::ElementsAre(0, 1, 2, 3, 4));
    EXPECT_THAT(values_of<std::uint16_t>(run(bf16, 10)),
                ::testing::ElementsAre(0, 0x3F80, 0x4000, 0x4040, 0x4080));
    EXPECT_THAT(values_of<std::uint16_t>(run(f16, 10)),
                ::testing::ElementsAre(0, 0x3C00, 0x4000, 0x4200, 0x4400));
}

} // namespace
} // namespace reprise::testing
