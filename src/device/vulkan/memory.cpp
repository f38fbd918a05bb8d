#include "device/vulkan/memory.hpp"
#include <reprise/error.hpp>

namespace reprise::device::vulkan {

namespace {

DeviceMemory::Location whole(const Buffer& buffer)
{
    return {buffer.handle(), 0, buffer.bytes(), buffer.host(),
            (buffer.flags() & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0};
}

} // namespace

DeviceMemory::DeviceMemory(const LogicalDevice& device, const Slab& slab, std::uint64_t limit,
                           std::function<void()> drain)
    : device_(device),
      blocks_(further_blocks(std::move(drain), slab.buffer().memory_type()), limit, slab.buffer().address(),
              slab.buffer().bytes(), slab.has_windows() ? window_bytes : 0)
{
    locations_[slab.buffer().address()] = whole(slab.buffer());
}

BlockMemory::Source DeviceMemory::further_blocks(std::function<void()> drain, std::uint32_t type)
{
    return {.add = [this](std::uint64_t bytes) { return add_buffer(bytes); },
            .remove = [this](Address block) { remove_buffer(block); },
            .drain = std::move(drain),
            .max_block = device_.physical().v11.maxMemoryAllocationSize,
            .ceiling = device_.physical().heap_bytes(),
            .name = device_.physical().properties.deviceName,
            .available = device_.physical().memory_budget
                             ? std::function([this, type] { return device_.available_bytes(type); })
                             : nullptr};
}

SubAllocator::Allocation DeviceMemory::allocate(std::uint64_t bytes)
{
    device_.health.require_alive("allocate");
    return blocks_.allocate(bytes);
}

Address DeviceMemory::add_buffer(std::uint64_t bytes)
{
    auto buffer = std::make_unique<Buffer>(device_, bytes, MemoryUse::device, "reprise block");
    const Address address = buffer->address();
    const std::unique_lock lock(mutex_);
    const auto owned = buffers_.emplace(address, std::move(buffer)).first;
    try {
        locations_[address] = whole(*owned->second);
    } catch (...) {
        buffers_.erase(owned);
        throw;
    }
    return address;
}

void DeviceMemory::remove_buffer(Address block) noexcept
{
    std::unique_ptr<Buffer> gone; // destroyed after the lock is released
    const std::unique_lock lock(mutex_);
    locations_.erase(block);
    const auto at = buffers_.find(block);
    gone = std::move(at->second);
    buffers_.erase(at);
}

void DeviceMemory::add_location(Address address, const Location& location)
{
    const std::unique_lock lock(mutex_);
    ++added_[address];
    Location& known = locations_[address];
    if (known.bytes < location.bytes)
        known = location; // ranges of one buffer, whose size may be given as less
}

void DeviceMemory::remove_location(Address address) noexcept
{
    const std::unique_lock lock(mutex_);
    const auto found = added_.find(address);
    if (--found->second > 0) return;
    added_.erase(found);
    locations_.erase(address);
}

DeviceMemory::Location DeviceMemory::locate(Address address, std::uint64_t bytes) const
{
    const std::shared_lock lock(mutex_);
    auto at = locations_.upper_bound(address);
    if (at != locations_.begin()) {
        --at;
        const Location& location = at->second;
        const std::uint64_t within = address - at->first;
        if (within <= location.bytes && bytes <= location.bytes - within) {
            return {location.buffer, location.offset + within, location.bytes - within,
                    location.host ? location.host + within : nullptr, location.host_cached};
        }
    }
    reprise::detail::fail(ErrorKind::internal, "device", "The (", bytes, ") bytes at address (", address,
                          ") lie in no block of the device.");
}

} // namespace reprise::device::vulkan
