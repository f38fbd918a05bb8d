#include <algorithm>
#include <string>

#include <reprise/data.hpp>

namespace reprise::data {

namespace {

constexpr const char* debian_directory = "/usr/share/datasets/fashion-mnist";
constexpr std::int32_t classes = 10;

std::filesystem::path find(const std::filesystem::path& directory, const std::string& name)
{
    std::error_code ignored;
    for (const char* ending : {"", ".gz"}) {
        const std::filesystem::path path = directory / (name + ending);
        if (std::filesystem::exists(path, ignored)) return path;
    }
    detail::fail(
        ErrorKind::file, "fashion_mnist", "The folder (", directory.string(), ") has no file (", name,
        ") nor (", name,
        ".gz): put the four files train-images-idx3-ubyte, train-labels-idx1-ubyte, "
        "t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte of Fashion-MNIST there, plain or .gz, or install "
        "Debian's package dataset-fashion-mnist, which has them in ",
        debian_directory, ".");
}

ImageDataset load(const std::filesystem::path& directory, const std::string& part)
{
    const std::filesystem::path labels = find(directory, part + "-labels-idx1-ubyte");
    const std::filesystem::path images = find(directory, part + "-images-idx3-ubyte");
    ImageDataset set = read_idx_images(images, labels);
    const auto wrong =
        std::find_if(set.labels.begin(), set.labels.end(), [](std::int32_t y) { return y >= classes; });
    if (wrong != set.labels.end())
        detail::fail(ErrorKind::file, "fashion_mnist", "The file (", labels.string(), ") has the label (",
                     *wrong, "), but the classes are 0 to 9.");
    if (set.size() == 0)
        detail::fail(ErrorKind::file, "fashion_mnist", "The file (", images.string(), ") has no images.");
    if (set.height != 28 || set.width != 28)
        detail::fail(ErrorKind::file, "fashion_mnist", "The file (", images.string(), ") has images of ",
                     set.height, " x ", set.width, ", but those of Fashion-MNIST are 28 x 28.");
    return set;
}

} // namespace

TrainTest fashion_mnist(const std::filesystem::path& directory)
{
    const std::filesystem::path from = directory.empty() ? debian_directory : directory;
    return {load(from, "train"), load(from, "t10k")};
}

} // namespace reprise::data
