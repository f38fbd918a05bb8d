// NumPy's array format: a header, which is a dictionary in Python's notation, and the elements.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <reprise/tensor.hpp>

namespace reprise::io {

// Decodes an array.  `name` is that of the file or of the entry, for errors: Error(file), in the name of `op`, where
// the bytes are malformed; Error(dtype) for an element type that the library does not have.
Tensor decode_npy(const char* op, const std::string& name, std::span<const std::byte>,
                  const std::optional<Device>&);
// Returns the header of a tensor's array; to_bytes() gives what comes after it.  Error(dtype) for bf16.
std::string npy_header(const char* op, const Tensor&);

} // namespace reprise::io
