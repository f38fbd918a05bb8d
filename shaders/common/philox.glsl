// The GLSL reader of ops/philox.inc.  Needs vocabulary.glsl.
#include "ops/philox.inc"

// What a random op draws from.
struct RandomState {
    int seed_low, seed_high, ordinal_low, ordinal_high;
};
