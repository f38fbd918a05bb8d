#include "plan/place.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <reprise/error.hpp>

#include "shape/program.hpp"

namespace reprise::plan {

namespace {

// Computes the sum of live bytes at each point in time, from lifetimes.
class LiveBytes {
public:
    explicit LiveBytes(std::size_t times) : change_(times + 1, 0) {}
    void add(std::size_t first, std::size_t last, std::uint64_t bytes)
    {
        change_[first] += bytes;
        change_[last + 1] -= bytes;
    }
    std::vector<std::uint64_t> sums() const
    {
        std::vector<std::uint64_t> out(change_.begin(), change_.end() - 1);
        std::partial_sum(out.begin(), out.end(), out.begin());
        return out;
    }

private:
    std::vector<std::uint64_t> change_; // differences wrap around
};

std::uint64_t max_of(const std::vector<std::uint64_t>& sums)
{
    return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

// Returns a deterministic pseudorandom number in [0, 1) (the finalizer of SplitMix64).
double pseudorandom(std::uint64_t a, std::uint64_t b)
{
    std::uint64_t x = (a << 32 | b) * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return static_cast<double>(x >> 40) / static_cast<double>(1 << 24);
}

struct Allocation {
    std::uint64_t from, to;    // bytes
    std::uint32_t first, last; // epochs
};

} // namespace

Placement::Placement(const Plan& plan, std::span<const Bytes> bytes, int tries, bool on_host)
    : epochs_(plan.epochs)
{
    for (std::uint32_t i = 0; i < plan.values.size(); ++i) {
        const PlanValue& v = plan.values[i];
        live_.push_back({v.first, v.last});
        if (v.place == Place::temporary && v.on_host == on_host && v.first <= v.last) order_.push_back(i);
    }
    search(bytes, tries);
}

// Chooses the best of a few orders: by bytes, by bytes and end, by area, by length. If none reaches the lower bound,
// tries skyline orders with these preferences, then with randomly scaled areas.
void Placement::search(std::span<const Bytes> sizes, int tries)
{
    std::vector<std::uint64_t> bounds;
    for (const Bytes& bytes : sizes) bounds.push_back(std::max<std::uint64_t>(lower_bound(bytes), 1));
    const Bytes& first = sizes.front();
    constexpr std::size_t max_work = 1 << 24; // pairs of values
    tries = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(tries),
                                                   max_work / (order_.size() * order_.size() + 1)));
    const auto length = [&](std::uint32_t i) { return std::uint64_t{live_[i].last} - live_[i].first + 1; };
    const auto area = [&](std::uint32_t i) { return first[i] * length(i); };
    const auto bytes_and_end = [&](std::uint32_t i) { return std::pair(first[i], live_[i].last); };
    std::vector<std::uint32_t> best;
    double min_excess =
        std::numeric_limits<double>::infinity(); // excess over the bounds, relative, summed over sizes
    const auto attempt = [&](std::vector<std::uint32_t> order) {
        order_ = std::move(order);
        double excess = 0;
        std::vector<std::uint64_t> offsets;
        for (std::size_t k = 0; k < sizes.size() && excess < min_excess; ++k)
            excess += static_cast<double>(std::max<std::uint64_t>(fill(sizes[k], 0, 0, offsets), 1)) /
                          static_cast<double>(bounds[k]) -
                      1;
        if (excess >= min_excess) return;
        min_excess = excess;
        best = order_;
    };
    const std::vector<std::uint32_t> by_creation = order_; // in the order of creation
    const auto attempt_by = [&](auto key,
                                bool as_skyline = false) { // returns false once the bound is reached
        std::vector<std::uint32_t> order = by_creation;
        std::stable_sort(order.begin(), order.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return key(a) > key(b); });
        attempt(as_skyline ? skyline(order, first) : std::move(order));
        return min_excess > 0;
    };
    bool improvable = attempt_by([&](std::uint32_t i) { return first[i]; }) && attempt_by(bytes_and_end) &&
                      attempt_by(area) && attempt_by(length);
    if (improvable && tries > 0)
        improvable = attempt_by(area, true) && attempt_by(bytes_and_end, true) && attempt_by(length, true);
    for (int t = 1; t <= tries && improvable; ++t) {
        std::vector<double> scattered(live_.size());
        for (const std::uint32_t i : by_creation)
            scattered[i] =
                static_cast<double>(area(i)) * (1 + 7 * pseudorandom(static_cast<std::uint64_t>(t), i));
        improvable = attempt_by([&](std::uint32_t i) { return scattered[i]; }, true);
    }
    order_ = std::move(best);
}

// Repeatedly selects the value that fits lowest above those already placed; ties go to the first in `preferred`.
std::vector<std::uint32_t> Placement::skyline(const std::vector<std::uint32_t>& preferred,
                                              std::span<const std::uint64_t> bytes) const
{
    struct Candidate {
        std::uint32_t value;
        std::uint64_t lowest; // bytes
    };
    std::vector<Candidate> candidates;
    for (const std::uint32_t v : preferred) candidates.push_back({v, 0});
    std::vector<std::uint32_t> order;
    while (!candidates.empty()) {
        const auto next =
            std::min_element(candidates.begin(), candidates.end(),
                             [](const Candidate& a, const Candidate& b) { return a.lowest < b.lowest; });
        const Live live = live_[next->value];
        const std::uint64_t top = next->lowest + aligned(bytes[next->value]);
        order.push_back(next->value);
        candidates.erase(next);
        for (Candidate& c : candidates)
            if (live_[c.value].first <= live.last && live_[c.value].last >= live.first)
                c.lowest = std::max(c.lowest, top);
    }
    return order;
}

std::uint64_t Placement::fill(std::span<const std::uint64_t> bytes, std::uint64_t base, std::uint64_t window,
                              std::vector<std::uint64_t>& offsets) const
{
    offsets.assign(live_.size(), 0);
    std::vector<Allocation> placed; // lowest first
    placed.reserve(order_.size());
    // Below the first window's edge the divisions are skipped: they would dominate the run time.
    const std::uint64_t edge = window ? window - base % window : ~std::uint64_t{0};
    std::uint64_t size = 0;
    for (const std::uint32_t v : order_) {
        const std::uint64_t n = aligned(bytes[v]);
        if (n == 0) continue;
        const Live live = live_[v];
        const auto fitted = [&](std::uint64_t at) { // moves it past a window's edge that it would cross
            if (at + n <= edge || n > window) return at;
            const std::uint64_t first = base + at;
            return first / window == (first + n - 1) / window ? at : (first / window + 1) * window - base;
        };
        std::uint64_t at = fitted(0);
        for (const Allocation& p : placed) {
            // A single branch that is rarely taken: most allocations are dead or lie below.
            if (!((p.to > at) & (p.first <= live.last) & (p.last >= live.first))) continue;
            if (at + n <= p.from) break;
            at = fitted(p.to);
        }
        const auto above = std::find_if(placed.rbegin(), placed.rend(), [&](const Allocation& p) {
                               return p.from <= at;
                           }).base();
        placed.insert(above, {at, at + n, live.first, live.last});
        offsets[v] = at;
        size = std::max(size, at + n);
    }
    return size;
}

std::vector<std::uint64_t> live_at_launches(const Plan& plan, std::span<const std::uint64_t> bytes)
{
    const LaunchesByValue touched = launches_by_value(plan, touches);
    LiveBytes live(plan.launches.size());
    for (std::size_t v = 0; v < touched.size(); ++v)
        if (plan.values[v].place == Place::temporary && !touched[v].empty())
            live.add(touched[v].front(), touched[v].back(), aligned(bytes[v]));
    return live.sums();
}

std::uint64_t max_live_at_launch(const Plan& plan, std::span<const std::uint64_t> bytes)
{
    return max_of(live_at_launches(plan, bytes));
}

std::vector<std::uint64_t> typical_bytes(const Plan& plan, std::int64_t size)
{
    std::vector<std::uint64_t> bytes(plan.values.size(), 0);
    shape::DimProgram program; // of symbolic sizes
    std::vector<std::pair<std::size_t, shape::Slot>> symbolic;
    for (std::size_t v = 0; v < bytes.size(); ++v) {
        const Dim& n = plan.values[v].elements;
        if (n.is_constant()) bytes[v] = static_cast<std::uint64_t>(n.value()) * size_of(plan.values[v].dtype);
        else symbolic.emplace_back(v, program.add(n));
    }
    if (symbolic.empty()) return bytes;
    try {
        std::vector<std::int64_t> values;
        program.evaluate(program.legal_values(size), values);
        for (const auto& [v, slot] : symbolic)
            bytes[v] = static_cast<std::uint64_t>(std::max<std::int64_t>(values[slot], 0)) *
                       size_of(plan.values[v].dtype);
    } catch (const Error&) {
        std::fill(bytes.begin(), bytes.end(), 0);
    }
    return bytes;
}

std::vector<std::vector<std::uint64_t>> bytes_at_sizes(const Plan& plan)
{
    std::vector<std::vector<std::uint64_t>> out{typical_bytes(plan)};
    if (std::all_of(plan.values.begin(), plan.values.end(),
                    [](const PlanValue& v) { return v.elements.is_constant(); }))
        return out;
    for (const std::int64_t size : {7, 100, 1000})
        if (auto bytes = typical_bytes(plan, size); bytes != out.front()) out.push_back(std::move(bytes));
    const auto is_empty = [](const auto& bytes) {
        return std::all_of(bytes.begin(), bytes.end(), [](std::uint64_t n) { return n == 0; });
    };
    if (!std::all_of(out.begin(), out.end(), is_empty)) std::erase_if(out, is_empty);
    return out;
}

std::uint64_t Placement::lower_bound(std::span<const std::uint64_t> bytes) const
{
    LiveBytes live(std::size_t{epochs_} + 1);
    for (const std::uint32_t v : order_) live.add(live_[v].first, live_[v].last, aligned(bytes[v]));
    return max_of(live.sums());
}

} // namespace reprise::plan
