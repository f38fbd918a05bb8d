// Plots and metrics of a training.
#pragma once
#include <cstdint>
#include <string>

#include <reprise/train.hpp>

#include "training.hpp"

namespace deep_gpt {

double mib(std::uint64_t bytes);
reprise::train::Figure memory_picture(const History&, const Options&, const std::string& device);
reprise::train::Figure training_picture(const History&, const Options&, const std::string& device);
reprise::train::Metrics figures(const History&, const Options&, const std::string& device);

} // namespace deep_gpt
