// The hazard verifier.  Software drivers wait after each dispatch and validation does not see through
// addresses, so nothing else notices a missing barrier or a bad placement.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace reprise::plan {

// Where a value lies in one call: bytes [begin, end).
struct Range {
    std::uint64_t begin = 0, end = 0;
};

// Walks the plan as a device may run it, twice in succession: launches of one epoch in any order.
// `enabled[i]`: launch i runs at this call.  Gives a sentence for each fault: two launches of one epoch that
// touch the same bytes and one writes them; a launch that writes what it reads and is not made for it; a
// launch that reads bytes which hold another value, or none.
std::vector<std::string> find_hazards(const Plan&, std::span<const Range> ranges,
                                      const std::vector<bool>& enabled);

} // namespace reprise::plan
