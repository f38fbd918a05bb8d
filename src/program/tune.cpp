#include "program/tune.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include <reprise/ops.hpp>
#include <reprise/program.hpp>
#include <reprise/tuning.hpp>

#include "eager/context.hpp"
#include "graph/ambient.hpp"
#include "kernels/tuning.hpp"
#include "kernels/variants.hpp"

namespace reprise {

namespace tuning {

std::optional<std::uint32_t> least_large_tiles(const std::vector<Timed>& products)
{
    if (std::any_of(products.begin(), products.end(), [](const Timed& t) { return !t.equal; }))
        return kernels::never;
    constexpr double clearly = 1.03;
    std::optional<std::uint32_t> least;
    for (auto t = products.rbegin(); t != products.rend(); ++t) {
        if (t->large_ms > clearly * t->small_ms) return least ? *least : kernels::never;
        if (t->small_ms > clearly * t->large_ms) least = t->tiles;
    }
    return least;
}

} // namespace tuning

namespace {

using kernels::Tuning;

constexpr std::int64_t side = 128;
constexpr std::pair<std::int64_t, std::int64_t> sizes_in_tiles[] = {{8, 8},   {12, 8},  {16, 8},
                                                                    {16, 12}, {16, 16}, {32, 16}};
constexpr Tuning all_small{.large_tiles = kernels::never, .large_matrix_tiles = kernels::never};
constexpr Tuning all_large{.large_tiles = 0, .large_side = 0, .large_matrix_tiles = 0};

// Records the product with the tiles that a tuning chooses.
Program product_of(const Tensor& a, const Tensor& b, const Tuning& t, const Device& device)
{
    const kernels::ForcedTuning forced(t);
    const graph::NoAutocast in_this_dtype;
    return record([](const Tensor& x, const Tensor& y) { return matmul(x, y); },
                  {spec(a.shape(), a.dtype()), spec(b.shape(), b.dtype())},
                  {.timestamps = true, .device = device});
}

std::vector<float> values(const Tensor& t) { return cast(t, f32).to_vector<float>(); }

// The time of a call's launches: by the device's clock, else around the call.
double milliseconds(const Program& product, const Tensor& a, const Tensor& b, const Device& device)
{
    const auto begun = std::chrono::steady_clock::now();
    product(a, b);
    device.synchronize();
    const double around =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
    double of_launches = 0;
    for (const LaunchTime& t : product.times()) of_launches += (t.end - t.begin) / 1e6;
    return of_launches > 0 ? of_launches : around;
}

// Runs both by turns, so that a clock that rises helps none, and keeps the best times.
tuning::Timed measure(const Tensor& a, const Tensor& b, std::uint32_t tiles, const Device& device)
{
    const Program small = product_of(a, b, all_small, device), large = product_of(a, b, all_large, device);
    const std::vector<float> by_small = values(small(a, b)), by_large = values(large(a, b)); // also compiles
    constexpr double infinite = std::numeric_limits<double>::infinity();
    tuning::Timed t{tiles, infinite, infinite,
                    std::memcmp(by_small.data(), by_large.data(), by_small.size() * sizeof(float)) == 0};
    constexpr int least_rounds = 2, most_rounds = 30;
    constexpr std::chrono::milliseconds enough(100);
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < most_rounds; ++i) {
        if (i >= least_rounds && std::chrono::steady_clock::now() - begun > enough) break;
        t.small_ms = std::min(t.small_ms, milliseconds(small, a, b, device));
        t.large_ms = std::min(t.large_ms, milliseconds(large, a, b, device));
    }
    return t;
}

// Numbers that take none from the random number generator.
Tensor factor(const Shape& shape, DType dtype, const Device& device)
{
    Dim count = 1;
    for (const Dim& d : shape) count *= d;
    const Tensor numbers = arange(count.value(), {.dtype = f32, .device = device});
    return cast(reshape(sin(numbers), shape), dtype);
}

std::string sentence(const char* products, const std::optional<std::uint32_t>& tiles)
{
    const std::string first = products;
    if (!tiles) return first + " are as fast with tiles of 64 x 64 elements as of 128 x 128.";
    if (*tiles == kernels::never) return first + " use tiles of 64 x 64 elements.";
    return first + " use tiles of 128 x 128 elements if they have at least " + std::to_string(*tiles) +
           " of them, and 1024 rows and columns.";
}

// The greater of both, where known.
void raise(std::optional<std::uint32_t>& to, const std::optional<std::uint32_t>& tiles)
{
    if (tiles) to = std::max(to.value_or(0), *tiles);
}

} // namespace

TuningReport tuning::tune(const Device& device, std::int64_t inner_size, const TuningProgress& progress)
{
    const device::Capabilities& c = device.context()->device()->capabilities();
    TuningReport report;
    std::vector<DType> dtypes;
    ops::GemmProblem problem{};
    for (const DType t : {f32, f16, bf16}) {
        problem.a.dtype = problem.b.dtype = t;
        if (kernels::has_large_tiles(c, problem)) dtypes.push_back(t);
    }
    if (dtypes.empty()) {
        report.chosen = "There is nothing to choose: each kernel that this device uses has one variant.";
        return report;
    }
    kernels::require_cache_folder("tune");
    kernels::StoredTuning found;
    bool has_matrices = false;
    const std::size_t count = dtypes.size() * std::size(sizes_in_tiles);
    for (const DType t : dtypes) {
        std::vector<tuning::Timed> products;
        for (const auto& [rows, columns] : sizes_in_tiles) {
            const std::string name = std::string("matmul ") + name_of(t) + ' ' + std::to_string(rows * side) +
                                     " x " + std::to_string(inner_size) + " x " +
                                     std::to_string(columns * side);
            if (progress) progress(report.rows.size(), count, name);
            products.push_back(measure(factor({rows * side, inner_size}, t, device),
                                       factor({inner_size, columns * side}, t, device),
                                       static_cast<std::uint32_t>(rows * columns), device));
            const tuning::Timed& p = products.back();
            report.rows.push_back({name, p.small_ms, p.large_ms, p.equal});
        }
        problem.a.dtype = problem.b.dtype = t;
        const bool by_matrices = kernels::refuse_gemm_matrix(c, problem).empty();
        has_matrices |= by_matrices;
        raise(by_matrices ? found.large_matrix_tiles : found.large_tiles,
              tuning::least_large_tiles(products));
    }
    if (progress) progress(count, count, "");
    report.chosen = sentence("Products", found.large_tiles);
    if (has_matrices) report.chosen += sentence(" Those by cooperative matrices", found.large_matrix_tiles);
    kernels::store_tuning(c, found);
    return report;
}

TuningReport tune(const Device& device, const TuningProgress& progress)
{
    return tuning::tune(device, 256, progress);
}

} // namespace reprise
