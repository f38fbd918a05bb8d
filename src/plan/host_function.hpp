// The reference function of an op as a launch's host function.
#pragma once
#include <memory>
#include <vector>

#include <reprise/dtype.hpp>

#include "device/device.hpp"
#include "graph/op.hpp"

namespace reprise::plan {

struct HostOperand {
    std::size_t rank;
    DType dtype;
};

// The first `inputs` operands are the op's inputs, the others its outputs. The launch's ints are sizes and strides of each
// operand, then the Dim attributes and the sizes of Shape attributes as low and high words; its floats are the host
// scalars.
std::shared_ptr<const device::HostFunction> host_function(const graph::Op&, const graph::Attributes&,
                                                          std::vector<HostOperand>, std::size_t inputs);

} // namespace reprise::plan
