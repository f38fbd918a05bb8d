// A search along a direction for a point that meets the strong Wolfe conditions.
#pragma once
#include <cstdint>
#include <functional>

#include <reprise/tensor.hpp>

namespace reprise::optim {

// Of a function at a point x + t d.
struct LinePoint {
    double t = 0, loss = 0;
    Tensor gradient{};
    double slope = 0; // of the loss by t: gradient . d
};
struct LineSearchResult {
    LinePoint point;
    std::int64_t evaluations = 0;
};

// From a point at t = 0 with a slope below 0, first trying `t`.  `largest` is the largest element of the direction, in
// absolute value; below a change of `tolerance` in parameters the search ends, and after `most` evaluations more than the
// first.
LineSearchResult strong_wolfe(const std::function<LinePoint(double t)>& evaluate, const LinePoint& from,
                              double t, double largest, double tolerance, std::int64_t most);

} // namespace reprise::optim
