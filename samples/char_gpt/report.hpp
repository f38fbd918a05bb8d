// The plot and the metrics of a training.
#pragma once
#include <string>

#include <reprise/train.hpp>

#include "options.hpp"
#include "training.hpp"

namespace char_gpt {

reprise::train::Figure picture(const History&, const std::string& device);
reprise::train::Metrics figures(const History&, const Options&, const std::string& device);

} // namespace char_gpt
