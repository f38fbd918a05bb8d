// Random numbers are counters: Philox 4x32-10 with key = seed and counter = (element, ordinal of the op).
// Every device gives the same numbers.  The generator is one for the process and starts with seed 0, ordinal
// 0; all of it may be used from several threads.
#pragma once
#include <cstdint>

namespace reprise {

// Seeds the generator of this process and sets its ordinal to 0.
void manual_seed(std::uint64_t seed);

// Where the generator is: two runs that start from the same state draw the same numbers.
struct GeneratorState {
    std::uint64_t seed = 0;    // as of manual_seed()
    std::uint64_t ordinal = 0; // the next random op takes this
};
GeneratorState generator_state();                // of now
void set_generator_state(const GeneratorState&); // goes on from there, also in programs at their next call

} // namespace reprise
