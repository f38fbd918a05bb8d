// Recomputation of layers by recorded functions.
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

// Counters of a RecomputationEngine.
struct RecomputationStatistics {
    std::uint64_t recomputations = 0; // recomputations that returned a result
    std::uint64_t recordings = 0;     // recordings that succeeded
    std::size_t programs = 0;         // programs that are currently cached
};

// Recomputes the values of layers outside of backward passes: for reading them, and for training systems with a custom
// backward pass. Inside of backward passes checkpoint() does so, with the random numbers of the forward pass; here a
// function draws new ones, and tensors that it assigns are assigned again.
//
// A function is recorded when it is first recomputed, for the dtypes and sizes of these inputs, and replayed from then
// on. Sizes that differ later become symbols in another recording. If sizes violate a guard of that recording, as when
// they broadcast, one more recording is made. A function that does not work with symbols, because it reads sizes as
// numbers, has a recording for each combination of sizes. The most recently used recordings are cached.
//
// Several threads may use one engine concurrently. No lock is held while a function runs, so threads that recompute a
// layer for the first time at the same time may each record it; one recording is retained.
class RecomputationEngine {
public:
    // `options` apply to all recordings, except that the device is that of the inputs. `programs_per_layer` is the
    // number of recordings to cache for each layer; Error(argument) for 0.
    explicit RecomputationEngine(RecordOptions options = {}, std::size_t programs_per_layer = 8);
    ~RecomputationEngine();
    RecomputationEngine(const RecomputationEngine&) = delete;
    RecomputationEngine& operator=(const RecomputationEngine&) = delete;

    // Registers a layer's function. Error(argument) for an empty id, one that is registered already, and a null
    // function.
    void register_function(const std::string& id, TracedFunction);
    // Removes a layer's function and its programs; returns whether there was one.  Calls that are running
    // finish.
    bool remove_function(const std::string& id);
    bool contains(const std::string& id) const; // whether a layer's function is registered

    // Returns the results of a layer's function for these inputs; no gradient flows through them. While a program is
    // recorded, the function itself runs and becomes a part of the program. Undefined tensors are passed on.
    // Error(argument) for an id without a function; errors of the function are passed on and change nothing.
    std::vector<Tensor> recompute(const std::string& id, const std::vector<Tensor>& inputs);

    RecomputationStatistics statistics() const; // the sums over all registered functions
    // The counters of one layer's function; Error(argument) if there is none.
    RecomputationStatistics statistics(const std::string& id) const;

private:
    friend class CheckpointFunction;
    struct Layer;
    std::uint64_t add_function(const std::string& id, TracedFunction); // returns its registration number
    bool remove_function(const std::string& id, std::optional<std::uint64_t> number); // nullopt: any
    std::shared_ptr<Layer> find(const std::string& id) const;

    RecordOptions options_;
    std::size_t programs_;     // maximum for each layer
    mutable std::mutex mutex_; // guards layers_
    std::map<std::string, std::shared_ptr<Layer>> layers_;
    std::uint64_t registered_ = 0; // number of functions registered so far
};

} // namespace reprise
