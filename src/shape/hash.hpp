// Hash functions with the same results in every run.
#pragma once
#include <cstddef>
#include <cstdint>

namespace reprise::shape {

// The finalizer of SplitMix64 (Steele, Lea, Flood, 2014).
inline std::size_t hash_of(std::int64_t value)
{
    auto z = static_cast<std::uint64_t>(value) + 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::size_t>(z ^ (z >> 31));
}

// Combines two hashes; the result depends on their order.
inline std::size_t mix(std::size_t a, std::size_t b) { return hash_of(static_cast<std::int64_t>(a * 3 + b)); }

// Hashes long lists of 64-bit words, with one multiplication per word.
struct HashOfWords {
    template <class Words> std::size_t operator()(const Words& words) const
    {
        std::uint64_t h = words.size();
        for (const auto word : words) {
            h = (h ^ static_cast<std::uint64_t>(word)) * 0xff51afd7ed558ccdu;
            h ^= h >> 32;
        }
        return static_cast<std::size_t>(h);
    }
};

} // namespace reprise::shape
