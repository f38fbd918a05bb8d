// The launch of an op's reference function, on devices whose kernels run on the host (Capabilities::host_kernels).
#pragma once
#include <vector>

#include "graph/op.hpp"
#include "plan/plan.hpp"

namespace reprise::plan {

// Error(internal) if the op has no reference function, which must exist as long as the launch.
PlanLaunch host_launch(const graph::Op&, const graph::Attributes&, const std::vector<ops::View>& in,
                       const std::vector<ops::View>& out);

} // namespace reprise::plan
