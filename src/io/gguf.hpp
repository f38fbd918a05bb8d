// Reads the header of a GGUF file, the format of docs/gguf.md in github.com/ggml-org/ggml.  This is our own reader
// because no library in Debian reads the format alone: ggml's comes with its kernels.
//   file     = "GGUF", u32 version, u64 tensors, u64 values, value..., tensor..., padding, data
//   value    = text key, u32 type, content;  text = u64 length, bytes;  list = u32 type, u64 count, content...
//   tensor   = text name, u32 dimensions, u64 size..., u32 type, u64 offset
// All numbers are little-endian.  Sizes begin with the innermost one.  Offsets count from the start of the data; they
// and that start are multiples of the value general.alignment, which is 32 by default.
#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "io/model.hpp"

namespace reprise::io {

bool is_gguf(std::span<const std::byte> file) noexcept; // whether it begins with the format's four letters

// Throws Error(file), which names `file`.  The tensors' bytes are parts of `bytes`.
Contents read_gguf(std::span<const std::byte> bytes, const std::string& file);

} // namespace reprise::io
