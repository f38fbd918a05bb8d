#include "batches.hpp"

#include <algorithm>
#include <numeric>
#include <random>

std::vector<std::vector<std::size_t>> batches_by_length(const std::vector<std::size_t>& lengths,
                                                        std::int64_t batch, std::uint64_t seed)
{
    std::mt19937_64 random(seed);
    std::vector<std::size_t> order(lengths.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return lengths[a] / 8 < lengths[b] / 8; });
    std::vector<std::vector<std::size_t>> out;
    const auto size = static_cast<std::size_t>(batch);
    for (std::size_t i = 0; i < order.size(); i += size)
        out.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(i),
                         order.begin() + static_cast<std::ptrdiff_t>(std::min(i + size, order.size())));
    std::shuffle(out.begin(), out.end(), random);
    return out;
}
