// Data sets in host memory and the batches made of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise::data {

// An array of bytes as an IDX file (the format of MNIST) holds it, plain or compressed with gzip.
struct IdxArray {
    std::vector<std::int64_t> sizes;
    std::vector<std::uint8_t> bytes; // row-major
};
IdxArray read_idx(const std::filesystem::path&); // Error(file): missing, truncated, malformed

struct ImageDataset {
    std::int64_t channels = 1, height = 0, width = 0;
    std::vector<std::uint8_t> pixels; // [N, channels, height, width]
    std::vector<std::int32_t> labels; // [N]

    std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
    ImageDataset first(std::int64_t count) const; // all where it has fewer
};
ImageDataset read_idx_images(const std::filesystem::path& images, const std::filesystem::path& labels);

struct TrainTest {
    ImageDataset train, test;
};
// 60,000 and 10,000 grey images of 28 x 28 in 10 classes: the four files of Fashion-MNIST, with or without
// .gz. Without a folder it is that of Debian's package dataset-fashion-mnist.
TrainTest fashion_mnist(const std::filesystem::path& directory = {});

// A permutation of 0 ... size - 1: a function of (seed, epoch), the same on every platform.
std::vector<std::int64_t> shuffled(std::int64_t size, std::uint64_t seed, std::uint64_t epoch);

struct DataLoaderOptions {
    std::int64_t batch_size = 1;
    bool shuffle = false;
    std::uint64_t seed = 0;
    bool drop_last = false;                      // the last batch where it is smaller
    std::vector<double> mean = {0};              // of all channels or of each, of pixels in [0, 1]:
    std::vector<double> std = {1};               // x = (pixel / 255 - mean) / std
    std::optional<Device> device = std::nullopt; // default_device()
};

// Batches (x f32 [B, C, H, W], y i32 [B]).  Each `for (auto [x, y] : loader)` is the next epoch, in another
// order where it shuffles; epoch(n) is a given one.
class DataLoader {
public:
    using Batch = std::pair<Tensor, Tensor>;

    DataLoader(std::shared_ptr<const ImageDataset>, DataLoaderOptions);
    DataLoader(ImageDataset, DataLoaderOptions);

    std::int64_t size() const noexcept; // batches in an epoch
    const ImageDataset& dataset() const noexcept { return *dataset_; }

    class Iterator {
    public:
        using iterator_concept = std::input_iterator_tag;
        using difference_type = std::ptrdiff_t;
        using value_type = Batch;
        Batch operator*() const { return loader_->batch(*order_, index_); }
        Iterator& operator++()
        {
            ++index_;
            return *this;
        }
        void operator++(int) { ++index_; }
        friend bool operator==(const Iterator& it, std::default_sentinel_t)
        {
            return it.index_ >= it.loader_->size();
        }

    private:
        friend class DataLoader;
        using Order = std::shared_ptr<const std::vector<std::int64_t>>;
        Iterator(const DataLoader* loader, Order order) : loader_(loader), order_(std::move(order)) {}
        const DataLoader* loader_;
        Order order_;
        std::int64_t index_ = 0;
    };
    class Epoch {
    public:
        Iterator begin() const { return first_; }
        std::default_sentinel_t end() const { return {}; }

    private:
        friend class DataLoader;
        explicit Epoch(Iterator first) : first_(std::move(first)) {}
        Iterator first_;
    };

    Epoch epoch(std::uint64_t number) const;
    Iterator begin() { return epoch(next_epoch_++).begin(); }
    std::default_sentinel_t end() const { return {}; }
    void set_epoch(std::uint64_t next) noexcept { next_epoch_ = next; }

private:
    Batch batch(const std::vector<std::int64_t>& order, std::int64_t index) const;

    std::shared_ptr<const ImageDataset> dataset_;
    DataLoaderOptions options_;
    std::vector<float> value_of_; // [C, 256]: what a pixel becomes
    std::uint64_t next_epoch_ = 0;
};

} // namespace reprise::data
