// The parts of an open CUDA device; each depends only on those before it.
#pragma once
#include "device/cuda/blas.hpp"
#include "device/cuda/memory.hpp"
#include "device/cuda/modules.hpp"
#include "device/host_calls.hpp"

namespace reprise::device::cuda {

struct Parts {
    Parts(const Driver& driver, int ordinal, const Capabilities& c)
        : context(driver, ordinal), pinned(pinned_memory(context), slice_chunk_bytes),
          blocks(device_memory(context), slice_chunk_bytes), modules(context),
          blas(context, c.compute_capability),
          memory(device_blocks(context, queue, c.memory_bytes, c.name), c.memory_limit)
    {}
    ~Parts()
    {
        host_calls.wait();
        queue.collect_all(); // retired objects return memory to pools
    }

    Context context;
    SlicePool pinned, blocks;
    HostCalls host_calls{context.health};
    Queue queue{context, host_calls};
    Modules modules;
    Blas blas;
    BlockMemory memory;
    std::atomic<std::uint64_t> recordings = 0, transfers = 0, submits = 0, replays = 0;
};

} // namespace reprise::device::cuda
