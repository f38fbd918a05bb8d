// Plans of eager evaluations, which are reused.
#pragma once
#include <cstddef>
#include <string>

#include <reprise/device.hpp>

namespace reprise {

// Sets how many plans of eager evaluations a device keeps: those used last; the default is 256, and 0 keeps
// none.
//
// When an evaluation's graph has the same structure as an earlier one, it replays that one's plan from the
// second time on: nothing is planned, recorded or compiled.  Numbers (learning rates, seeds, factors) may
// differ, and so may sizes: sizes that differed become symbols where the shape rules allow it.  Results have
// the same bits as with a plan of their own.
void set_eager_plans(std::size_t most, const Device& = default_device());

// One line for each plan that is kept, the one used last first: what it computes, how often it was used, and
// why its sizes could not become symbols, where they could not.
std::string describe_eager_plans(const Device& = default_device());

} // namespace reprise
