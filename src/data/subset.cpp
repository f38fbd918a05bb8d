#include <reprise/data/subset.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <reprise/data/samplers.hpp>
#include <reprise/random.hpp>

namespace reprise::data {

using detail::fail;

void check_indices(const std::vector<std::size_t>& indices, std::int64_t size)
{
    for (const std::size_t i : indices) check_index("Subset", i, static_cast<std::size_t>(size));
}

void check_index(const char* op, std::size_t i, std::size_t size)
{
    if (i >= size) fail(ErrorKind::argument, op, "The index (", i, ") is not one of (", size, ") examples.");
}

ImageDataset images_of(const Subset<ImageDataset>& subset)
{
    const ImageDataset& from = subset.dataset();
    const auto values = static_cast<std::size_t>(from.channels * from.height * from.width);
    ImageDataset out{from.channels, from.height, from.width, {}, {}};
    out.pixels.reserve(values * subset.indices().size());
    out.labels.reserve(subset.indices().size());
    for (const std::size_t i : subset.indices()) {
        check_index("Subset", i, values == 0 ? from.labels.size() : from.pixels.size() / values);
        out.labels.push_back(from.labels[i]);
        const auto begin = from.pixels.begin() + static_cast<std::ptrdiff_t>(i * values);
        out.pixels.insert(out.pixels.end(), begin, begin + static_cast<std::ptrdiff_t>(values));
    }
    return out;
}

std::vector<std::vector<std::size_t>> split_indices(std::int64_t size,
                                                    const std::vector<std::int64_t>& lengths,
                                                    std::optional<std::uint64_t> seed)
{
    std::int64_t sum = 0;
    for (const std::int64_t length : lengths) {
        if (length < 0 || length > size - sum)
            fail(ErrorKind::argument, "random_split", "The length (", length,
                 ") is below 0, or the lengths are more than the (", size, ") examples of the data set.");
        sum += length;
    }
    if (sum != size)
        fail(ErrorKind::argument, "random_split", "The lengths add up to (", sum, "), but the data set has (",
             size, ") examples.");
    const std::vector<std::int64_t> order = shuffled(size, seed ? *seed : draw_seed(), 0);
    std::vector<std::vector<std::size_t>> out;
    auto from = order.begin();
    for (const std::int64_t length : lengths) {
        out.emplace_back(from, from + length);
        from += length;
    }
    return out;
}

std::vector<std::vector<std::size_t>> split_indices(std::int64_t size, const std::vector<double>& shares,
                                                    std::optional<std::uint64_t> seed)
{
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    if (!(std::abs(sum - 1) <= 1e-9) ||
        std::any_of(shares.begin(), shares.end(), [](double s) { return !(s >= 0); }))
        fail(ErrorKind::argument, "random_split", "The shares, which add up to (", sum,
             "), must be at least 0 and add up to 1.");
    std::vector<std::int64_t> lengths;
    std::int64_t rest = size;
    for (const double share : shares) {
        lengths.push_back(std::min(rest, static_cast<std::int64_t>(static_cast<double>(size) * share)));
        rest -= lengths.back();
    }
    for (std::size_t i = 0; rest > 0; i = (i + 1) % lengths.size(), --rest) ++lengths[i];
    return split_indices(size, lengths, seed);
}

Example<> ConcatDataset::get(std::size_t i, Random& random) const
{
    check_index("ConcatDataset", i, starts_.back());
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), i); // skips empty data sets
    const auto part = static_cast<std::size_t>(after - starts_.begin()) - 1;
    return parts_[part](i - starts_[part], random);
}

Example<> ConcatDataset::get(std::size_t i) const
{
    Random random(i);
    return get(i, random);
}

} // namespace reprise::data
