#include "io/safetensors_header.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include <reprise/error.hpp>
#include <reprise/path_text.hpp>

namespace reprise::io {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* metadata_name = "__metadata__";

struct DTypeName {
    DType dtype;
    const char* name;
};
constexpr std::array<DTypeName, 10> dtype_names{{{DType::f32, "F32"},
                                                 {DType::f16, "F16"},
                                                 {DType::bf16, "BF16"},
                                                 {DType::f64, "F64"},
                                                 {DType::i32, "I32"},
                                                 {DType::i64, "I64"},
                                                 {DType::i16, "I16"},
                                                 {DType::i8, "I8"},
                                                 {DType::u8, "U8"},
                                                 {DType::boolean, "BOOL"}}};

constexpr const char* reader_name = "load_safetensors";

template <class... Parts> [[noreturn]] void malformed(const std::string& file, const Parts&... parts)
{
    detail::fail(ErrorKind::file, reader_name, "The file (", file,
                 ") is no valid safetensors file: ", parts..., ".");
}

const char* name_of_dtype(DType dtype)
{
    return std::find_if(dtype_names.begin(), dtype_names.end(),
                        [&](const DTypeName& d) { return d.dtype == dtype; })
        ->name;
}

// Parses JSON. Duplicate keys are an error, as the parser would keep only the last one and a tensor would be lost
// silently. So is nesting deeper than the format needs: dump(), which quotes values in errors, is recursive.
Json parse_json(std::string_view text, const std::string& file)
{
    std::vector<std::set<std::string>> keys; // of the enclosing objects
    constexpr int max_depth = 3;             // {name: {key: [number]}}
    if (text.find('\0') != text.npos) malformed(file, "it is no JSON: it holds a zero byte");
    const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
        if (depth > max_depth) malformed(file, "its JSON is nested deeper than ", max_depth, " levels");
        if (event == Json::parse_event_t::object_start) keys.emplace_back();
        if (event == Json::parse_event_t::object_end) keys.pop_back();
        if (event == Json::parse_event_t::key) {
            const auto& key = value.get_ref<const std::string&>();
            if (!keys.back().insert(key).second)
                malformed(file, "the name (", key, ") comes twice in its JSON");
        }
        return true;
    };
    try {
        return Json::parse(text, watch);
    } catch (const nlohmann::json::exception& error) {
        malformed(file, "its header or index is no JSON (", error.what(), ")");
    }
}

std::uint64_t unsigned_number(const Json& value, const std::string& tensor, const char* what,
                              const std::string& file)
{
    if (!value.is_number_unsigned())
        malformed(file, "the ", what, " of the tensor (", tensor, ") holds (", value.dump(),
                  "), which is no count");
    return value.get<std::uint64_t>();
}

const Json& field(const Json& entry, const char* key, const std::string& tensor, const std::string& file)
{
    const auto found = entry.find(key);
    if (found == entry.end()) malformed(file, "the tensor (", tensor, ") has no ", key);
    return *found;
}

TensorEntry parse_entry(const std::string& name, const Json& value, std::uint64_t data_bytes,
                        const std::string& file)
{
    if (!value.is_object()) malformed(file, "the entry (", name, ") is no object");
    TensorEntry entry;
    entry.name = name;
    const Json& dtype = field(value, "dtype", name, file);
    const auto found = std::find_if(dtype_names.begin(), dtype_names.end(), [&](const DTypeName& d) {
        return dtype.is_string() && dtype.get_ref<const std::string&>() == d.name;
    });
    if (found == dtype_names.end())
        malformed(file, "the tensor (", name, ") has the dtype (", dtype.dump(),
                  "), which is not known here");
    entry.dtype = found->dtype;

    const Json& shape = field(value, "shape", name, file);
    if (!shape.is_array()) malformed(file, "the shape of the tensor (", name, ") is no list");
    for (const Json& item : shape) {
        const std::uint64_t size = unsigned_number(item, name, "shape", file);
        if (!std::in_range<std::int64_t>(size))
            malformed(file, "the tensor (", name, ") has a size (", size, ") above 2^63 - 1");
        entry.shape.push_back(static_cast<std::int64_t>(size));
    }
    const auto bytes = byte_count(entry.shape, size_of(entry.dtype));
    if (!bytes) malformed(file, "the tensor (", name, ") has more than 2^63 - 1 bytes");

    const Json& offsets = field(value, "data_offsets", name, file);
    if (!offsets.is_array() || offsets.size() != 2)
        malformed(file, "the data_offsets of the tensor (", name, ") are no pair");
    entry.begin = unsigned_number(offsets[0], name, "data_offsets", file);
    entry.end = unsigned_number(offsets[1], name, "data_offsets", file);
    if (entry.begin > entry.end || entry.end > data_bytes)
        malformed(file, "the data_offsets [", entry.begin, ", ", entry.end, "] of the tensor (", name,
                  ") do not lie in its ", data_bytes, " bytes of data; it may be truncated");
    if (entry.end - entry.begin != *bytes)
        malformed(file, "the tensor (", name, ") has ", entry.end - entry.begin,
                  " bytes where its shape and dtype need ", *bytes);
    return entry;
}

std::map<std::string, std::string> texts(const Json& object, const char* what, const std::string& file)
{
    std::map<std::string, std::string> out;
    bool all = object.is_object();
    if (all)
        for (const auto& [key, value] : object.items()) {
            all = all && value.is_string();
            if (all) out.emplace(key, value.get<std::string>());
        }
    if (!all) malformed(file, "its ", what, " is no object of texts");
    return out;
}

std::string text_of(const Json& json, int indent)
{
    try {
        return json.dump(indent);
    } catch (const nlohmann::json::exception&) {
        detail::fail(ErrorKind::argument, "save_safetensors",
                     "The name of a tensor or a text of the metadata is no valid UTF-8: change it.");
    }
}

} // namespace

std::uint64_t header_length(FirstBytes first, std::optional<std::uint64_t> bytes, const std::string& file)
{
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < length_bytes; ++i)
        length |= std::to_integer<std::uint64_t>(first[i]) << (8 * i);
    const std::uint64_t follow = bytes ? *bytes - length_bytes : std::numeric_limits<std::uint64_t>::max();
    if (length > follow || length > max_header_bytes) refuse_other_formats(first, file);
    if (length > follow)
        malformed(file, "its header should have ", length, " bytes, but only ", follow,
                  " follow; it may be truncated");
    if (length > max_header_bytes)
        malformed(file, "its header should have ", length, " bytes, more than the limit of ",
                  max_header_bytes);
    return length;
}

void refuse_other_formats(FirstBytes first, const std::string& file)
{
    const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(first[i]); };
    const auto begins = [&](std::string_view text) {
        return std::memcmp(first.data(), text.data(), text.size()) == 0;
    };
    if (begins("GGUF"))
        detail::fail(ErrorKind::file, reader_name, "The file (", file,
                     ") is a GGUF file, and no safetensors file: open it as a ModelFile.");
    const bool zip = begins("PK\x03\x04");
    const bool pickle = at(0) == 0x80 && at(1) >= 2 && at(1) <= 5 && (at(2) != 0 || at(3) != 0);
    if (!zip && !pickle) return;
    detail::fail(
        ErrorKind::file, reader_name, "The file (", file, ") is ",
        zip ? "a zip archive, as torch.save() writes .pt and .pth files"
            : "a pickle, as old .pt and .pth files are",
        ", and no safetensors file: convert it in Python with safetensors.torch.save_file(torch.load(\"",
        file, "\"), \"model.safetensors\").");
}

Header parse_header(std::string_view json, std::optional<std::uint64_t> data_bytes, const std::string& file)
{
    if (json.empty() || json.front() != '{') malformed(file, "its header does not start with {");
    const Json header = parse_json(json, file);
    Header out;
    for (const auto& [name, value] : header.items()) {
        if (name == metadata_name) out.metadata = texts(value, metadata_name, file);
        else
            out.entries.push_back(parse_entry(
                name, value, data_bytes.value_or(std::numeric_limits<std::uint64_t>::max()), file));
    }
    std::stable_sort(out.entries.begin(), out.entries.end(), [](const TensorEntry& a, const TensorEntry& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::uint64_t filled = 0;
    for (const TensorEntry& entry : out.entries) {
        if (entry.begin != filled)
            malformed(file, "the tensor (", entry.name, ") starts at byte ", entry.begin, " where ", filled,
                      " is the end of the one before: they overlap or leave a hole");
        filled = entry.end;
    }
    if (data_bytes && filled != *data_bytes)
        malformed(file, "its tensors end at byte ", filled, " but its data at ", *data_bytes);
    return out;
}

std::string make_header(std::vector<TensorEntry>& in_order_of_data,
                        const std::map<std::string, std::string>& metadata)
{
    Json header = Json::object();
    if (!metadata.empty()) header[metadata_name] = metadata;
    std::uint64_t offset = 0;
    for (TensorEntry& entry : in_order_of_data) {
        const auto bytes = byte_count(entry.shape, size_of(entry.dtype));
        entry.begin = offset;
        entry.end = offset += bytes.value();
        header[entry.name] = {{"dtype", name_of_dtype(entry.dtype)},
                              {"shape", entry.shape},
                              {"data_offsets", {entry.begin, entry.end}}};
    }
    std::string text = text_of(header, -1);
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
}

Contents read_safetensors(std::span<const std::byte> bytes, const std::string& file)
{
    if (bytes.size() < length_bytes)
        malformed(file, "it has ", bytes.size(), " bytes, fewer than the 8 of the header's length");
    const auto first = bytes.first<length_bytes>();
    const auto length = static_cast<std::size_t>(header_length(first, bytes.size(), file));
    const auto text = bytes.subspan(length_bytes, length), data = bytes.subspan(length_bytes + length);
    const std::string_view json(reinterpret_cast<const char*>(text.data()), text.size());
    if (!json.starts_with('{')) refuse_other_formats(first, file);
    Header header = parse_header(json, data.size(), file);
    Contents out;
    for (TensorEntry& entry : header.entries)
        out.tensors.emplace(std::move(entry.name),
                            StoredTensor{entry.shape, entry.dtype,
                                         data.subspan(static_cast<std::size_t>(entry.begin),
                                                      static_cast<std::size_t>(entry.end - entry.begin))});
    for (auto& [key, text_value] : header.metadata)
        out.metadata.emplace(key, MetadataValue{std::move(text_value)});
    return out;
}

WeightMap parse_index(std::string_view json, const std::string& file)
{
    const Json index = parse_json(json, file);
    const auto found = index.is_object() ? index.find("weight_map") : index.end();
    if (found == index.end()) malformed(file, "it is an index without a weight_map");
    WeightMap out = texts(*found, "weight_map", file);
    for (const auto& [name, shard] : out) {
        const std::filesystem::path path = path_of_text(shard);
        if (shard.empty() || path != path.filename() || shard == "." || shard == "..")
            malformed(file, "its weight_map has the tensor (", name, ") in (", shard,
                      "), which is no name of a file in the folder of the index");
    }
    return out;
}

std::string make_index(const WeightMap& files, std::uint64_t bytes_of_all_tensors)
{
    Json index;
    index["metadata"]["total_size"] = bytes_of_all_tensors;
    index["weight_map"] = files;
    return text_of(index, 2) + "\n";
}

} // namespace reprise::io
