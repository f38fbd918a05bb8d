// Which layers are checkpoints.
#pragma once
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include <reprise/autograd/checkpoint.hpp>

namespace reprise {

// Decides which layers of a CheckpointManager are checkpoints. Layers are considered in the order of their
// registration. The bytes of a layer are those that its calls would save for the backward pass without a checkpoint
// (CheckpointManager::bytes). Using a config throws Error(argument) for every_kth with an `every` of 0 and for
// by_budget with 0 bytes.
struct CheckpointConfig {
    // Which layers are checkpoints.
    enum class Strategy {
        none,      // no layer, not even those of `layers`
        all,       // every layer
        every_kth, // the first layer and every `every`-th one after it
        selective, // only those of `layers`
        by_size,   // layers of more than `bytes` bytes, and those of unknown bytes
        by_budget, // the fewest first layers such that the others have at most `bytes` bytes in total
    } strategy = Strategy::all; // which layers are checkpoints
    std::size_t every = 1;      // the distance between checkpoints for every_kth
    std::uint64_t bytes = 0;    // the limit for by_size and by_budget
    // Ids of layers that are checkpoints by every strategy except none.  An id that is not registered has no
    // effect.
    std::set<std::string> layers{};
    // Which values of a checkpoint are recomputed.
    CheckpointOptions::Policy policy = CheckpointOptions::Policy::everything;

    // Whether all fields are equal.
    friend bool operator==(const CheckpointConfig&, const CheckpointConfig&) = default;
};

} // namespace reprise
