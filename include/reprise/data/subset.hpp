// Subsets and concatenations of data sets: Subset, random_split(), ConcatDataset.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/data/dataset.hpp>

namespace reprise::data {

// Throws Error(argument) unless all indices are from 0 to size - 1; for Subset.
void check_indices(const std::vector<std::size_t>& indices, std::int64_t size);
// Throws Error(argument) unless i is from 0 to size - 1; for get() of `op`.
void check_index(const char* op, std::size_t i, std::size_t size);

// The examples of another data set at some indices, in their order.
template <AnyDataset D> class Subset {
public:
    // Throws Error(argument) for an index that the data set does not have.
    Subset(D dataset, std::vector<std::size_t> indices)
        : Subset(std::make_shared<D>(std::move(dataset)), std::move(indices))
    {}
    // The same for a data set that several subsets share; it must not be null.
    Subset(std::shared_ptr<D> dataset, std::vector<std::size_t> indices)
        : dataset_(std::move(dataset)), indices_(std::move(indices))
    {
        check_indices(indices_, count_of(*dataset_));
    }

    // Returns the example with index i of the subset.  Throws Error(argument) where there is none.
    Example<> get(std::size_t i) const requires(!GivesRandomExamples<D>) { return dataset_->get(at(i)); }
    // The same for a data set with examples that depend on random numbers.
    Example<> get(std::size_t i, Random& random) const requires GivesRandomExamples<D>
    {
        return dataset_->get(at(i), random);
    }
    std::optional<std::size_t> size() const { return indices_.size(); }           // the number of examples
    const std::vector<std::size_t>& indices() const noexcept { return indices_; } // their indices
    const D& dataset() const noexcept { return *dataset_; }                       // the other data set
    // Returns a data set of these examples after a transform.
    template <Transform T> MapDataset<Subset, T> map(T transform) const
    {
        return {*this, std::move(transform)};
    }

private:
    std::size_t at(std::size_t i) const
    {
        check_index("Subset", i, indices_.size());
        return indices_[i];
    }
    std::shared_ptr<D> dataset_;
    std::vector<std::size_t> indices_;
};
// Copies the images of the subset, in its order.
ImageDataset images_of(const Subset<ImageDataset>&);

// Splits a random permutation of 0 ... size - 1 into parts of these lengths; for random_split().  Without a
// seed one is drawn.
std::vector<std::vector<std::size_t>> split_indices(std::int64_t size,
                                                    const std::vector<std::int64_t>& lengths,
                                                    std::optional<std::uint64_t> seed);
// The same for fractions of all examples, rounded down; the first parts get one of the remaining examples each.
std::vector<std::vector<std::size_t>> split_indices(std::int64_t size, const std::vector<double>& shares,
                                                    std::optional<std::uint64_t> seed);

// Splits a data set at random into parts of these lengths, or of these fractions such as {0.8, 0.2}: auto
// [train, test] = random_split(set, {800, 200});  The order depends on the seed only; without a seed one is
// drawn, so that manual_seed() determines it.  Throws Error(argument) unless the lengths add up to the number
// of examples, and the fractions to 1.
template <AnyDataset D, class Length>
requires std::is_arithmetic_v<Length> std::vector<Subset<D>> random_split(
    D dataset, const std::vector<Length>& lengths, std::optional<std::uint64_t> seed = std::nullopt)
{
    using Wide = std::conditional_t<std::is_integral_v<Length>, std::int64_t, double>;
    const auto shared = std::make_shared<D>(std::move(dataset));
    std::vector<Subset<D>> out;
    for (auto& part :
         split_indices(count_of(*shared), std::vector<Wide>(lengths.begin(), lengths.end()), seed))
        out.emplace_back(shared, std::move(part));
    return out;
}
// The same for lengths in braces.
template <AnyDataset D, class Length, std::size_t N>
requires std::is_arithmetic_v<Length> std::array<Subset<D>, N> random_split(
    D dataset, const Length (&lengths)[N], std::optional<std::uint64_t> seed = std::nullopt)
{
    auto parts = random_split(std::move(dataset), std::vector<Length>(lengths, lengths + N), seed);
    return [&]<std::size_t... I>(std::index_sequence<I...>)
    {
        return std::array<Subset<D>, N>{std::move(parts[I])...};
    }
    (std::make_index_sequence<N>());
}

// The concatenation of several data sets.
class ConcatDataset {
public:
    // Data sets of different types.
    template <AnyDataset First, AnyDataset... More>
    requires(!std::same_as<First, ConcatDataset> || sizeof...(More) > 0) explicit ConcatDataset(First first,
                                                                                                More... more)
    {
        add(std::move(first));
        (add(std::move(more)), ...);
    }
    // Data sets of one type.
    template <AnyDataset D> explicit ConcatDataset(std::vector<D> datasets)
    {
        for (D& dataset : datasets) add(std::move(dataset));
    }
    // The same in braces.
    template <AnyDataset D> explicit ConcatDataset(std::initializer_list<D> datasets)
        : ConcatDataset(std::vector<D>(datasets))
    {}

    // Returns the example with index i of all; a data set that needs random numbers takes them from the
    // stream.  Throws Error(argument) where there is none.
    Example<> get(std::size_t i, Random& random) const;
    Example<> get(std::size_t i) const; // the same, with random numbers that depend on i
    std::optional<std::size_t> size() const { return starts_.back(); } // the number of examples
    // Returns a data set of these examples after a transform.
    template <Transform T> MapDataset<ConcatDataset, T> map(T transform) const
    {
        return {*this, std::move(transform)};
    }

private:
    using Get = std::function<Example<>(std::size_t i, Random&)>;
    template <AnyDataset D> void add(D dataset)
    {
        const auto shared = std::make_shared<D>(std::move(dataset));
        starts_.push_back(starts_.back() + static_cast<std::size_t>(count_of(*shared)));
        parts_.push_back([shared](std::size_t i, Random& random) { return example_of(*shared, i, random); });
    }
    std::vector<Get> parts_;
    std::vector<std::size_t> starts_{0}; // index of the first example of each, then the total number
};

} // namespace reprise::data
