// Parses and writes the header of a safetensors file, a JSON text, and the index of a model in several files.
//   file    = u64 little-endian length of the header, header, data
//   header  = {"__metadata__": {text: text}, name: entry, ...}
//   entry   = {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}
// Offsets count from the start of the data, which the tensors fill without gaps.
//   index   = {"metadata": {...}, "weight_map": {name: file in the same folder, ...}}
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/model.hpp"

namespace reprise::io {

struct TensorEntry {
    std::string name;
    DType dtype = DType::f32;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0; // offsets in the data, in bytes
};

struct Header {
    std::vector<TensorEntry> entries; // in the order of their data
    std::map<std::string, std::string> metadata;
};

inline constexpr std::size_t length_bytes = 8; // of the header's length
using FirstBytes = std::span<const std::byte, length_bytes>;
// The limit of the reference implementation: a longer header is refused.
inline constexpr std::uint64_t max_header_bytes = 100'000'000;

// All functions below throw Error(file), which names `file`.

// Returns the length of the header.  `bytes`: the size of the file; nullopt: unknown, for a stream.
std::uint64_t header_length(FirstBytes, std::optional<std::uint64_t> bytes, const std::string& file);

// Throws for a zip archive, a pickle or a GGUF file, by the first bytes.  Those of a valid safetensors file may be the
// same, as they are the length of its header, so callers have found another error first.
void refuse_other_formats(FirstBytes, const std::string& file);

// Without `data_bytes` the data ends where the last tensor ends.
Header parse_header(std::string_view json, std::optional<std::uint64_t> data_bytes, const std::string& file);

// Sets begin and end of each entry. Returns the header, padded with spaces to a multiple of 8 bytes to align the data.
// Throws Error(argument) for a text that is no UTF-8.
std::string make_header(std::vector<TensorEntry>& in_order_of_data,
                        const std::map<std::string, std::string>& metadata = {});

// Reads a whole file.  The tensors' bytes are parts of `bytes`.
Contents read_safetensors(std::span<const std::byte> bytes, const std::string& file);

using WeightMap = std::map<std::string, std::string>; // names of tensors and of the files that have them
WeightMap parse_index(std::string_view json, const std::string& file);
std::string make_index(const WeightMap&, std::uint64_t bytes_of_all_tensors);

} // namespace reprise::io
