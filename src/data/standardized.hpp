// Computes (x - mean) / std of elements of images, with the numbers of their channel.
#pragma once
#include <cmath>
#include <cstddef>
#include <vector>

namespace reprise::data {

struct Standardized {
    double mean, std;
    // Selects a channel's numbers from lists of one number for all channels or one for each.
    Standardized(const std::vector<double>& means, const std::vector<double>& stds, std::size_t channel)
        : mean(means[means.size() == 1 ? 0 : channel]), std(stds[stds.size() == 1 ? 0 : channel])
    {}
    float operator()(double v) const { return static_cast<float>((v - mean) / std); }

    static bool is_mean(double v) { return std::isfinite(v); }
    static bool is_std(double v) { return v > 0 && std::isfinite(v); }
};

} // namespace reprise::data
