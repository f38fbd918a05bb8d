// Where a computed value lies.
#pragma once
#include <memory>
#include <vector>

#include "device/device.hpp"
#include "graph/node.hpp"

namespace reprise::program {

struct Stored : graph::Storage {
    std::shared_ptr<device::Memory> memory;
    std::vector<std::int64_t> strides; // elements
    std::int64_t offset = 0;           // elements

    static const Stored& of(const graph::Value& v)
    {
        return static_cast<const Stored&>(*v.node->storage[v.index]);
    }
};

// Sizes of a value without symbols.
std::vector<std::int64_t> sizes_of(const graph::TensorType&);
std::int64_t count_of(const graph::TensorType&);
std::uint64_t bytes_of(const graph::TensorType&);
bool is_row_major(const Stored&, const graph::TensorType&); // without gaps, from the memory's start

} // namespace reprise::program
