#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <istream>
#include <ostream>

#include <reprise/io.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/path_text.hpp>

#include "io/safetensors_header.hpp"

namespace reprise {

using detail::fail;

namespace {

using Tensors = std::map<std::string, Tensor>;

static_assert(std::endian::native == std::endian::little, "elements are written as they stand in memory");
constexpr const char* name_of_stream = "a stream";

// As a little-endian u64.
std::string encode_length(std::uint64_t length)
{
    std::string out(io::length_bytes, '\0');
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<char>(length >> (8 * i) & 0xff);
    return out;
}

// Reads and checks the header, after which the stream is at the first byte of the data.
std::vector<io::TensorEntry> read_header(std::istream& in)
{
    std::array<std::byte, io::length_bytes> first{};
    if (!in.read(reinterpret_cast<char*>(first.data()), first.size()))
        fail(ErrorKind::file, "load_safetensors", "The file (", name_of_stream,
             ") is no valid safetensors file: it has ", in.gcount(),
             " bytes, fewer than the 8 of the header's length.");
    std::string header(io::header_length(first, std::nullopt, name_of_stream), '\0');
    const bool whole{in.read(header.data(), static_cast<std::streamsize>(header.size()))};
    if (!whole || !header.starts_with('{')) io::refuse_other_formats(first, name_of_stream);
    if (!whole)
        fail(ErrorKind::file, "load_safetensors", "The header of the file (", name_of_stream,
             ") can't be read.");
    return io::parse_header(header, std::nullopt, name_of_stream).entries;
}

// Reads in pieces, as a stream may have fewer bytes than its header says. Returns whether it had `count`.
bool read_bytes(std::istream& in, std::vector<std::byte>& bytes, std::uint64_t count)
{
    constexpr std::uint64_t piece = std::uint64_t{1} << 26;
    bytes.clear();
    while (bytes.size() < count) {
        const std::size_t before = bytes.size();
        const std::uint64_t more = std::min(piece, count - before);
        bytes.resize(before + static_cast<std::size_t>(more));
        if (!in.read(reinterpret_cast<char*>(bytes.data() + before), static_cast<std::streamsize>(more)))
            return false;
    }
    return true;
}

void check_can_be_saved(const Tensors& tensors)
{
    for (const auto& [name, tensor] : tensors) {
        if (!tensor.defined())
            fail(ErrorKind::argument, "save_safetensors", "The tensor (", name, ") is undefined.");
        if (name == "__metadata__")
            fail(ErrorKind::argument, "save_safetensors",
                 "The name (__metadata__) is reserved by the format: rename it.");
    }
}

std::uint64_t bytes_of(const Tensor& tensor) { return static_cast<std::uint64_t>(tensor.nbytes().value()); }

// Returns the header with its length, and the entries in the order of their data.
std::pair<std::string, std::vector<io::TensorEntry>> laid_out(const Tensors& tensors,
                                                              const SaveOptions& options = {})
{
    std::vector<io::TensorEntry> entries;
    for (const auto& [name, tensor] : tensors) {
        io::TensorEntry entry{name, tensor.dtype(), {}, 0, 0};
        for (const Dim& size : tensor.shape()) entry.shape.push_back(size.value());
        entries.push_back(std::move(entry));
    }
    // Wide dtypes come first, so that each tensor is aligned to the size of its elements.
    std::stable_sort(entries.begin(), entries.end(), [](const io::TensorEntry& a, const io::TensorEntry& b) {
        return size_of(a.dtype) > size_of(b.dtype);
    });
    std::string header = io::make_header(entries, options.metadata);
    return {encode_length(header.size()) + header, std::move(entries)};
}

void write_file(const std::filesystem::path& path, const Tensors& tensors, const SaveOptions& options)
{
    const auto [header, entries] = laid_out(tensors, options);
    WholeFile file(path);
    file.write(header);
    for (const io::TensorEntry& entry : entries) file.write(to_bytes(tensors.at(entry.name)));
    file.commit();
}

// In the order of names, as many as fit into each; a larger tensor is alone in its shard.
std::vector<Tensors> in_shards(const Tensors& tensors, std::uint64_t max_bytes)
{
    std::vector<Tensors> shards(1);
    std::uint64_t filled = 0;
    for (const auto& [name, tensor] : tensors) {
        const std::uint64_t bytes = bytes_of(tensor);
        if (!shards.back().empty() && bytes > max_bytes - std::min(filled, max_bytes)) {
            shards.emplace_back();
            filled = 0;
        }
        filled += bytes;
        shards.back().emplace(name, tensor);
    }
    return shards;
}

// Names the files as Hugging Face's libraries do.
void write_shards(const std::filesystem::path& path, const std::vector<Tensors>& shards,
                  const SaveOptions& options)
{
    io::WeightMap files;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < shards.size(); ++i) {
        std::array<char, 48> number{};
        std::snprintf(number.data(), number.size(), "-%05zu-of-%05zu", i + 1, shards.size());
        const std::string name = path_text(path.stem()) + number.data() + path_text(path.extension());
        write_file(path.parent_path() / path_of_text(name), shards[i], options);
        for (const auto& [key, tensor] : shards[i]) {
            files.emplace(key, name);
            bytes += bytes_of(tensor);
        }
    }
    std::filesystem::path index_path = path;
    index_path += ".index.json";
    WholeFile index(index_path);
    index.write(io::make_index(files, bytes));
    index.commit();
}

Tensors by_number(const std::vector<Tensor>& tensors)
{
    Tensors out;
    for (std::size_t i = 0; i < tensors.size(); ++i) out.emplace(std::to_string(i), tensors[i]);
    return out;
}

std::vector<Tensor> in_order(const Tensors& tensors, const std::string& file)
{
    std::vector<Tensor> out;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        const auto found = tensors.find(std::to_string(i));
        if (found == tensors.end())
            fail(ErrorKind::file, "load", "The file (", file, ") has (", tensors.size(),
                 ") tensors, but none of the name (", i,
                 "): it was not saved from a list, load it into a std::map.");
        out.push_back(found->second);
    }
    return out;
}

Tensor only_one(Tensors tensors, const std::string& file)
{
    if (tensors.size() != 1)
        fail(ErrorKind::file, "load", "The file (", file, ") has (", tensors.size(),
             ") tensors, not one alone: load it into a std::vector or a std::map.");
    return std::move(tensors.begin()->second);
}

} // namespace

void save_safetensors(const std::filesystem::path& path, const Tensors& tensors, const SaveOptions& options)
{
    check_can_be_saved(tensors);
    const std::vector<Tensors> shards = in_shards(tensors, options.max_shard_bytes);
    if (shards.size() == 1) write_file(path, tensors, options);
    else write_shards(path, shards, options);
}

void save_safetensors(std::ostream& out, const Tensors& tensors)
{
    check_can_be_saved(tensors);
    const auto [header, entries] = laid_out(tensors);
    out.write(header.data(), static_cast<std::streamsize>(header.size()));
    for (const io::TensorEntry& entry : entries) {
        const std::vector<std::byte> bytes = to_bytes(tensors.at(entry.name));
        out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
    if (!out)
        fail(ErrorKind::file, "save_safetensors",
             "The stream can't be written in full: check that it is open and has room.");
}

Tensors load_safetensors(const std::filesystem::path& path, const std::optional<Device>& device)
{
    const auto model = io::open_safetensors("load_safetensors", path);
    Tensors out;
    for (const auto& [name, tensor] : model->contents.tensors)
        out.emplace(name, io::load_tensor("load_safetensors", *model, name, tensor, {.device = device}));
    return out;
}

Tensors load_safetensors(std::istream& in, const std::optional<Device>& device)
{
    const io::Model stream{name_of_stream, {}, {}};
    Tensors out;
    std::vector<std::byte> bytes;
    for (const io::TensorEntry& entry : read_header(in)) {
        if (!read_bytes(in, bytes, entry.end - entry.begin))
            fail(ErrorKind::file, "load_safetensors", "The data of the tensor (", entry.name,
                 ") in the file (", name_of_stream, ") can't be read.");
        const StoredTensor tensor{entry.shape, entry.dtype, bytes};
        out.emplace(entry.name,
                    io::load_tensor("load_safetensors", stream, entry.name, tensor, {.device = device}));
    }
    return out;
}

void save(const Tensor& tensor, const std::filesystem::path& path)
{
    save_safetensors(path, {{"tensor", tensor}});
}
void save(const Tensor& tensor, std::ostream& out) { save_safetensors(out, {{"tensor", tensor}}); }

void save(const Tensors& tensors, const std::filesystem::path& path) { save_safetensors(path, tensors); }
void save(const Tensors& tensors, std::ostream& out) { save_safetensors(out, tensors); }

void save(const std::vector<Tensor>& tensors, const std::filesystem::path& path)
{
    save_safetensors(path, by_number(tensors));
}
void save(const std::vector<Tensor>& tensors, std::ostream& out)
{
    save_safetensors(out, by_number(tensors));
}

void save(std::initializer_list<Tensor> tensors, const std::filesystem::path& path)
{
    save(std::vector<Tensor>(tensors), path);
}
void save(std::initializer_list<Tensor> tensors, std::ostream& out)
{
    save(std::vector<Tensor>(tensors), out);
}

void load(Tensor& tensor, const std::filesystem::path& path)
{
    tensor = only_one(load_safetensors(path), path_text(path));
}
void load(Tensor& tensor, std::istream& in) { tensor = only_one(load_safetensors(in), name_of_stream); }

void load(Tensors& tensors, const std::filesystem::path& path) { tensors = load_safetensors(path); }
void load(Tensors& tensors, std::istream& in) { tensors = load_safetensors(in); }

void load(std::vector<Tensor>& tensors, const std::filesystem::path& path)
{
    tensors = in_order(load_safetensors(path), path_text(path));
}
void load(std::vector<Tensor>& tensors, std::istream& in)
{
    tensors = in_order(load_safetensors(in), name_of_stream);
}

void detail::of_file(const std::filesystem::path& path, const std::function<void()>& f)
{
    try {
        f();
    } catch (const Error& e) {
        throw Error(e.kind(), std::string(e.what()) + " The file is (" + path_text(path) + ").");
    }
}

} // namespace reprise
