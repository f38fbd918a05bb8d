// Shows the launches of a workload.
#pragma once
#include "workload.hpp"

namespace bench {

// Prints the median times of its launches over several calls, the longest first.  Returns the exit status.
int print_profile(const std::vector<Workload>&, const std::string& name, const reprise::Device&);
// Prints the text of its program, then flops, bytes and label of each launch, for scripts/estimate_steps.
int print_plan(const std::vector<Workload>&, const std::string& name, const reprise::Device&);

} // namespace bench
