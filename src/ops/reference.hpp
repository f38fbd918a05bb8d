// Helpers for reference functions, which define the result of each op in plain C++ and double precision.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <vector>

#include <reprise/dtype.hpp>

#include "graph/op.hpp"

namespace reprise::ops {

// A strided tensor in host memory.
struct HostTensor {
    DType dtype = DType::f32;
    std::byte* data = nullptr;
    std::vector<std::int64_t> sizes, strides; // strides in elements

    std::int64_t count() const;
    double get(std::int64_t offset) const;             // integers and bool as double
    void set(std::int64_t offset, double) const;       // rounds to the dtype
    std::int64_t get_whole(std::int64_t offset) const; // for an integer dtype or bool
    // Stores the low bits; for bool whether the number is not 0.
    void set_whole(std::int64_t offset, std::int64_t) const;
    // Returns the offset of the element with this row-major index.
    std::int64_t offset(std::int64_t index) const;
    double at(std::int64_t index) const { return get(offset(index)); }
    void put(std::int64_t index, double v) const { set(offset(index), v); }
    // Returns the element as a double, or as a 64-bit integer for an integer dtype.
    template <class Number> Number get_as(std::int64_t offset) const
    {
        if constexpr (std::is_floating_point_v<Number>) return get(offset);
        else return static_cast<Number>(get_whole(offset));
    }
    template <class Number> Number at_as(std::int64_t index) const { return get_as<Number>(offset(index)); }
    // Returns all elements in row-major order.
    std::vector<double> values() const;
    template <class Number> void put_all(const std::vector<Number>& numbers) const
    {
        std::int64_t index = 0;
        for (const Number n : numbers)
            if constexpr (std::is_floating_point_v<Number>) put(index++, n);
            else set_whole(offset(index++), static_cast<std::int64_t>(n));
    }
    // Copies the bits of an element from a tensor of the same dtype.
    void copy(std::int64_t offset, const HostTensor& from, std::int64_t from_offset) const;
};

struct ReferenceArguments {
    std::span<const HostTensor> inputs, outputs;
    const graph::Attributes& attributes;
    std::span<const double> scalars;    // values of HostScalar attributes, in order
    std::span<const std::int64_t> dims; // values of Dim attributes, in order, then of Shapes
    const graph::Op* op = nullptr;
};

// Calls visit(inputs, outputs) for each row along the attribute "dim" with that row of each tensor.
using RowVisit = std::function<void(std::span<const HostTensor> in, std::span<const HostTensor> out)>;
void for_each_row(const ReferenceArguments&, const RowVisit& visit);

// Returns the value rounded to the dtype.  A value beyond the range of an integer dtype is truncated, but not clamped.
double rounded_to(DType, double);
// Returns the bits of a value of this dtype as ints of a kernel: one word, or two for 64-bit dtypes, the low one first.
DimVector bits_of(DType, double);

// Convert f16 and bf16 by integer arithmetic to nearest even, as the kernels do.
std::uint16_t to_f16(float);
float from_f16(std::uint16_t);
std::uint16_t to_bf16(float);
float from_bf16(std::uint16_t);

} // namespace reprise::ops
