#include "plan/place.hpp"

#include <algorithm>

namespace reprise::plan {

namespace {

std::uint64_t aligned(std::uint64_t bytes)
{
    return (bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
}

struct Range {
    std::uint64_t from, to;
};

} // namespace

Placement::Placement(const Plan& plan, std::span<const std::uint64_t> bytes, int tries) : epochs_(plan.epochs)
{
    for (std::uint32_t i = 0; i < plan.values.size(); ++i) {
        const PlanValue& v = plan.values[i];
        live_.push_back({v.first, v.last});
        if (v.place == Place::temporary && v.first <= v.last) order_.push_back(i);
    }
    find_overlaps();
    keep_earlier(search(bytes, tries));
}

void Placement::find_overlaps()
{
    overlaps_.resize(live_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
        const Live live = live_[order_[i]];
        for (std::size_t k = 0; k < i; ++k) {
            if (live.first > live_[order_[k]].last || live_[order_[k]].first > live.last) continue;
            overlaps_[order_[i]].push_back(order_[k]);
            overlaps_[order_[k]].push_back(order_[i]);
        }
    }
}

// Of the overlaps those that are placed earlier, lowest first: at other sizes they lie much the same, and little is
// left to sort.
void Placement::keep_earlier(const std::vector<std::uint64_t>& offsets)
{
    std::vector<std::size_t> position(live_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) position[order_[i]] = i;
    for (const std::uint32_t v : order_) {
        std::erase_if(overlaps_[v], [&](std::uint32_t o) { return position[o] > position[v]; });
        std::sort(overlaps_[v].begin(), overlaps_[v].end(),
                  [&](std::uint32_t a, std::uint32_t b) { return offsets[a] < offsets[b]; });
    }
}

// The best of a few orders; and where that is above the bound, what lies topmost comes first in the next try.
// Gives the offsets.
std::vector<std::uint64_t> Placement::search(std::span<const std::uint64_t> bytes, int tries)
{
    const std::uint64_t bound = lower_bound(bytes);
    const auto length = [&](std::uint32_t i) { return std::uint64_t{live_[i].last} - live_[i].first + 1; };
    std::vector<std::uint32_t> best_order;
    std::vector<std::uint64_t> offsets, best_offsets;
    std::uint64_t best = ~std::uint64_t{0};
    const auto attempt = [&] { // false: it can't be better
        if (const std::uint64_t size = fill(bytes, 0, 0, offsets); size < best) {
            best = size;
            best_order = order_;
            best_offsets = offsets;
        }
        return best > bound;
    };
    const auto attempt_by = [&](auto key) {
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return key(a) > key(b); });
        return attempt();
    };
    bool open = attempt_by([&](std::uint32_t i) { return bytes[i]; }) &&
                attempt_by([&](std::uint32_t i) { return bytes[i] * length(i); }) && attempt_by(length);
    order_ = best_order;
    offsets = best_offsets;
    for (int i = 0; i < tries && open; ++i) {
        const auto top =
            std::max_element(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
                return offsets[a] + bytes[a] < offsets[b] + bytes[b];
            });
        std::rotate(order_.begin(), top, top + 1);
        open = attempt();
    }
    order_ = std::move(best_order);
    return best_offsets;
}

std::uint64_t Placement::fill(std::span<const std::uint64_t> bytes, std::uint64_t base, std::uint64_t window,
                              std::vector<std::uint64_t>& offsets) const
{
    std::vector<Range> placed(live_.size(), {0, 0}); // empty: not yet, or without elements
    std::vector<Range> taken;                        // by those alive at the same time, lowest first
    taken.resize(order_.size());
    std::uint64_t size = 0;
    for (const std::uint32_t v : order_) {
        const std::uint64_t n = aligned(bytes[v]);
        if (n == 0) continue;
        std::size_t count = 0;
        for (const std::uint32_t o : overlaps_[v]) {
            const Range r = placed[o];
            if (r.to == 0) continue;
            std::size_t at = count++;
            for (; at > 0 && taken[at - 1].from > r.from; --at) taken[at] = taken[at - 1];
            taken[at] = r;
        }
        const auto fitted = [&](std::uint64_t at) { // behind a window's edge where it would cross one
            if (!window || n > window) return at;
            const std::uint64_t first = base + at;
            return first / window == (first + n - 1) / window ? at : (first / window + 1) * window - base;
        };
        std::uint64_t at = fitted(0);
        for (const Range& r : std::span(taken).first(count)) {
            if (at + n <= r.from) break;
            if (r.to > at) at = fitted(r.to);
        }
        placed[v] = {at, at + n};
        size = std::max(size, at + n);
    }
    offsets.resize(live_.size());
    for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = placed[i].from;
    return size;
}

std::uint64_t Placement::lower_bound(std::span<const std::uint64_t> bytes) const
{
    std::vector<std::uint64_t> change(epochs_ + 2, 0); // from epoch to epoch; wraps
    for (const std::uint32_t v : order_) {
        change[live_[v].first] += aligned(bytes[v]);
        change[live_[v].last + 1] -= aligned(bytes[v]);
    }
    std::uint64_t live = 0, most = 0;
    for (const std::uint64_t c : change) most = std::max(most, live += c);
    return most;
}

} // namespace reprise::plan
