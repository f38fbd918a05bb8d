// Random numbers.  They are a function of counters, Philox 4x32-10 (Salmon et al., 2011) with the seed as key
// and (element, ordinal of the op) as counter, so that every device produces the same numbers.  There is one
// generator for the process; it starts with seed 0 and ordinal 0, and may be used from several threads.  In the threads
// of a distributed::DeviceGroup the functions below concern the thread's own generator.
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

// While it exists, each random op on this thread draws the numbers of one part of several of equal size: for k
// elements, those that elements part * k and on would get in an op that draws for all parts together, from the same
// generator state.  So several processes compute dropout or noise of their parts of a batch, along dimension 0, as one
// would.  A recorded program keeps the part with which it was recorded.  nn::DistributedDataParallel does this for its
// ranks.
class RandomPart {
public:
    explicit RandomPart(std::int64_t part); // Error(argument) for a negative one
    ~RandomPart();                          // gives the part of before back
    RandomPart(const RandomPart&) = delete;
    RandomPart& operator=(const RandomPart&) = delete;

private:
    std::int64_t before_;
};

} // namespace reprise
