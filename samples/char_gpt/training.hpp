// Trains the network by one recorded program, and lets it write.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <reprise/program.hpp>

#include "../common/progress.hpp"
#include "options.hpp"
#include "text.hpp"

namespace char_gpt {

struct History {
    std::int64_t parameters = 0;
    reprise::CallMemory memory;     // of a whole batch of the longest lines
    std::vector<double> loss;       // of each step, nats a character
    std::vector<double> epoch_loss; // mean of each complete epoch
    std::int64_t steps_per_epoch = 0;
    double train_seconds = 0;
    double characters_per_second = 0;
    std::uint64_t sizes = 0;      // different [lines, length] of the batches
    std::uint64_t recordings = 0; // made after the first step: none
    bool interrupted = false;
    std::vector<std::string> written;
};

struct Reporter {
    std::function<void(const History&)> recorded;
    std::function<void(const Progress&)> step;
    std::function<void(const History&)> epoch; // its weights are written then
    std::function<bool()> stop;                // asked before each step
};

// Writes the weights to `weights` after each epoch and where it is stopped; then lets the network write, unless it
// was stopped.
History train(const Options&, const Text&, const std::filesystem::path& weights, const Reporter&);

} // namespace char_gpt
