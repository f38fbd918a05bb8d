// Functions shared by softmax and log_softmax, which work on rows along one dimension: the attribute "dim".
#pragma once
#include "graph/op.hpp"
#include "ops/long_rows.hpp"
#include "ops/lowering.hpp"
#include "ops/reference.hpp"

namespace reprise::ops {

Tensor apply_along(const graph::Op&, const std::vector<Tensor>& inputs, std::int64_t dim);

// Launches the op's kernel (shaders/common/rows.glsl), or calls LongForm for long rows.  Inputs and output have one
// shape.
using LongForm = void (*)(LongRows&, const std::vector<View>& in, const View& out);
void lower_rows(Lowering&, const graph::Node&, LongForm);

// The maximum and the sum of exponentials of a row, for reference functions.
struct Exponentials {
    double largest, total; // element, sum of exp(element - largest)
    explicit Exponentials(const HostTensor& row);
};

} // namespace reprise::ops
