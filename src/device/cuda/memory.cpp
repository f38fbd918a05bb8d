#include "device/cuda/memory.hpp"
#include <algorithm>
#include <utility>

namespace reprise::device::cuda {

namespace {
constexpr std::uint64_t chunk_bytes = std::uint64_t{4} << 20;
} // namespace

BlockMemory::Source device_blocks(Context& context, Queue& queue, std::uint64_t memory_bytes,
                                  std::string name)
{
    BlockMemory::Source s;
    s.add = [&context](std::uint64_t bytes) {
        const Context::Current current(context);
        CUdeviceptr address = 0;
        context.check("", "cuMemAlloc", [&] { return context.driver.cuMemAlloc(&address, bytes); });
        return Address{address};
    };
    s.remove = [&context](Address block) {
        const Context::Current current(context);
        context.driver.cuMemFree(block);
    };
    s.drain = [&queue] {
        queue.wait(queue.submitted());
        queue.collect();
    };
    s.most = s.ceiling = memory_bytes;
    s.name = std::move(name);
    return s;
}

Slice& Slice::operator=(Slice&& other) noexcept
{
    if (this != &other) {
        reset();
        pool_ = std::exchange(other.pool_, nullptr);
        host_ = other.host_;
        address_ = other.address_;
        bytes_ = other.bytes_;
        chunk_ = other.chunk_;
        node_ = other.node_;
    }
    return *this;
}

void Slice::reset() noexcept
{
    if (pool_) std::exchange(pool_, nullptr)->release(chunk_, node_);
}

SlicePool::~SlicePool()
{
    for (auto& chunk : chunks_) free_chunk(chunk);
}

Slice SlicePool::allocate(std::uint64_t bytes)
{
    const std::lock_guard lock(mutex_);
    std::optional<Tlsf::Range> range;
    std::uint32_t at = 0;
    for (; at < chunks_.size(); ++at)
        if (chunks_[at] && (range = chunks_[at]->ranges.allocate(bytes))) break;
    if (!range) {
        at = add_chunk(bytes);
        range = chunks_[at]->ranges.allocate(bytes);
    }
    Slice p;
    p.pool_ = this;
    p.host_ = chunks_[at]->host ? chunks_[at]->host + range->offset : nullptr;
    p.address_ = chunks_[at]->address + range->offset;
    p.bytes_ = bytes;
    p.chunk_ = at;
    p.node_ = range->node;
    return p;
}

std::uint32_t SlicePool::add_chunk(std::uint64_t bytes)
{
    const std::uint64_t size =
        std::max(chunk_bytes, (bytes + Tlsf::granule - 1) / Tlsf::granule * Tlsf::granule);
    const auto gap = std::find(chunks_.begin(), chunks_.end(), nullptr);
    const auto at = static_cast<std::uint32_t>(gap - chunks_.begin());
    if (gap == chunks_.end()) chunks_.emplace_back();
    auto chunk = std::make_unique<Chunk>(Chunk{nullptr, 0, Tlsf(size)});
    allocate_chunk(*chunk, size);
    chunks_[at] = std::move(chunk);
    return at;
}

void SlicePool::allocate_chunk(Chunk& chunk, std::uint64_t bytes)
{
    const Driver& d = context_.driver;
    const Context::Current current(context_);
    CUdeviceptr address = 0;
    if (place_ == Place::device) {
        context_.check("", "cuMemAlloc", [&] { return d.cuMemAlloc(&address, bytes); });
        chunk.address = address;
        return;
    }
    void* host = nullptr;
    context_.check("", "cuMemHostAlloc", [&] {
        return d.cuMemHostAlloc(&host, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    });
    try {
        context_.check("", "cuMemHostGetDevicePointer",
                       [&] { return d.cuMemHostGetDevicePointer(&address, host, 0); });
    } catch (...) {
        d.cuMemFreeHost(host);
        throw;
    }
    chunk.host = static_cast<std::byte*>(host);
    chunk.address = address;
}

// One empty chunk of the usual size stays, so that a load that comes and goes asks the driver for nothing.
void SlicePool::release(std::uint32_t at, std::uint32_t node) noexcept
{
    const std::lock_guard lock(mutex_);
    chunks_[at]->ranges.release(node);
    if (!chunks_[at]->ranges.empty()) return;
    const auto spare = [&](const std::unique_ptr<Chunk>& c) {
        return c && c != chunks_[at] && c->ranges.empty() && c->ranges.bytes() <= chunk_bytes;
    };
    if (chunks_[at]->ranges.bytes() > chunk_bytes || std::any_of(chunks_.begin(), chunks_.end(), spare))
        free_chunk(chunks_[at]);
}

void SlicePool::free_chunk(std::unique_ptr<Chunk>& chunk) noexcept
{
    if (!chunk) return;
    const Context::Current current(context_);
    if (place_ == Place::device) context_.driver.cuMemFree(chunk->address);
    else context_.driver.cuMemFreeHost(chunk->host);
    chunk.reset();
}

} // namespace reprise::device::cuda
