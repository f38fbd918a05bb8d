#include "plan/place.hpp"

#include <algorithm>

namespace reprise::plan {

Placement::Placement(const Plan& plan, std::span<const std::uint64_t> bytes) : epochs_(plan.epochs)
{
    std::vector<std::uint32_t> temporaries;
    for (std::uint32_t i = 0; i < plan.values.size(); ++i) {
        const PlanValue& v = plan.values[i];
        live_.push_back({v.first, v.last});
        if (v.place == Place::temporary && v.first <= v.last) temporaries.push_back(i);
    }
    const auto area = [&](std::uint32_t i) { return bytes[i] * (live_[i].last - live_[i].first + 1); };
    const auto by = [&](auto key) {
        std::vector<std::uint32_t> order = temporaries;
        std::stable_sort(order.begin(), order.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return key(a) > key(b); });
        return order;
    };
    std::vector<std::vector<std::uint32_t>> candidates = {
        by([&](std::uint32_t i) { return bytes[i]; }), by(area),
        by([&](std::uint32_t i) { return live_[i].last - live_[i].first; })};
    std::uint64_t best = ~std::uint64_t{0};
    std::vector<std::uint32_t> chosen;
    std::vector<std::uint64_t> offsets;
    for (auto& candidate : candidates) {
        order_ = candidate;
        find_overlaps();
        const std::uint64_t size = fill(bytes, 0, 0, offsets);
        if (size < best) {
            best = size;
            chosen = order_;
        }
    }
    order_ = std::move(chosen);
    find_overlaps();
}

void Placement::find_overlaps()
{
    overlaps_.assign(order_.size(), {});
    for (std::size_t i = 0; i < order_.size(); ++i)
        for (std::size_t k = 0; k < i; ++k)
            if (live_[order_[i]].first <= live_[order_[k]].last &&
                live_[order_[k]].first <= live_[order_[i]].last)
                overlaps_[i].push_back(order_[k]);
}

std::uint64_t Placement::fill(std::span<const std::uint64_t> bytes, std::uint64_t base, std::uint64_t window,
                              std::vector<std::uint64_t>& offsets) const
{
    offsets.assign(live_.size(), 0);
    std::uint64_t size = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> taken; // ranges of those alive at the same time
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const std::uint32_t v = order_[i];
        const std::uint64_t n = (bytes[v] + arena_alignment - 1) / arena_alignment * arena_alignment;
        if (n == 0) continue;
        taken.clear();
        for (std::uint32_t o : overlaps_[i])
            if (bytes[o])
                taken.emplace_back(offsets[o], offsets[o] + (bytes[o] + arena_alignment - 1) /
                                                                arena_alignment * arena_alignment);
        std::sort(taken.begin(), taken.end());
        const auto fitted = [&](std::uint64_t at) { // behind a window's edge where it would cross one
            if (!window || n > window) return at;
            const std::uint64_t first = base + at;
            return first / window == (first + n - 1) / window ? at : (first / window + 1) * window - base;
        };
        std::uint64_t at = fitted(0);
        for (const auto& [from, to] : taken) {
            if (at + n <= from) break;
            if (to > at) at = fitted(to);
        }
        offsets[v] = at;
        size = std::max(size, at + n);
    }
    return size;
}

std::uint64_t Placement::lower_bound(std::span<const std::uint64_t> bytes) const
{
    std::vector<std::uint64_t> live(epochs_ + 1, 0);
    std::uint64_t most = 0;
    for (std::uint32_t v : order_)
        for (std::uint32_t e = live_[v].first; e <= live_[v].last; ++e)
            most = std::max(most,
                            live[e] += (bytes[v] + arena_alignment - 1) / arena_alignment * arena_alignment);
    return most;
}

} // namespace reprise::plan
