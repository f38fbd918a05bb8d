// Sources of blocks of device memory, and of chunks of device and pinned memory for recordings and transfers.
#pragma once
#include "device/block_memory.hpp"
#include "device/cuda/queue.hpp"
#include "device/slice_pool.hpp"

namespace reprise::device::cuda {

BlockMemory::Source device_blocks(Context&, Queue&, std::uint64_t memory_bytes, std::string name);

constexpr std::uint64_t slice_chunk_bytes = std::uint64_t{4} << 20;
SlicePool::Source pinned_memory(Context&); // visible to host and device
SlicePool::Source device_memory(Context&);

} // namespace reprise::device::cuda
