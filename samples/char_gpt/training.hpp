// Trains the network by one recorded program, and generates text with it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <reprise/distributed/world.hpp>
#include <reprise/program.hpp>
#include <reprise/train/progress.hpp>

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
    std::function<void(const reprise::train::Progress&)> step;
    std::function<void(const History&)> epoch; // called after its weights are written
    std::function<bool()> stop;                // called before each step
};

// The files that train() writes after each epoch and when it is stopped.
struct Files {
    std::filesystem::path weights, checkpoint;
};
// Trains on all ranks of a world, and then generates text with the network, unless it was stopped.  Rank 0 calls the
// reporter and writes the weights.  If Options::resume is set, it goes on from the checkpoint, in a world of any size,
// and in one of the same size to the same bits as without a stop.
History train(const reprise::distributed::World&, const Options&, const Text&, const Files&, const Reporter&);

} // namespace char_gpt
