#include <reprise/recycled.hpp>

#include <array>
#include <new>
#include <vector>

#include "base/prefetch.hpp"

namespace reprise::detail {

namespace {

constexpr std::size_t unit = 64, units = 16; // bytes of a cache line; larger blocks are not kept
constexpr std::size_t most_bytes = 1 << 20;  // of a size
constexpr std::size_t ahead = 4;             // blocks

std::size_t units_of(std::size_t bytes) { return (bytes + unit - 1) / unit; }
void release(void* p) { ::operator delete(p, std::align_val_t(unit)); }

struct FreeBlocks {
    FreeBlocks()
    {
        for (std::size_t i = 0; i < units; ++i) by_size[i].reserve(most_bytes / ((i + 1) * unit));
    }
    ~FreeBlocks();
    std::array<std::vector<void*>, units> by_size;
};

// Trivial, so that objects which outlive the thread's others can still be freed.
thread_local FreeBlocks* blocks_of_thread = nullptr;
thread_local bool thread_ends = false;

FreeBlocks::~FreeBlocks()
{
    thread_ends = true;
    blocks_of_thread = nullptr;
    for (auto& blocks : by_size)
        for (void* p : blocks) release(p);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
#else
constexpr bool sanitized = false;
#endif

// Null where the thread is ending, and where a sanitizer shall see what is freed.
FreeBlocks* of_thread()
{
    if (sanitized) return nullptr;
    if (!blocks_of_thread && !thread_ends) {
        thread_local FreeBlocks blocks;
        blocks_of_thread = &blocks;
    }
    return blocks_of_thread;
}

} // namespace

void* take_block(std::size_t bytes)
{
    const std::size_t n = units_of(bytes);
    if (FreeBlocks* const mine = n - 1 < units ? of_thread() : nullptr) {
        std::vector<void*>& blocks = mine->by_size[n - 1];
        if (!blocks.empty()) {
            void* const p = blocks.back();
            blocks.pop_back();
            if (blocks.size() >= ahead) {
                const auto* next = static_cast<const std::byte*>(blocks[blocks.size() - ahead]);
                for (std::size_t i = 0; i < n; ++i) prefetch_to_write(next + i * unit);
            }
            return p;
        }
    }
    return n > units ? ::operator new(bytes) : ::operator new(n* unit, std::align_val_t(unit));
}

void give_block(void* p, std::size_t bytes) noexcept
{
    const std::size_t n = units_of(bytes);
    if (FreeBlocks* const mine = n - 1 < units ? blocks_of_thread : nullptr)
        if (std::vector<void*>& blocks = mine->by_size[n - 1]; blocks.size() < blocks.capacity()) {
            blocks.push_back(p); // there is room
            return;
        }
    if (n > units) ::operator delete(p);
    else release(p);
}

} // namespace reprise::detail
