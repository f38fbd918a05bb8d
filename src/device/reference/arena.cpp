#include "device/reference/arena.hpp"
#include "device/suballocator.hpp"
#include <algorithm>
#include <cstring>
#include <new>
#include <reprise/error.hpp>

namespace reprise::device {

namespace {

constexpr std::uint64_t alignment = 256;
constexpr std::uint64_t canary_bytes = 256; // before and after each allocation
constexpr std::byte canary{0xC5};
constexpr int poison_byte = 0xFF; // NaN in every floating-point format

// Tensors are padded to 16 bytes: kernels may write whole 16-byte words.
std::uint64_t padded(std::uint64_t bytes) { return (bytes + 15) / 16 * 16; }

std::byte* pointer(Address address)
{
    return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address));
}

} // namespace

Address HostArena::allocate(std::uint64_t bytes)
{
    const std::uint64_t taken = SubAllocator::rounded(bytes);
    const std::lock_guard lock(mutex_);
    if (taken > limit_ || live_bytes_ > limit_ - taken) {
        fail_out_of_memory(bytes,
                           {limit_, live_bytes_, peak_bytes_, live_bytes_,
                            limit_ - std::min(limit_, live_bytes_), allocations_},
                           "the reference device");
    }
    Block block{nullptr, bytes, taken};
    try {
        block.storage = std::make_unique_for_overwrite<std::byte[]>(taken + 2 * canary_bytes + alignment);
    } catch (const std::bad_alloc&) {
        fail_out_of_memory(bytes, {limit_, live_bytes_, peak_bytes_, live_bytes_, 0, allocations_},
                           "the host");
    }
    const auto start = reinterpret_cast<std::uintptr_t>(block.storage.get()) + canary_bytes;
    const Address address = (start + alignment - 1) / alignment * alignment;
    std::memset(pointer(address - canary_bytes), static_cast<int>(canary), canary_bytes);
    std::memset(pointer(address + padded(bytes)), static_cast<int>(canary),
                taken - padded(bytes) + canary_bytes);
    std::memset(pointer(address), poison_byte, padded(bytes));
    live_.emplace(address, std::move(block));
    live_bytes_ += taken;
    peak_bytes_ = std::max(peak_bytes_, live_bytes_);
    ++allocations_;
    return address;
}

void HostArena::release(Address address) noexcept
{
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(address);
    note_corruption(address, found->second);
    std::memset(pointer(address), poison_byte, found->second.bytes);
    live_bytes_ -= found->second.taken;
    live_.erase(found);
}

bool HostArena::canaries_intact(Address address, const Block& block) noexcept
{
    const auto live = [](const std::byte* from, const std::byte* to) {
        return std::all_of(from, to, [](std::byte b) { return b == canary; });
    };
    return live(pointer(address - canary_bytes), pointer(address)) &&
           live(pointer(address + padded(block.bytes)), pointer(address + block.taken + canary_bytes));
}

void HostArena::note_corruption(Address address, const Block& block) noexcept
{
    if (!broken_ && !canaries_intact(address, block)) {
        broken_ = true;
        broken_bytes_ = block.bytes;
    }
}

bool HostArena::holds(Address address, std::uint64_t bytes) const
{
    const std::lock_guard lock(mutex_);
    auto at = live_.upper_bound(address);
    if (at == live_.begin()) {
        return false;
    }
    --at;
    const std::uint64_t size = padded(at->second.bytes), within = address - at->first;
    return within <= size && bytes <= size - within;
}

void HostArena::check()
{
    const std::lock_guard lock(mutex_);
    for (const auto& [address, block] : live_) {
        note_corruption(address, block);
    }
    if (broken_) {
        broken_ = false;
        reprise::detail::fail(ErrorKind::internal, "reference device",
                              "A kernel has written beside an allocation of (", broken_bytes_, ") bytes.");
    }
}

void HostArena::set_limit(std::uint64_t bytes)
{
    const std::lock_guard lock(mutex_);
    limit_ = bytes;
}

void HostArena::reset_peak()
{
    const std::lock_guard lock(mutex_);
    peak_bytes_ = live_bytes_;
}

void HostArena::fill(Counters& c) const
{
    const std::lock_guard lock(mutex_);
    c.live_bytes = live_bytes_;
    c.peak_bytes = peak_bytes_;
    c.allocations = allocations_;
    c.memory_limit = limit_;
}

} // namespace reprise::device
