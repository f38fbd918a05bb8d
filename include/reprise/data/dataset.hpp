// Data sets: anything with get(i) and size().
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include <reprise/data/example.hpp>
#include <reprise/random.hpp>

namespace reprise::data {

// A data set with a function get(i) that returns the example with index i.  The result converts to Example<>.
// With workers several threads call get() of one object at the same time.
template <class D>
concept GivesExamples = requires(D& d, std::size_t i)
{
    {
        d.get(i)
        } -> std::convertible_to<Example<>>;
};
// A data set with a function get(i, random) that returns an example that depends on a stream of random numbers.
template <class D>
concept GivesRandomExamples = requires(D& d, std::size_t i, Random& random)
{
    {
        d.get(i, random)
        } -> std::convertible_to<Example<>>;
};
// A data set: it has size(), a number or an optional of one, and one of the two get() for i from 0 to size()
// - 1.
template <class D>
concept AnyDataset = (GivesExamples<D> || GivesRandomExamples<D>)&&requires(D& d)
{
    d.size();
};

// Returns the number of examples of a data set.
template <AnyDataset D> std::int64_t count_of(D& dataset)
{
    if constexpr (requires { dataset.size().value(); })
        return static_cast<std::int64_t>(dataset.size().value());
    else return static_cast<std::int64_t>(dataset.size());
}

// Returns the example with index i, which may take numbers from the stream.
template <AnyDataset D> Example<> example_of(D& dataset, std::size_t i, [[maybe_unused]] Random& random)
{
    if constexpr (GivesRandomExamples<D>) return dataset.get(i, random);
    else return dataset.get(i);
}

// Returns the examples with these indices as a batch of tensors on default_device(), as a loader creates it.
// Random numbers depend on a seed of draw_seed(), so that manual_seed() determines them.
template <AnyDataset D> Example<Tensor> batch_of(D& dataset, const std::vector<std::size_t>& indices)
{
    std::vector<Example<>> examples;
    Random random(GivesRandomExamples<D> ? draw_seed() : 0);
    for (const std::size_t i : indices) examples.push_back(example_of(dataset, i, random));
    const Example<> batch = stack(examples);
    return {batch.data.to_tensor(), batch.target.to_tensor()};
}

// A function that transforms an example.  Its arguments are the example, or the example and a stream of random numbers.
template <class T>
concept Transform = std::is_invocable_r_v<Example<>, T&, Example<>, Random&> ||
                    std::is_invocable_r_v<Example<>, T&, Example<>>;

// A data set that applies a transform to the examples of another one.  With workers several threads call the
// transform at the same time.
template <class D, Transform T> struct MapDataset {
    D dataset;   // the other data set
    T transform; // the function that changes each example

    // Returns the example with index i, after the transform.
    Example<> get(std::size_t i, Random& random)
    {
        if constexpr (std::is_invocable_r_v<Example<>, T&, Example<>, Random&>)
            return transform(example_of(dataset, i, random), random);
        else return transform(example_of(dataset, i, random));
    }
    // Returns the examples with these indices as a batch, as batch_of().
    Example<Tensor> get_batch(const std::vector<std::size_t>& indices) { return batch_of(*this, indices); }
    auto size() const { return dataset.size(); } // the number of examples
    // Returns a data set of these examples after one more transform.
    template <Transform Next> MapDataset<MapDataset, Next> map(Next next) const&
    {
        return {*this, std::move(next)};
    }
    // The same for a temporary, without a copy.
    template <Transform Next> MapDataset<MapDataset, Next> map(Next next) &&
    {
        return {std::move(*this), std::move(next)};
    }
};
// For Clang 16, which does not deduce them from the members.
template <class D, class T> MapDataset(D, T) -> MapDataset<D, T>;

// A base class for data sets, which adds map(): struct Mine : data::Dataset<Mine> { ... }.
template <class Self, class Single = Example<>> class Dataset {
public:
    virtual ~Dataset() = default;
    virtual Single get(std::size_t i) = 0;               // the example with index i
    virtual std::optional<std::size_t> size() const = 0; // the number of examples
    // Returns the examples with these indices as a batch, as batch_of().
    Example<Tensor> get_batch(const std::vector<std::size_t>& indices)
    {
        return batch_of(static_cast<Self&>(*this), indices);
    }

    // Returns a data set of these examples after a transform, with a copy of this one.
    template <Transform T> MapDataset<Self, T> map(T transform) const&
    {
        return {static_cast<const Self&>(*this), std::move(transform)};
    }
    // The same for a temporary, without a copy.
    template <Transform T> MapDataset<Self, T> map(T transform) &&
    {
        return {static_cast<Self&&>(*this), std::move(transform)};
    }

protected:
    Dataset() = default;                              // for classes that derive from it
    Dataset(const Dataset&) = default;                // the same
    Dataset(Dataset&&) noexcept = default;            // the same
    Dataset& operator=(const Dataset&) = default;     // the same
    Dataset& operator=(Dataset&&) noexcept = default; // the same
};

// A data set of the rows of one or two tensors or arrays, which are copied to host memory once.
class TensorDataset : public Dataset<TensorDataset> {
public:
    explicit TensorDataset(Array data); // without targets; Error(argument) where `data` has no dimension
    // Throws Error(argument) where one has no dimension or their first dimensions differ.
    TensorDataset(Array data, Array target);

    Example<> get(std::size_t i) override;                             // row i of data and target
    std::optional<std::size_t> size() const override { return size_; } // the number of rows

private:
    Array data_, target_;
    std::size_t size_ = 0;
};

// The array of bytes of an IDX file, the format of MNIST.
struct IdxArray {
    std::vector<std::int64_t> sizes; // the sizes of its dimensions
    std::vector<std::uint8_t> bytes; // the elements, row-major
};
// Reads an IDX file, plain or compressed with gzip.  Throws Error(file) for one that is missing, truncated,
// malformed or of another element type than bytes.
IdxArray read_idx(const std::filesystem::path&);

// A data set of images and their labels in host memory.
struct ImageDataset {
    std::int64_t channels = 1,        // channels of each image
        height = 0,                   // rows of each image
        width = 0;                    // columns of each image
    std::vector<std::uint8_t> pixels; // all pixels, [N, channels, height, width]
    std::vector<std::int32_t> labels; // the classes of the images, [N]

    // Returns the number of images.
    std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
    // Returns a copy of the first `count` images, or of all where there are fewer.  Throws Error(argument)
    // for a negative count.
    ImageDataset first(std::int64_t count) const;
    // Returns image i as f32 [channels, height, width] of pixel / 255, and its label as i32 [].  Throws
    // Error(argument) where there is none.
    Example<> get(std::size_t i) const;
    // Returns a data set of these examples after a transform, with a copy of this one.
    template <Transform T> MapDataset<ImageDataset, T> map(T transform) const&
    {
        return {*this, std::move(transform)};
    }
    // The same for a temporary, without a copy.
    template <Transform T> MapDataset<ImageDataset, T> map(T transform) &&
    {
        return {std::move(*this), std::move(transform)};
    }
};
// Reads grey images and their labels from two IDX files.  Throws Error(file) as for read_idx(), and where the
// files do not match.
ImageDataset read_idx_images(const std::filesystem::path& images, const std::filesystem::path& labels);

// A data set in two parts.
struct TrainTest {
    ImageDataset train, // for training
        test;           // for testing
};
// Reads MNIST: 60,000 and 10,000 grey images of 28 x 28 in 10 classes, from its four files in a folder or in
// its folder MNIST/raw, where torchvision puts them, with or without .gz.  Nothing is downloaded; Error(file)
// names a missing file and where to get it.
TrainTest mnist(const std::filesystem::path& directory = "data");
// Reads Fashion-MNIST as mnist() does, also from FashionMNIST/raw in the folder; without a folder, from that
// of Debian's package dataset-fashion-mnist.
TrainTest fashion_mnist(const std::filesystem::path& directory = {});
// Reads CIFAR-10: 50,000 and 10,000 images of 3 x 32 x 32 in 10 classes, from data_batch_1.bin ...
// data_batch_5.bin and test_batch.bin of the binary version, with or without .gz, in the folder or in its
// folder cifar-10-batches-bin.  Errors as for mnist().
TrainTest cifar10(const std::filesystem::path& directory);

} // namespace reprise::data
