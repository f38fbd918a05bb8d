// Batches of a data set as tensors.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <reprise/data/dataset.hpp>
#include <reprise/data/samplers.hpp>

namespace reprise::data {

struct DataLoaderOptions {
    std::int64_t batch_size = 1;
    bool shuffle = false;
    std::uint64_t seed = 0;
    bool drop_last = false;         // the last batch where it is smaller
    std::vector<double> mean = {0}; // of an ImageDataset: of all channels or of each, of pixels in [0, 1]:
    std::vector<double> std = {1};  // x = (pixel / 255 - mean) / std
    std::optional<Device> device = std::nullopt; // default_device()
    std::size_t workers = 0;  // threads that prepare batches; 0: the loop's own thread does
    std::size_t prefetch = 2; // batches that each worker prepares ahead, at least 1
    std::shared_ptr<const samplers::Sampler> sampler = nullptr; // in place of `shuffle`
    std::function<Example<>(const std::vector<Example<>>&)> collate =
        nullptr; // stack(); not of an ImageDataset
};

// An example of an epoch and the seed of its random numbers.
struct Pick {
    std::int64_t index;
    std::uint64_t seed;
};

// What a loader makes its batches of, in host memory.
class BatchSource {
public:
    virtual ~BatchSource() = default;
    virtual std::int64_t size() const = 0; // examples
    // With workers: called by several threads.
    virtual Example<> batch(std::span<const Pick>) const = 0;
};

template <AnyDataset D> class SourceOf final : public BatchSource {
public:
    SourceOf(D dataset, std::function<Example<>(const std::vector<Example<>>&)> collate)
        : dataset_(std::move(dataset)), collate_(collate ? std::move(collate) : stack)
    {}
    std::int64_t size() const override
    {
        if constexpr (requires { dataset_.size().value(); })
            return static_cast<std::int64_t>(dataset_.size().value());
        else return static_cast<std::int64_t>(dataset_.size());
    }
    Example<> batch(std::span<const Pick> picks) const override
    {
        std::vector<Example<>> examples;
        examples.reserve(picks.size());
        for (const Pick& pick : picks) {
            const auto i = static_cast<std::size_t>(pick.index);
            Random random(pick.seed);
            if constexpr (GivesRandomExamples<D>) examples.push_back(dataset_.get(i, random));
            else examples.push_back(dataset_.get(i));
        }
        return collate_(examples);
    }

private:
    mutable D dataset_; // get() need not be const
    std::function<Example<>(const std::vector<Example<>>&)> collate_;
};

// Batches: `for (auto [x, y] : loader)`, or `for (auto& batch : loader)` with batch.data and batch.target,
// are the next epoch, in another order where it shuffles; epoch(n) is a given one.  Of an ImageDataset x is
// f32 [B, C, H, W] and y i32 [B]; of others each is what get() gives with a first dimension of B, and y is
// undefined where there is no target.
//
// Order and values are the same with any number of workers.  What get() or a transform throws comes out of
// the loop at its batch, which ends that loop; leaving a loop early waits for the batches that are being
// prepared.  Only the loop's thread uploads: two tensors a batch.
class DataLoader {
public:
    using Batch = Example<Tensor>;

    // Error(argument) for options that make no sense.
    template <AnyDataset D> DataLoader(D dataset, DataLoaderOptions options)
        : DataLoader(source_of(std::move(dataset), options), options)
    {}
    DataLoader(std::shared_ptr<const ImageDataset>, DataLoaderOptions);
    DataLoader(std::shared_ptr<const BatchSource>, DataLoaderOptions);

    std::int64_t size() const noexcept { return batches_; } // batches in an epoch
    const BatchSource& dataset() const noexcept { return *source_; }

    class Run; // src/data/run.hpp: an epoch that is being iterated

    class Iterator {
    public:
        using iterator_concept = std::input_iterator_tag;
        using iterator_category = std::input_iterator_tag;
        using difference_type = std::ptrdiff_t;
        using value_type = Batch;
        using reference = Batch&;
        using pointer = Batch*;
        Batch& operator*() const; // makes it when first asked for
        Batch* operator->() const { return &**this; }
        Iterator& operator++();
        void operator++(int) { ++*this; }
        friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.at_end(); }

    private:
        friend class DataLoader;
        explicit Iterator(std::shared_ptr<Run> run) : run_(std::move(run)) {}
        bool at_end() const;
        std::shared_ptr<Run> run_; // copies share it
    };
    class Epoch {
    public:
        Iterator begin() const { return loader_->run(number_); }
        std::default_sentinel_t end() const { return {}; }

    private:
        friend class DataLoader;
        Epoch(const DataLoader* loader, std::uint64_t number) : loader_(loader), number_(number) {}
        const DataLoader* loader_;
        std::uint64_t number_;
    };

    Epoch epoch(std::uint64_t number) const { return {this, number}; } // for as long as the loader lives
    Iterator begin() { return run(next_epoch_++); }
    std::default_sentinel_t end() const { return {}; }
    void set_epoch(std::uint64_t next) noexcept { next_epoch_ = next; }

private:
    template <class D>
    static std::shared_ptr<const BatchSource> source_of(D dataset, const DataLoaderOptions& options)
    {
        if constexpr (std::is_same_v<D, ImageDataset>)
            return source_of_images(std::make_shared<const ImageDataset>(std::move(dataset)), options);
        else return std::make_shared<const SourceOf<D>>(std::move(dataset), options.collate);
    }
    static std::shared_ptr<const BatchSource> source_of_images(std::shared_ptr<const ImageDataset>,
                                                               const DataLoaderOptions&);
    Iterator run(std::uint64_t epoch) const;

    std::shared_ptr<const BatchSource> source_;
    DataLoaderOptions options_;
    std::int64_t batches_ = 0;
    std::uint64_t next_epoch_ = 0;
};

// As libtorch writes it: `auto loader = make_data_loader<samplers::RandomSampler>(std::move(set), 64);`, then
// `for (auto& batch : *loader)`.  Without a sampler the order is the options', sequential unless they
// shuffle.
template <class Sampler = void, AnyDataset D>
std::unique_ptr<DataLoader> make_data_loader(D dataset, DataLoaderOptions options)
{
    if constexpr (!std::is_void_v<Sampler>) options.sampler = std::make_shared<const Sampler>();
    return std::make_unique<DataLoader>(std::move(dataset), std::move(options));
}
template <class Sampler = void, AnyDataset D>
std::unique_ptr<DataLoader> make_data_loader(D dataset, std::int64_t batch_size)
{
    return make_data_loader<Sampler>(std::move(dataset), DataLoaderOptions{.batch_size = batch_size});
}

} // namespace reprise::data
