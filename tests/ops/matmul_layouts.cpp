// Matrix products of every layout and of sizes around the tiles and parts of kernels, against sums in double.  With
// REPRISE_KERNELS=gpu these are the kernels of GPUs (shaders/gemm_tile.comp).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include <reprise/reprise.hpp>

#include "kernels/tuning.hpp"
#include "kernels/variants.hpp"
#include "support/devices.hpp"
#include "testing/values.hpp"

namespace {

using namespace reprise;
using Floats = std::vector<float>;

Floats numbers(std::size_t count, std::uint32_t seed)
{
    Floats out(count);
    for (float& x : out) {
        seed = seed * 1664525u + 1013904223u;
        x = static_cast<float>(seed >> 8) / 8388608.0f - 1.0f;
    }
    return out;
}

// How the two matrices of x y are stored: by rows or by columns, and from which element on.
struct Layout {
    bool x_by_columns, y_by_columns;
    std::int64_t offset;
};
const std::vector<Layout> layouts{{false, false, 0}, {true, false, 0},  {false, true, 0},
                                  {true, true, 0},   {false, false, 1}, {true, true, 3}};

// Returns a matrix with the elements, stored by columns or from an offset on.
Tensor stored(const Floats& elements, std::int64_t rows, std::int64_t columns, bool by_columns,
              std::int64_t offset)
{
    Tensor matrix = from_vector(elements, {rows, columns});
    if (by_columns) matrix = matrix.t().contiguous();
    Tensor all = cat({zeros({offset}), matrix.flatten()});
    matrix =
        all.narrow(0, offset, rows * columns).view(by_columns ? Shape{columns, rows} : Shape{rows, columns});
    return by_columns ? matrix.t() : matrix;
}

// Compares every element, or of large results some of each row and column.
void expect_product(const Floats& got, const Floats& x, const Floats& y, std::int64_t m, std::int64_t n,
                    std::int64_t k)
{
    ASSERT_EQ(got.size(), static_cast<std::size_t>(m * n));
    for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = m * n > 100000 ? i % 61 : 0; j<n; j += m * n> 100000 ? 61 : 1) {
            double sum = 0, size = 0;
            for (std::int64_t s = 0; s < k; ++s) {
                const double term =
                    double{x[static_cast<std::size_t>(i * k + s)]} * y[static_cast<std::size_t>(s * n + j)];
                sum += term;
                size += std::abs(term);
            }
            ASSERT_NEAR(got[static_cast<std::size_t>(i * n + j)], sum, 2e-6 * (size + 1))
                << "at " << i << ", " << j;
        }
}

// Whether products use the tiles of GPUs: REPRISE_KERNELS=gpu chooses them on CPUs, too.
bool uses_tiles()
{
    const device::Capabilities& c = test::inner(default_device()).capabilities();
    return kernels::refuse_gemm_tile(c, {}).empty();
}

bool has(const std::string& all, const char* part) { return all.find(part) != std::string::npos; }

std::string plan_of_product(std::int64_t m, std::int64_t n, std::int64_t k)
{
    return record([](Tensor x, Tensor y) { return matmul(x, y); }, {spec({m, k}), spec({k, n})}).text();
}

// The tunings (kernels/tuning.hpp) that choose tiles of one size for all products.
constexpr kernels::Tuning all_small{.large_tiles = kernels::never},
    all_large{.large_tiles = 0, .large_side = 0};

Floats product_by(const kernels::Tuning& tuning, const Tensor& a, const Tensor& b)
{
    const test::PlansOfTheirOwn plans;
    const kernels::ForcedTuning forced(tuning);
    return matmul(a, b).to_vector<float>();
}

TEST(MatmulLayouts, OfSizesAroundATile)
{
    const std::vector<std::array<std::int64_t, 3>> sizes{
        {1, 1, 1},   {1, 64, 17},    {3, 5, 7},      {64, 64, 16}, {65, 63, 15},
        {4, 68, 33}, {66, 130, 20},  {128, 4, 64},   {5, 8, 511},  {12, 20, 512},
        {9, 8, 515}, {130, 257, 37}, {260, 128, 36}, {8, 12, 2052}};
    for (const auto& [m, n, k] : sizes) {
        const Floats x = numbers(static_cast<std::size_t>(m * k), 1),
                     y = numbers(static_cast<std::size_t>(k * n), 2);
        for (const Layout& l : layouts) {
            SCOPED_TRACE(testing::Message() << m << " x " << k << " x " << n << ", layout " << l.x_by_columns
                                            << l.y_by_columns << l.offset);
            const Tensor a = stored(x, m, k, l.x_by_columns, l.offset),
                         b = stored(y, k, n, l.y_by_columns, l.offset);
            const Floats product = product_by(all_small, a, b);
            expect_product(product, x, y, m, n, k);
            if (uses_tiles()) {
                EXPECT_EQ(product_by(all_large, a, b), product);
            }
        }
    }
}

TEST(MatmulLayouts, OfNoElements)
{
    EXPECT_EQ(matmul(zeros({0, 5}), zeros({5, 3})).numel(), 0);
    EXPECT_THAT(matmul(zeros({2, 0}), zeros({0, 3})).to_vector<float>(), testing::Each(0.0f));
}

// Sizes that are symbols choose among recorded launches, constants when the plan is made; the bits are the same.
TEST(MatmulLayouts, OfSymbolicSizesHaveTheBitsOfConstantOnes)
{
    const test::PlansOfTheirOwn plans;
    const kernels::ForcedTuning tuning({.large_tiles = 4, .large_side = 128});
    const Dim m = symbol("m"), n = symbol("n"), k = symbol("k");
    const auto plain = [](Tensor x, Tensor y) { return matmul(x, y); };
    const auto turned = [](Tensor x, Tensor y) { return matmul(x.t(), y); };
    const Program product = record(plain, {spec({m, k}), spec({k, n})});
    const Program turned_product = record(turned, {spec({k, m}), spec({k, n})});
    for (const auto& [rows, columns, steps] : std::vector<std::array<std::int64_t, 3>>{{3, 5, 7},
                                                                                       {64, 64, 600},
                                                                                       {70, 8, 2048},
                                                                                       {200, 300, 1030},
                                                                                       {1, 1, 513},
                                                                                       {4, 4, 0},
                                                                                       {256, 130, 9},
                                                                                       {130, 256, 40}}) {
        SCOPED_TRACE(testing::Message() << rows << " x " << steps << " x " << columns);
        const Tensor x = from_vector(numbers(static_cast<std::size_t>(rows * steps), 3), {rows, steps}),
                     y = from_vector(numbers(static_cast<std::size_t>(steps * columns), 4), {steps, columns});
        const Tensor by_columns = x.t().contiguous();
        const Spec second = spec({steps, columns});
        const Floats expected = record(plain, {spec({rows, steps}), second})(x, y).to_vector<float>();
        EXPECT_EQ(product(x, y).to_vector<float>(), expected);
        EXPECT_EQ(matmul(x, y).to_vector<float>(), expected);
        EXPECT_EQ(turned_product(by_columns, y).to_vector<float>(),
                  record(turned, {spec({steps, rows}), second})(by_columns, y).to_vector<float>());
    }
}

// Steps beyond K must not turn a sum of -0 to +0, which a fused fma gives (not lavapipe's before 26.2).  8 steps fill a
// round of large tiles, and half a round of small ones.
TEST(MatmulLayouts, OfSumsThatUnderflowHaveTheirSign)
{
    constexpr std::int64_t m = 128, n = 128, k = 8;
    const Tensor x = full({m, k}, -1e-30) + 0.0, y = full({k, n}, 1e-30) + 0.0;
    const Floats all = product_by(all_large, x, y), some = product_by(all_small, x, y);
    for (std::size_t i = 0; i < some.size(); ++i) {
        ASSERT_EQ(some[i], 0.0f);
        ASSERT_EQ(std::signbit(some[i]), std::signbit(all[i])) << i;
    }
}

TEST(MatmulLayouts, UseTheTilesOfGpusThere)
{
    const device::Capabilities& c = test::inner(default_device()).capabilities();
    const char* const kernels = std::getenv("REPRISE_KERNELS");
    const bool forced = kernels && std::string(kernels) == "gpu" && c.id.starts_with("vulkan");
    const bool gpu = c.kind == device::Kind::discrete || c.kind == device::Kind::integrated;
    const bool tiled = forced || (gpu && !c.is_cuda());
    EXPECT_EQ(uses_tiles(), tiled);
    const std::string small = plan_of_product(64, 64, 64), split = plan_of_product(8, 8, 2048);
    EXPECT_EQ(has(small, "gemm_tile"), tiled) << small;
    EXPECT_FALSE(has(small, "gemm_tile_large") || has(small, "gemm_sum")) << small;
    const auto by = [](const kernels::Tuning& tuning) {
        const kernels::ForcedTuning in_force(tuning);
        return plan_of_product(64, 64, 64);
    };
    EXPECT_EQ(has(by(all_large), "gemm_tile_large"), tiled);
    EXPECT_FALSE(has(by(all_small), "gemm_tile_large"));
    {
        const kernels::ForcedTuning tuning(all_large);
        EXPECT_EQ(has(plan_of_product(8, 8, 2048), "gemm_tile_large"), tiled);
    }
    {
        const kernels::ForcedTuning tuning(all_small);
        const Dim m = symbol("m"), n = symbol("n");
        const auto plan =
            record([](Tensor x, Tensor y) { return matmul(x, y); }, {spec({m, 600}), spec({600, n})}).text();
        EXPECT_FALSE(has(plan, "gemm_tile_large")) << plan;
    }
    const std::string many = plan_of_product(2048, 1024, 36);
    EXPECT_EQ(has(many, "gemm_tile_large"), tiled) << many;
    EXPECT_EQ(has(split, "gemm_tile") && has(split, "gemm_sum"), tiled) << split;
}

// A product with a long K and a small result is computed in parts, here of two batches with an outer and an inner
// stride.
TEST(MatmulLayouts, OfBatchesWithALongK)
{
    constexpr std::int64_t outer = 2, inner = 3, m = 5, n = 8, k = 1100;
    const Floats x = numbers(outer * inner * m * k, 7), y = numbers(outer * inner * k * n, 8);
    const Tensor a = from_vector(x, {outer, m, inner, k}).transpose(1, 2),
                 b = from_vector(y, {outer, inner, k, n});
    const Floats got = matmul(a, b).to_vector<float>();
    for (std::int64_t i = 0; i < outer * inner; ++i) {
        Floats xs, ys(y.begin() + i * k * n, y.begin() + (i + 1) * k * n);
        for (std::int64_t row = 0; row < m; ++row) {
            const auto begin = x.begin() + (((i / inner) * m + row) * inner + i % inner) * k;
            xs.insert(xs.end(), begin, begin + k);
        }
        expect_product({got.begin() + i * m * n, got.begin() + (i + 1) * m * n}, xs, ys, m, n, k);
    }
}

} // namespace
