// Counts frames and what training takes of them.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace desktop {

class Meter {
public:
    using Clock = std::chrono::steady_clock;

    // Counts a frame: the milliseconds that the device trained in it, where they are known, and the slice.
    void frame(std::optional<double> trained, double slice)
    {
        ++frames_;
        if (!trained) return;
        ++measured_;
        within_ += *trained <= 1.5 * slice;
        longest_ = std::max(longest_, *trained);
    }
    double longest() const { return longest_; } // milliseconds
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    std::int64_t frames() const { return frames_; }
    double frames_per_second() const { return static_cast<double>(frames_) / seconds(); }
    // The share of the frames in which training took at most 1.5 slices; empty where it was not measured.
    std::optional<double> within() const
    {
        if (measured_ == 0) return std::nullopt;
        return static_cast<double>(within_) / static_cast<double>(measured_);
    }

private:
    Clock::time_point start_ = Clock::now();
    std::int64_t frames_ = 0, measured_ = 0, within_ = 0;
    double longest_ = 0;
};

} // namespace desktop
