// The values of a run, as few enough points to plot.
#pragma once
#include <cmath>
#include <vector>

namespace desktop {

// Points are means of equally many values in a row.  Where they become too many, each two of them become one.
class Curve {
public:
    void add(double value)
    {
        sum_ += value;
        if (++count_ < each_) return;
        points_.push_back(static_cast<float>(std::log10(sum_ / static_cast<double>(count_) + 1e-12)));
        sum_ = 0;
        count_ = 0;
        if (points_.size() < most) return;
        for (std::size_t i = 0; i < most / 2; ++i) points_[i] = (points_[2 * i] + points_[2 * i + 1]) / 2;
        points_.resize(most / 2);
        each_ *= 2;
    }
    const std::vector<float>& log10() const { return points_; } // decimal logarithms

private:
    static constexpr std::size_t most = 600;
    std::vector<float> points_;
    double sum_ = 0;
    std::size_t count_ = 0, each_ = 1;
};

} // namespace desktop
