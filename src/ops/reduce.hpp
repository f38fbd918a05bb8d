// What reductions over any dimensions share.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ops/lowering.hpp"
#include "ops/reference.hpp"

namespace reprise::ops {

// What can be added and multiplied: floating dtypes, i32, i64; bool and narrower integers become i32 first.
void require_arithmetic(const char* op, DType);
Tensor widened_to_i32(const Tensor&);

// The attributes "dims" (ascending) and "keepdim" of a reduction, and its output's shape.
graph::Attributes reduction_attributes(const char* op, const Tensor& x, const std::vector<std::int64_t>& dims,
                                       bool keepdim);
Shape reduced_shape(const graph::Op&, const graph::TensorType& in, const graph::Attributes&);
// The same shape with the reduced dimensions as ones.
Shape kept_shape(const Shape& in, const graph::Attributes&);
Dim reduced_count(const Shape& in, const std::vector<std::int64_t>& dims); // elements that make one output

// A strided tensor as outputs times the elements that make one, each with as few dimensions as is provable.
struct Reduction {
    Shape kept_sizes, sizes;
    DimVector kept_strides, strides;
    Dim outputs, count;
};
// Where kernels have too few dimensions for that, x becomes a copy.
Reduction split(Lowering&, View& x, const std::vector<std::int64_t>& dims);

// The launches of a reduction that has the kernels of shaders/common/reduce.glsl: <op>, <op>_rows, ...
void lower_reduction(Lowering&, const graph::Node&);
// The same of any view, to a contiguous one: "sum", "amax", ...
void reduce_into(Lowering&, const std::string& op, View x, const std::vector<std::int64_t>& dims,
                 const View& to);

// Calls visit(output index, offset in x) for every element of x; those of one output come row-major.
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

// The reference of a reduction: to each output's start its elements are joined one after the other, those of
// an integer dtype as Whole.
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
