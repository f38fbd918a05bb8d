// The storage of a computed value: its memory and layout.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "device/device.hpp"
#include "graph/node.hpp"

namespace reprise::execution {

using Strides = std::vector<std::int64_t>; // elements

// 48 bytes, which together with the shared_ptr's control block fill a cache line.
struct Stored : graph::Storage {
    struct Layout {
        Strides strides;
        std::int64_t offset = 0; // elements
    };
    Stored(std::shared_ptr<device::Memory>, std::uint64_t bytes, std::optional<Layout> = std::nullopt);

    const std::shared_ptr<device::Memory> memory;
    const std::unique_ptr<const Layout> layout; // null: row-major, without gaps, from the memory's start
    const std::uint64_t bytes;                  // of the elements, without gaps
    // The ticket of the call that computed the value; 0: not known, as programs update it in place.
    mutable device::Ticket written = 0;

    bool row_major() const { return !layout; }
    // Returns the bytes from the memory's start to elements of this type that lie there row-major and without gaps,
    // such as rows of a matrix; nullopt if they do not.
    std::optional<std::uint64_t> dense_offset(const graph::TensorType&) const;
    static const Stored& of(const graph::Value& v)
    {
        return static_cast<const Stored&>(*v.node->storage[v.index]);
    }
};

// Bytes of a value and row-major strides of a shape, both without symbols.
std::uint64_t bytes_of(const graph::TensorType&);
std::uint64_t bytes_of(DType, const Shape&);
Strides row_major_strides(const Shape&);

} // namespace reprise::execution
