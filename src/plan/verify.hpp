// Hazard verifier. Software drivers wait after each dispatch and validation can't track accesses by address, so nothing
// else detects a missing barrier or a bad placement.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace reprise::plan {

// The bytes [begin, end) of a value in one call.
struct Range {
    std::uint64_t begin = 0, end = 0;
};

// Simulates two calls in succession, with the launches of an epoch in any order. `enabled[i]`: whether launch i runs at
// this call. Returns a sentence for each fault: two launches of one epoch access the same bytes and one writes them; a
// launch overwrites its input and its kernel does not support this; a launch reads bytes that hold another value, or
// none.
std::vector<std::string> find_hazards(const Plan&, std::span<const Range> ranges,
                                      const std::vector<bool>& enabled);

} // namespace reprise::plan
