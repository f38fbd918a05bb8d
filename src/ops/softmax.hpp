// What softmax and log_softmax share: both work on rows along one dimension, kept as the attribute "dim".
#pragma once
#include "graph/op.hpp"
#include "ops/long_rows.hpp"
#include "ops/lowering.hpp"
#include "ops/reference.hpp"

namespace reprise::ops {

Tensor apply_along(const graph::Op&, const std::vector<Tensor>& inputs, std::int64_t dim);

// The launch of the op's kernel (shaders/common/rows.glsl), or the same for long rows; inputs and output have one shape.
using LongForm = void (*)(LongRows&, const std::vector<View>& in, const View& out);
void lower_rows(Lowering&, const graph::Node&, LongForm);

// Of a row, for reference functions.
struct Exponentials {
    double largest, total; // element, sum of exp(element - largest)
    explicit Exponentials(const HostTensor& row);
};

} // namespace reprise::ops
