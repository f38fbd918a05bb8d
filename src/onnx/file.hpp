// Reads model files.
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "onnx/graph.hpp"

namespace reprise::onnx {

// Parses the bytes of a model; `file` is the name for errors.  Error(file) where they are malformed.
std::shared_ptr<proto::ModelProto> parse_model(std::span<const std::byte>, const std::string& file);
// Reads and parses a file.
std::shared_ptr<proto::ModelProto> read_model(const std::filesystem::path&);
// Reads external data from files in a folder.  Error(file) for a location outside of the folder, and for data that is
// not in the file.
ExternalData external_data_in(const std::filesystem::path& folder);

// Fills the opsets of the library.  Adds a problem for versions of ONNX's own operators that are not known.
void read_opsets(const proto::ModelProto&, Library&);
// Throws Error(unsupported) that lists the problems; nothing where there are none.
void check_problems(const Library&, const std::string& file);

} // namespace reprise::onnx
