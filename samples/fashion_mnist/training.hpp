// Trains the network and returns the history of the training.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include <reprise/data.hpp>
#include <reprise/program.hpp>
#include <reprise/train/progress.hpp>

#include "options.hpp"

struct History {
    std::int64_t parameters = 0;
    reprise::CallMemory memory;                   // of a step with a full batch
    std::vector<double> loss, accuracy;           // of each step's batch; accuracy from 0 to 1
    std::vector<double> test_loss, test_accuracy; // after each epoch
    std::int64_t steps_per_epoch = 0;
    double train_seconds = 0; // without the tests after each epoch
    double images_per_second = 0;
    bool interrupted = false;
};

struct Reporter {
    std::function<void(const History&)> recorded;
    std::function<void(const reprise::train::Progress&)> step;
    std::function<void(const History&)> epoch; // called after its weights are written
    std::function<bool()> stop;                // called after each step
};

struct Files {
    std::filesystem::path weights;    // written after each epoch
    std::filesystem::path checkpoint; // written after each epoch and when it is stopped
};
// Trains the network.  If Options::resume is set, it goes on from the checkpoint, to the same bits as without a stop.
History train(const Options&, const reprise::data::TrainTest&, const Files&, const Reporter&);
