// Eager code that replays by itself.
#pragma once
#include <cstddef>
#include <string>

#include <reprise/device.hpp>

namespace reprise {

// An evaluation of eager code whose graph has the structure of an earlier one, from the second on, replays a recording of it:
// nothing is planned, recorded or compiled.  Numbers (learning rates, seeds, factors) may differ, and so may sizes: what
// differed becomes a symbol, where the shape rules follow it.  The bits are those of a plan of its own.
//
// A device keeps the plans of this many structures, those used last; 256 at first, 0 for none.
void set_eager_plans(std::size_t most, const Device& = default_device());

// A line for each structure that is kept, the one used last first: what it is, how often it was served, and, where its
// sizes could not become symbols, why.
std::string describe_eager_plans(const Device& = default_device());

} // namespace reprise
