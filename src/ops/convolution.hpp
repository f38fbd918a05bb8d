// What the convolutions' functions and ops share.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <reprise/dim.hpp>

#include "graph/op.hpp"

namespace reprise::ops {

// The attributes of all three ops but for "size".
struct Windows {
    std::vector<std::int64_t> stride, padding, dilation; // one a dimension of an image
    std::int64_t groups = 1;
    std::size_t rank() const { return stride.size(); } // of an image
    graph::Attributes attributes() const;
};

// Checks that begin an error's text with `op`.
void require_one_dtype(const char* op, const graph::InputTypes&);
// [batch, channels, and the image's sizes]
void require_image(const char* op, const char* what, const Shape&, std::size_t rank);
// [out channels, in channels / groups, and the kernel's sizes].
void require_weight(const char* op, const Shape&, std::size_t rank, std::int64_t groups);
void require_channels(const char* op, const char* what, const Dim& channels, const Dim& of_weight,
                      std::int64_t groups);
void require_bias(const char* op, const Shape& bias, const Dim& channels);

} // namespace reprise::ops
