// Which layers are checkpoints.
#pragma once
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include <reprise/autograd/checkpoint.hpp>

namespace reprise {

// Of the layers of a CheckpointManager, in the order of their registration.  A layer's bytes are what its
// calls would keep for the backward pass if they were no checkpoints (CheckpointManager::bytes); a layer
// whose bytes are not known is a checkpoint by size and by budget.
// Where it is used Error(argument) is thrown for an `every` of 0 and a budget of 0 bytes.
struct CheckpointConfig {
    enum class Strategy {
        none,      // no layer, not those of `layers` either
        all,       // every layer
        every_kth, // the first, and from there each `every`-th
        selective, // those of `layers`
        by_size,   // those of more than `bytes`
        by_budget, // the first ones, as many as it takes for the others to have at most `bytes` together
    } strategy = Strategy::all;
    std::size_t every = 1;
    std::uint64_t bytes = 0;
    std::set<std::string> layers{}; // ids; checkpoints by every strategy but none
    CheckpointOptions::Policy policy = CheckpointOptions::Policy::everything;

    friend bool operator==(const CheckpointConfig&, const CheckpointConfig&) = default;
};

} // namespace reprise
