// What softmax and log_softmax share: both work on rows along one dimension, kept as the attribute "dim".
#pragma once
#include "graph/op.hpp"
#include "ops/long_rows.hpp"
#include "ops/lowering.hpp"
#include "ops/reference.hpp"

namespace reprise::ops {

Tensor apply_along(const graph::Op&, const std::vector<Tensor>& inputs, std::int64_t dim);

// One floating input, or two of one type; the output has it too.
graph::TensorTypes infer_rows(const graph::Op&, const graph::InputTypes&, const graph::Attributes&);

// The launch of the op's kernel (shaders/common/rows.glsl), or the same for long rows; inputs and output have one shape.
using LongForm = void (*)(LongRows&, const std::vector<View>& in, const View& out);
void lower_rows(Lowering&, const graph::Node&, LongForm);

// Rows of host tensors of one shape along `dim`, for reference functions.
class HostRows {
public:
    std::int64_t length, count;
    HostRows(const HostTensor&, std::size_t dim);
    // The offset of a row's first element.
    std::int64_t offset(const HostTensor&, std::int64_t row) const;
    struct Exponentials {
        double largest, total; // element, sum of exp(element - largest)
    };
    Exponentials exponentials(const HostTensor&, std::int64_t row) const;

private:
    std::size_t dim_;
};

} // namespace reprise::ops
