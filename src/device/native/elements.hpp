// The elements of operands in memory: f32, or f16 and bf16, which native code computes with in f32.
#pragma once
#include <cstdint>

#include <reprise/dtype.hpp>

namespace reprise::device::native {

struct Elements {
    void* data = nullptr;
    DType dtype = f32; // or f16, bf16

    explicit operator bool() const { return data != nullptr; }
    float* floats() const { return static_cast<float*>(data); } // of f32
    // Reads `count` elements, `step` apart, from one on.
    void read(std::int64_t first, std::int64_t count, float* to, std::int64_t step = 1) const;
    // Writes `count` elements, `step` apart, from one on.  Numbers are rounded to nearest even, as kernels round.
    void write(const float* from, std::int64_t count, std::int64_t first, std::int64_t step = 1) const;
};

} // namespace reprise::device::native
