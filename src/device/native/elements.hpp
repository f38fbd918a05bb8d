// The elements of operands in memory: f32, or others that native code computes with in f32.
#pragma once
#include <cstdint>
#include <functional>

#include <reprise/dtype.hpp>

namespace reprise::device::native {

struct Elements {
    // Reads elements of another form from `data`, from one on.
    using Reader = std::function<void(const void* data, std::int64_t first, std::int64_t count, float* to)>;

    void* data = nullptr;
    DType dtype = f32; // or f16, bf16; or any, with a reader
    const Reader* reader = nullptr;

    explicit operator bool() const { return data != nullptr; }
    float* floats() const { return static_cast<float*>(data); } // of f32
    bool are_floats() const { return dtype == f32 && !reader; }
    // Reads `count` elements, `step` apart, from one on.  With a reader the step is 1.
    void read(std::int64_t first, std::int64_t count, float* to, std::int64_t step = 1) const;
    // Writes `count` elements, `step` apart, from one on.  Numbers are rounded to nearest even, as kernels round.
    void write(const float* from, std::int64_t count, std::int64_t first, std::int64_t step = 1) const;
};

} // namespace reprise::device::native
