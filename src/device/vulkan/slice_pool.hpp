// Slices of shared buffers: parameter records, blocks, staging, readable memory.  Thread-safe.
#pragma once
#include "device/tlsf.hpp"
#include "device/vulkan/buffer.hpp"
#include <mutex>

namespace reprise::device::vulkan {

class SlicePool;

// Owned by one object, given back when destroyed.
class Slice {
public:
    Slice() = default;
    ~Slice() { reset(); }
    Slice(Slice&& other) noexcept { *this = std::move(other); }
    Slice& operator=(Slice&& other) noexcept;

    explicit operator bool() const noexcept { return pool_ != nullptr; }
    VkBuffer buffer() const noexcept { return buffer_; }
    std::uint64_t offset() const noexcept { return offset_; }
    Address address() const noexcept { return address_; }
    std::byte* host() const noexcept { return host_; }
    std::uint64_t bytes() const noexcept { return bytes_; }
    void reset() noexcept;

private:
    friend class SlicePool;
    SlicePool* pool_ = nullptr;
    VkBuffer buffer_ = VK_NULL_HANDLE;
    std::uint64_t offset_ = 0, bytes_ = 0;
    Address address_ = 0;
    std::byte* host_ = nullptr;
    std::uint32_t chunk_ = 0, node_ = 0;
};

class SlicePool {
public:
    // `chunk_bytes`: of one buffer; a larger request gets a buffer of its own size.
    SlicePool(const LogicalDevice& device, MemoryUse use, std::uint64_t chunk_bytes, std::string name)
        : device_(device), use_(use), chunk_bytes_(chunk_bytes), name_(std::move(name))
    {}

    Slice allocate(std::uint64_t bytes); // 256-byte aligned in its buffer
    std::uint64_t reserved() const;      // bytes of all chunks

private:
    friend class Slice;
    struct Chunk {
        Buffer buffer;
        Tlsf ranges;
    };
    void release(std::uint32_t chunk, std::uint32_t node) noexcept;
    std::uint32_t add_chunk(std::uint64_t bytes);

    const LogicalDevice& device_;
    MemoryUse use_;
    std::uint64_t chunk_bytes_;
    std::string name_;
    mutable std::mutex mutex_;
    std::vector<std::unique_ptr<Chunk>> chunks_; // null: given back to the driver
};

} // namespace reprise::device::vulkan
