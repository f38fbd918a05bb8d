// Functions shared by reductions over arbitrary dimensions.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ops/lowering.hpp"
#include "ops/reference.hpp"

namespace reprise::ops {

// Checks that a dtype has sums and products: floating, i32 or i64.  Narrower integers and bool are widened to i32.
void require_arithmetic(const char* op, DType);
Tensor widened_to_i32(const Tensor&);

// Return the attributes "dims" (ascending) and "keepdim" of a reduction, and the shape of its output.
graph::Attributes reduction_attributes(const char* op, const Tensor& x, const std::vector<std::int64_t>& dims,
                                       bool keepdim);
Shape reduced_shape(const graph::Op&, const graph::TensorType& in, const graph::Attributes&);
// Returns the shape of the output with keepdim: reduced dimensions have size 1.
Shape kept_shape(const Shape& in, const graph::Attributes&);
Dim reduced_count(const Shape& in, const std::vector<std::int64_t>& dims); // elements per output

// A strided tensor split into the dimensions of the outputs (kept_*) and the reduced ones, each merged to as few
// dimensions as can be proved.  `count` is the number of elements per output.
struct Reduction {
    Shape kept_sizes, sizes;
    DimVector kept_strides, strides;
    Dim outputs, count;
};
// Splits the dimensions of x.  If they are more than kernels support, x becomes a copy.
Reduction split(Lowering&, View& x, const std::vector<std::int64_t>& dims);

// How lanes of GPUs divide the elements of each output: shaders/common/reduce_group.glsl.
struct LanesDivision {
    Dim parts, length;    // of `length` elements each, a multiple of 4 * lanes
    Dim lanes, lane_bits; // for a part; log2
    LanesDivision(const Dim& elements, const Dim& outputs);
    static LanesDivision of_one_part(const Dim& elements);
};

// Lowers a reduction whose kernels are those of shaders/common/reduce.glsl: <op>, <op>_rows, ...
void lower_reduction(Lowering&, const graph::Node&);
// Reduces any view to a contiguous one; `op` is "sum", "amax", ...
void reduce_into(Lowering&, const std::string& op, View x, const std::vector<std::int64_t>& dims,
                 const View& to);

// Calls visit(output index, offset in x) for every element of x; those of one output in row-major order.
template <class Visit>
void for_each_reduced(const HostTensor& x, const std::vector<std::int64_t>& dims, const Visit& visit)
{
    const std::size_t rank = x.sizes.size();
    std::vector<std::int64_t> to(rank, 0), at(rank, 0);
    std::int64_t outputs = 1;
    for (std::size_t d = rank; d-- > 0;) {
        bool reduced = false;
        for (const std::int64_t r : dims) reduced |= r == static_cast<std::int64_t>(d);
        if (reduced) continue;
        to[d] = outputs;
        outputs *= x.sizes[d];
    }
    std::int64_t output = 0, offset = 0;
    for (std::int64_t left = x.count(); left > 0; --left) {
        visit(output, offset);
        for (std::size_t d = rank; d-- > 0;) {
            output += to[d];
            offset += x.strides[d];
            if (++at[d] < x.sizes[d]) break;
            output -= to[d] * at[d];
            offset -= x.strides[d] * at[d];
            at[d] = 0;
        }
    }
}

// The reference function of a reduction: beginning with the start value, combines the elements of each output in order
// by `join`.  Integer dtypes are computed as Whole.
template <class Whole, class Join>
void reference_reduction(const ReferenceArguments& a, Whole whole_start, double start, const Join& join)
{
    const HostTensor &x = a.inputs[0], &y = a.outputs[0];
    const auto reduce = [&](const auto first) {
        using Number = std::remove_const_t<decltype(first)>;
        std::vector<Number> all(static_cast<std::size_t>(y.count()), first);
        for_each_reduced(x, a.attributes.integers("dims"), [&](std::int64_t o, std::int64_t at) {
            Number& one = all[static_cast<std::size_t>(o)];
            one = join(one, x.get_as<Number>(at));
        });
        y.put_all(all);
    };
    if (is_integer(x.dtype)) reduce(whole_start);
    else reduce(start);
}

} // namespace reprise::ops
