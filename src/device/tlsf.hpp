// Two-level segregated fit over one range of offsets.  It only does the bookkeeping and touches no memory.  Allocation
// and release take constant time (Masmano et al., "TLSF", 2004); adjacent free ranges are coalesced.  Not thread-safe.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace reprise::device {

class Tlsf {
public:
    static constexpr std::uint64_t granule = 256; // bytes; all offsets and sizes are multiples of it

    struct Range {
        std::uint64_t offset;
        std::uint64_t bytes; // rounded up to the granule
        std::uint32_t node;  // for release()
    };

    // A range of up to `window` bytes never crosses a multiple of `window`, a multiple of the granule; 0: no limit.
    explicit Tlsf(std::uint64_t bytes, std::uint64_t window = 0);

    std::optional<Range> allocate(std::uint64_t bytes); // 0 bytes take one granule
    void release(std::uint32_t node) noexcept;

    std::uint64_t bytes() const noexcept { return total_ * granule; }
    std::uint64_t free_bytes() const noexcept { return free_ * granule; }
    bool empty() const noexcept { return free_ == total_; }
    std::uint64_t largest_free() const noexcept; // bytes
    // Checks all nodes and lists; throws Error(internal) if they are inconsistent.
    void verify() const;

private:
    static constexpr std::uint32_t none = 0xFFFFFFFFu;
    static constexpr std::uint32_t sub_bits = 5, subs = 1u << sub_bits, levels = 40;

    struct Node { // sizes and offsets in granules
        std::uint64_t offset, size;
        std::uint32_t before, after;  // adjacent nodes, by offset
        std::uint32_t previous, next; // in the free list of its bin
        bool free;
    };

    static std::uint32_t bin_of(std::uint64_t size) noexcept;
    static std::uint32_t bin_above(std::uint64_t size) noexcept; // nodes in it and above have at least `size`
    std::uint32_t next_bin(std::uint32_t bin) const noexcept;    // first bin from `bin` on that is not empty
    // The first offset in the node at which `size` fits without crossing a window's edge.
    std::optional<std::uint64_t> fit_offset(const Node&, std::uint64_t size) const noexcept;
    std::uint32_t find(std::uint64_t size, std::uint64_t& start) const noexcept;
    void reserve_nodes();
    std::uint32_t new_node(std::uint64_t offset, std::uint64_t size) noexcept;
    void link(std::uint32_t) noexcept;
    void unlink(std::uint32_t) noexcept;
    void split(std::uint32_t node, std::uint64_t size) noexcept; // the rest becomes a free node after it
    void merge_after(std::uint32_t node) noexcept;

    std::uint64_t total_, free_, window_;
    std::vector<Node> nodes_;
    std::uint32_t spare_ = none; // list of unused nodes, through `next`
    std::uint32_t spares_ = 0;
    std::uint64_t level_map_ = 0;
    std::array<std::uint32_t, levels> sub_map_{};
    std::array<std::uint32_t, levels * subs> heads_;
};

} // namespace reprise::device
