// The cache of the plans of eager evaluations.
#pragma once
#include <cstddef>
#include <string>

#include <reprise/device.hpp>

namespace reprise {

// Sets for how many structures a device caches the plans of eager evaluations (LRU); the default is 256, and 0
// caches none.
//
// When an evaluation's graph has the same structure as an earlier one, it replays that one's plan from the
// second time on: nothing is planned, recorded or compiled.  Numbers (learning rates, seeds, factors) may
// differ, and so may sizes: sizes that differed become symbols where the shape rules allow it.  Results have
// the same bits as with a separate plan.
void set_eager_plans(std::size_t most, const Device& = default_device());

// Returns one line for each cached structure, most recently used first: what it computes, how often its plans
// were used, and why its sizes could not become symbols, where they could not.
std::string describe_eager_plans(const Device& = default_device());

} // namespace reprise
