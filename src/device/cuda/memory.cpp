#include "device/cuda/memory.hpp"
#include <utility>

namespace reprise::device::cuda {

BlockMemory::Source device_blocks(Context& context, Queue& queue, std::uint64_t memory_bytes,
                                  std::string name)
{
    BlockMemory::Source s;
    s.add = [&context](std::uint64_t bytes) {
        const Context::Current current(context);
        CUdeviceptr address = 0;
        context.call("cuMemAlloc", &Driver::cuMemAlloc, &address, bytes);
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
    s.max_block = s.ceiling = memory_bytes;
    s.name = std::move(name);
    return s;
}

SlicePool::Source pinned_memory(Context& context)
{
    return [&context](std::uint64_t bytes) {
        const Context::Current current(context);
        void* host = nullptr;
        context.call("cuMemHostAlloc", &Driver::cuMemHostAlloc, &host, bytes,
                     CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
        std::shared_ptr<void> owner(host, [&context](void* p) {
            const Context::Current on(context);
            context.driver.cuMemFreeHost(p);
        });
        CUdeviceptr address = 0;
        context.call("cuMemHostGetDevicePointer", &Driver::cuMemHostGetDevicePointer, &address, host, 0);
        return SlicePool::Chunk{address, static_cast<std::byte*>(host), 0, std::move(owner)};
    };
}

SlicePool::Source device_memory(Context& context)
{
    return [&context](std::uint64_t bytes) {
        const Context::Current current(context);
        CUdeviceptr address = 0;
        context.call("cuMemAlloc", &Driver::cuMemAlloc, &address, bytes);
        const auto free = [&context, address](void*) {
            const Context::Current on(context);
            context.driver.cuMemFree(address);
        };
        return SlicePool::Chunk{address, nullptr, 0, std::shared_ptr<void>(nullptr, free)};
    };
}

} // namespace reprise::device::cuda
