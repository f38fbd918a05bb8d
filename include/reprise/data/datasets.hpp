// The data sets under libtorch's names.
#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <reprise/data/dataset.hpp>
#include <reprise/data/subset.hpp>

namespace reprise::data {

using TensorExample = Example<>; // libtorch's name of an example without a target

namespace datasets {

using data::ConcatDataset, data::Dataset, data::MapDataset, data::Subset, data::TensorDataset;

// One part of MNIST.  Examples are those of ImageDataset: f32 [1, 28, 28] of pixel / 255, and the class.
class MNIST : public Dataset<MNIST> {
public:
    // The part of the data set.
    enum class Mode {
        kTrain, // 60,000 images for training
        kTest   // 10,000 images for testing
    };
    // Reads the part's two files from a folder.  Errors as for mnist().
    explicit MNIST(const std::filesystem::path& root = "data", Mode = Mode::kTrain);

    Example<> get(std::size_t i) override;                           // the image with index i and its class
    std::optional<std::size_t> size() const override;                // the number of images
    bool is_train() const noexcept { return mode_ == Mode::kTrain; } // whether it is the part for training
    const ImageDataset& images() const noexcept { return *images_; } // the images

private:
    std::shared_ptr<const ImageDataset> images_; // copies share them
    Mode mode_;
};

} // namespace datasets

} // namespace reprise::data
