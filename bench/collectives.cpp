// What a collective takes: a chain of all-reduces by itself, under mpirun.
#include <algorithm>
#include <chrono>
#include <memory>

#include "pairs.hpp"
#include "workload.hpp"

namespace bench {

namespace rp = reprise;
using rp::Tensor;

namespace {

// Returns the seconds of each all-reduce of that many floats, where each waits for the one before.
double all_reduce_seconds(const rp::Device& device, std::int64_t floats, bool quick)
{
    constexpr int longer = 9;
    const auto chain = [&](int links) {
        const Tensor x = rp::zeros({floats});
        return replayed(
            [links](Tensor y) {
                for (int i = 0; i < links; ++i) y = rp::distributed::all_reduce(y, world);
                return y;
            },
            {x});
    };
    const Run one = chain(1), many = chain(longer);
    const auto wait = [&](const Run& run) {
        return [&] {
            run();
            device.synchronize();
        };
    };
    const Pairs p = in_turn(wait(many), wait(one), quick ? 5 : 25);
    return (p.a - p.b) / (longer - 1);
}

} // namespace

std::vector<Report> collective_reports()
{
    if (world.size() == 1) return {};
    return {{"all_reduce", [](const rp::Device& device, bool quick) {
                 Measurements m;
                 for (const std::int64_t kib : {1, 16, 64, 256, 1024, 4096})
                     m.emplace_back("kib_" + std::to_string(kib) + "_us",
                                    1e6 * all_reduce_seconds(device, kib * 256, quick));
                 return m;
             }}};
}

} // namespace bench
