// Finds a learning rate by a short training with growing rates.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <reprise/optim/optimizer.hpp>
#include <reprise/train/checkpoint.hpp>

namespace reprise::train {

// Options of find_learning_rate(), with the names of the Python package torch-lr-finder.
struct RateFinderOptions {
    double start_lr = 1e-7;      // the first rate, above 0
    double end_lr = 10;          // the last rate; between them the rates grow by a constant factor
    std::int64_t num_iter = 100; // the number of steps, at least 3
    double smooth_f = 0.05;      // the share of each loss in the exponential mean, above 0, at most 1
    // The search ends where the smoothed loss is above this times the least one, if that is positive; above 1.
    double diverge_th = 4;
};
// The result of find_learning_rate().
struct RateFinderResult {
    std::vector<double> rates;  // of each step
    std::vector<double> losses; // of each step, smoothed; all are finite
    // The rate at which the smoothed loss falls fastest, over the logarithm of the rate; nullopt where it never
    // falls.  The first tenth of the steps, where the mean has few losses, is left out.
    std::optional<double> suggestion;
};

// Trains with learning rates that grow from step to step, as in Smith, "Cyclical Learning Rates for Training Neural
// Networks" (2017), and returns the losses.  Plot them over the rates.
//
// step() makes one step, as by a recorded program, and returns its loss; a loss that is not finite ends the search.
// All groups of the optimizer get the same rate.  `parts` is what the steps change besides the optimizer, such as the
// module and a scaler, as for save_checkpoint().  When the function returns or throws, they, the optimizer and the
// random generator are as before; gradients are not.  Throws Error(argument) for options out of range and for a null
// step; Error(state) while a program is recorded or where the first loss is not finite; and what step() throws.
RateFinderResult find_learning_rate(optim::Optimizer&, const std::vector<Part>& parts,
                                    const std::function<double()>& step, const RateFinderOptions& = {});

} // namespace reprise::train
