// A pool that divides larger chunks of a driver's memory into slices: records, blocks, staging, readable memory.
// Thread-safe.
#pragma once
#include "device/device.hpp"
#include "device/retired.hpp"
#include "device/tlsf.hpp"
#include <functional>
#include <mutex>

namespace reprise::device {

class SlicePool;

// A range of memory with one owner.  Destroying it returns it to the pool, so the device must have finished with it.
class Slice {
public:
    explicit operator bool() const noexcept { return pool_ != nullptr; }
    std::byte* host() const noexcept { return host_; }    // null: not visible to the host
    Address address() const noexcept { return address_; } // device address
    std::uint64_t bytes() const noexcept { return bytes_; }
    std::uint64_t chunk() const noexcept { return handle_; }  // SlicePool::Chunk::handle
    std::uint64_t offset() const noexcept { return offset_; } // within the chunk

private:
    friend class SlicePool;
    struct GiveBack {
        std::uint32_t number, node; // index of the chunk; node of the range in it
        void operator()(SlicePool*) const noexcept;
    };
    std::unique_ptr<SlicePool, GiveBack> pool_; // not owned
    std::byte* host_ = nullptr;
    Address address_ = 0;
    std::uint64_t handle_ = 0, offset_ = 0, bytes_ = 0;
};

// A slice that the device may still be using.
struct RetiredSlice : Retired {
    explicit RetiredSlice(Slice s) : slice(std::move(s)) {}
    Slice slice;
};

class SlicePool {
public:
    // One allocation of the driver's memory.
    struct Chunk {
        Address address = 0;
        std::byte* host = nullptr;     // null: not visible to the host
        std::uint64_t handle = 0;      // the driver's handle, if it has one
        std::shared_ptr<void> owner{}; // frees it
    };
    using Source = std::function<Chunk(std::uint64_t bytes)>; // throws Error(out_of_memory)

    // A request that is larger than `chunk_bytes` gets a chunk of exactly its (rounded) size.
    SlicePool(Source source, std::uint64_t chunk_bytes)
        : source_(std::move(source)), chunk_bytes_(chunk_bytes)
    {}

    Slice allocate(std::uint64_t bytes); // 256-byte aligned in its chunk
    std::uint64_t reserved() const;      // bytes of all chunks

private:
    friend class Slice;
    struct OwnedChunk {
        Chunk chunk;
        Tlsf ranges; // offsets from the chunk's begin, in bytes
    };
    void release(std::uint32_t chunk, std::uint32_t node) noexcept;
    std::uint32_t add_chunk(std::uint64_t bytes);

    Source source_;
    std::uint64_t chunk_bytes_;
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<OwnedChunk>> chunks_; // null: freed
};

} // namespace reprise::device
