// The plot and the metrics of the trainings.
#pragma once
#include <string>
#include <vector>

#include <reprise/train.hpp>

#include "options.hpp"
#include "training.hpp"

namespace bert_lora {

double mib(std::uint64_t bytes);
std::uint64_t bytes_of(
    const reprise::CallMemory&); // weights, optimizer state, temporaries and results of a step

reprise::train::Figure picture(const std::vector<History>&, const std::string& device);
reprise::train::Metrics figures(const std::vector<History>&, const std::vector<History>& memory,
                                const Options&, const std::string& device);

} // namespace bert_lora
