#include "launch.hpp"

#include <algorithm>

#include "device/vulkan/parameters.hpp"
#include "group.hpp"

namespace reprise::simulator {

namespace {

Region region_of(const device::Operand& operand, device::Access access)
{
    const std::uint64_t before = operand.address % 4, begin = operand.address - before;
    const std::uint64_t end = (operand.address + operand.bytes + 15) / 16 * 16;
    return {.begin = begin,
            .bytes = operand.bytes == 0 ? 0 : end - begin,
            .before = before,
            .reads = access != device::Access::write,
            .writes = access != device::Access::read};
}

// The workgroups to run: all, or equally many from the start, the middle and the end.
std::vector<std::uint64_t> chosen_groups(std::uint64_t groups, std::uint64_t all, std::uint32_t sampled)
{
    std::vector<std::uint64_t> chosen;
    if (sampled == 0 || groups <= sampled) {
        for (std::uint64_t g = 0; g < all; ++g) chosen.push_back(g);
        return chosen;
    }
    for (std::uint64_t i = 0; i < sampled; ++i) {
        const std::uint64_t third = i * 3 / sampled, within = i - (third * sampled + 2) / 3;
        const std::uint64_t part = (sampled + 2) / 3;
        const std::uint64_t first = third == 0   ? 0
                                    : third == 1 ? groups / 2
                                                 : groups - std::min<std::uint64_t>(part, groups);
        chosen.push_back(std::min(first + within, groups - 1));
    }
    std::ranges::sort(chosen);
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    return chosen;
}

} // namespace

Launch::Launch(Program& program, std::span<const device::Access> access,
               std::span<const device::Operand> operands, std::span<const std::byte> record,
               std::uint64_t groups, const Options& options, KernelCounts* counts)
    : program_(program), options_(options), counts_(counts), groups_(groups)
{
    regions_.emplace_back();
    for (std::size_t i = 0; i < operands.size(); ++i) regions_.push_back(region_of(operands[i], access[i]));
    regions_.push_back({.begin = reinterpret_cast<std::uintptr_t>(record.data()), .bytes = record.size()});
    const device::vulkan::Grid grid = device::vulkan::fold(groups);
    width_ = grid.x;
    height_ = grid.y;
    if (options.checks_races && options.sampled_groups == 0) find_races();
}

// Operands may overlap, so those that do share their notes.
void Launch::find_races()
{
    std::vector<Region*> order;
    for (std::size_t i = 1; i + 1 < regions_.size(); ++i)
        if (regions_[i].bytes > 0 && regions_[i].begin != 0) order.push_back(&regions_[i]);
    std::ranges::sort(order, {}, &Region::begin);
    for (std::size_t first = 0; first < order.size();) {
        std::size_t last = first;
        std::uint64_t end = order[first]->begin;
        bool writes = false;
        for (; last < order.size() && (last == first || order[last]->begin < end); ++last) {
            end = std::max(end, order[last]->begin + order[last]->bytes);
            writes |= order[last]->writes;
        }
        if (writes) {
            races_.push_back(
                std::make_unique<GlobalRaces::Words>((end - order[first]->begin) / program_.unit + 2));
            for (std::size_t i = first; i < last; ++i) {
                order[i]->races = races_.back().get();
                order[i]->races_offset = order[i]->begin - order[first]->begin;
            }
        }
        first = last;
    }
}

std::string Launch::describe(const Region& region) const
{
    const auto number = static_cast<std::size_t>(&region - regions_.data());
    const std::string name =
        number == record_number() ? "the record" : "operand " + std::to_string(number - 1);
    return name + " (" + std::to_string(region.bytes) + " bytes)";
}

void Launch::run()
{
    std::vector<std::uint64_t> groups =
        chosen_groups(groups_, std::uint64_t{width_} * height_, options_.sampled_groups);
    if (options_.reverses) std::ranges::reverse(groups);
    Group group(*this);
    for (const std::uint64_t g : groups)
        group.run(static_cast<std::uint32_t>(g % width_), static_cast<std::uint32_t>(g / width_));
}

} // namespace reprise::simulator
