// Layers by id: which of them are checkpoints, and the tensors that they store.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <reprise/checkpointing/config.hpp>
#include <reprise/device.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

namespace checkpointing {
class Kept; // src/checkpointing/kept.hpp
}

// Counters of a CheckpointManager.
struct CheckpointStatistics {
    std::size_t layers = 0;         // registered layers
    std::uint64_t checkpointed = 0, // calls of CheckpointFunctions that were checkpoints and did not throw
        plain = 0;                  // calls that were not checkpoints and did not throw
    std::size_t keeping = 0;        // layers that currently store tensors
    std::uint64_t bytes_kept = 0;   // bytes of these tensors, except those with symbolic sizes
    std::uint64_t bytes_saved = 0;  // the sum of MemoryTracker::saved() over the layers' ids, in all managers
};

// Decides which of its layers are checkpoints. Members that take the id of a layer throw Error(argument) if it is not
// registered, except contains() and remove_layer(). Several threads may use one manager concurrently.
class CheckpointManager {
public:
    // By default every layer is a checkpoint.  Error(argument) for a config that CheckpointConfig does not
    // allow.
    explicit CheckpointManager(CheckpointConfig = {});
    ~CheckpointManager();
    CheckpointManager(const CheckpointManager&) = delete;
    CheckpointManager& operator=(const CheckpointManager&) = delete;

    // ---- layers ----
    // Registers a layer. `bytes` are those that its calls would save for the backward pass, if known; measure() can
    // determine them. Error(argument) for an empty id and for one that is registered already.
    void register_layer(const std::string& id, std::optional<std::uint64_t> bytes = std::nullopt);
    // Removes a layer and the tensors that it stores; returns whether there was one.
    bool remove_layer(const std::string& id);
    bool contains(const std::string& id) const; // whether a layer is registered
    std::vector<std::string> layers() const;    // the ids of all layers, in the order of registration

    // The layer's bytes: those passed to register_layer(), otherwise the measured ones; no value if neither is known.
    std::optional<std::uint64_t> bytes(const std::string& id) const;
    // Sets the bytes of layers to those that their checkpoints currently save, by MemoryTracker::saved_by_layer(), if
    // these are not 0; checkpoints of other managers with the same id count too. Call it between a forward pass, once
    // that is evaluated, and its backward pass, in eager code. No other function measures, so the choice of checkpoints
    // does not change at other times.
    void measure(const Device& = default_device());

    // ---- which are checkpoints ----
    CheckpointConfig config() const;   // the manager's config
    void set_config(CheckpointConfig); // replaces the config; Error(argument) for one that is not allowed
    // Whether a layer is a checkpoint, by the config of this thread's innermost CheckpointContext or, without one, by
    // the manager's.
    bool should_checkpoint(const std::string& id) const;
    // The options for checkpoint() and nn::Module::set_checkpoint(), with the id as layer; no value if the layer is not
    // a checkpoint.
    std::optional<CheckpointOptions> checkpoint_options(const std::string& id) const;

    // ---- stored tensors ----
    // Stores the values of tensors for a layer, without gradients, in place of those stored before. They are stored
    // until release(), another keep() or the layer's removal; tensors of a recording can be used only inside of it.
    // Error(argument) for an undefined tensor.
    void keep(const std::string& id, const std::vector<Tensor>& tensors);
    // The tensors that a layer stores: those passed to keep(), or the inputs of the newest call of its
    // CheckpointFunction if that stores them. Error(state) if it stores nothing.
    std::vector<Tensor> retrieve(const std::string& id) const;
    void release(const std::string& id); // frees the tensors that a layer stores
    void clear();                        // frees the tensors of all layers; they stay registered

    // The counters; bytes_saved is that of the given device.
    CheckpointStatistics statistics(const Device& = default_device()) const;

private:
    friend class CheckpointFunction;
    struct Layer {
        std::string id;
        std::uint64_t number;                         // number of its registration
        std::optional<std::uint64_t> given, measured; // bytes
        std::weak_ptr<checkpointing::Kept> kept;
        std::shared_ptr<checkpointing::Kept> own; // set by keep(): the manager owns the tensors
        std::optional<std::uint64_t> bytes() const { return given ? given : measured; }
    };
    // Called with the mutex locked.
    std::vector<Layer>::const_iterator find(const std::string& id) const;
    std::size_t index_of(const std::string& id) const;
    bool chooses(const CheckpointConfig&, std::size_t layer) const;
    bool within_budget(const CheckpointConfig&, std::size_t layer) const;

    std::shared_ptr<checkpointing::Kept> kept_by(const std::string& id) const; // null: nothing stored
    std::vector<std::shared_ptr<checkpointing::Kept>> all_kept() const;
    std::uint64_t add_layer(const std::string& id, std::optional<std::uint64_t> bytes); // returns its number
    bool remove_layer(const std::string& id, std::optional<std::uint64_t> number);      // nullopt: any
    void replace(const std::string& id, const std::shared_ptr<checkpointing::Kept>& by, bool owns);
    // Stores the inputs of a call: its graph owns them, and the manager holds a weak reference.
    std::shared_ptr<checkpointing::Kept> lend(const std::string& id, const std::vector<Tensor>& inputs);
    void count_call(bool checkpointed);

    mutable std::mutex mutex_; // never held while ops run or tensors are destroyed
    CheckpointConfig config_;
    std::vector<Layer> layers_;
    std::uint64_t registered_ = 0;               // number of layers registered so far
    std::uint64_t checkpointed_ = 0, plain_ = 0; // calls
};

} // namespace reprise
