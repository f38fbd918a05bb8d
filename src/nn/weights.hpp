// Initial values of parameters.
#pragma once
#include <cmath>
#include <cstdint>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>

namespace reprise::nn {

// Draws from U(-1, 1) / sqrt(fan_in): PyTorch's kaiming_uniform(a = sqrt(5)) for weights, and its rule for biases.
inline Variable uniform_by_fan_in(const Shape& shape, std::int64_t fan_in)
{
    const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
    return Variable(rand(shape) * (2 * bound) - bound);
}

// Draws [out, in] from U(-1, 1) sqrt(6 / (in + out)).
inline Variable xavier_uniform(std::int64_t out, std::int64_t in)
{
    const double bound = std::sqrt(6.0 / static_cast<double>(in + out));
    return Variable(rand({out, in}) * (2 * bound) - bound);
}

} // namespace reprise::nn
