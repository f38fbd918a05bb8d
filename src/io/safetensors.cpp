#include <algorithm>
#include <array>
#include <bit>
#include <fstream>

#include <reprise/io.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>

#include "io/safetensors_header.hpp"

namespace reprise {

using detail::fail;

namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they stand in memory");
constexpr std::size_t length_bytes = 8; // of the header's length, a little-endian u64

std::string encode_length(std::uint64_t length)
{
    std::string out(length_bytes, '\0');
    for (std::size_t i = 0; i < length_bytes; ++i) out[i] = static_cast<char>(length >> (8 * i) & 0xff);
    return out;
}

// Throws Error(file) for a zip archive or a pickle, by the first bytes. Those of a valid safetensors file may be the
// same, as they are the length of its header, so callers have found another error first.
void refuse_other_formats(const std::string& file, const std::array<unsigned char, length_bytes>& first)
{
    const bool zip = first[0] == 'P' && first[1] == 'K' && first[2] == 3 && first[3] == 4;
    const bool pickle =
        first[0] == 0x80 && first[1] >= 2 && first[1] <= 5 && (first[2] != 0 || first[3] != 0);
    if (!zip && !pickle) return;
    fail(ErrorKind::file, "load_safetensors", "The file (", file, ") is ",
         zip ? "a zip archive, as torch.save() writes .pt and .pth files"
             : "a pickle, as old .pt and .pth files are",
         ", and no safetensors file: convert it in Python with safetensors.torch.save_file(torch.load(\"",
         file, "\"), \"model.safetensors\").");
}

// Reads and checks the header, after which the stream is at the first byte of the data. `bytes`: the size of the
// file; nullopt: unknown, for a stream.
std::vector<io::TensorEntry> read_header(std::istream& in, std::optional<std::uint64_t> bytes,
                                         const std::string& file)
{
    constexpr const char* op = "load_safetensors";
    std::array<unsigned char, length_bytes> prefix{};
    if ((bytes && *bytes < length_bytes) || !in.read(reinterpret_cast<char*>(prefix.data()), length_bytes))
        fail(ErrorKind::file, op, "The file (", file, ") is no valid safetensors file: it has ",
             bytes ? *bytes : static_cast<std::uint64_t>(in.gcount()),
             " bytes, fewer than the 8 of the header's length.");
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < length_bytes; ++i) length |= static_cast<std::uint64_t>(prefix[i]) << (8 * i);
    if ((bytes && length > *bytes - length_bytes) || length > io::max_header_bytes)
        refuse_other_formats(file, prefix);
    if (bytes && length > *bytes - length_bytes)
        fail(ErrorKind::file, op, "The file (", file,
             ") is no valid safetensors file: its header should have ", length, " bytes, but only ",
             *bytes - length_bytes, " follow; it may be truncated.");
    if (length > io::max_header_bytes)
        fail(ErrorKind::file, op, "The file (", file, ") has a header of ", length,
             " bytes, more than the limit of ", io::max_header_bytes, ".");
    std::string header(length, '\0');
    const bool whole{in.read(header.data(), static_cast<std::streamsize>(length))};
    if (!whole || !header.starts_with('{')) refuse_other_formats(file, prefix);
    if (!whole) fail(ErrorKind::file, op, "The header of the file (", file, ") can't be read.");
    return io::parse_header(header, bytes ? std::optional(*bytes - length_bytes - length) : std::nullopt,
                            file);
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

std::map<std::string, Tensor> read_tensors(std::istream& in, std::optional<std::uint64_t> bytes_of_file,
                                           const std::string& file, const std::optional<Device>& device)
{
    const std::vector<io::TensorEntry> entries = read_header(in, bytes_of_file, file);
    std::map<std::string, Tensor> out;
    std::vector<std::byte> bytes;
    for (const io::TensorEntry& entry : entries) {
        if (!read_bytes(in, bytes, entry.end - entry.begin))
            fail(ErrorKind::file, "load_safetensors", "The data of the tensor (", entry.name,
                 ") in the file (", file, ") can't be read.");
        try {
            out.emplace(entry.name, from_bytes(bytes, Shape(entry.shape.begin(), entry.shape.end()),
                                               {.dtype = entry.dtype, .device = device}));
        } catch (const Error& error) { // such as a dtype that the device lacks
            fail(error.kind(), "load_safetensors", "The tensor (", entry.name, ") of the file (", file,
                 ") can't be loaded: ", error.what());
        }
    }
    return out;
}

// Returns the header with its length, and the entries in the order of their data.
std::pair<std::string, std::vector<io::TensorEntry>> laid_out(const std::map<std::string, Tensor>& tensors)
{
    std::vector<io::TensorEntry> entries;
    for (const auto& [name, tensor] : tensors) {
        if (!tensor.defined())
            fail(ErrorKind::argument, "save_safetensors", "The tensor (", name, ") is undefined.");
        if (name == "__metadata__")
            fail(ErrorKind::argument, "save_safetensors",
                 "The name (__metadata__) is reserved by the format: rename it.");
        io::TensorEntry entry{name, tensor.dtype(), {}, 0, 0};
        for (const Dim& size : tensor.shape()) entry.shape.push_back(size.value());
        entries.push_back(std::move(entry));
    }
    // Wide dtypes come first, so that each tensor is aligned to the size of its elements.
    std::stable_sort(entries.begin(), entries.end(), [](const io::TensorEntry& a, const io::TensorEntry& b) {
        return size_of(a.dtype) > size_of(b.dtype);
    });
    std::string header = io::make_header(entries);
    return {encode_length(header.size()) + header, std::move(entries)};
}

constexpr const char* name_of_stream = "a stream";

std::map<std::string, Tensor> by_number(const std::vector<Tensor>& tensors)
{
    std::map<std::string, Tensor> out;
    for (std::size_t i = 0; i < tensors.size(); ++i) out.emplace(std::to_string(i), tensors[i]);
    return out;
}

std::vector<Tensor> in_order(const std::map<std::string, Tensor>& tensors, const std::string& file)
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

Tensor only_one(std::map<std::string, Tensor> tensors, const std::string& file)
{
    if (tensors.size() != 1)
        fail(ErrorKind::file, "load", "The file (", file, ") has (", tensors.size(),
             ") tensors, not one alone: load it into a std::vector or a std::map.");
    return std::move(tensors.begin()->second);
}

} // namespace

void save_safetensors(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors)
{
    const auto [header, entries] = laid_out(tensors);
    WholeFile file(path);
    file.write(header);
    for (const io::TensorEntry& entry : entries) file.write(to_bytes(tensors.at(entry.name)));
    file.commit();
}

void save_safetensors(std::ostream& out, const std::map<std::string, Tensor>& tensors)
{
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

std::map<std::string, Tensor> load_safetensors(const std::filesystem::path& path,
                                               const std::optional<Device>& device)
{
    const std::string file = path.string();
    std::ifstream in(path, std::ios::binary);
    std::error_code error;
    const bool exists = std::filesystem::is_regular_file(path, error) && in;
    const std::uint64_t bytes = exists ? std::filesystem::file_size(path, error) : 0;
    if (!exists || error)
        fail(ErrorKind::file, "load_safetensors", "The file (", file,
             ") can't be opened: check that it exists and may be read.");
    return read_tensors(in, bytes, file, device);
}

std::map<std::string, Tensor> load_safetensors(std::istream& in, const std::optional<Device>& device)
{
    return read_tensors(in, std::nullopt, name_of_stream, device);
}

void save(const Tensor& tensor, const std::filesystem::path& path)
{
    save_safetensors(path, {{"tensor", tensor}});
}
void save(const Tensor& tensor, std::ostream& out) { save_safetensors(out, {{"tensor", tensor}}); }

void save(const std::map<std::string, Tensor>& tensors, const std::filesystem::path& path)
{
    save_safetensors(path, tensors);
}
void save(const std::map<std::string, Tensor>& tensors, std::ostream& out) { save_safetensors(out, tensors); }

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
    tensor = only_one(load_safetensors(path), path.string());
}
void load(Tensor& tensor, std::istream& in) { tensor = only_one(load_safetensors(in), name_of_stream); }

void load(std::map<std::string, Tensor>& tensors, const std::filesystem::path& path)
{
    tensors = load_safetensors(path);
}
void load(std::map<std::string, Tensor>& tensors, std::istream& in) { tensors = load_safetensors(in); }

void load(std::vector<Tensor>& tensors, const std::filesystem::path& path)
{
    tensors = in_order(load_safetensors(path), path.string());
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
        throw Error(e.kind(), std::string(e.what()) + " The file is (" + path.string() + ").");
    }
}

} // namespace reprise
