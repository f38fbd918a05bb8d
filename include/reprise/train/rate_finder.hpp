// Finds a learning rate by a short training with growing rates.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <reprise/nn/module.hpp>
#include <reprise/optim/optimizer.hpp>
#include <reprise/train/checkpoint.hpp>

namespace reprise::train {

// Options of find_learning_rate().
struct RateFinderOptions {
    double lowest = 1e-7,
           highest = 10;      // the first and the last rate; between them they grow by a constant factor
    std::int64_t steps = 100; // at least 3
    double smoothing = 0.05;  // the share of each loss in the exponential mean, above 0, at most 1
    double diverged = 4;      // ends where the smoothed loss is above the least one times this; above 1
};
// The result of find_learning_rate().
struct RateFinderResult {
    std::vector<double> rates, losses; // of each step; the losses smoothed, all finite
    // The rate at which the smoothed loss falls fastest for a step of the rate's logarithm; nullopt where it falls nowhere.
    std::optional<double> suggestion;
};

// Trains with learning rates that grow from step to step, as in Smith, "Cyclical Learning Rates for Training Neural
// Networks" (2017), and returns the losses: plot them over the rates, and train with a rate before the steepest fall ends.
// step() makes one step, as by a recorded program, and returns its loss; a loss that is not finite ends the search.
// `parts` is what the steps change, such as the module, the optimizer and the scaler, as for save_checkpoint(): they and the
// random generator are as before when the function returns or throws.  Throws Error(argument) for options out of range, and
// Error(state) while a program is recorded or where the first loss is not finite.
RateFinderResult find_learning_rate(optim::Optimizer&, const std::vector<Part>& parts,
                                    const std::function<double()>& step, const RateFinderOptions& = {});

} // namespace reprise::train
