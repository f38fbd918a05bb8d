// Modules whose calls are checkpoints.
#pragma once
#include <cstddef>
#include <string>

#include <reprise/nn/containers.hpp>

namespace reprise::nn {

// The module itself, whose calls are checkpoints from now on (Module::set_checkpoint); `layer_id` is its
// layer in MemoryTracker.  Its parameters, hooks and state_dict are as before.  Throws Error(argument) for an empty id.
Module& checkpoint_module(Module&, const std::string& layer_id, CheckpointOptions = {});

// reprise::checkpoint_sequential of the modules.
Tensor checkpoint_sequential(const Sequential&, std::size_t segments, Tensor x,
                             const CheckpointOptions& = {});

} // namespace reprise::nn
