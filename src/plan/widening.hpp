// Which operands of a node are widened, as its kernels do not take narrow dtypes.
#pragma once
#include <reprise/dtype.hpp>

#include "device/device.hpp"
#include "graph/node.hpp"

namespace reprise::plan {

// Returns the dtype in which kernels compute a narrow dtype.
DType wide_dtype(DType);

struct Widened {
    bool inputs, outputs;
};
Widened widened_operands(const device::Capabilities&, const graph::Node&);

} // namespace reprise::plan
