// Reads MNIST, and Fashion-MNIST, which has files of the same format.
#include <algorithm>
#include <string>

#include <reprise/data/datasets.hpp>
#include <reprise/path_text.hpp>

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
        detail::fail(ErrorKind::file, files.function, "The file (", path_text(labels), ") has the label (",
                     *wrong, "), but the classes are 0 to 9.");
    if (set.size() == 0)
        detail::fail(ErrorKind::file, files.function, "The file (", path_text(images), ") has no images.");
    if (set.height != 28 || set.width != 28)
        detail::fail(ErrorKind::file, files.function, "The file (", path_text(images), ") has images of ",
                     set.height, " x ", set.width, ", but those of this data set are 28 x 28.");
    return set;
}

// Returns the folder itself if it has images, else NAME/raw in it, where torchvision puts the files, if that exists.
std::filesystem::path folder_of(const std::filesystem::path& directory, const char* name)
{
    const std::filesystem::path raw = directory / name / "raw";
    std::error_code ignored;
    for (const char* ending : {"", ".gz"})
        for (const char* part : {"train", "t10k"})
            if (std::filesystem::exists(directory / (std::string(part) + "-images-idx3-ubyte" + ending),
                                        ignored))
                return directory;
    return std::filesystem::is_directory(raw, ignored) ? raw : directory;
}

TrainTest load_both(const Files& files) { return {load(files, "train"), load(files, "t10k")}; }

std::string four_files(const char* name)
{
    return "put the four files train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
           "t10k-labels-idx1-ubyte of " +
           std::string(name) + " there, plain or .gz";
}

Files of_mnist(const std::filesystem::path& directory)
{
    return {"mnist", folder_of(directory, "MNIST"),
            four_files("MNIST") + ", or in its folder MNIST/raw, from yann.lecun.com/exdb/mnist or a mirror"};
}

} // namespace

TrainTest mnist(const std::filesystem::path& directory) { return load_both(of_mnist(directory)); }

datasets::MNIST::MNIST(const std::filesystem::path& root, Mode mode)
    : images_(std::make_shared<const ImageDataset>(
          load(of_mnist(root), mode == Mode::kTrain ? "train" : "t10k"))),
      mode_(mode)
{}

Example<> datasets::MNIST::get(std::size_t i) { return images_->get(i); }
std::optional<std::size_t> datasets::MNIST::size() const { return images_->labels.size(); }

TrainTest fashion_mnist(const std::filesystem::path& directory)
{
    return load_both(
        {"fashion_mnist", directory.empty() ? debian_directory : folder_of(directory, "FashionMNIST"),
         four_files("Fashion-MNIST") +
             ", or install Debian's package dataset-fashion-mnist, which has them in " + debian_directory});
}

} // namespace reprise::data
