// Samplers, which determine the order in which a loader takes examples.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace reprise::data {

// Returns a random permutation of 0 ... size - 1, which depends on seed and epoch only and is the same on
// every platform.
std::vector<std::int64_t> shuffled(std::int64_t size, std::uint64_t seed, std::uint64_t epoch);

namespace samplers {

// The base class of samplers.
class Sampler {
public:
    virtual ~Sampler() = default;
    // Returns the number of examples in an epoch of a data set of `size` examples; by default all.
    virtual std::int64_t count(std::int64_t size) const { return size; }
    // Returns the indices of an epoch's examples: count(size) numbers from 0 to size - 1 that depend on the
    // arguments only.
    virtual std::vector<std::int64_t> order(std::int64_t size, std::uint64_t seed,
                                            std::uint64_t epoch) const = 0;

    // -- direct use as in libtorch, of a sampler that was given a size --
    // Returns the indices of the next batch, or none at the end of an epoch.  Throws Error(argument) for a
    // batch_size of 0, and without a size.
    std::optional<std::vector<std::size_t>> next(std::size_t batch_size);
    // Starts the next epoch, with a new size if one is given.
    void reset(std::optional<std::size_t> new_size = std::nullopt);

protected:
    Sampler() = default; // for classes that derive from it
    // Takes a size for next(), and the seed of its orders; none: the first next() draws it, so that
    // manual_seed() determines it.
    explicit Sampler(std::size_t size, std::optional<std::uint64_t> seed = std::nullopt)
        : size_(size), seed_(seed)
    {}
    Sampler(const Sampler&) = default;            // a copy
    Sampler& operator=(const Sampler&) = default; // the same

private:
    std::optional<std::size_t> size_;
    std::optional<std::uint64_t> seed_;
    std::uint64_t epoch_ = 0;
    std::optional<std::vector<std::int64_t>> order_; // of the epoch
    std::size_t at_ = 0;
};

// Takes all examples in their order.
class SequentialSampler final : public Sampler {
public:
    SequentialSampler() = default;                                     // for a loader
    explicit SequentialSampler(std::size_t size) : Sampler(size, 0) {} // with a size for next()
    // 0 ... size - 1.
    std::vector<std::int64_t> order(std::int64_t size, std::uint64_t seed,
                                    std::uint64_t epoch) const override;
};

// Takes all examples in a random order, a new one in each epoch.
class RandomSampler final : public Sampler {
public:
    RandomSampler() = default; // for a loader
    // Takes a size for next().  The orders depend on the seed only; without one, manual_seed() determines them.
    explicit RandomSampler(std::size_t size, std::optional<std::uint64_t> seed = std::nullopt)
        : Sampler(size, seed)
    {}
    // Returns the order of shuffled().
    std::vector<std::int64_t> order(std::int64_t size, std::uint64_t seed,
                                    std::uint64_t epoch) const override;
};

// Draws `count` examples with replacement, each with a probability in proportion to its weight.
class WeightedRandomSampler final : public Sampler {
public:
    // Takes one weight for each example.  Throws Error(argument) for weights that are negative, not finite or
    // all 0, and for a negative count.
    WeightedRandomSampler(std::vector<double> weights, std::int64_t count);
    // Returns the count given to the constructor.  Throws Error(argument) unless the data set has one example
    // for each weight.
    std::int64_t count(std::int64_t size) const override;
    // Returns the drawn indices.
    std::vector<std::int64_t> order(std::int64_t size, std::uint64_t seed,
                                    std::uint64_t epoch) const override;

private:
    std::vector<double> sums_; // cumulative sums of the weights
    std::int64_t count_;
};

// Options of DistributedSampler.
struct DistributedSamplerOptions {
    bool shuffle = true; // a new random order in each epoch
    bool drop_last =
        false; // leaves the last examples out that there is not one of for each rank; else the first are repeated
};

// Shares the examples out among the ranks of a world, as torch.utils.data.DistributedSampler: of every num_replicas
// examples in the order of all, each rank takes one.  So the batches of all ranks together are those of one process
// with a batch that many times as large.  All ranks must have the same seed.
class DistributedSampler final : public Sampler {
public:
    // Throws Error(argument) unless 0 <= rank < num_replicas.
    DistributedSampler(std::int64_t num_replicas, std::int64_t rank, const DistributedSamplerOptions& = {});
    // Returns the examples of this rank, which are as many on each.
    std::int64_t count(std::int64_t size) const override;
    // Returns their indices.
    std::vector<std::int64_t> order(std::int64_t size, std::uint64_t seed,
                                    std::uint64_t epoch) const override;

private:
    std::int64_t replicas_, rank_;
    DistributedSamplerOptions options_;
};

} // namespace samplers

} // namespace reprise::data
