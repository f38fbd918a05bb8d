// In which dtypes optimizers keep their state, and how they round.
#pragma once
#include <cstdint>

namespace reprise::optim {

// The format of an optimizer's moments, such as exp_avg.
enum class MomentFormat : std::uint8_t {
    automatic, // the parameter's dtype; f32 with master weights, and of centered RMSprop
    f32,       // 4 bytes
    bf16,      // 2 bytes; with stochastic rounding, as small changes of a moving average are lost otherwise
    // 1 byte, and 4 bytes for each 256 elements (eight_bit_moment(), ops/updates.hpp).  An infinite or NaN element
    // makes its block NaN.
    eight_bit
};

// The option `precision` of every optimizer but LBFGS.  It can't be changed in a group, and leaves f64 parameters as
// they are.
struct Precision {
    // Keeps an f32 copy of each f16 or bf16 parameter, "master_param" in the state.  A step updates the copy and rounds
    // it into the parameter, to the nearest number, so that updates smaller than half a unit in the last place add up.
    // Elements of the parameter whose value was changed since the last step, as by loading weights, replace the copy's.
    bool master_weights = false;
    // Rounds moments of bf16, and parameters of bf16 without a master copy, to one of their two neighbours at random,
    // so that the expected value is exact.  The random numbers are those of manual_seed().
    bool stochastic_rounding = false;
    MomentFormat moments = MomentFormat::automatic; // the format of the moments
};

} // namespace reprise::optim
