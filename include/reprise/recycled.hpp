// Memory of small objects that are made and dropped by the thousand: the nodes of graphs and their shapes.
#pragma once
#include <cstddef>

namespace reprise {

namespace detail {
// Each thread keeps blocks of up to 1 KiB that it frees, 1 MiB of each size, and asks for them ahead of their use: a step's
// objects then do not wait for memory that the step before has pushed out of the caches.
void* take_block(std::size_t bytes);
void give_block(void* p, std::size_t bytes) noexcept;
} // namespace detail

// An allocator of such blocks, for containers and std::allocate_shared.
template <class T> struct Recycled {
    using value_type = T;
    Recycled() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): allocators convert
    template <class U> Recycled(const Recycled<U>&) noexcept {}

    T* allocate(std::size_t n) { return static_cast<T*>(detail::take_block(n * sizeof(T))); }
    void deallocate(T* p, std::size_t n) noexcept { detail::give_block(p, n * sizeof(T)); }
    template <class U> friend bool operator==(const Recycled&, const Recycled<U>&) { return true; }
};

} // namespace reprise
