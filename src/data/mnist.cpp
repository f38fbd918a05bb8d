// MNIST and what has its files.
#include <algorithm>
#include <string>

#include <reprise/data/dataset.hpp>

#include "data/find_file.hpp"

namespace reprise::data {

namespace {

constexpr const char* debian_directory = "/usr/share/datasets/fashion-mnist";
constexpr std::int32_t classes = 10;

struct Files {
    const char* function;
    std::filesystem::path directory;
    std::string advice; // where the files come from
};

ImageDataset load(const Files& files, const std::string& part)
{
    const auto find = [&](const char* ending) {
        return find_file(files.function, files.directory, part + ending, files.advice);
    };
    const std::filesystem::path labels = find("-labels-idx1-ubyte"), images = find("-images-idx3-ubyte");
    ImageDataset set = read_idx_images(images, labels);
    const auto wrong =
        std::find_if(set.labels.begin(), set.labels.end(), [](std::int32_t y) { return y >= classes; });
    if (wrong != set.labels.end())
        detail::fail(ErrorKind::file, files.function, "The file (", labels.string(), ") has the label (",
                     *wrong, "), but the classes are 0 to 9.");
    if (set.size() == 0)
        detail::fail(ErrorKind::file, files.function, "The file (", images.string(), ") has no images.");
    if (set.height != 28 || set.width != 28)
        detail::fail(ErrorKind::file, files.function, "The file (", images.string(), ") has images of ",
                     set.height, " x ", set.width, ", but those of this data set are 28 x 28.");
    return set;
}

TrainTest load_both(const Files& files) { return {load(files, "train"), load(files, "t10k")}; }

std::string four_files(const char* name)
{
    return "put the four files train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
           "t10k-labels-idx1-ubyte of " +
           std::string(name) + " there, plain or .gz";
}

} // namespace

TrainTest mnist(const std::filesystem::path& directory)
{
    return load_both(
        {"mnist", directory, four_files("MNIST") + ", from yann.lecun.com/exdb/mnist or a mirror"});
}

TrainTest fashion_mnist(const std::filesystem::path& directory)
{
    return load_both({"fashion_mnist", directory.empty() ? debian_directory : directory,
                      four_files("Fashion-MNIST") +
                          ", or install Debian's package dataset-fashion-mnist, which has them in " +
                          debian_directory});
}

} // namespace reprise::data
