// Implements bracketing and zoom by cubic interpolation (Nocedal and Wright, algorithms 3.5 and 3.6), with PyTorch's
// safeguards.
#include "optim/line_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace reprise::optim {

namespace {

constexpr double decrease = 1e-4, curvature = 0.9; // of the Wolfe conditions

// Returns the minimizer of the cubic that interpolates both points and their slopes, clamped to the bounds.
double cubic_minimum(const LinePoint& a, const LinePoint& b, double low, double high)
{
    const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t);
    const double square = d1 * d1 - a.slope * b.slope;
    if (!(square >= 0)) return (low + high) / 2;
    const double d2 = std::sqrt(square);
    const LinePoint &left = a.t <= b.t ? a : b, &right = a.t <= b.t ? b : a;
    const double minimizer =
        right.t - (right.t - left.t) * ((right.slope + d2 - d1) / (right.slope - left.slope + 2 * d2));
    return std::min(std::max(minimizer, low), high);
}

struct Search {
    const std::function<LinePoint(double)>& evaluate;
    const LinePoint& from;
    std::int64_t max_steps;
    LinePoint ends[2]{}; // of the bracket; ends[low] is the result
    int low = 0;         // index of the end with the lower loss
    bool done = false;
    std::int64_t steps = 0, evaluations = 0;

    LinePoint at(double t)
    {
        ++evaluations;
        return evaluate(t);
    }
    bool too_high(const LinePoint& p) const { return p.loss > from.loss + decrease * p.t * from.slope; }
    bool flat(const LinePoint& p) const { return std::abs(p.slope) <= -curvature * from.slope; }
    void order() { low = ends[0].loss <= ends[1].loss ? 0 : 1; }

    void bracket(double t)
    {
        LinePoint before = from, now = at(t);
        bool risen = false;
        for (; steps < max_steps; ++steps) {
            risen = too_high(now) || (steps > 1 && now.loss >= before.loss);
            if (risen || flat(now) || now.slope >= 0) break;
            const double next = cubic_minimum(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10);
            before = std::exchange(now, at(next));
        }
        done = steps < max_steps && !risen && flat(now);
        ends[0] = done ? now : steps == max_steps ? from : before;
        ends[1] = now;
        order();
    }

    // Returns the next t to evaluate. If it is on an end of the bracket, or close to one for the second time in a row,
    // it is moved to 10 % of the bracket from that end.
    double next(bool& stuck) const
    {
        const double first = std::min(ends[0].t, ends[1].t), last = std::max(ends[0].t, ends[1].t);
        double t = cubic_minimum(ends[0], ends[1], first, last);
        const double margin = 0.1 * (last - first);
        const bool near = std::min(last - t, t - first) < margin;
        if (near && (stuck || t >= last || t <= first)) {
            t = std::abs(t - last) < std::abs(t - first) ? last - margin : first + margin;
            stuck = false;
        } else {
            stuck = near;
        }
        return t;
    }

    void zoom(double largest, double tolerance)
    {
        bool stuck = false;
        for (; !done && steps < max_steps; ++steps) {
            if (std::abs(ends[1].t - ends[0].t) * largest < tolerance) break;
            LinePoint now = at(next(stuck));
            LinePoint &lower = ends[low], &higher = ends[1 - low];
            if (too_high(now) || now.loss >= lower.loss) {
                higher = std::move(now);
                order();
                continue;
            }
            done = flat(now);
            if (!done && now.slope * (higher.t - lower.t) >= 0) higher = lower;
            lower = std::move(now);
        }
    }
};

} // namespace

LineSearchResult strong_wolfe(const std::function<LinePoint(double t)>& evaluate, const LinePoint& from,
                              double t, double largest, double tolerance, std::int64_t max_steps)
{
    Search search{evaluate, from, max_steps};
    search.bracket(t);
    search.zoom(largest, tolerance);
    return {search.ends[search.low], search.evaluations};
}

} // namespace reprise::optim
