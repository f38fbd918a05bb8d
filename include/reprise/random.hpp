// Random numbers.  They are a function of counters, Philox 4x32-10 (Salmon et al., 2011) with the seed as key
// and (element, ordinal of the op) as counter, so that every device produces the same numbers.  There is one
// generator for the process; it starts with seed 0 and ordinal 0, and may be used from several threads.
#pragma once
#include <cstdint>

namespace reprise {

// Seeds the generator of this process and sets its ordinal to 0.
void manual_seed(std::uint64_t seed);
// Returns a seed for a separate random sequence, such as the order of a data set.  It is drawn from the
// generator, so that manual_seed() determines it.
std::uint64_t draw_seed();

// The state of the generator; two runs that start from the same state draw the same numbers.
struct GeneratorState {
    std::uint64_t seed = 0;    // as given to manual_seed()
    std::uint64_t ordinal = 0; // the ordinal of the next random op
    friend bool operator==(const GeneratorState&, const GeneratorState&) = default;
};
GeneratorState generator_state();                // the current state
void set_generator_state(const GeneratorState&); // sets it; programs use it from their next call on

} // namespace reprise
