#include <algorithm>
#include <cmath>
#include <numeric>

#include <reprise/data/example.hpp>
#include <reprise/data/samplers.hpp>
#include <reprise/random.hpp>

namespace reprise::data {

namespace {

Random of_epoch(std::uint64_t seed, std::uint64_t epoch) { return Random(Random(seed).next() ^ epoch); }

} // namespace

std::vector<std::int64_t> shuffled(std::int64_t size, std::uint64_t seed, std::uint64_t epoch)
{
    std::vector<std::int64_t> order(static_cast<std::size_t>(size));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    Random random = of_epoch(seed, epoch);
    for (std::size_t i = order.size(); i > 1; --i) // Fisher-Yates
        std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

namespace samplers {

std::optional<std::vector<std::size_t>> Sampler::next(std::size_t batch_size)
{
    constexpr const char* op = "next";
    if (!size_)
        detail::fail(ErrorKind::argument, op,
                     "The sampler does not know the number of examples: give it, RandomSampler(10).");
    if (batch_size == 0) detail::fail(ErrorKind::argument, op, "The batch_size (0) must be at least 1.");
    if (!seed_) seed_ = draw_seed();
    if (!order_) order_ = order(static_cast<std::int64_t>(*size_), *seed_, epoch_);
    if (at_ >= order_->size()) return std::nullopt;
    const std::size_t end = std::min(order_->size(), at_ + std::min(batch_size, order_->size()));
    std::vector<std::size_t> batch(order_->begin() + static_cast<std::ptrdiff_t>(at_),
                                   order_->begin() + static_cast<std::ptrdiff_t>(end));
    at_ = end;
    return batch;
}

void Sampler::reset(std::optional<std::size_t> new_size)
{
    if (new_size) size_ = new_size;
    order_.reset();
    at_ = 0;
    ++epoch_;
}

std::vector<std::int64_t> SequentialSampler::order(std::int64_t size, std::uint64_t, std::uint64_t) const
{
    std::vector<std::int64_t> order(static_cast<std::size_t>(size));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    return order;
}

std::vector<std::int64_t> RandomSampler::order(std::int64_t size, std::uint64_t seed,
                                               std::uint64_t epoch) const
{
    return shuffled(size, seed, epoch);
}

WeightedRandomSampler::WeightedRandomSampler(std::vector<double> weights, std::int64_t count)
    : Sampler(weights.size()), sums_(std::move(weights)), count_(count)
{
    constexpr const char* op = "WeightedRandomSampler";
    if (count < 0) detail::fail(ErrorKind::argument, op, "The count (", count, ") must be at least 0.");
    double sum = 0;
    for (double& w : sums_) {
        if (!(w >= 0) || std::isinf(w))
            detail::fail(ErrorKind::argument, op, "The weight (", w,
                         ") must be a finite number of at least 0.");
        w = sum += w;
    }
    if (!(sum > 0) || std::isinf(sum))
        detail::fail(ErrorKind::argument, op, "The sum (", sum, ") of the ", sums_.size(),
                     " weights must be finite and above 0.");
}

std::int64_t WeightedRandomSampler::count(std::int64_t size) const
{
    if (size != static_cast<std::int64_t>(sums_.size()))
        detail::fail(ErrorKind::argument, "WeightedRandomSampler", "The data set has (", size,
                     ") examples, but there are (", sums_.size(), ") weights: give one for each.");
    return count_;
}

std::vector<std::int64_t> WeightedRandomSampler::order(std::int64_t, std::uint64_t seed,
                                                       std::uint64_t epoch) const
{
    Random random = of_epoch(seed, epoch);
    std::vector<std::int64_t> order;
    order.reserve(static_cast<std::size_t>(count_));
    // An example of weight 0 has the same cumulative sum as the previous one, so upper_bound() never returns it.
    // Where the product rounds up to the total, `last` is taken: the last example with a weight above 0.
    const auto last = std::lower_bound(sums_.begin(), sums_.end(), sums_.back());
    for (std::int64_t i = 0; i < count_; ++i) {
        const auto found = std::upper_bound(sums_.begin(), sums_.end(), random.uniform() * sums_.back());
        order.push_back(std::min(found, last) - sums_.begin());
    }
    return order;
}

DistributedSampler::DistributedSampler(std::int64_t num_replicas, std::int64_t rank,
                                       const DistributedSamplerOptions& options)
    : replicas_(num_replicas), rank_(rank), options_(options)
{
    if (num_replicas < 1 || rank < 0 || rank >= num_replicas)
        detail::fail(ErrorKind::argument, "DistributedSampler", "The rank (", rank, ") of (", num_replicas,
                     ") must be at least 0 and less than the number of ranks.");
}

std::int64_t DistributedSampler::count(std::int64_t size) const
{
    return options_.drop_last ? size / replicas_ : (size + replicas_ - 1) / replicas_;
}

std::vector<std::int64_t> DistributedSampler::order(std::int64_t size, std::uint64_t seed,
                                                    std::uint64_t epoch) const
{
    const std::vector<std::int64_t> all =
        options_.shuffle ? shuffled(size, seed, epoch) : SequentialSampler().order(size, seed, epoch);
    std::vector<std::int64_t> mine;
    for (std::int64_t i = 0; i < count(size); ++i)
        mine.push_back(all[static_cast<std::size_t>((i * replicas_ + rank_) % size)]);
    return mine;
}

} // namespace samplers

} // namespace reprise::data
