// The order in which a loader takes examples.
#pragma once
#include <cstdint>
#include <vector>

namespace reprise::data {

// A permutation of 0 ... size - 1: a function of (seed, epoch), the same on every platform.
std::vector<std::int64_t> shuffled(std::int64_t size, std::uint64_t seed, std::uint64_t epoch);

namespace samplers {

class Sampler {
public:
    virtual ~Sampler() = default;
    // Of a data set of `size` examples.
    virtual std::int64_t count(std::int64_t size) const { return size; } // examples in an epoch
    // As many indices from 0 to size - 1: a function of its arguments.
    virtual std::vector<std::int64_t> order(std::int64_t size, std::uint64_t seed,
                                            std::uint64_t epoch) const = 0;
};

class SequentialSampler final : public Sampler {
public:
    std::vector<std::int64_t> order(std::int64_t size, std::uint64_t seed,
                                    std::uint64_t epoch) const override;
};

class RandomSampler final : public Sampler {
public:
    std::vector<std::int64_t> order(std::int64_t size, std::uint64_t seed,
                                    std::uint64_t epoch) const override;
};

// `count` examples, each drawn with a probability in proportion to its weight, again and again.
class WeightedRandomSampler final : public Sampler {
public:
    // Error(argument) for weights that are negative, not finite or all 0, and for a negative count.  The
    // data set must have as many examples as there are weights: else the loader's making ends in
    // Error(argument).
    WeightedRandomSampler(std::vector<double> weights, std::int64_t count);
    std::int64_t count(std::int64_t size) const override;
    std::vector<std::int64_t> order(std::int64_t size, std::uint64_t seed,
                                    std::uint64_t epoch) const override;

private:
    std::vector<double> sums_; // of the weights up to each
    std::int64_t count_;
};

} // namespace samplers

} // namespace reprise::data
