#include "counts.hpp"

#include <algorithm>

namespace reprise::simulator {

namespace {

constexpr std::uint32_t banks = 32, bank_bytes = 4;

// Calls f(first, last) with the range of active lanes in each subgroup that has one.
template <class F> void each_subgroup(const Lanes& lanes, std::uint32_t size, const F& f)
{
    const auto lane = [&](std::uint32_t i) { return lanes.count == lanes.size ? i : lanes.list[i]; };
    for (std::uint32_t first = 0; first < lanes.count;) {
        std::uint32_t last = first + 1;
        while (last < lanes.count && lane(last) / size == lane(first) / size) ++last;
        f(first, last);
        first = last;
    }
}

} // namespace

void KernelCounts::count_global(std::size_t number, const Access& access, std::uint64_t operand,
                                const Lanes& lanes, const std::vector<std::uint64_t>& addresses)
{
    const std::uint32_t bytes = access.bytes;
    GlobalCount& count = global_[number];
    count.operand = operand;
    count.bytes = bytes;
    count.stores = access.stores;
    for (std::size_t i = 0; i < counted_sizes.size(); ++i)
        each_subgroup(lanes, counted_sizes[i], [&](std::uint32_t first, std::uint32_t last) {
            sorted_.assign(addresses.begin() + first, addresses.begin() + last);
            if (!std::is_sorted(sorted_.begin(), sorted_.end())) std::sort(sorted_.begin(), sorted_.end());
            std::uint64_t end = 0, next_sector = 0, sectors = 0, distinct = 0;
            for (const std::uint64_t a : sorted_) {
                distinct += a + bytes - std::min(std::max(a, end), a + bytes);
                end = std::max(end, a + bytes);
                const std::uint64_t from = std::max(a / sector_bytes, next_sector);
                const std::uint64_t to = (a + bytes - 1) / sector_bytes + 1;
                if (to > from) sectors += to - from;
                next_sector = std::max(next_sector, to);
            }
            count.sectors[i] += sectors;
            count.least[i] += (distinct + sector_bytes - 1) / sector_bytes;
        });
}

// Subgroups of 64 take the cycles of two of 32.  Accesses of 8 or 16 bytes run for a half or a quarter of 32 lanes at a
// time, as one access of a workgroup's memory moves at most 128 bytes.
void KernelCounts::count_shared(std::size_t number, const Access& access, const Lanes& lanes,
                                const std::vector<std::uint64_t>& offsets)
{
    SharedCount& count = shared_[number];
    count.variable = access.begin;
    count.bytes = access.bytes;
    count.stores = access.stores;
    const std::uint32_t words = std::max((access.bytes + bank_bytes - 1) / bank_bytes, 1U);
    each_subgroup(lanes, banks / std::min(words, banks), [&](std::uint32_t first, std::uint32_t last) {
        words_.clear();
        for (std::uint32_t i = first; i < last; ++i)
            for (std::uint32_t w = 0; w < words; ++w) words_.push_back(offsets[i] / bank_bytes + w);
        std::sort(words_.begin(), words_.end());
        words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
        std::array<std::uint32_t, banks> of_bank{};
        for (const std::uint64_t w : words_) ++of_bank[w % banks];
        count.cycles += *std::ranges::max_element(of_bank);
        count.least += (words_.size() + banks - 1) / banks;
    });
}

void KernelCounts::count_steps(std::size_t steps, const Lanes& lanes)
{
    for (std::size_t i = 0; i < counted_sizes.size(); ++i)
        each_subgroup(lanes, counted_sizes[i], [&](std::uint32_t first, std::uint32_t last) {
            idle_.lanes[i] += steps * counted_sizes[i];
            idle_.idle[i] += steps * (counted_sizes[i] - (last - first));
        });
}

} // namespace reprise::simulator
