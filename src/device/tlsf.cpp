#include "device/tlsf.hpp"
#include <algorithm>
#include <bit>
#include <reprise/error.hpp>

namespace reprise::device {

Tlsf::Tlsf(std::uint64_t bytes, std::uint64_t window)
    : total_(bytes / granule), free_(total_), window_(window / granule)
{
    heads_.fill(none);
    if (total_ > 0) {
        reserve_nodes();
        link(new_node(0, total_));
    }
}

// Sizes below 32 have a bin each; above, each power of two has 32 bins.
std::uint32_t Tlsf::bin_of(std::uint64_t size) noexcept
{
    if (size < subs) {
        return static_cast<std::uint32_t>(size);
    }
    const auto log = static_cast<std::uint32_t>(std::bit_width(size)) - 1;
    const auto sub = static_cast<std::uint32_t>(size >> (log - sub_bits)) & (subs - 1);
    return (log - sub_bits + 1) * subs + sub;
}

std::uint32_t Tlsf::bin_above(std::uint64_t size) noexcept
{
    if (size < subs) {
        return static_cast<std::uint32_t>(size);
    }
    const auto log = static_cast<std::uint32_t>(std::bit_width(size)) - 1;
    return bin_of(size + (std::uint64_t{1} << (log - sub_bits)) - 1);
}

std::uint32_t Tlsf::next_bin(std::uint32_t bin) const noexcept
{
    if (bin >= levels * subs) {
        return none;
    }
    const std::uint32_t level = bin / subs;
    const std::uint32_t here = sub_map_[level] & (~0u << (bin % subs));
    if (here != 0) {
        return level * subs + static_cast<std::uint32_t>(std::countr_zero(here));
    }
    const std::uint64_t above = level + 1 < 64 ? level_map_ & (~std::uint64_t{0} << (level + 1)) : 0;
    if (above == 0) {
        return none;
    }
    const auto found = static_cast<std::uint32_t>(std::countr_zero(above));
    return found * subs + static_cast<std::uint32_t>(std::countr_zero(sub_map_[found]));
}

std::optional<std::uint64_t> Tlsf::fit_offset(const Node& node, std::uint64_t size) const noexcept
{
    std::uint64_t start = node.offset;
    if (window_ != 0 && size <= window_ && start / window_ != (start + size - 1) / window_) {
        start = (start / window_ + 1) * window_;
    }
    if (start + size > node.offset + node.size) {
        return std::nullopt;
    }
    return start;
}

// A node in a bin >= `sure` is too small only if it lies across a window's edge, so the loop is short.
std::uint32_t Tlsf::find(std::uint64_t size, std::uint64_t& start) const noexcept
{
    const auto search = [&](std::uint32_t bin) {
        for (std::uint32_t n = heads_[bin]; n != none; n = nodes_[n].next) {
            if (const auto at = fit_offset(nodes_[n], size)) {
                start = *at;
                return n;
            }
        }
        return none;
    };
    const std::uint32_t sure = bin_above(size);
    for (std::uint32_t bin = next_bin(sure); bin != none; bin = next_bin(bin + 1)) {
        if (const std::uint32_t n = search(bin); n != none) {
            return n;
        }
    }
    const std::uint32_t own = bin_of(size); // its nodes may be large enough
    return own < sure ? search(own) : none;
}

std::optional<Tlsf::Range> Tlsf::allocate(std::uint64_t bytes)
{
    if (bytes > this->bytes()) {
        return std::nullopt;
    }
    const std::uint64_t size = std::max<std::uint64_t>((bytes + granule - 1) / granule, 1);
    std::uint64_t start = 0;
    std::uint32_t node = find(size, start);
    if (node == none) {
        return std::nullopt;
    }
    reserve_nodes();
    unlink(node);
    if (const std::uint64_t skipped = start - nodes_[node].offset; skipped > 0) {
        split(node, skipped);
        const std::uint32_t rest = nodes_[node].after;
        unlink(rest);
        link(node);
        node = rest;
    }
    if (nodes_[node].size > size) {
        split(node, size);
    }
    nodes_[node].free = false;
    free_ -= size;
    return Range{nodes_[node].offset * granule, size * granule, node};
}

void Tlsf::release(std::uint32_t node) noexcept
{
    free_ += nodes_[node].size;
    const std::uint32_t after = nodes_[node].after;
    if (after != none && nodes_[after].free) {
        unlink(after);
        merge_after(node);
    }
    const std::uint32_t before = nodes_[node].before;
    if (before != none && nodes_[before].free) {
        unlink(before);
        merge_after(before);
        node = before;
    }
    link(node);
}

std::uint64_t Tlsf::largest_free() const noexcept
{
    if (level_map_ == 0) {
        return 0;
    }
    const auto level = static_cast<std::uint32_t>(std::bit_width(level_map_)) - 1;
    const auto sub = static_cast<std::uint32_t>(std::bit_width(sub_map_[level])) - 1;
    std::uint64_t largest = 0;
    for (std::uint32_t n = heads_[level * subs + sub]; n != none; n = nodes_[n].next) {
        largest = std::max(largest, nodes_[n].size);
    }
    return largest * granule;
}

// One allocation creates at most two nodes.  They are allocated before anything changes, so that nothing can throw
// midway.
void Tlsf::reserve_nodes()
{
    while (spares_ < 2) {
        nodes_.push_back({0, 0, none, none, none, spare_, false});
        spare_ = static_cast<std::uint32_t>(nodes_.size() - 1);
        ++spares_;
    }
}

std::uint32_t Tlsf::new_node(std::uint64_t offset, std::uint64_t size) noexcept
{
    const std::uint32_t n = spare_;
    spare_ = nodes_[n].next;
    --spares_;
    nodes_[n] = {offset, size, none, none, none, none, false};
    return n;
}

void Tlsf::link(std::uint32_t n) noexcept
{
    const std::uint32_t bin = bin_of(nodes_[n].size);
    nodes_[n].free = true;
    nodes_[n].previous = none;
    nodes_[n].next = heads_[bin];
    if (heads_[bin] != none) {
        nodes_[heads_[bin]].previous = n;
    }
    heads_[bin] = n;
    sub_map_[bin / subs] |= 1u << (bin % subs);
    level_map_ |= std::uint64_t{1} << (bin / subs);
}

void Tlsf::unlink(std::uint32_t n) noexcept
{
    const Node& node = nodes_[n];
    if (node.next != none) {
        nodes_[node.next].previous = node.previous;
    }
    if (node.previous != none) {
        nodes_[node.previous].next = node.next;
        return;
    }
    const std::uint32_t bin = bin_of(node.size);
    heads_[bin] = node.next;
    if (node.next == none) {
        sub_map_[bin / subs] &= ~(1u << (bin % subs));
        if (sub_map_[bin / subs] == 0) {
            level_map_ &= ~(std::uint64_t{1} << (bin / subs));
        }
    }
}

void Tlsf::split(std::uint32_t n, std::uint64_t size) noexcept
{
    const std::uint32_t rest = new_node(nodes_[n].offset + size, nodes_[n].size - size);
    nodes_[rest].before = n;
    nodes_[rest].after = nodes_[n].after;
    if (nodes_[rest].after != none) {
        nodes_[nodes_[rest].after].before = rest;
    }
    nodes_[n].after = rest;
    nodes_[n].size = size;
    link(rest);
}

void Tlsf::merge_after(std::uint32_t n) noexcept
{
    const std::uint32_t gone = nodes_[n].after;
    nodes_[n].size += nodes_[gone].size;
    nodes_[n].after = nodes_[gone].after;
    if (nodes_[n].after != none) {
        nodes_[nodes_[n].after].before = n;
    }
    nodes_[gone].next = spare_;
    spare_ = gone;
    ++spares_;
}

void Tlsf::verify() const
{
    const auto require = [](bool holds, const char* what) {
        if (!holds) {
            reprise::detail::fail(ErrorKind::internal, "suballocator", "The lists are broken: ", what, ".");
        }
    };
    std::uint32_t first = none;
    std::uint64_t listed = 0, listed_nodes = 0;
    for (std::uint32_t bin = 0; bin < levels * subs; ++bin) {
        const bool marked = (sub_map_[bin / subs] >> (bin % subs) & 1) != 0;
        require(marked == (heads_[bin] != none), "a bin's bit");
        for (std::uint32_t n = heads_[bin]; n != none; n = nodes_[n].next) {
            require(nodes_[n].free && bin_of(nodes_[n].size) == bin, "a range in a wrong bin");
            listed += nodes_[n].size;
            ++listed_nodes;
            first = n;
        }
    }
    require(listed == free_, "the count of free bytes");
    if (first == none) {
        return;
    }
    while (nodes_[first].before != none) {
        first = nodes_[first].before;
    }
    std::uint64_t at = 0;
    bool was_free = false;
    for (std::uint32_t n = first; n != none; n = nodes_[n].after) {
        require(nodes_[n].offset == at && nodes_[n].size > 0, "a gap or an overlap");
        require(!(was_free && nodes_[n].free), "free neighbours");
        was_free = nodes_[n].free;
        listed_nodes -= was_free ? 1 : 0;
        at += nodes_[n].size;
    }
    require(at == total_ && listed_nodes == 0, "the end of the range");
}

} // namespace reprise::device
