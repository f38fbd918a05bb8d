// Parses and writes the header of a safetensors file, a JSON text, without any Tensor or Device.
//   file    = u64 little-endian length of the header, header, data
//   header  = {"__metadata__": {text: text}, name: entry, ...}
//   entry   = {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}
// Offsets count from the start of the data, which the tensors fill without gaps.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/dtype.hpp>

namespace reprise::io {

struct TensorEntry {
    std::string name;
    DType dtype = DType::f32;
    std::vector<std::int64_t> shape;
    std::uint64_t begin = 0, end = 0; // offsets in the data, in bytes
};

// The limit of the reference implementation: a longer header is refused.
inline constexpr std::uint64_t max_header_bytes = 100'000'000;

// Returns the entries in the order of their data. Throws Error(file), which names `file`. Without `data_bytes`
// the data ends where the last tensor ends.
std::vector<TensorEntry> parse_header(std::string_view json, std::optional<std::uint64_t> data_bytes,
                                      const std::string& file);

// Sets begin and end of each entry. Returns the header, padded with spaces to a multiple of 8 bytes to align the data.
std::string make_header(std::vector<TensorEntry>& in_order_of_data);

} // namespace reprise::io
