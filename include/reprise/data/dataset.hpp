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

namespace reprise::data {

// A data set has size(), a number or an optional of one, and get(i) for i from 0 to size() - 1, or get(i,
// Random&) where what it gives is random.  Its result converts to Example<>.  With workers get() is called
// by several threads at a time, of one object.
template <class D>
concept GivesExamples = requires(D& d, std::size_t i)
{
    {
        d.get(i)
        } -> std::convertible_to<Example<>>;
};
template <class D>
concept GivesRandomExamples = requires(D& d, std::size_t i, Random& random)
{
    {
        d.get(i, random)
        } -> std::convertible_to<Example<>>;
};
template <class D>
concept AnyDataset = (GivesExamples<D> || GivesRandomExamples<D>)&&requires(D& d)
{
    d.size();
};

// Changes an example: a function of it, or of it and of a stream of random numbers.
template <class T>
concept Transform = std::is_invocable_r_v<Example<>, T&, Example<>, Random&> ||
                    std::is_invocable_r_v<Example<>, T&, Example<>>;

// A data set whose examples are another's after a transform.  With workers the transform is called by
// several threads.
template <class D, Transform T> struct MapDataset {
    D dataset;
    T transform;

    Example<> get(std::size_t i, Random& random)
    {
        if constexpr (std::is_invocable_r_v<Example<>, T&, Example<>, Random&>)
            return transform(of(i, random), random);
        else return transform(of(i, random));
    }
    auto size() const { return dataset.size(); }
    template <Transform Next> MapDataset<MapDataset, Next> map(Next next) const&
    {
        return {*this, std::move(next)};
    }
    template <Transform Next> MapDataset<MapDataset, Next> map(Next next) &&
    {
        return {std::move(*this), std::move(next)};
    }

private:
    Example<> of(std::size_t i, Random& random)
    {
        if constexpr (GivesRandomExamples<D>) return dataset.get(i, random);
        else return dataset.get(i);
    }
};

// What a data set of yours may derive from, for map(): struct Mine : data::Dataset<Mine> { ... }.
template <class Self, class Single = Example<>> class Dataset {
public:
    virtual ~Dataset() = default;
    virtual Single get(std::size_t i) = 0;
    virtual std::optional<std::size_t> size() const = 0;

    template <Transform T> MapDataset<Self, T> map(T transform) const&
    {
        return {static_cast<const Self&>(*this), std::move(transform)};
    }
    template <Transform T> MapDataset<Self, T> map(T transform) &&
    {
        return {static_cast<Self&&>(*this), std::move(transform)};
    }

protected:
    Dataset() = default;
    Dataset(const Dataset&) = default;
    Dataset(Dataset&&) noexcept = default;
    Dataset& operator=(const Dataset&) = default;
    Dataset& operator=(Dataset&&) noexcept = default;
};

// The rows of tensors or arrays, which it copies to host memory once.
class TensorDataset : public Dataset<TensorDataset> {
public:
    explicit TensorDataset(Array data); // without targets
    // Error(argument) where they have no dimension or their first ones differ.
    TensorDataset(Array data, Array target);

    Example<> get(std::size_t i) override;
    std::optional<std::size_t> size() const override { return size_; }

private:
    Array data_, target_;
    std::size_t size_ = 0;
};

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
    // f32 [channels, height, width] of pixel / 255, i32 [].
    Example<> get(std::size_t i) const;
    template <Transform T> MapDataset<ImageDataset, T> map(T transform) const&
    {
        return {*this, std::move(transform)};
    }
    template <Transform T> MapDataset<ImageDataset, T> map(T transform) &&
    {
        return {std::move(*this), std::move(transform)};
    }
};
ImageDataset read_idx_images(const std::filesystem::path& images, const std::filesystem::path& labels);

struct TrainTest {
    ImageDataset train, test;
};
// Each reads the standard files of a folder; nothing is downloaded.  Error(file) names the file and where to
// get it. 60,000 and 10,000 grey images of 28 x 28 in 10 classes: the four files of MNIST, with or without
// .gz.
TrainTest mnist(const std::filesystem::path& directory);
// As MNIST.  Without a folder it is that of Debian's package dataset-fashion-mnist.
TrainTest fashion_mnist(const std::filesystem::path& directory = {});
// 50,000 and 10,000 images of 3 x 32 x 32 in 10 classes: data_batch_1.bin ... 5.bin and test_batch.bin of
// the binary version, with or without .gz, in the folder or in its folder cifar-10-batches-bin.
TrainTest cifar10(const std::filesystem::path& directory);

} // namespace reprise::data
