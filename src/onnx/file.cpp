#include "onnx/file.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

#include <reprise/error.hpp>
#include <reprise/onnx.hpp>
#include <reprise/path_text.hpp>

namespace reprise::onnx {

namespace {

constexpr const char* reader = "onnx::Model";
constexpr std::int64_t newest = 27;

std::vector<std::byte> read_bytes(const std::filesystem::path& path, std::uint64_t offset,
                                  std::optional<std::uint64_t> length)
{
    std::error_code ignored; // what is not there is not regular
    const bool regular = std::filesystem::is_regular_file(path, ignored);
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    const std::streamoff size = file && regular ? static_cast<std::streamoff>(file.tellg()) : -1;
    if (size < 0) detail::fail(ErrorKind::file, reader, "The file (", path_text(path), ") can't be read.");
    const auto bytes = static_cast<std::uint64_t>(size);
    if (offset > bytes || (length && *length > bytes - offset))
        detail::fail(ErrorKind::file, reader, "The file (", path_text(path), ") has (", bytes,
                     ") bytes, but a tensor begins at (", offset, ") and has (", length.value_or(0),
                     "): it may be truncated.");
    std::vector<std::byte> data(static_cast<std::size_t>(length.value_or(bytes - offset)));
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size()));
    if (!file)
        detail::fail(ErrorKind::file, reader, "The file (", path_text(path), ") can't be read to its end.");
    return data;
}

} // namespace

std::shared_ptr<proto::ModelProto> parse_model(std::span<const std::byte> bytes, const std::string& file)
{
    auto model = std::make_shared<proto::ModelProto>();
    const auto most = static_cast<std::size_t>(std::numeric_limits<int>::max());
    if (bytes.size() > most)
        detail::fail(ErrorKind::file, reader, "The file (", file, ") has (", bytes.size(),
                     ") bytes, but a message has 2^31 - 1 at most: save its tensors as external data.");
    if (bytes.empty() || !model->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
        !model->has_graph())
        detail::fail(ErrorKind::file, reader, "The file (", file,
                     ") is no valid ONNX model: it may be truncated, or of another format.");
    return model;
}

std::shared_ptr<proto::ModelProto> read_model(const std::filesystem::path& path)
{
    return parse_model(read_bytes(path, 0, std::nullopt), path_text(path));
}

ExternalData external_data_in(const std::filesystem::path& folder)
{
    return [folder](const std::string& location, std::uint64_t offset, std::optional<std::uint64_t> length) {
        const std::filesystem::path inside = path_of_text(location).lexically_normal();
        if (inside.is_absolute() || inside.has_root_path() || inside.empty() || *inside.begin() == "..")
            detail::fail(ErrorKind::file, reader, "The external data (", location,
                         ") is not in the folder of the model.");
        return read_bytes(folder / inside, offset, length);
    };
}

std::int64_t newest_opset() { return newest; }

void read_opsets(const proto::ModelProto& model, Library& library)
{
    for (const auto& import : model.opset_import())
        library.opsets[import.domain() == "ai.onnx" ? "" : import.domain()] = import.version();
    const auto own = library.opsets.find("");
    if (own == library.opsets.end() || (own->second >= 1 && own->second <= newest)) return;
    std::ostringstream problem;
    problem << "opset (" << own->second << "): versions up to (" << newest
            << ") are known; convert the model by onnx.version_converter";
    library.problems.push_back(problem.str());
}

void check_problems(const Library& library, const std::string& file)
{
    if (library.problems.empty()) return;
    std::ostringstream list;
    for (const std::string& problem : library.problems) list << "\n  " << problem;
    detail::fail(ErrorKind::unsupported, reader, "The model (", file, ") has (", library.problems.size(),
                 ") parts that can't be imported:", list.str());
}

} // namespace reprise::onnx
