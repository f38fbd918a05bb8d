// Functions by layer that are recorded when they are first recomputed, and replayed from then on.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <reprise/program.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

struct RecomputationStatistics {
    std::uint64_t recomputations = 0; // that gave a result
    std::uint64_t recordings = 0;     // that succeeded
    std::size_t programs = 0;         // held now
};

// Gives a layer's values again outside of backward passes: for looking at them, and for training systems that
// run their own backward pass.  Inside of backward passes checkpoint() does it, with the random numbers that
// the forward pass drew; here a function draws new ones, and what it assigns is assigned again.
//
// A function is recorded for the types and sizes of the first inputs.  Sizes that turn out to differ become
// symbols in one more recording, which replays at any; where sizes break a condition of that (they broadcast),
// those that differ there become symbols of another.  Where the function does not follow symbols (it reads
// sizes as numbers, or decides by them), each combination of sizes has a recording of its own.  The
// recordings used last are held.
//
// Several threads may use it at once, and nothing is locked while a function runs: threads that are the first
// to recompute a layer at the same time may each record it; one recording stays.
class RecomputationEngine {
public:
    // `options` of all recordings; their device is that of the inputs.  Error(argument) for 0 programs.
    explicit RecomputationEngine(RecordOptions options = {}, std::size_t programs_per_layer = 8);
    ~RecomputationEngine();
    RecomputationEngine(const RecomputationEngine&) = delete;
    RecomputationEngine& operator=(const RecomputationEngine&) = delete;

    // Error(argument) for an empty id, one that is registered already, and a null function.
    void register_function(const std::string& id, TracedFunction);
    // And its programs; calls under way end as they would.  Whether there was one.
    bool remove_function(const std::string& id);
    bool contains(const std::string& id) const;

    // The function's results for these inputs: values without a tape.  While a program is recorded the
    // function itself runs, and what it does becomes a part of that.  Undefined tensors are passed on.
    // Error(argument) for an id without a function; what the function throws, and nothing has changed then.
    std::vector<Tensor> recompute(const std::string& id, const std::vector<Tensor>& inputs);

    RecomputationStatistics statistics() const; // of the functions that are registered now
    RecomputationStatistics statistics(const std::string& id) const; // Error(argument) where there is none

private:
    friend class CheckpointFunction;
    struct Layer;
    std::uint64_t add_function(const std::string& id, TracedFunction); // the number of its registration
    bool remove_function(const std::string& id, std::optional<std::uint64_t> number); // none: whichever it is
    std::shared_ptr<Layer> find(const std::string& id) const;

    RecordOptions options_;
    std::size_t programs_;     // for each layer, at most
    mutable std::mutex mutex_; // of layers_
    std::map<std::string, std::shared_ptr<Layer>> layers_;
    std::uint64_t registered_ = 0; // functions, until now
};

} // namespace reprise
