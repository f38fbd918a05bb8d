#include "device/vulkan/memory.hpp"
#include <algorithm>
#include <reprise/error.hpp>

namespace reprise::device::vulkan {

namespace {

constexpr std::uint64_t smallest_block = std::uint64_t{64} << 20;
constexpr std::uint64_t largest_block = std::uint64_t{2} << 30; // but for a request that is larger

DeviceMemory::Place whole(const Buffer& buffer)
{
    return {buffer.handle(), 0, buffer.bytes(), buffer.host(),
            (buffer.flags() & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0};
}

} // namespace

DeviceMemory::DeviceMemory(const LogicalDevice& device, const Slab& slab, std::uint64_t limit,
                           std::function<void()> drain)
    : device_(device), drain_(std::move(drain)), ranges_(limit), further_(1)
{
    const Buffer& buffer = slab.buffer();
    ranges_.add_block(buffer.address(), buffer.bytes(), slab.has_windows() ? window_bytes : 0);
    places_[buffer.address()] = whole(buffer);
}

SubAllocator::Allocation DeviceMemory::allocate(std::uint64_t bytes)
{
    device_.health.require_alive("allocate");
    auto result = ranges_.allocate(bytes);
    if (const auto* refusal = std::get_if<SubAllocator::Refusal>(&result);
        refusal && *refusal == SubAllocator::Refusal::room) {
        const std::lock_guard lock(growth_);
        result = ranges_.allocate(bytes); // another thread may have made room
        while (std::get_if<SubAllocator::Refusal>(&result) && grow(SubAllocator::rounded(bytes))) {
            result = ranges_.allocate(bytes);
        }
    }
    if (const auto* allocation = std::get_if<SubAllocator::Allocation>(&result)) {
        return *allocation;
    }
    fail_out_of_memory(bytes, ranges_.usage(), device_.physical().properties.deviceName);
}

// Blocks grow with what is in use, so their number stays small; a driver that refuses one is asked for less.
bool DeviceMemory::grow(std::uint64_t bytes)
{
    const SubAllocator::Usage usage = ranges_.usage();
    const std::uint64_t most = device_.physical().v11.maxMemoryAllocationSize;
    if (bytes > most || bytes > usage.limit || usage.live > usage.limit - bytes) {
        return false;
    }
    const std::uint64_t ceiling = std::max(usage.limit, device_.physical().heap_bytes());
    bool trimmed = usage.reserved + bytes > ceiling;
    if (trimmed) {
        trim();
    }
    const std::uint64_t left = ceiling - std::min(ceiling, ranges_.usage().reserved);
    std::uint64_t size = std::clamp(usage.reserved, smallest_block, largest_block);
    size = std::max(std::min({size, most, left}), bytes);
    for (;;) {
        try {
            add_block(size);
            return true;
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::out_of_memory || (size == bytes && trimmed)) {
                throw;
            }
        }
        if (size == bytes) {
            trim();
            trimmed = true;
        }
        size = std::max(size / 2 / Tlsf::granule * Tlsf::granule, bytes);
    }
}

void DeviceMemory::add_block(std::uint64_t bytes)
{
    auto buffer = std::make_unique<Buffer>(device_, bytes, MemoryUse::device, "reprise block");
    const std::unique_lock lock(mutex_);
    further_.emplace_back(); // room for one more number, whichever it is
    const auto place = places_.emplace(buffer->address(), whole(*buffer)).first;
    try {
        further_[ranges_.add_block(buffer->address(), bytes, 0)] = std::move(buffer);
    } catch (...) {
        places_.erase(place);
        throw;
    }
}

void DeviceMemory::trim()
{
    const std::vector<std::uint32_t> empty = ranges_.remove_empty_blocks();
    if (empty.empty()) {
        return;
    }
    {
        const std::unique_lock lock(mutex_);
        for (const std::uint32_t block : empty) {
            places_.erase(further_[block]->address());
            removed_.push_back(std::move(further_[block]));
        }
    }
    drain_(); // work in flight may still use what the host has freed; where this throws, they wait
    removed_.clear();
}

void DeviceMemory::add_place(Address address, const Place& place)
{
    const std::unique_lock lock(mutex_);
    places_[address] = place;
}

void DeviceMemory::remove_place(Address address) noexcept
{
    const std::unique_lock lock(mutex_);
    places_.erase(address);
}

DeviceMemory::Place DeviceMemory::locate(Address address, std::uint64_t bytes) const
{
    const std::shared_lock lock(mutex_);
    auto at = places_.upper_bound(address);
    if (at != places_.begin()) {
        --at;
        const Place& place = at->second;
        const std::uint64_t within = address - at->first;
        if (within <= place.bytes && bytes <= place.bytes - within) {
            return {place.buffer, place.offset + within, place.bytes - within,
                    place.host ? place.host + within : nullptr, place.host_cached};
        }
    }
    reprise::detail::fail(ErrorKind::internal, "device", "The (", bytes, ") bytes at address (", address,
                          ") lie in no block of the device.");
}

} // namespace reprise::device::vulkan
