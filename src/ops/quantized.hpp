// The layouts of QuantizedTensor's formats, for ops and host code.
#pragma once
#include <reprise/quantized.hpp>

namespace reprise::ops {

struct Layout {
    std::int64_t elements, bytes; // of a block
    std::int64_t head;            // bytes before the first block of a row

    Dim row_bytes(const Dim& columns) const { return head + floor_div(columns, elements) * bytes; }
    Dim columns(const Dim& row_bytes) const { return floor_div(row_bytes - head, bytes) * elements; }
};
Layout layout_of(QuantizedFormat);
float half_at(const std::byte*); // the f16 in two bytes

// Writes `count` elements of a row, from one on, with the bits of kernels.
void dequantize(QuantizedFormat, const std::byte* row, std::int64_t first, std::int64_t count, float* to);

} // namespace reprise::ops
