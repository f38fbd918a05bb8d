// Searches along a direction for a point that meets the strong Wolfe conditions.
#pragma once
#include <cstdint>
#include <functional>

#include <reprise/tensor.hpp>

namespace reprise::optim {

// The values of a function at the point x + t d.
struct LinePoint {
    double t = 0, loss = 0;
    Tensor gradient{};
    double slope = 0; // derivative of the loss with respect to t: gradient . d
};
struct LineSearchResult {
    LinePoint point;
    std::int64_t evaluations = 0;
};

// Searches from a point at t = 0 with a slope below 0, and tries `t` first. `largest` is the largest absolute value of
// an element of the direction. The search ends when the bracket changes parameters by less than `tolerance`, or after
// `max_steps` evaluations in addition to the first.
LineSearchResult strong_wolfe(const std::function<LinePoint(double t)>& evaluate, const LinePoint& from,
                              double t, double largest, double tolerance, std::int64_t max_steps);

} // namespace reprise::optim
