#include <set>
#include <string_view>
#include <utility>

#include <reprise/error.hpp>
#include <reprise/grad_mode.hpp>
#include <reprise/model_file.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/path_text.hpp>

#include "io/gguf.hpp"
#include "io/model.hpp"
#include "io/safetensors_header.hpp"

namespace reprise {

using detail::fail;

namespace io {

namespace {

constexpr const char* single_name = "model.safetensors";
constexpr const char* index_name = "model.safetensors.index.json";

bool is_file(const std::filesystem::path& path)
{
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored);
}

// Returns the file in a folder that describes its model.
std::filesystem::path found_in(const char* op, const std::filesystem::path& folder)
{
    const bool single = is_file(folder / single_name), index = is_file(folder / index_name);
    if (single && index)
        fail(ErrorKind::file, op, "The folder (", path_text(folder), ") has both (", single_name, ") and (",
             index_name, "): pass the path of the one to open.");
    if (!single && !index)
        fail(ErrorKind::file, op, "The folder (", path_text(folder), ") can't be opened: it has neither (",
             single_name, ") nor (", index_name, "): pass the path of a file.");
    return folder / (single ? single_name : index_name);
}

void add_shard(const char* op, Model& model, WeightMap& owners, const std::string& shard,
               const std::string& index)
{
    const std::filesystem::path path = model.path.parent_path() / path_of_text(shard);
    if (!is_file(path))
        fail(ErrorKind::file, op, "The index (", index, ") names the file (", shard,
             "), which is missing in its folder.");
    model.files.push_back(map_file(op, path));
    Contents contents = read_safetensors(model.files.back().bytes, path_text(path));
    for (auto& [name, tensor] : contents.tensors) {
        const auto [at, added] = owners.emplace(name, shard);
        if (!added)
            fail(ErrorKind::file, op, "The tensor (", name, ") is in two files of the index (", index,
                 "): in (", at->second, ") and in (", shard, ").");
        model.contents.tensors.emplace(name, std::move(tensor));
    }
    model.contents.metadata.merge(contents.metadata); // keeps the values that are there
}

void open_shards(const char* op, Model& model)
{
    const std::string file = path_text(model.path);
    const MappedFile index = map_file(op, model.path);
    if (index.bytes.size() > max_header_bytes)
        fail(ErrorKind::file, op, "The index (", file, ") has ", index.bytes.size(),
             " bytes, more than the limit of ", max_header_bytes, ".");
    const WeightMap expected =
        parse_index({reinterpret_cast<const char*>(index.bytes.data()), index.bytes.size()}, file);
    std::set<std::string> shards;
    for (const auto& [name, shard] : expected) shards.insert(shard);
    WeightMap owners;
    for (const std::string& shard : shards) add_shard(op, model, owners, shard, file);
    for (const auto& [name, shard] : expected) {
        const auto found = owners.find(name);
        if (found == owners.end() || found->second != shard)
            fail(ErrorKind::file, op, "The index (", file, ") has the tensor (", name, ") in the file (",
                 shard, "), which does not contain it.");
    }
}

std::shared_ptr<const Model> open_model(const char* op, const std::filesystem::path& path, bool may_be_gguf)
{
    const auto model = std::make_shared<Model>();
    std::error_code ignored;
    model->path = std::filesystem::is_directory(path, ignored) ? found_in(op, path) : path;
    if (model->path.extension() == ".json") {
        open_shards(op, *model);
        return model;
    }
    model->files.push_back(map_file(op, model->path));
    const std::span<const std::byte> bytes = model->files[0].bytes;
    const std::string file = path_text(model->path);
    model->contents = may_be_gguf && is_gguf(bytes) ? read_gguf(bytes, file) : read_safetensors(bytes, file);
    return model;
}

// Casts on the device if it has the stored dtype, otherwise on the host.
Tensor cast_to(DType wanted, const StoredTensor& tensor, const CreationOptions& stored)
{
    const Device host("reference"), device = stored.device.value_or(default_device());
    const auto on = [&](const Device& where) {
        return from_bytes(tensor.bytes, tensor.shape, {.dtype = stored.dtype, .device = where}).to(wanted);
    };
    try {
        return on(device);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::unsupported) throw;
        return on(host).to(device);
    }
}

} // namespace

std::shared_ptr<const Model> open_safetensors(const char* op, const std::filesystem::path& path)
{
    return open_model(op, path, false);
}

Tensor load_tensor(const char* op, const Model& model, const std::string& name, const StoredTensor& tensor,
                   const CreationOptions& options)
{
    const DType* dtype = std::get_if<DType>(&tensor.type);
    if (!dtype)
        fail(ErrorKind::dtype, op, "The tensor (", name, ") of the file (", path_text(model.path),
             ") has the block-quantised type (", to_string(tensor.type),
             "), which has to be dequantised: load its bytes with load_blocks().");
    try {
        const CreationOptions stored{.dtype = *dtype, .device = options.device};
        if (options.dtype_or(*dtype) == *dtype) {
            Tensor out = from_bytes(tensor.bytes, tensor.shape, stored);
            return out.requires_grad_(options.requires_grad);
        }
        const no_grad guard;
        Tensor out = cast_to(*options.dtype, tensor, stored).detach();
        out.eval(); // so that the elements of the stored dtype are freed
        return out.requires_grad_(options.requires_grad);
    } catch (const Error& error) { // such as a dtype that the device lacks
        fail(error.kind(), op, "The tensor (", name, ") of the file (", path_text(model.path),
             ") can't be loaded: ", error.what());
    }
}

} // namespace io

std::string to_string(const StoredType& type)
{
    return std::visit([](auto t) { return std::string(name_of(t)); }, type);
}

namespace {

template <class T> const T& held(const MetadataValue& metadata, const char* wanted)
{
    const T* value = std::get_if<T>(&metadata.value);
    if (!value) fail(ErrorKind::argument, "MetadataValue", "The value is no ", wanted, ".");
    return *value;
}

} // namespace

bool MetadataValue::to_bool() const { return held<bool>(*this, "bool"); }

std::int64_t MetadataValue::to_int() const
{
    if (const auto* large = std::get_if<std::uint64_t>(&value))
        fail(ErrorKind::argument, "MetadataValue", "The value (", *large, ") is above 2^63 - 1.");
    return held<std::int64_t>(*this, "integer");
}

double MetadataValue::to_double() const
{
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
    if (const auto* integer = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*integer);
    return held<double>(*this, "number");
}

const std::string& MetadataValue::to_text() const { return held<std::string>(*this, "text"); }

const std::vector<MetadataValue>& MetadataValue::to_list() const
{
    return held<std::vector<MetadataValue>>(*this, "list");
}

namespace {

template <class Map> const typename Map::mapped_type& entry(const io::Model& model, const Map& entries,
                                                            const char* what, const std::string& name)
{
    const auto found = entries.find(name);
    if (found == entries.end())
        fail(ErrorKind::argument, "ModelFile", "The file (", path_text(model.path), ") has no ", what, " (",
             name, ").");
    return found->second;
}

} // namespace

ModelFile::ModelFile(const std::filesystem::path& path) : model_(io::open_model("ModelFile", path, true)) {}

const std::filesystem::path& ModelFile::path() const { return model_->path; }
const std::map<std::string, StoredTensor>& ModelFile::tensors() const { return model_->contents.tensors; }
const Metadata& ModelFile::metadata() const { return model_->contents.metadata; }

const StoredTensor& ModelFile::at(const std::string& name) const
{
    return entry(*model_, tensors(), "tensor", name);
}
const MetadataValue& ModelFile::metadata(const std::string& key) const
{
    return entry(*model_, metadata(), "metadata", key);
}

Tensor ModelFile::load(const std::string& name, const CreationOptions& options) const
{
    return io::load_tensor("ModelFile", *model_, name, at(name), options);
}

Tensor ModelFile::load_blocks(const std::string& name, const std::optional<Device>& device) const
{
    const StoredTensor& tensor = at(name);
    const BlockType* type = std::get_if<BlockType>(&tensor.type);
    if (!type)
        fail(ErrorKind::dtype, "ModelFile", "The tensor (", name, ") of the file (", path_text(path()),
             ") has the dtype (", to_string(tensor.type), ") and no blocks: load it with load().");
    StoredTensor bytes{tensor.shape, u8, tensor.bytes};
    bytes.shape.back() = bytes.shape.back().value() / elements_per_block(*type) * bytes_per_block(*type);
    return io::load_tensor("ModelFile", *model_, name, bytes, {.device = device});
}

namespace {

// Calls f() and adds the names of the tensor and the file to its errors.
template <class F> auto named(const std::string& tensor, const std::filesystem::path& file, const F& f)
{
    try {
        return f();
    } catch (const Error& e) {
        throw Error(e.kind(), std::string(e.what()) + " The tensor is (" + tensor + ") of the file (" +
                                  path_text(file) + ").");
    }
}

} // namespace

QuantizedTensor ModelFile::load_quantized(const std::string& name, const std::optional<Device>& device) const
{
    const StoredTensor& tensor = at(name);
    const BlockType* type = std::get_if<BlockType>(&tensor.type);
    if (const auto format = type ? quantized_format_of(*type) : std::nullopt)
        return named(name, path(), [&] {
            return QuantizedTensor::from_bytes(tensor.bytes, tensor.shape, *format, {.device = device});
        });
    fail(ErrorKind::dtype, "ModelFile", "The tensor (", name, ") of the file (", path_text(path()),
         ") has the type (", to_string(tensor.type),
         "), but products take q8_0, q4_0 and q4_k: load its bytes with load_blocks().");
}

} // namespace reprise
