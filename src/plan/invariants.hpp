// What holds for a plan between any two passes.
#pragma once
#include "plan/pipeline.hpp"

namespace reprise::plan {

// Throws Error(internal), which names the pass that ran last and the launch, where:
// - an operand, a result or an external slot is no value of the plan;
// - a launch reads a temporary or an output that no launch before it writes, or a result is never written;
// - a fallback does not follow the launch that it stands in for, or writes other values;
// - a launch or a value lies in a segment that does not exist;
// - a chain has another number of operands than its launch, as long as no kernel is chosen;
// - epochs decrease.
void check_invariants(const Compiled&, const char* pass);

} // namespace reprise::plan
