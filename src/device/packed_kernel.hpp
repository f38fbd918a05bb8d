// The type of an embedded kernel.  It is alone here, since 80 generated files include it.
#pragma once
#include <cstdint>

namespace reprise::device {

struct PackedSpirv {
    const std::uint8_t* bytes; // deflated by zlib
    std::uint32_t size;        // of bytes
    std::uint32_t inflated;    // bytes of the text before deflate
    const PackedSpirv* base;   // null: all instructions are its own; a base has no base itself
};

} // namespace reprise::device
