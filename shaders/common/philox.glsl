// Compiles ops/philox.inc as GLSL.  Needs vocabulary.glsl.
#include "ops/philox.inc"

// The state from which a random op draws its numbers.
struct RandomState {
    int seed_low, seed_high, ordinal_low, ordinal_high;
};
