#include "device/slice_pool.hpp"
#include <algorithm>

namespace reprise::device {

void Slice::GiveBack::operator()(SlicePool* pool) const noexcept { pool->release(number, node); }

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
    const Chunk& chunk = chunks_[at]->chunk;
    Slice slice;
    slice.pool_ = {this, {at, range->node}};
    slice.host_ = chunk.host ? chunk.host + range->offset : nullptr;
    slice.address_ = chunk.address + range->offset;
    slice.handle_ = chunk.handle;
    slice.offset_ = range->offset;
    slice.bytes_ = bytes;
    return slice;
}

std::uint32_t SlicePool::add_chunk(std::uint64_t bytes)
{
    const std::uint64_t size =
        std::max(chunk_bytes_, (bytes + Tlsf::granule - 1) / Tlsf::granule * Tlsf::granule);
    auto chunk = std::make_unique<OwnedChunk>(OwnedChunk{source_(size), Tlsf(size)});
    const auto gap = std::find(chunks_.begin(), chunks_.end(), nullptr);
    const auto at = static_cast<std::uint32_t>(gap - chunks_.begin());
    if (gap == chunks_.end()) chunks_.push_back(std::move(chunk));
    else *gap = std::move(chunk);
    return at;
}

// Retains one empty chunk of the usual size, so that a load that allocates and frees repeatedly does not call the
// driver.  Owners return slices only after the device has finished with them, so other empty chunks are freed
// immediately.
void SlicePool::release(std::uint32_t at, std::uint32_t node) noexcept
{
    const std::lock_guard lock(mutex_);
    chunks_[at]->ranges.release(node);
    if (!chunks_[at]->ranges.empty()) return;
    const auto is_spare = [&](const std::unique_ptr<OwnedChunk>& c) {
        return c && c != chunks_[at] && c->ranges.empty() && c->ranges.bytes() <= chunk_bytes_;
    };
    if (chunks_[at]->ranges.bytes() > chunk_bytes_ || std::any_of(chunks_.begin(), chunks_.end(), is_spare))
        chunks_[at].reset();
}

std::uint64_t SlicePool::reserved() const
{
    const std::lock_guard lock(mutex_);
    std::uint64_t bytes = 0;
    for (const auto& chunk : chunks_) bytes += chunk ? chunk->ranges.bytes() : 0;
    return bytes;
}

} // namespace reprise::device
