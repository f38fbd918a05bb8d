// What a file of save_checkpoint() has.
#pragma once
#include <map>
#include <string>
#include <vector>

#include <reprise/train/checkpoint.hpp>

namespace reprise::train {

struct CheckpointContents {
    std::map<std::string, Tensor> tensors;
    std::map<std::string, std::string> metadata;
};
// Returns that of these parts and of the random generator.  Errors as of save_checkpoint().
CheckpointContents checkpoint_contents(const std::vector<Part>&);

} // namespace reprise::train
