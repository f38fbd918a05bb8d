// Random numbers for tests, and the bits of tensors.
#pragma once
#include <cstdint>
#include <vector>

#include <reprise/ops/creation.hpp>

namespace reprise::test {

// A generator of random numbers that are the same on every machine.
class Numbers {
public:
    explicit Numbers(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
    std::uint64_t word() // splitmix64
    {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }
    double uniform(double low, double high) // in [low, high)
    {
        return low + (high - low) * static_cast<double>(word() >> 40) / static_cast<double>(1 << 24);
    }
    std::int64_t integer(std::int64_t low, std::int64_t high) // both included
    {
        return low + static_cast<std::int64_t>(word() % static_cast<std::uint64_t>(high - low + 1));
    }

private:
    std::uint64_t state_;
};

inline std::vector<float> floats(std::size_t count, std::uint64_t seed, double low = -1, double high = 1)
{
    Numbers numbers(seed);
    std::vector<float> v(count);
    for (float& f : v) f = static_cast<float>(numbers.uniform(low, high));
    return v;
}

inline std::vector<std::int32_t> integers(std::size_t count, std::uint64_t seed, std::int64_t low,
                                          std::int64_t high)
{
    Numbers numbers(seed);
    std::vector<std::int32_t> v(count);
    for (std::int32_t& i : v) i = static_cast<std::int32_t>(numbers.integer(low, high));
    return v;
}

inline Tensor values(const std::vector<float>& v) { return from_vector(v); } // with one dimension

inline Tensor random_tensor(const Shape& shape, std::uint64_t seed, double low = -1, double high = 1)
{
    std::size_t count = 1;
    for (const Dim& d : shape) count *= static_cast<std::size_t>(d.value());
    return from_vector(floats(count, seed, low, high), shape);
}

// The bytes of a tensor, for exact comparison: NaN equals itself, -0 is not 0.
using Bits = std::vector<std::byte>;
inline Bits bits(const Tensor& t) { return to_bytes(t); }
inline std::vector<Bits> bits_of(const std::vector<Tensor>& tensors)
{
    std::vector<Bits> out;
    for (const Tensor& t : tensors) out.push_back(t.defined() ? bits(t) : Bits());
    return out;
}
inline std::vector<float> floats(const Tensor& t) { return t.to_vector<float>(); }

} // namespace reprise::test
