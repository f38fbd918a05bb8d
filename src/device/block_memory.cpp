#include "device/block_memory.hpp"
#include "base/log.hpp"
#include <algorithm>
#include <reprise/error.hpp>
#include <utility>

namespace reprise::device {

namespace {
constexpr std::uint64_t smallest_block = std::uint64_t{64} << 20;
constexpr std::uint64_t largest_block = std::uint64_t{2} << 30; // a larger request gets its own size
} // namespace

BlockMemory::BlockMemory(Source source, std::uint64_t limit, Address first, std::uint64_t bytes,
                         std::uint64_t window)
    : BlockMemory(std::move(source), limit)
{
    ranges_.add_block(first, bytes, window);
    blocks_.push_back(0);
    reprise::detail::log(LogLevel::debug, "Allocated a block of ", format_bytes(bytes), " on ", source_.name,
                         ".");
}

BlockMemory::~BlockMemory()
{
    for (const auto* list : {&blocks_, &removed_})
        for (const Address block : *list)
            if (block != 0) source_.remove(block);
}

SubAllocator::Allocation BlockMemory::allocate(std::uint64_t bytes)
{
    auto result = ranges_.allocate(bytes);
    if (const auto* refusal = std::get_if<SubAllocator::Refusal>(&result);
        refusal && *refusal == SubAllocator::Refusal::room) {
        const std::lock_guard lock(growth_);
        result = ranges_.allocate(bytes); // another thread may have added a block
        while (std::get_if<SubAllocator::Refusal>(&result) && grow(SubAllocator::rounded(bytes)))
            result = ranges_.allocate(bytes);
    }
    if (const auto* allocation = std::get_if<SubAllocator::Allocation>(&result)) return *allocation;
    fail_out_of_memory(bytes, ranges_.usage(), source_.name);
}

// A new block is as large as all blocks so far (64 MiB to 2 GiB), so their number stays small.  If the driver refuses
// it, smaller ones are tried.
bool BlockMemory::grow(std::uint64_t bytes)
{
    const SubAllocator::Usage usage = ranges_.usage();
    if (bytes > source_.max_block || bytes > usage.limit || usage.live > usage.limit - bytes) return false;
    require_available(bytes);
    const std::uint64_t ceiling = std::max(usage.limit, source_.ceiling);
    bool trimmed = usage.reserved + bytes > ceiling;
    if (trimmed) trim();
    const std::uint64_t left = std::min(ceiling - std::min(ceiling, ranges_.usage().reserved), available());
    std::uint64_t size = std::clamp(usage.reserved, smallest_block, largest_block);
    size = std::max(std::min({size, source_.max_block, left}), bytes);
    for (;;) {
        try {
            add_block(size);
            return true;
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::out_of_memory || (size == bytes && trimmed)) throw;
        }
        if (size == bytes) {
            trim();
            trimmed = true;
        }
        size = std::max(size / 2 / Tlsf::granule * Tlsf::granule, bytes);
    }
}

std::uint64_t BlockMemory::available() const
{
    return source_.available ? source_.available() : ~std::uint64_t{0};
}

// Drivers may give more than they estimate to be left, and then move memory of other programs, or this one's, to the
// host, which makes all of them slow.
void BlockMemory::require_available(std::uint64_t bytes)
{
    if (bytes <= available()) return;
    trim();
    if (const std::uint64_t left = available(); bytes > left)
        reprise::detail::fail(
            ErrorKind::out_of_memory, "allocate", "The driver of ", source_.name, " estimates that (",
            format_bytes(left), ") are left for this process, but (", format_bytes(bytes),
            ") are needed: close other programs that use the device, drop tensors that are not "
            "needed, use smaller batches or checkpoint().");
}

void BlockMemory::add_block(std::uint64_t bytes)
{
    blocks_.emplace_back(0); // reserves an entry, for any number that add_block() may return
    const Address block = source_.add(bytes);
    try {
        blocks_[ranges_.add_block(block, bytes, 0)] = block;
        reprise::detail::log(LogLevel::debug, "Allocated a block of ", format_bytes(bytes), " on ",
                             source_.name, ".");
    } catch (...) {
        source_.remove(block);
        throw;
    }
}

void BlockMemory::trim()
{
    const std::vector<std::uint32_t> empty = ranges_.remove_empty_blocks();
    if (empty.empty()) return;
    removed_.reserve(removed_.size() + empty.size()); // so that no block is lost
    for (const std::uint32_t block : empty) removed_.push_back(std::exchange(blocks_[block], 0));
    source_.drain(); // work in flight may use freed memory; if this throws, the blocks stay
    for (const Address block : removed_) source_.remove(block);
    reprise::detail::log(LogLevel::debug, "Freed empty blocks of ", source_.name, ": ", removed_.size(), ".");
    removed_.clear();
}

} // namespace reprise::device
