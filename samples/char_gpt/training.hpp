// Trains the network by one recorded program, and generates text with it.
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
    reprise::CallMemory memory;     // of a full batch of the longest lines
    std::vector<double> loss;       // of each step, in nats per character
    std::vector<double> epoch_loss; // mean of each complete epoch
    std::int64_t steps_per_epoch = 0;
    double train_seconds = 0;
    double characters_per_second = 0;
    std::uint64_t sizes = 0;      // number of different batch sizes [lines, length]
    std::uint64_t recordings = 0; // number of recordings after the first step: 0
    bool interrupted = false;
    std::vector<std::string> written;
};

struct Reporter {
    std::function<void(const History&)> recorded;
    std::function<void(const Progress&)> step;
    std::function<void(const History&)> epoch; // called after its weights are written
    std::function<bool()> stop;                // called before each step
};

// Saves the weights to `weights` after each epoch and when it is stopped. Then it generates text with the network,
// unless it was stopped.
History train(const Options&, const Text&, const std::filesystem::path& weights, const Reporter&);

} // namespace char_gpt
