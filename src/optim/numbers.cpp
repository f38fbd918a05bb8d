#include "optim/numbers.hpp"

#include <bit>
#include <cstdint>

#include <reprise/ops/creation.hpp>

namespace reprise::optim {

Tensor halves_of(const std::vector<double>& numbers)
{
    std::vector<std::int32_t> halves;
    for (const double v : numbers) {
        const auto bits = std::bit_cast<std::uint64_t>(v);
        halves.push_back(static_cast<std::int32_t>(bits & 0xFFFFFFFFu));
        halves.push_back(static_cast<std::int32_t>(bits >> 32));
    }
    return from_vector(halves, {static_cast<std::int64_t>(halves.size())});
}

std::optional<std::vector<double>> numbers_of(const Tensor& halves)
{
    if (!halves.defined() || halves.dim() != 1) return std::nullopt;
    if (halves.dtype() == f32 && same(halves.numel(), 1)) return std::vector<double>{halves.item<float>()};
    if (halves.dtype() != i32) return std::nullopt;
    const std::vector<std::int32_t> all = halves.to_vector<std::int32_t>();
    if (all.empty() || all.size() % 2 != 0) return std::nullopt;
    std::vector<double> numbers;
    for (std::size_t i = 0; i < all.size(); i += 2) {
        const std::uint64_t low = static_cast<std::uint32_t>(all[i]),
                            high = static_cast<std::uint32_t>(all[i + 1]);
        numbers.push_back(std::bit_cast<double>(high << 32 | low));
    }
    return numbers;
}

} // namespace reprise::optim
