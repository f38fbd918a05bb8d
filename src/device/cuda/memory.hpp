// The device's memory in blocks, and slices of it and of pinned memory for what recordings and transfers need.
#pragma once
#include "device/block_memory.hpp"
#include "device/cuda/queue.hpp"
#include "device/tlsf.hpp"

namespace reprise::device::cuda {

BlockMemory::Source device_blocks(Context&, Queue&, std::uint64_t memory_bytes, std::string name);

class SlicePool;

// A range of shared memory, owned by one object and given back when destroyed: once the device has done with it.
class Slice {
public:
    Slice() = default;
    ~Slice() { reset(); }
    Slice(Slice&& other) noexcept { *this = std::move(other); }
    Slice& operator=(Slice&& other) noexcept;

    std::byte* host() const noexcept { return host_; }    // null: not the host's
    Address address() const noexcept { return address_; } // as the device sees it
    std::uint64_t bytes() const noexcept { return bytes_; }
    void reset() noexcept;

private:
    friend class SlicePool;
    SlicePool* pool_ = nullptr;
    std::byte* host_ = nullptr;
    Address address_ = 0;
    std::uint64_t bytes_ = 0;
    std::uint32_t chunk_ = 0, node_ = 0;
};

// Of pinned memory, which host and device see, or of the device's.  Thread-safe.
class SlicePool {
public:
    enum class Place : std::uint8_t { pinned, device };
    SlicePool(Context& context, Place place) : context_(context), place_(place) {}
    ~SlicePool();
    SlicePool(const SlicePool&) = delete;
    SlicePool& operator=(const SlicePool&) = delete;

    Slice allocate(std::uint64_t bytes); // 256-byte aligned

private:
    friend class Slice;
    struct Chunk {
        std::byte* host;
        Address address;
        Tlsf ranges; // in bytes from its begin
    };
    void release(std::uint32_t chunk, std::uint32_t node) noexcept;
    std::uint32_t add_chunk(std::uint64_t bytes);
    void allocate_chunk(Chunk&, std::uint64_t bytes);
    void free_chunk(std::unique_ptr<Chunk>&) noexcept;

    Context& context_;
    Place place_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Chunk>> chunks_; // null: given back to the driver
};

} // namespace reprise::device::cuda
