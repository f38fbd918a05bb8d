// Layers by id: which of them are checkpoints, and what they keep.
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

struct CheckpointStatistics {
    std::size_t layers = 0; // registered
    // Calls of CheckpointFunctions that were checkpoints, and that were not; those that threw do not count.
    std::uint64_t checkpointed = 0, plain = 0;
    std::size_t keeping = 0;       // layers that keep something now
    std::uint64_t bytes_kept = 0;  // of it; tensors of symbolic sizes do not count
    std::uint64_t bytes_saved = 0; // MemoryTracker::saved() of the layers' ids, whosever they are
};

// Several threads may use it at once.  Asked for a layer that is not registered it throws Error(argument).
class CheckpointManager {
public:
    explicit CheckpointManager(CheckpointConfig = {}); // every layer is a checkpoint
    ~CheckpointManager();
    CheckpointManager(const CheckpointManager&) = delete;
    CheckpointManager& operator=(const CheckpointManager&) = delete;

    // ---- layers ----
    // `bytes`: what the layer's calls would keep for the backward pass, where you know; else measure() finds
    // it.  Error(argument) for an empty id, and for one that is registered already.
    void register_layer(const std::string& id, std::optional<std::uint64_t> bytes = std::nullopt);
    bool remove_layer(const std::string& id); // and what it keeps; whether there was one
    bool contains(const std::string& id) const;
    std::vector<std::string> layers() const; // in the order of registration

    // As given, else as measured; none: not known.
    std::optional<std::uint64_t> bytes(const std::string& id) const;
    // Takes over as a layer's bytes what MemoryTracker shows to be saved by its checkpoints now, where that
    // is not 0; checkpoints of the same id that are another manager's count.  Call it when a forward pass has
    // been evaluated and its backward pass not yet; programs show nothing.  Nothing else measures, so that
    // which layers are checkpoints changes at no other time.
    void measure(const Device& = default_device());

    // ---- which are checkpoints ----
    CheckpointConfig config() const;
    void set_config(CheckpointConfig);
    // By the config of the innermost CheckpointContext of this thread, else by its own.
    bool should_checkpoint(const std::string& id) const;
    // For checkpoint() and nn::Module::set_checkpoint(), with the id as the layer; none: no checkpoint.
    std::optional<CheckpointOptions> checkpoint_options(const std::string& id) const;

    // ---- what they keep ----
    // Keeps the tensors' values, without their tapes, in place of what the layer kept: until release(),
    // another keep() or the layer's removal; those of a recording are of use inside of it only.
    // Error(argument) for an undefined tensor.
    void keep(const std::string& id, const std::vector<Tensor>& tensors);
    // What keep() was given, or the inputs of the newest call of its CheckpointFunction, where that keeps
    // them.
    // Error(state) where that is nothing.
    std::vector<Tensor> retrieve(const std::string& id) const;
    void release(const std::string& id);
    void clear(); // releases all; layers stay registered

    CheckpointStatistics statistics(const Device& = default_device()) const;

private:
    friend class CheckpointFunction;
    struct Layer {
        std::string id;
        std::uint64_t number;                         // of its registration
        std::optional<std::uint64_t> given, measured; // bytes
        std::weak_ptr<checkpointing::Kept> kept;
        std::shared_ptr<checkpointing::Kept> own; // what keep() was given
        std::optional<std::uint64_t> bytes() const { return given ? given : measured; }
    };
    // Under the mutex.
    std::vector<Layer>::const_iterator find(const std::string& id) const;
    std::size_t index_of(const std::string& id) const;
    bool chooses(const CheckpointConfig&, std::size_t layer) const;
    bool within_budget(const CheckpointConfig&, std::size_t layer) const;

    std::vector<std::shared_ptr<checkpointing::Kept>> all_kept() const;
    std::uint64_t add_layer(const std::string& id, std::optional<std::uint64_t> bytes); // its number
    bool remove_layer(const std::string& id, std::optional<std::uint64_t> number); // none: whichever it is
    void replace(const std::string& id, const std::shared_ptr<checkpointing::Kept>& by, bool owns);
    // Of a call: its graph holds them, and the manager a weak reference.
    std::shared_ptr<checkpointing::Kept> lend(const std::string& id, const std::vector<Tensor>& inputs);
    void count_call(bool checkpointed);

    mutable std::mutex mutex_; // never held while ops run or tensors go
    CheckpointConfig config_;
    std::vector<Layer> layers_;
    std::uint64_t registered_ = 0;               // layers, until now
    std::uint64_t checkpointed_ = 0, plain_ = 0; // calls
};

} // namespace reprise
