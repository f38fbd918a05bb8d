// Reads the binary version of CIFAR-10: records of one label and 3 x 32 x 32 pixels, one byte each.
#include <array>
#include <string>

#include <reprise/data/dataset.hpp>

#include "data/find_file.hpp"
#include "data/reader.hpp"

namespace reprise::data {

namespace {

constexpr const char* op = "cifar10";
constexpr std::size_t image_bytes = 3 * 32 * 32;
constexpr std::int32_t classes = 10;

void append(const std::filesystem::path& path, ImageDataset& set)
{
    Reader in(op, path);
    std::array<std::uint8_t, 1 + image_bytes> record{};
    const std::size_t before = set.labels.size();
    while (const std::size_t got = in.read(record.data(), record.size())) {
        if (got < record.size())
            in.fail("is truncated: its record ", set.labels.size() - before, " has ", got, " of ",
                    record.size(), " bytes");
        if (record[0] >= classes)
            in.fail("has the label (", int{record[0]},
                    "), but the classes are 0 to 9: is it the binary version?");
        set.labels.push_back(record[0]);
        set.pixels.insert(set.pixels.end(), record.begin() + 1, record.end());
    }
    if (set.labels.size() == before) in.fail("has no images");
}

} // namespace

TrainTest cifar10(const std::filesystem::path& directory)
{
    std::error_code ignored;
    const std::filesystem::path inner = directory / "cifar-10-batches-bin";
    const std::filesystem::path folder = std::filesystem::is_directory(inner, ignored) ? inner : directory;
    const std::string advice =
        "unpack cifar-10-binary.tar.gz of www.cs.toronto.edu/~kriz/cifar.html there, which has "
        "data_batch_1.bin to data_batch_5.bin and test_batch.bin";
    const ImageDataset empty{3, 32, 32, {}, {}};
    TrainTest out{empty, empty};
    for (int i = 1; i <= 5; ++i)
        append(find_file(op, folder, "data_batch_" + std::to_string(i) + ".bin", advice), out.train);
    append(find_file(op, folder, "test_batch.bin", advice), out.test);
    return out;
}

} // namespace reprise::data
