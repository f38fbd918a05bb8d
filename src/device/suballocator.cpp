#include "device/suballocator.hpp"
#include <algorithm>
#include <array>
#include <iomanip>
#include <reprise/error.hpp>
#include <sstream>

namespace reprise::device {

std::uint32_t SubAllocator::add_block(Address base, std::uint64_t bytes, std::uint64_t window)
{
    auto ranges = std::make_unique<Tlsf>(bytes, window);
    const std::lock_guard lock(mutex_);
    const auto gap = std::find_if(blocks_.begin(), blocks_.end(), [](const Block& b) { return !b.ranges; });
    const auto number = static_cast<std::uint32_t>(gap - blocks_.begin());
    if (gap == blocks_.end()) {
        blocks_.push_back({base, std::move(ranges)});
    } else {
        *gap = {base, std::move(ranges)};
    }
    return number;
}

std::vector<std::uint32_t> SubAllocator::remove_empty_blocks()
{
    const std::lock_guard lock(mutex_);
    std::vector<std::uint32_t> removed;
    for (std::uint32_t i = 1; i < blocks_.size(); ++i) {
        if (blocks_[i].ranges && blocks_[i].ranges->empty()) {
            removed.push_back(i);
            blocks_[i].ranges.reset();
        }
    }
    return removed;
}

std::uint64_t SubAllocator::rounded(std::uint64_t bytes)
{
    if (bytes > ~std::uint64_t{0} - Tlsf::granule) {
        return ~std::uint64_t{0};
    }
    return std::max<std::uint64_t>((bytes + Tlsf::granule - 1) / Tlsf::granule, 1) * Tlsf::granule;
}

std::variant<SubAllocator::Allocation, SubAllocator::Refusal> SubAllocator::allocate(std::uint64_t bytes)
{
    const std::uint64_t size = rounded(bytes);
    const std::lock_guard lock(mutex_);
    if (size > limit_ || live_ > limit_ - size) {
        return Refusal::limit;
    }
    for (std::uint32_t i = 0; i < blocks_.size(); ++i) {
        if (!blocks_[i].ranges || blocks_[i].ranges->free_bytes() < size) {
            continue;
        }
        if (const auto range = blocks_[i].ranges->allocate(size)) {
            live_ += size;
            peak_ = std::max(peak_, live_);
            ++allocations_;
            return Allocation{blocks_[i].base + range->offset, size, i, range->node};
        }
    }
    return Refusal::room;
}

void SubAllocator::release(const Allocation& a) noexcept
{
    const std::lock_guard lock(mutex_);
    blocks_[a.block].ranges->release(a.node);
    live_ -= a.bytes;
}

void SubAllocator::set_limit(std::uint64_t bytes)
{
    const std::lock_guard lock(mutex_);
    limit_ = bytes;
}

void SubAllocator::reset_peak()
{
    const std::lock_guard lock(mutex_);
    peak_ = live_;
}

SubAllocator::Usage SubAllocator::usage() const
{
    const std::lock_guard lock(mutex_);
    Usage u{limit_, live_, peak_, 0, 0, allocations_};
    for (const Block& block : blocks_) {
        if (block.ranges) {
            u.reserved += block.ranges->bytes();
            u.largest_free = std::max(u.largest_free, block.ranges->largest_free());
        }
    }
    return u;
}

void SubAllocator::verify() const
{
    const std::lock_guard lock(mutex_);
    std::uint64_t used = 0;
    for (const Block& block : blocks_) {
        if (block.ranges) {
            block.ranges->verify();
            used += block.ranges->bytes() - block.ranges->free_bytes();
        }
    }
    if (used != live_) {
        reprise::detail::fail(ErrorKind::internal, "suballocator", "The blocks hold (", used,
                              ") bytes and the count says (", live_, ").");
    }
}

std::string format_bytes(std::uint64_t bytes)
{
    static constexpr std::array<const char*, 5> units{"bytes", "KiB", "MiB", "GiB", "TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    std::ostringstream text;
    const bool whole = value == static_cast<double>(static_cast<std::uint64_t>(value));
    text << std::fixed << std::setprecision(whole ? 0 : 2) << value << ' ' << units[unit];
    return text.str();
}

void fail_out_of_memory(std::uint64_t asked, const SubAllocator::Usage& u, const std::string& device)
{
    reprise::detail::fail(ErrorKind::out_of_memory, "allocate", "The memory of ", device, " does not hold (",
                          format_bytes(asked), ") more: (", format_bytes(u.live), ") of the limit of (",
                          format_bytes(u.limit), ") are in use, and the largest free piece has (",
                          format_bytes(u.largest_free),
                          "). Drop tensors that are not needed, use smaller "
                          "batches or checkpoint(), or raise the limit.");
}

} // namespace reprise::device
