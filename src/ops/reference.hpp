// The reference functions: what each op means, in plain C++ and double.
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
    std::vector<std::int64_t> sizes, strides; // elements

    std::int64_t count() const;
    double get(std::int64_t offset) const;             // by element offset; integers and bool as double
    void set(std::int64_t offset, double) const;       // rounds to the dtype
    std::int64_t get_whole(std::int64_t offset) const; // of an integer dtype or bool
    void set_whole(std::int64_t offset,
                   std::int64_t) const; // keeps the low bits; of bool whether it is not 0
    // The offset of the element with this row-major index.
    std::int64_t offset(std::int64_t index) const;
    double at(std::int64_t index) const { return get(offset(index)); }
    void put(std::int64_t index, double v) const { set(offset(index), v); }
    // As a double, or as 64 bits of an integer dtype.
    template <class Number> Number get_as(std::int64_t offset) const
    {
        if constexpr (std::is_floating_point_v<Number>) return get(offset);
        else return static_cast<Number>(get_whole(offset));
    }
    template <class Number> Number at_as(std::int64_t index) const { return get_as<Number>(offset(index)); }
    // All elements, in row-major order.
    std::vector<double> values() const;
    template <class Number> void put_all(const std::vector<Number>& numbers) const
    {
        std::int64_t index = 0;
        for (const Number n : numbers)
            if constexpr (std::is_floating_point_v<Number>) put(index++, n);
            else set_whole(offset(index++), static_cast<std::int64_t>(n));
    }
    // The element as it stands, of a tensor of the same dtype.
    void copy(std::int64_t offset, const HostTensor& from, std::int64_t from_offset) const;
};

struct ReferenceArguments {
    std::span<const HostTensor> inputs, outputs;
    const graph::Attributes& attributes;
    std::span<const double> scalars;    // of HostScalar attributes, in order
    std::span<const std::int64_t> dims; // of Dim attributes, in order, then of Shapes
    const graph::Op* op = nullptr;
};

// Calls visit(inputs, outputs) for each row along the attribute "dim": these are the tensors' parts in it.
using RowVisit = std::function<void(std::span<const HostTensor> in, std::span<const HostTensor> out)>;
void for_each_row(const ReferenceArguments&, const RowVisit& visit);

// The value that a tensor of this dtype holds when it is given this one; what an integer dtype can't hold stays.
double rounded_to(DType, double);
// The bits of that value as a kernel's ints: one word, of f64 two, the low one first.
DimVector bits_of(DType, double);

// f16 and bf16 by integers, to nearest even, as the kernels do it.
std::uint16_t to_f16(float);
float from_f16(std::uint16_t);
std::uint16_t to_bf16(float);
float from_bf16(std::uint16_t);

} // namespace reprise::ops
