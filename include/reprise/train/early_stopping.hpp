// Ends a training that no longer improves.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include <reprise/tensor.hpp>

namespace reprise::train {

// Options of EarlyStopping.
struct EarlyStoppingOptions {
    std::int64_t patience =
        10; // the number of values in a row without improvement that end the training, at least 1
    double min_delta = 0; // a value that is better by no more than this is no improvement; at least 0
    bool higher_is_better = false; // false for losses, true for accuracies
};
// Watches a value, such as the loss of each test: if (stopping.step(loss)) break;  A NaN is no improvement.  It can
// be a part of a checkpoint.
class EarlyStopping {
public:
    using Options = EarlyStoppingOptions; // the options in braces

    explicit EarlyStopping(const Options& = {}); // Error(argument) for options out of range
    bool step(double value);                     // takes a value; returns should_stop()
    bool should_stop() const noexcept { return bad_ >= options_.patience; } // whether patience is used up
    bool improved() const noexcept
    {
        return seen_ > 0 && bad_ == 0;
    }                                                         // whether the latest value is the best one
    double best() const noexcept { return best_; }            // NaN before the first number
    std::int64_t bad_values() const noexcept { return bad_; } // the values since the best one

    std::map<std::string, Tensor> state_dict()
        const; // "best" (f64), "bad_values" and "values" (i64), one element each
    // Loads a result of state_dict().  Error(argument), after which nothing has changed, for other entries.
    void load_state_dict(const std::map<std::string, Tensor>&);

private:
    Options options_;
    double best_;
    std::int64_t bad_ = 0, seen_ = 0;
};

} // namespace reprise::train
