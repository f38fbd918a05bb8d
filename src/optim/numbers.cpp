#include "optim/numbers.hpp"

#include <cmath>

#include <reprise/ops/creation.hpp>

namespace reprise::optim {

Tensor parts_of(const std::vector<double>& numbers)
{
    std::vector<float> parts;
    for (double v : numbers)
        for (int i = 0; i < 3; ++i) { // three f32 hold the 53 bits of a double
            parts.push_back(static_cast<float>(v));
            v = std::isfinite(v) ? v - parts.back() : 0;
        }
    return from_vector(parts);
}

std::optional<std::vector<double>> numbers_of(const Tensor& parts)
{
    if (!parts.defined() || parts.dtype() != f32 || parts.dim() != 1) return std::nullopt;
    const std::vector<float> p = parts.to_vector<float>();
    if (p.size() == 1) return std::vector<double>{p[0]};
    if (p.empty() || p.size() % 3 != 0) return std::nullopt;
    std::vector<double> numbers;
    for (std::size_t i = 0; i < p.size(); i += 3) // exact from the least one on
        numbers.push_back(double{p[i + 2]} + p[i + 1] + p[i]);
    return numbers;
}

} // namespace reprise::optim
