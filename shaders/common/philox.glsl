// Compiles ops/philox.inc as GLSL.  Needs vocabulary.glsl.
#include "ops/philox.inc"

// The state from which a random op draws its numbers: its group i of 4 elements has the words of group first + i.
struct RandomState {
    int seed_low, seed_high, ordinal_low, ordinal_high, first;
};
rp_words draw_group(RandomState s, uint group)
{
    return rp_random(group + uint(s.first), uint(s.ordinal_low), uint(s.ordinal_high), uint(s.seed_low),
                     uint(s.seed_high));
}
