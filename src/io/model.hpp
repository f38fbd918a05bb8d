// What a ModelFile holds, and how it is opened.
#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reprise/model_file.hpp>

#include "io/mapped_file.hpp"

namespace reprise::io {

// Of one file or of all.
struct Contents {
    std::map<std::string, StoredTensor> tensors;
    Metadata metadata;
};

struct Model {
    std::filesystem::path path;
    std::vector<MappedFile> files;
    Contents contents;
};

// Opens a safetensors file, an index or a folder.  Throws Error(file), in the name of `op` or of the format's reader.
std::shared_ptr<const Model> open_safetensors(const char* op, const std::filesystem::path&);

// Loads a tensor of the model as ModelFile::load().
Tensor load_tensor(const char* op, const Model&, const std::string& name, const StoredTensor&,
                   const CreationOptions&);

// Returns the product of the sizes and `unit`, the bytes of an innermost element or block; nullopt where that of the
// sizes other than 0 is more than 2^63 - 1.
inline std::optional<std::uint64_t> byte_count(const std::vector<std::int64_t>& sizes, std::uint64_t unit)
{
    std::uint64_t bytes = unit;
    bool empty = false;
    for (const std::int64_t size : sizes) {
        empty |= size == 0;
        if (size == 0) continue;
        if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) /
                        static_cast<std::uint64_t>(size))
            return std::nullopt;
        bytes *= static_cast<std::uint64_t>(size);
    }
    return empty ? 0 : bytes;
}

} // namespace reprise::io
