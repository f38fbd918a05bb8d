// Declarations shared by the convolution functions and ops.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <reprise/dim.hpp>

#include "graph/op.hpp"

namespace reprise::ops {

// The attributes of all three ops, except "size".
struct Windows {
    std::vector<std::int64_t> stride, padding, dilation; // one per spatial dimension
    std::int64_t groups = 1;
    std::size_t rank() const { return stride.size(); } // number of spatial dimensions
    graph::Attributes attributes() const;
};

// These checks throw errors whose text begins with `op`.
void require_one_dtype(const char* op, const graph::InputTypes&);
// Requires the shape [batch, channels, spatial sizes...].
void require_image(const char* op, const char* what, const Shape&, std::size_t rank);
// Requires the shape [out channels, in channels / groups, kernel sizes...].
void require_weight(const char* op, const Shape&, std::size_t rank, std::int64_t groups);
void require_channels(const char* op, const char* what, const Dim& channels, const Dim& of_weight,
                      std::int64_t groups);
void require_bias(const char* op, const Shape& bias, const Dim& channels);

} // namespace reprise::ops
