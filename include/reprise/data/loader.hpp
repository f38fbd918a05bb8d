// Loaders, which create batches of a data set's examples as tensors.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/data/dataset.hpp>
#include <reprise/data/samplers.hpp>
#include <reprise/data/subset.hpp>

namespace reprise::data {

// Options of DataLoader in braces, DataLoader::Options.
struct DataLoaderSettings {
    std::int64_t batch_size = 1; // examples in a batch, at least 1
    bool shuffle = false;        // whether each epoch has a new random order
    // The seed of the order, and of random numbers for the data set; none: the constructor draws it, so that
    // manual_seed() determines it.
    std::optional<std::uint64_t> seed = std::nullopt;
    bool drop_last = false; // leaves out the last batch where it is smaller
    // For an ImageDataset, one mean for all channels or one for each: x = (pixel / 255 - mean) / std.
    std::vector<double> mean = {0};
    std::vector<double> std = {1};               // as `mean`; above 0
    std::optional<Device> device = std::nullopt; // the device of the batches; none: default_device()
    std::size_t num_workers = 0; // threads that prepare batches, at most 1024; 0: the loop's thread
    std::size_t prefetch = 2;    // batches that each worker prepares ahead, at least 1
    // Determines the order of the examples, in place of `shuffle`.
    std::shared_ptr<const samplers::Sampler> sampler = nullptr;
    // Combines examples to a batch; null: stack().  Must be null for an ImageDataset.
    std::function<Example<>(const std::vector<Example<>>&)> collate = nullptr;
};

// The same options in libtorch's style, which convert to those in braces:
// DataLoaderOptions().batch_size(64).workers(2).
class DataLoaderOptions {
public:
    DataLoaderOptions() = default;                                               // the defaults
    DataLoaderOptions(std::int64_t batch_size) { all_.batch_size = batch_size; } // with this batch size
    DataLoaderOptions(DataLoaderSettings all) : all_(std::move(all)) {}          // those in braces
    operator DataLoaderSettings() const { return all_; }                         // the options in braces

    // Each member sets the option of its name, or reads it.
#define REPRISE_LOADER_OPTION(name, option)                                                                  \
    DataLoaderOptions& name(decltype(DataLoaderSettings::option) value)                                      \
    {                                                                                                        \
        all_.option = std::move(value);                                                                      \
        return *this;                                                                                        \
    }                                                                                                        \
    const decltype(DataLoaderSettings::option)& name() const { return all_.option; }
    REPRISE_LOADER_OPTION(batch_size, batch_size)
    REPRISE_LOADER_OPTION(shuffle, shuffle)
    REPRISE_LOADER_OPTION(seed, seed)
    REPRISE_LOADER_OPTION(drop_last, drop_last)
    REPRISE_LOADER_OPTION(mean, mean)
    REPRISE_LOADER_OPTION(std, std)
    REPRISE_LOADER_OPTION(device, device)
    REPRISE_LOADER_OPTION(workers, num_workers)
    REPRISE_LOADER_OPTION(num_workers, num_workers)
    REPRISE_LOADER_OPTION(prefetch, prefetch)
    REPRISE_LOADER_OPTION(sampler, sampler)
    REPRISE_LOADER_OPTION(collate, collate)
#undef REPRISE_LOADER_OPTION
    // Has no effect, for programs written for libtorch: batches always come in order.
    DataLoaderOptions& enforce_ordering(bool) { return *this; }

private:
    DataLoaderSettings all_;
};

// One example of an epoch.
struct Pick {
    std::int64_t index; // its index in the data set
    std::uint64_t seed; // the seed of its random numbers
};

// Creates batches in host memory for a loader.
class BatchSource {
public:
    virtual ~BatchSource() = default;
    virtual std::int64_t size() const = 0; // the number of examples
    // Returns the batch of the given examples.  With workers several threads call it at the same time.
    virtual Example<> batch(std::span<const Pick>) const = 0;
};

// Creates batches from the examples of a data set.
template <AnyDataset D> class SourceOf final : public BatchSource {
public:
    // `collate` combines examples to a batch; null: stack().
    SourceOf(D dataset, std::function<Example<>(const std::vector<Example<>>&)> collate)
        : dataset_(std::move(dataset)), collate_(collate ? std::move(collate) : stack)
    {}
    // Returns the number of examples.
    std::int64_t size() const override { return count_of(dataset_); }
    // Gets the examples and combines them to a batch.
    Example<> batch(std::span<const Pick> picks) const override
    {
        std::vector<Example<>> examples;
        examples.reserve(picks.size());
        for (const Pick& pick : picks) {
            Random random(pick.seed);
            examples.push_back(example_of(dataset_, static_cast<std::size_t>(pick.index), random));
        }
        return collate_(examples);
    }

private:
    mutable D dataset_; // get() need not be const
    std::function<Example<>(const std::vector<Example<>>&)> collate_;
};

// Loads batches of a data set.  Each loop, `for (auto [x, y] : loader)`, or `for (auto& batch : loader)` with
// batch.data and batch.target, runs the next epoch, in a new order if it shuffles; epoch(n) returns a certain
// epoch.  For an ImageDataset, x is f32 [B, C, H, W] and y is i32 [B]; for other data sets they are the
// results of get() with a first dimension of B, and y is undefined where there is no target.
//
// Order and values do not depend on the number of workers.  An exception of get() or a transform is thrown
// from the loop at its batch, and ends the loop.  Leaving a loop early waits for batches that are being
// prepared.  Only the loop's thread uploads data, two tensors for each batch.
class DataLoader {
public:
    using Batch = Example<Tensor>;      // data and target of a batch on the device
    using Options = DataLoaderSettings; // the options in braces

    // Creates a loader of a data set.  Throws Error(argument) for options out of their range, and for both
    // `shuffle` and a sampler.
    template <AnyDataset D> explicit DataLoader(D dataset, Options options = {})
        : DataLoader(source_of(std::move(dataset), options), options)
    {}
    // The same with a batch size and the other options' defaults.
    template <AnyDataset D, std::integral N> DataLoader(D dataset, N batch_size)
        : DataLoader(std::move(dataset), Options{.batch_size = static_cast<std::int64_t>(batch_size)})
    {}
    // Creates a loader of images that it shares.  Throws Error(argument) as above, for a null pointer, and
    // for images of other sizes than their data set says.
    DataLoader(std::shared_ptr<const ImageDataset>, Options);
    // Creates a loader of a source of batches.  Throws Error(argument) as above, and for a null pointer.
    DataLoader(std::shared_ptr<const BatchSource>, Options);

    std::int64_t size() const noexcept { return batches_; }          // the number of batches in an epoch
    const BatchSource& dataset() const noexcept { return *source_; } // the source of the batches

    class Run; // for the library itself: an epoch during iteration (src/data/run.hpp)

    // An input iterator over the batches of an epoch.  Copies share their position.
    class Iterator {
    public:
        using iterator_concept = std::input_iterator_tag;  // for the standard library
        using iterator_category = std::input_iterator_tag; // for the standard library
        using difference_type = std::ptrdiff_t;            // for the standard library
        using value_type = Batch;                          // for the standard library
        using reference = Batch&;                          // for the standard library
        using pointer = Batch*;                            // for the standard library
        // Returns the batch, which is created at the first access.  Throws Error(state) at the end.
        Batch& operator*() const;
        Batch* operator->() const { return &**this; } // the batch
        Iterator& operator++();                       // advances to the next batch
        void operator++(int) { ++*this; }             // advances to the next batch
        // Whether the epoch is at its end.
        friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.at_end(); }

    private:
        friend class DataLoader;
        explicit Iterator(std::shared_ptr<Run> run) : run_(std::move(run)) {}
        bool at_end() const;
        std::shared_ptr<Run> run_; // copies share it
    };
    // The batches of one epoch, for a loop.
    class Epoch {
    public:
        Iterator begin() const { return loader_->run(number_, nullptr); } // begins the epoch
        std::default_sentinel_t end() const { return {}; }                // the end of the epoch

    private:
        friend class DataLoader;
        Epoch(const DataLoader* loader, std::uint64_t number) : loader_(loader), number_(number) {}
        const DataLoader* loader_;
        std::uint64_t number_;
    };

    // Returns the epoch with the given number from its first batch on; valid while the loader exists.  It has no
    // effect on state_dict().
    Epoch epoch(std::uint64_t number) const { return {this, number}; }
    Iterator begin();                                  // begins the next epoch; the first has number 0
    std::default_sentinel_t end() const { return {}; } // the end of an epoch
    // Sets the number of the next epoch, which begins at its first batch, or where load_state_dict() said if it is
    // of this epoch.
    void set_epoch(std::uint64_t next) noexcept;
    std::uint64_t next_epoch() const noexcept
    {
        return next_epoch_;
    } // the number of the epoch that begin() begins

    // Returns the place of the loader, from which another one of the same data set and options goes on.  "epoch" and
    // "batch" are, in a loop over the loader, its epoch and the number of its batches that were given out; after its
    // end the next epoch and 0.  After a `break` the place stays in the epoch: where its rest is not to follow, call
    // set_epoch().  "seed", "batch_size" and "examples" are those of the loader.  All are i64 [].
    std::map<std::string, Tensor> state_dict() const;
    // Loads a result of state_dict(): the next loop runs its epoch, without the batches that were given out, which
    // may be all.  Throws Error(argument), after which nothing has changed, for a state of another batch size or
    // number of examples, and for other tensors.
    void load_state_dict(const std::map<std::string, Tensor>&);
    // For the library itself: returns a function that restores the present place, also for a loop that runs.
    std::function<void()> backup();

private:
    struct Place;
    template <class D> static std::shared_ptr<const BatchSource> source_of(D dataset, const Options& options)
    {
        if constexpr (std::is_same_v<D, ImageDataset>)
            return source_of_images(std::make_shared<const ImageDataset>(std::move(dataset)), options);
        else if constexpr (std::is_same_v<D, Subset<ImageDataset>>)
            return source_of(images_of(dataset), options);
        else return std::make_shared<const SourceOf<D>>(std::move(dataset), options.collate);
    }
    static std::shared_ptr<const BatchSource> source_of_images(std::shared_ptr<const ImageDataset>,
                                                               const Options&);
    Iterator run(std::uint64_t epoch, std::shared_ptr<Place>) const;

    std::shared_ptr<const BatchSource> source_;
    Options options_;
    std::int64_t batches_ = 0;
    std::uint64_t next_epoch_ = 0;
    std::shared_ptr<Place> place_; // of the latest loop, which moves it; null: the next epoch's first batch
    bool resumes_ = false;         // the next loop begins at place_
};

// Creates a loader as in libtorch: `auto loader = make_data_loader<samplers::SequentialSampler>(std::move(set), 64);`,
// then `for (auto& batch : *loader)`.  Without a sampler each epoch has a new random order, as in libtorch; DataLoader
// itself shuffles only if `shuffle` is set, as in PyTorch.
template <class Sampler = samplers::RandomSampler, AnyDataset D>
std::unique_ptr<DataLoader> make_data_loader(D dataset, DataLoader::Options options = {})
{
    // The options override the default sampler, as the loader throws if it has both.
    constexpr bool is_default = std::is_same_v<Sampler, samplers::RandomSampler>;
    if (!is_default || !(options.shuffle || options.sampler))
        options.sampler = std::make_shared<const Sampler>();
    return std::make_unique<DataLoader>(std::move(dataset), std::move(options));
}
// The same with a batch size in place of options.
template <class Sampler = samplers::RandomSampler, AnyDataset D, std::integral N>
std::unique_ptr<DataLoader> make_data_loader(D dataset, N batch_size)
{
    return make_data_loader<Sampler>(
        std::move(dataset), DataLoader::Options{.batch_size = static_cast<std::int64_t>(batch_size)});
}
// The same with a sampler, which determines the order.
template <AnyDataset D, std::derived_from<samplers::Sampler> S>
std::unique_ptr<DataLoader> make_data_loader(D dataset, S sampler, DataLoader::Options options = {})
{
    options.sampler = std::make_shared<const S>(std::move(sampler));
    return std::make_unique<DataLoader>(std::move(dataset), std::move(options));
}

} // namespace reprise::data
