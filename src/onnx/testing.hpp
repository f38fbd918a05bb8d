// The importer's inner values for its tests: all types of ONNX, and sequences.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "onnx/value.hpp"

namespace reprise::onnx {

// Runs the graph of a model on a device with these values of its inputs.
Values run_model(const std::filesystem::path&, const Device&, Values inputs);

} // namespace reprise::onnx
