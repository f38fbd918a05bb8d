// Modules with checkpointed calls (autograd/checkpoint.hpp).
#pragma once
#include <cstddef>
#include <string>

#include <reprise/nn/containers.hpp>

namespace reprise::nn {

// Turns the calls of a module into checkpoints from now on (Module::set_checkpoint) and returns the module;
// `layer_id` is the layer's name in MemoryTracker.  Parameters, hooks and state_dict do not change.  Throws
// Error(argument) for an empty id.
Module& checkpoint_module(Module&, const std::string& layer_id, CheckpointOptions = {});

// Calls the modules one after the other in `segments` parts, each of them a checkpoint except the last, as
// reprise::checkpoint_sequential does with functions.  Throws Error(argument) for 0 segments.
Tensor checkpoint_sequential(const Sequential&, std::size_t segments, Tensor x,
                             const CheckpointOptions& = {});

} // namespace reprise::nn
