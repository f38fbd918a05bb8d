// Where a workload's time goes.
#pragma once
#include "workload.hpp"

namespace bench {

// Prints its launches, the longest first: medians over some calls.  Gives the exit status.
int print_profile(const std::vector<Workload>&, const std::string& name, const reprise::Device&);

} // namespace bench
