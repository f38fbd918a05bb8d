// Files of trained models, read tensor by tensor: safetensors, also in shards, and GGUF.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <reprise/block_type.hpp>
#include <reprise/quantized.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

namespace io {
struct Model;
} // namespace io

// How a file stores the elements of a tensor: as numbers of a dtype, or quantised in blocks.
using StoredType = std::variant<DType, BlockType>;
std::string to_string(const StoredType&); // the name: "f16", "q4_k"

// A tensor as it is in a file.
struct StoredTensor {
    Shape shape{};         // outermost size first, as of tensors, also where the file has the reverse order
    StoredType type = f32; // of the elements
    // The elements in row-major order, little-endian, not aligned.  The memory is mapped: the file is read
    // where it is accessed.  It is valid as long as the ModelFile or a copy of it.
    std::span<const std::byte> bytes{};
};

// A value of a file's metadata.
struct MetadataValue {
    // Integers of any width in the file are std::int64_t; std::uint64_t is only for those above 2^63 - 1.
    std::variant<bool, std::int64_t, std::uint64_t, double, std::string, std::vector<MetadataValue>> value{};

    // The functions below throw Error(argument) for a value of another type, or that does not fit.
    bool to_bool() const;                                  // a bool
    std::int64_t to_int() const;                           // an integer
    double to_double() const;                              // a floating-point number, or an integer
    const std::string& to_text() const;                    // a text
    const std::vector<MetadataValue>& to_list() const;     // a list, whose elements may be lists, too
    bool operator==(const MetadataValue&) const = default; // whether type and value are equal
};

using Metadata = std::map<std::string, MetadataValue>; // values by key: "general.architecture"

// A trained model in one or several files, which are mapped into memory: tensors are read from disk when they
// are loaded, so that a model can be larger than the host's memory.  Copies refer to the same mapping.  The
// files must not change as long as a copy exists: where a mapped file is truncated, the system ends the
// process, and Windows refuses to replace a mapped file.
class ModelFile {
public:
    // Opens a safetensors file, a GGUF file of version 2 or 3, the index of a model in several safetensors
    // files (model.safetensors.index.json), or a folder with a model.safetensors or its index.  Names that end
    // with .json are of an index; other formats are found from the content.  Throws Error(file) for a file that
    // is missing, truncated or malformed, of another format or version, or of big-endian numbers; the error
    // names the tensor or key and the numbers that are wrong.
    explicit ModelFile(const std::filesystem::path&);
    ModelFile(const ModelFile&) = default; // the same mapping; also of a temporary, which stays usable
    ModelFile& operator=(const ModelFile&) = default; // the same

    const std::filesystem::path& path() const;                  // as it was passed, or found in the folder
    const std::map<std::string, StoredTensor>& tensors() const; // all tensors by name
    const StoredTensor& at(const std::string& name) const;      // one of them; else Error(argument)
    const Metadata& metadata() const; // all values; where several files have a key, that of the first
    const MetadataValue& metadata(const std::string& key) const; // one of them; else Error(argument)

    // Loads one tensor, cast to options.dtype where one is set, onto options.device or default_device().  A
    // dtype that the device does not have is cast on the host.  Throws Error(argument) for an unknown name,
    // Error(dtype) for a tensor that is quantised in blocks, Error(unsupported) where the device does not have
    // the resulting dtype.
    Tensor load(const std::string& name, const CreationOptions& options = {}) const;
    // Loads the bytes of a tensor that is quantised in blocks, as u8 [..., rows, bytes per row].  Throws
    // Error(argument) for an unknown name, Error(dtype) for a tensor of a dtype.
    Tensor load_blocks(const std::string& name, const std::optional<Device>& = std::nullopt) const;
    // Loads a matrix of q8_0, q4_0 or q4_k, which products take as it is.  Throws Error(argument) for an unknown name
    // and for scales that are NaN or infinite, Error(dtype) for other types, Error(shape) where it is no matrix.
    QuantizedTensor load_quantized(const std::string& name,
                                   const std::optional<Device>& = std::nullopt) const;

private:
    std::shared_ptr<const io::Model> model_;
};

} // namespace reprise
