// Trains a classifier in full or by adapters, by one recorded program for all sizes of batches.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

#include "../common/bert.hpp"
#include "options.hpp"
#include "texts.hpp"

namespace bert_lora {

// What is trained, and how the other weights are stored.
struct Method {
    std::string name;
    bool adapters = false;
    std::optional<reprise::QuantizedFormat> weights{}; // f32 without
    reprise::DType precision = reprise::f32;           // of products and attention
    double rate = 0;                                   // the highest learning rate
    std::int64_t epochs = 1;
    std::optional<std::uint64_t> budget{}; // bytes of temporaries of a step
};
Method base_method(const Options&);                        // the pre-training
Method method_of(const Options&, const std::string& name); // "qlora", "lora" or "full"

struct History {
    std::string method;
    std::int64_t trained = 0;                     // parameters
    reprise::CallMemory memory;                   // of a step of a full batch of the longest texts
    std::vector<double> loss;                     // of each step, in nats
    std::vector<double> epoch_loss;               // mean of each complete epoch
    std::vector<double> test_loss, test_accuracy; // after each epoch; the accuracy from 0 to 1
    std::int64_t steps_per_epoch = 0;
    double seconds = 0; // of all steps, also those before a resumption
    double texts_per_second = 0;
    std::uint64_t recordings = 0; // number of recordings after the first step, 0 as one serves all sizes
    bool interrupted = false;
};

struct Reporter {
    std::function<void(const reprise::train::Progress&)> step;
    std::function<void(const History&)> epoch; // called after the checkpoint is written
    std::function<bool()> stop;                // called before each step
};

class Training {
public:
    // Loads the encoder from the folder `base`; without one it has random weights.  Options and examples must exist as
    // long as this object.
    Training(const Options&, const Method&, const bert::Config&, const Examples&,
             const std::filesystem::path& base = {});

    bool has_budget() const { return method_.budget.has_value(); }
    // Trains, and writes a checkpoint to a file after each epoch and when it is stopped.  If Options::resume is set, it
    // goes on from the checkpoint, to the same bits as without a stop.
    History run(const std::filesystem::path& checkpoint, const Reporter&);
    const History& history() const { return history_; } // before run(): the memory of a step

    const bert::Classifier& net() const { return net_; }
    const reprise::nn::Lora* adapters() const { return lora_ ? &*lora_ : nullptr; }
    std::vector<std::int64_t> predict(
        const std::vector<std::size_t>& numbers); // topics of these texts of the test

private:
    std::string signature() const;             // of a run: a checkpoint of another one does not fit
    std::vector<reprise::train::Part> parts(); // of a checkpoint
    void load(const std::filesystem::path&);
    bool run_epoch(const Reporter&);
    void test();
    double scheduled_rate() const;
    void report(const Reporter&) const;

    const Options& options_;
    Method method_;
    bert::Config config_;
    const Examples& examples_;
    bert::Classifier net_;
    std::optional<reprise::nn::Lora> lora_;
    std::optional<reprise::optim::AdamW> optimizer_;
    reprise::Program step_, test_step_;
    History history_;
    std::string signature_;
    std::int64_t steps_ = 0, started_ = 0,
                 texts_ = 0; // numbers of steps in all, steps that were started, texts
    std::optional<std::uint64_t> recordings_;
};

} // namespace bert_lora
