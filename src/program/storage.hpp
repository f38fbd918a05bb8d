// Where a computed value lies.
#pragma once
#include <memory>

#include "base/few.hpp"
#include "device/device.hpp"
#include "graph/node.hpp"

namespace reprise::program {

using Strides = Few<std::int64_t, 4>; // elements

struct Stored : graph::Storage {
    Stored(DType in_memory, const Shape&, std::shared_ptr<device::Memory>, Strides, std::int64_t offset);

    const std::shared_ptr<device::Memory> memory;
    const Strides strides;
    const std::int64_t offset; // elements
    const std::uint64_t bytes; // of the elements, without gaps
    const bool row_major;      // without gaps, from the memory's start
    // Of memory that the host sees: the ticket behind which the value stands there; 0: not known.
    mutable device::Ticket written = 0;

    static const Stored& of(const graph::Value& v)
    {
        return static_cast<const Stored&>(*v.node->storage[v.index]);
    }
};

// Of a value without symbols.
std::uint64_t bytes_of(const graph::TensorType&);
Strides row_major_strides(const Shape&);

} // namespace reprise::program
