// Samplers, which give the order in which a loader takes examples.
#pragma once
#include <cstdint>
#include <vector>

namespace reprise::data {

// A random permutation of 0 ... size - 1, which depends on seed and epoch only and is the same on every
// platform.
std::vector<std::int64_t> shuffled(std::int64_t size, std::uint64_t seed, std::uint64_t epoch);

namespace samplers {

// The base class of samplers.
class Sampler {
public:
    virtual ~Sampler() = default;
    // The number of examples in an epoch of a data set of `size` examples; by default all.
    virtual std::int64_t count(std::int64_t size) const { return size; }
    // The indices of an epoch's examples: count(size) numbers from 0 to size - 1 that depend on the arguments
    // only.
    virtual std::vector<std::int64_t> order(std::int64_t size, std::uint64_t seed,
                                            std::uint64_t epoch) const = 0;
};

// Takes all examples in their order.
class SequentialSampler final : public Sampler {
public:
    // 0 ... size - 1.
    std::vector<std::int64_t> order(std::int64_t size, std::uint64_t seed,
                                    std::uint64_t epoch) const override;
};

// Takes all examples in a random order, another one in each epoch.
class RandomSampler final : public Sampler {
public:
    // As shuffled().
    std::vector<std::int64_t> order(std::int64_t size, std::uint64_t seed,
                                    std::uint64_t epoch) const override;
};

// Draws `count` examples with replacement, each with a probability in proportion to its weight.
class WeightedRandomSampler final : public Sampler {
public:
    // One weight for each example.  Error(argument) for weights that are negative, not finite or all 0, and
    // for a negative count.
    WeightedRandomSampler(std::vector<double> weights, std::int64_t count);
    // The count given to the constructor.  Error(argument) where the data set has not one example for each
    // weight.
    std::int64_t count(std::int64_t size) const override;
    // The drawn indices.
    std::vector<std::int64_t> order(std::int64_t size, std::uint64_t seed,
                                    std::uint64_t epoch) const override;

private:
    std::vector<double> sums_; // of the weights up to each
    std::int64_t count_;
};

} // namespace samplers

} // namespace reprise::data
