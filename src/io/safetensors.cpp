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
constexpr std::size_t length_bytes = 8; // of the header's length, little-endian

std::string encode_length(std::uint64_t length)
{
    std::string out(length_bytes, '\0');
    for (std::size_t i = 0; i < length_bytes; ++i) out[i] = static_cast<char>(length >> (8 * i) & 0xff);
    return out;
}

// Reads and checks what stands before the data; the stream is then at its first byte.
// By their first bytes: a header's length would be absurd.
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

std::vector<io::TensorEntry> read_header(std::ifstream& in, const std::filesystem::path& path)
{
    constexpr const char* op = "load_safetensors";
    const std::string file = path.string();
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error) || !in)
        fail(ErrorKind::file, op, "The file (", file,
             ") can't be opened: check that it exists and may be read.");
    const std::uint64_t bytes = std::filesystem::file_size(path, error);
    std::array<unsigned char, length_bytes> prefix{};
    if (error || bytes < length_bytes || !in.read(reinterpret_cast<char*>(prefix.data()), length_bytes))
        fail(ErrorKind::file, op, "The file (", file, ") is no valid safetensors file: it has ", bytes,
             " bytes, fewer than the 8 of the header's length.");
    refuse_other_formats(file, prefix);
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < length_bytes; ++i) length |= static_cast<std::uint64_t>(prefix[i]) << (8 * i);
    if (length > bytes - length_bytes)
        fail(ErrorKind::file, op, "The file (", file,
             ") is no valid safetensors file: its header should have ", length, " bytes, but only ",
             bytes - length_bytes, " follow; it may be truncated.");
    if (length > io::max_header_bytes)
        fail(ErrorKind::file, op, "The file (", file, ") has a header of ", length,
             " bytes, more than the limit of ", io::max_header_bytes, ".");
    std::string header(length, '\0');
    if (!in.read(header.data(), static_cast<std::streamsize>(length)))
        fail(ErrorKind::file, op, "The header of the file (", file, ") can't be read.");
    return io::parse_header(header, bytes - length_bytes - length, file);
}

} // namespace

void save_safetensors(const std::filesystem::path& path, const std::map<std::string, Tensor>& tensors)
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
    // Wide dtypes first, so that every tensor is aligned to its elements.
    std::stable_sort(entries.begin(), entries.end(), [](const io::TensorEntry& a, const io::TensorEntry& b) {
        return size_of(a.dtype) > size_of(b.dtype);
    });
    const std::string header = io::make_header(entries);
    WholeFile file(path);
    file.write(encode_length(header.size()));
    file.write(header);
    for (const io::TensorEntry& entry : entries) file.write(to_bytes(tensors.at(entry.name)));
    file.commit();
}

void save(const Tensor& tensor, const std::filesystem::path& path)
{
    save_safetensors(path, {{"tensor", tensor}});
}

void save(const std::map<std::string, Tensor>& tensors, const std::filesystem::path& path)
{
    save_safetensors(path, tensors);
}

void load(Tensor& tensor, const std::filesystem::path& path)
{
    auto tensors = load_safetensors(path);
    if (tensors.size() != 1)
        fail(ErrorKind::file, "load", "The file (", path.string(), ") has (", tensors.size(),
             ") tensors, not one alone: load it into a std::map.");
    tensor = std::move(tensors.begin()->second);
}

void load(std::map<std::string, Tensor>& tensors, const std::filesystem::path& path)
{
    tensors = load_safetensors(path);
}

void detail::of_file(const std::filesystem::path& path, const std::function<void()>& f)
{
    try {
        f();
    } catch (const Error& e) {
        throw Error(e.kind(), std::string(e.what()) + " The file is (" + path.string() + ").");
    }
}

std::map<std::string, Tensor> load_safetensors(const std::filesystem::path& path,
                                               const std::optional<Device>& device)
{
    std::ifstream in(path, std::ios::binary);
    const std::vector<io::TensorEntry> entries = read_header(in, path);
    std::map<std::string, Tensor> out;
    std::vector<std::byte> bytes;
    for (const io::TensorEntry& entry : entries) {
        bytes.resize(entry.end - entry.begin);
        if (!in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
            fail(ErrorKind::file, "load_safetensors", "The data of the tensor (", entry.name,
                 ") in the file (", path.string(), ") can't be read.");
        try {
            out.emplace(entry.name, from_bytes(bytes, Shape(entry.shape.begin(), entry.shape.end()),
                                               {.dtype = entry.dtype, .device = device}));
        } catch (const Error& error) { // what the device lacks
            fail(error.kind(), "load_safetensors", "The tensor (", entry.name, ") of the file (",
                 path.string(), ") can't be loaded: ", error.what());
        }
    }
    return out;
}

} // namespace reprise
