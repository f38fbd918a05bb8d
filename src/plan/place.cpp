#include "plan/place.hpp"

#include <algorithm>
#include <numeric>

#include <reprise/error.hpp>

#include "shape/program.hpp"

namespace reprise::plan {

namespace {

// The sum of what lives, from time to time.
class Living {
public:
    explicit Living(std::size_t times) : change_(times + 1, 0) {}
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
    std::vector<std::uint64_t> change_; // wraps
};

std::uint64_t most(const std::vector<std::uint64_t>& sums)
{
    return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

struct Placed {
    std::uint64_t from, to;    // bytes
    std::uint32_t first, last; // epochs
};

} // namespace

Placement::Placement(const Plan& plan, std::span<const std::uint64_t> bytes, int tries) : epochs_(plan.epochs)
{
    for (std::uint32_t i = 0; i < plan.values.size(); ++i) {
        const PlanValue& v = plan.values[i];
        live_.push_back({v.first, v.last});
        if (v.place == Place::temporary && v.first <= v.last) order_.push_back(i);
    }
    search(bytes, tries);
}

// The best of a few orders; and where that is above the bound, what lies topmost comes first in the next try.
void Placement::search(std::span<const std::uint64_t> bytes, int tries)
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
}

std::uint64_t Placement::fill(std::span<const std::uint64_t> bytes, std::uint64_t base, std::uint64_t window,
                              std::vector<std::uint64_t>& offsets) const
{
    offsets.assign(live_.size(), 0);
    std::vector<Placed> placed; // lowest first
    placed.reserve(order_.size());
    // Below the first window's edge nothing is divided: that takes longer than all else here.
    const std::uint64_t edge = window ? window - base % window : ~std::uint64_t{0};
    std::uint64_t size = 0;
    for (const std::uint32_t v : order_) {
        const std::uint64_t n = aligned(bytes[v]);
        if (n == 0) continue;
        const Live live = live_[v];
        const auto fitted = [&](std::uint64_t at) { // behind a window's edge where it would cross one
            if (at + n <= edge || n > window) return at;
            const std::uint64_t first = base + at;
            return first / window == (first + n - 1) / window ? at : (first / window + 1) * window - base;
        };
        std::uint64_t at = fitted(0);
        for (const Placed& p : placed) {
            // One branch that is seldom taken: most of what lies here is dead, or lies below.
            if (!((p.to > at) & (p.first <= live.last) & (p.last >= live.first))) continue;
            if (at + n <= p.from) break;
            at = fitted(p.to);
        }
        const auto above = std::find_if(placed.rbegin(), placed.rend(), [&](const Placed& p) {
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
    constexpr std::size_t never = ~std::size_t{0};
    std::vector<std::size_t> first(plan.values.size(), never), last(plan.values.size(), 0);
    for (std::size_t i = 0; i < plan.launches.size(); ++i)
        for (const PlanOperand& o : plan.launches[i].operands) {
            if (o.absent || plan.values[o.value].place != Place::temporary) continue;
            first[o.value] = std::min(first[o.value], i);
            last[o.value] = i;
        }
    Living live(plan.launches.size());
    for (std::size_t v = 0; v < first.size(); ++v)
        if (first[v] != never) live.add(first[v], last[v], aligned(bytes[v]));
    return live.sums();
}

std::uint64_t most_live_at_a_launch(const Plan& plan, std::span<const std::uint64_t> bytes)
{
    return most(live_at_launches(plan, bytes));
}

std::vector<std::uint64_t> typical_bytes(const Plan& plan)
{
    constexpr std::int64_t typical_size = 64;
    std::vector<std::uint64_t> bytes(plan.values.size(), 0);
    shape::DimProgram program; // of sizes that are no numbers
    std::vector<std::pair<std::size_t, shape::Slot>> open;
    for (std::size_t v = 0; v < bytes.size(); ++v) {
        const Dim& n = plan.values[v].elements;
        if (n.is_constant()) bytes[v] = static_cast<std::uint64_t>(n.value()) * size_of(plan.values[v].dtype);
        else open.emplace_back(v, program.add(n));
    }
    if (open.empty()) return bytes;
    try {
        std::vector<std::int64_t> values;
        program.evaluate(program.legal_values(typical_size), values);
        for (const auto& [v, slot] : open)
            bytes[v] = static_cast<std::uint64_t>(std::max<std::int64_t>(values[slot], 0)) *
                       size_of(plan.values[v].dtype);
    } catch (const Error&) {
        std::fill(bytes.begin(), bytes.end(), 0);
    }
    return bytes;
}

std::uint64_t Placement::lower_bound(std::span<const std::uint64_t> bytes) const
{
    Living live(std::size_t{epochs_} + 1);
    for (const std::uint32_t v : order_) live.add(live_[v].first, live_[v].last, aligned(bytes[v]));
    return most(live.sums());
}

} // namespace reprise::plan
