#include <limits>
#include <numeric>

#include <reprise/data.hpp>

namespace reprise::data {

namespace {

// SplitMix64 (Steele, Lea and Flood, 2014).
class SplitMix {
public:
    explicit SplitMix(std::uint64_t state) : state_(state) {}
    std::uint64_t next()
    {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
    }
    // Uniform in [0, n): numbers of the last, incomplete run of n are drawn again.
    std::uint64_t below(std::uint64_t n)
    {
        const std::uint64_t surplus = (std::numeric_limits<std::uint64_t>::max() % n + 1) % n; // 2^64 mod n
        for (;;) {
            const std::uint64_t z = next();
            if (z <= std::numeric_limits<std::uint64_t>::max() - surplus) return z % n;
        }
    }

private:
    std::uint64_t state_;
};

} // namespace

std::vector<std::int64_t> shuffled(std::int64_t size, std::uint64_t seed, std::uint64_t epoch)
{
    std::vector<std::int64_t> order(static_cast<std::size_t>(size));
    std::iota(order.begin(), order.end(), std::int64_t{0});
    SplitMix random(SplitMix(seed).next() ^ epoch);
    for (std::size_t i = order.size(); i > 1; --i) // Fisher-Yates
        std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

} // namespace reprise::data
