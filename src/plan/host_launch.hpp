// The launch of an op's reference function: on devices whose kernels run on the host (Capabilities::host_kernels), and
// of ops that the host computes on every device (Op::on_host).
#pragma once
#include <vector>

#include "graph/op.hpp"
#include "plan/plan.hpp"

namespace reprise::plan {

// Error(internal) if the op has no reference function, which must exist as long as the launch.
PlanLaunch host_launch(const graph::Op&, const graph::Attributes&, const std::vector<ops::View>& in,
                       const std::vector<ops::View>& out);

// Whether a library computes the call of an op with Op::on_host on a stream of CUDA (graph::HostCall::is_on_stream).
bool runs_on_stream(const graph::Attributes&);

} // namespace reprise::plan
