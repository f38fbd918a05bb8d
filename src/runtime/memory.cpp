#include <reprise/memory.hpp>

#include "eager/context.hpp"

namespace reprise {

std::uint64_t MemoryTracker::current() const { return device_.live_bytes(); }
std::uint64_t MemoryTracker::peak() const { return device_.peak_bytes(); }
void MemoryTracker::reset_peak() const { device_.context()->device()->reset_peak(); }

std::uint64_t MemoryTracker::saved() const
{
    std::uint64_t sum = 0;
    for (const auto& [layer, bytes] : device_.context()->recomputed_bytes()) sum += bytes;
    return sum;
}

std::uint64_t MemoryTracker::saved(const std::string& layer) const
{
    const auto all = saved_by_layer();
    const auto found = all.find(layer);
    return found == all.end() ? 0 : found->second;
}

std::map<std::string, std::uint64_t> MemoryTracker::saved_by_layer() const
{
    auto all = device_.context()->recomputed_bytes();
    all.erase(""); // checkpoints without a name
    return all;
}

std::vector<std::string> MemoryTracker::layers() const
{
    std::vector<std::string> names;
    for (const auto& [layer, bytes] : saved_by_layer()) names.push_back(layer);
    return names;
}

void set_memory_budget(std::optional<std::uint64_t> bytes, const Device& device)
{
    device.context()->set_memory_budget(bytes);
}

std::optional<std::uint64_t> memory_budget(const Device& device) { return device.context()->memory_budget(); }

} // namespace reprise
