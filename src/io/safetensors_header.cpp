#include "io/safetensors_header.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include <nlohmann/json.hpp>

#include <reprise/error.hpp>

namespace reprise::io {

namespace {

using Json = nlohmann::ordered_json;

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

template <class... Parts> [[noreturn]] void malformed(const std::string& file, const Parts&... parts)
{
    detail::fail(ErrorKind::file, "load_safetensors", "The file (", file,
                 ") is no valid safetensors file: ", parts..., ".");
}

// Parses JSON. Duplicate keys are an error, as the parser would keep only the last one and a tensor would be lost
// silently. So is nesting deeper than the format needs: dump(), which quotes values in errors, is recursive.
Json parse_json(std::string_view text, const std::string& file)
{
    std::vector<std::set<std::string>> keys; // of the enclosing objects
    constexpr int max_depth = 3;             // {name: {key: [number]}}
    const auto watch = [&](int depth, Json::parse_event_t event, Json& value) {
        if (depth > max_depth) malformed(file, "its header is nested deeper than ", max_depth, " levels");
        if (event == Json::parse_event_t::object_start) keys.emplace_back();
        if (event == Json::parse_event_t::object_end) keys.pop_back();
        if (event == Json::parse_event_t::key) {
            const auto& key = value.get_ref<const std::string&>();
            if (!keys.back().insert(key).second)
                malformed(file, "the name (", key, ") comes twice in its header");
        }
        return true;
    };
    try {
        return Json::parse(text, watch);
    } catch (const nlohmann::json::exception& error) {
        malformed(file, "its header is no JSON (", error.what(), ")");
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
    constexpr auto max_int64 = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    std::uint64_t bytes = size_of(entry.dtype);
    bool empty = false; // true once a size is 0, whatever the others are
    for (const Json& item : shape) {
        const std::uint64_t size = unsigned_number(item, name, "shape", file);
        if (size > max_int64)
            malformed(file, "the tensor (", name, ") has a size (", size, ") above 2^63 - 1");
        entry.shape.push_back(static_cast<std::int64_t>(size));
        empty = empty || size == 0;
        if (!empty && bytes > max_int64 / size)
            malformed(file, "the tensor (", name, ") has more than 2^63 - 1 bytes");
        bytes = empty ? 0 : bytes * size;
    }

    const Json& offsets = field(value, "data_offsets", name, file);
    if (!offsets.is_array() || offsets.size() != 2)
        malformed(file, "the data_offsets of the tensor (", name, ") are no pair");
    entry.begin = unsigned_number(offsets[0], name, "data_offsets", file);
    entry.end = unsigned_number(offsets[1], name, "data_offsets", file);
    if (entry.begin > entry.end || entry.end > data_bytes)
        malformed(file, "the data_offsets [", entry.begin, ", ", entry.end, "] of the tensor (", name,
                  ") do not lie in its ", data_bytes, " bytes of data; it may be truncated");
    if (entry.end - entry.begin != bytes)
        malformed(file, "the tensor (", name, ") has ", entry.end - entry.begin,
                  " bytes where its shape and dtype need ", bytes);
    return entry;
}

void check_metadata(const Json& metadata, const std::string& file)
{
    bool texts = metadata.is_object();
    if (texts)
        for (const Json& value : metadata) texts = texts && value.is_string();
    if (!texts) malformed(file, "its __metadata__ is no object of texts");
}

} // namespace

std::vector<TensorEntry> parse_header(std::string_view json, std::optional<std::uint64_t> data_bytes,
                                      const std::string& file)
{
    if (json.empty() || json.front() != '{') malformed(file, "its header does not start with {");
    if (json.find('\0') != json.npos) malformed(file, "its header is no JSON: it holds a zero byte");
    const Json header = parse_json(json, file);
    if (!header.is_object()) malformed(file, "its header is no object");
    std::vector<TensorEntry> entries;
    for (const auto& [name, value] : header.items()) {
        if (name == "__metadata__") check_metadata(value, file);
        else
            entries.push_back(parse_entry(
                name, value, data_bytes.value_or(std::numeric_limits<std::uint64_t>::max()), file));
    }
    std::stable_sort(entries.begin(), entries.end(), [](const TensorEntry& a, const TensorEntry& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::uint64_t filled = 0;
    for (const TensorEntry& entry : entries) {
        if (entry.begin != filled)
            malformed(file, "the tensor (", entry.name, ") starts at byte ", entry.begin, " where ", filled,
                      " is the end of the one before: they overlap or leave a hole");
        filled = entry.end;
    }
    if (data_bytes && filled != *data_bytes)
        malformed(file, "its tensors end at byte ", filled, " but its data at ", *data_bytes);
    return entries;
}

std::string make_header(std::vector<TensorEntry>& in_order_of_data)
{
    Json header = Json::object();
    std::uint64_t offset = 0;
    for (TensorEntry& entry : in_order_of_data) {
        std::uint64_t bytes = size_of(entry.dtype);
        for (const std::int64_t size : entry.shape) bytes *= static_cast<std::uint64_t>(size);
        entry.begin = offset;
        entry.end = offset += bytes;
        const auto found = std::find_if(dtype_names.begin(), dtype_names.end(),
                                        [&](const DTypeName& d) { return d.dtype == entry.dtype; });
        header[entry.name] = {
            {"dtype", found->name}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}};
    }
    std::string text;
    try {
        text = header.dump();
    } catch (const nlohmann::json::exception&) {
        detail::fail(ErrorKind::argument, "save_safetensors",
                     "A tensor's name is no valid UTF-8: rename it.");
    }
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
}

} // namespace reprise::io
