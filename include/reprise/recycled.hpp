// Memory for small objects that are created and destroyed in large numbers, such as nodes of graphs and their
// shapes.
#pragma once
#include <cstddef>

namespace reprise {

namespace detail {
// Each thread keeps the blocks of up to 1 KiB that it frees, up to 1 MiB of each size, and prefetches them:
// the objects of a training step then do not wait for memory that the step before has pushed out of the
// caches.
void* take_block(std::size_t bytes);
void give_block(void* p, std::size_t bytes) noexcept;
} // namespace detail

// An allocator of recycled blocks, for containers and std::allocate_shared.
template <class T> struct Recycled {
    using value_type = T; // the type of an element
    Recycled() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): allocators convert
    template <class U> Recycled(const Recycled<U>&) noexcept {}

    // Memory for n elements, uninitialised.
    T* allocate(std::size_t n) { return static_cast<T*>(detail::take_block(n * sizeof(T))); }
    // Frees memory for n elements that allocate() returned.
    void deallocate(T* p, std::size_t n) noexcept { detail::give_block(p, n * sizeof(T)); }
    template <class U> friend bool operator==(const Recycled&, const Recycled<U>&) { return true; }
};

} // namespace reprise
