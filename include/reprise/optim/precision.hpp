// In which dtypes optimizers keep their state, and how they round.
#pragma once
#include <cstdint>

namespace reprise::optim {

// The dtype of an optimizer's moments, such as exp_avg.
enum class MomentFormat : std::uint8_t {
    automatic, // the parameter's dtype; f32 with master weights
    f32,       // 4 bytes
    bf16,      // 2 bytes; with stochastic rounding, as small changes of a moving average are lost otherwise
    eight_bit  // 1 byte, and 4 bytes for each 256 elements (eight_bit_moment(), ops/updates.hpp)
};

// The option `precision` of every optimizer.  It can't be changed in a group.  All of it leaves f64 parameters as they are.
struct Precision {
    // Keeps an f32 copy of each f16 or bf16 parameter, "master_param" in the state.  A step updates the copy and rounds
    // it into the parameter, so that updates smaller than half a unit in the last place add up.  Elements of the
    // parameter that were assigned since the last step, as by loading weights, are taken over into the copy.
    bool master_weights = false;
    // Rounds what a step writes as bf16, parameters and moments, to one of its two neighbours at random, so that the
    // expected value is exact; no copy is needed.  The random numbers are those of manual_seed().
    bool stochastic_rounding = false;
    MomentFormat moments = MomentFormat::automatic; // the dtype of the moments
};

} // namespace reprise::optim
