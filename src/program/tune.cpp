#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include <reprise/ops.hpp>
#include <reprise/program.hpp>
#include <reprise/random.hpp>
#include <reprise/tuning.hpp>

#include "eager/context.hpp"
#include "kernels/tuning.hpp"
#include "kernels/variants.hpp"

namespace reprise {

namespace {

using kernels::Tuning;

constexpr std::int64_t side = 128, steps = 256;
constexpr Tuning all_small{.large_tiles = kernels::never, .large_matrix_tiles = kernels::never};
constexpr Tuning all_large{.large_tiles = 0, .large_side = 0, .large_matrix_tiles = 0};

// A product with so many tiles of 128 x 128.
struct Problem {
    DType dtype;
    std::int64_t rows, columns; // in tiles

    std::uint32_t tiles() const { return static_cast<std::uint32_t>(rows * columns); }
    std::string name() const
    {
        return std::string("matmul ") + name_of(dtype) + ' ' + std::to_string(rows * side) + " x " +
               std::to_string(steps) + " x " + std::to_string(columns * side);
    }
};

struct Measured {
    double ms = 0;
    std::vector<float> values;
};

// The time of the product alone: by the device's clock, else around calls.
double milliseconds(const Program& product, const Tensor& a, const Tensor& b, const Device& device)
{
    constexpr int calls = 10;
    constexpr double enough_ms = 200; // on a slow device
    double best = std::numeric_limits<double>::infinity(), spent = 0;
    for (int i = 0; i < calls && spent < enough_ms; ++i) {
        const auto begun = std::chrono::steady_clock::now();
        product(a, b);
        device.synchronize();
        double ms =
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
        spent += ms;
        double launches = 0;
        for (const LaunchTime& t : product.times()) launches += (t.end - t.begin) / 1e6;
        if (launches > 0) ms = launches;
        best = std::min(best, ms);
    }
    return best;
}

Measured measure(const Problem& p, const Tuning& t, const Tensor& a, const Tensor& b, const Device& device)
{
    std::optional<Program> product;
    {
        const kernels::ForcedTuning forced(t);
        product = record([](const Tensor& x, const Tensor& y) { return matmul(x, y); },
                         {spec(a.shape(), p.dtype), spec(b.shape(), p.dtype)},
                         {.timestamps = true, .device = device});
    }
    Measured m;
    m.values = cast((*product)(a, b), f32).to_vector<float>(); // also compiles
    m.ms = milliseconds(*product, a, b, device);
    return m;
}

struct Result {
    std::uint32_t tiles;
    bool large_is_faster, equal;
};

// The least number of tiles from which on large tiles were always faster; never if they gave other bits.
std::uint32_t threshold(const std::vector<Result>& by_tiles)
{
    if (std::any_of(by_tiles.begin(), by_tiles.end(), [](const Result& r) { return !r.equal; }))
        return kernels::never;
    std::uint32_t least = kernels::never;
    for (auto r = by_tiles.rbegin(); r != by_tiles.rend() && r->large_is_faster; ++r) least = r->tiles;
    return least;
}

std::string sentence(const char* products, std::uint32_t tiles)
{
    return std::string(products) + (tiles == kernels::never ? " use tiles of 64 x 64 elements."
                                                            : " use tiles of 128 x 128 elements from " +
                                                                  std::to_string(tiles) + " on.");
}

// The dtypes of products that have tiles of two sizes here.
std::vector<DType> tiled_dtypes(const device::Capabilities& c)
{
    std::vector<DType> all;
    ops::GemmProblem p{};
    if (kernels::refuse_gemm_tile(c, p).empty()) all.push_back(f32);
    for (const DType half : {f16, bf16}) {
        p.a.dtype = p.b.dtype = half;
        if (kernels::refuse_gemm_matrix(c, p).empty()) all.push_back(half);
    }
    return all;
}

} // namespace

TuningReport tune(const Device& device, const TuningProgress& progress)
{
    constexpr std::pair<std::int64_t, std::int64_t> sizes[] = {{8, 8},   {12, 8},  {16, 8},
                                                               {16, 12}, {16, 16}, {32, 16}}; // in tiles
    const device::Capabilities& c = device.context()->device()->capabilities();
    const std::vector<DType> dtypes = tiled_dtypes(c);
    TuningReport report;
    if (dtypes.empty()) {
        report.chosen = "There is nothing to choose: each kernel that this device uses has one variant.";
        return report;
    }
    Tuning t;
    std::uint32_t of_matrices = 0; // the greatest of both dtypes
    const std::size_t count = dtypes.size() * std::size(sizes);
    for (const DType dtype : dtypes) {
        std::vector<Result> by_tiles;
        for (const auto& [rows, columns] : sizes) {
            const Problem p{dtype, rows, columns};
            if (progress) progress(report.rows.size(), count, p.name());
            const auto factor = [&](const Shape& shape) {
                return cast(rand(shape, {.device = device}) - 0.5, dtype);
            };
            const Tensor a = factor({rows * side, steps}), b = factor({steps, columns * side});
            const Measured small = measure(p, all_small, a, b, device),
                           large = measure(p, all_large, a, b, device);
            const bool equal = std::memcmp(small.values.data(), large.values.data(),
                                           small.values.size() * sizeof(float)) == 0;
            by_tiles.push_back({p.tiles(), large.ms < small.ms, equal});
            report.rows.push_back({p.name(), small.ms, large.ms, equal});
        }
        if (dtype == f32) t.large_tiles = threshold(by_tiles);
        else of_matrices = std::max(of_matrices, threshold(by_tiles));
    }
    if (progress) progress(count, count, "");
    report.chosen = sentence("Products", t.large_tiles);
    if (of_matrices != 0) {
        t.large_matrix_tiles = of_matrices;
        report.chosen += sentence(" Those by cooperative matrices", of_matrices);
    }
    kernels::store_tuning(c, t);
    return report;
}

} // namespace reprise
