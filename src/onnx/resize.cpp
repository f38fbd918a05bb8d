#include "onnx/resize.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace reprise::onnx {

namespace {

double position(const ResizedAxis& axis, const std::string& rule, double y)
{
    const auto size = static_cast<double>(axis.size);
    const double exact = axis.scale * size; // the size of the result before it is rounded
    if (rule == "align_corners") return exact == 1 ? 0 : y * (size - 1) / (exact - 1);
    if (rule == "asymmetric") return y / axis.scale;
    if (rule == "pytorch_half_pixel" && exact == 1) return -0.5;
    if (rule == "tf_half_pixel_for_nn") return (y + 0.5) / axis.scale;
    const double half_pixel = (y + 0.5) / axis.scale - 0.5;
    if (rule == "half_pixel_symmetric")
        return size / 2 * (1 - static_cast<double>(axis.out) / exact) + half_pixel;
    if (rule == "tf_crop_and_resize") {
        const double part = (axis.end - axis.start) * (size - 1);
        const double x = axis.start * (size - 1) + (exact == 1 ? part / 2 : y * part / (exact - 1));
        return x < 0 || x > size - 1 ? std::numeric_limits<double>::quiet_NaN() : x;
    }
    return half_pixel;
}

// The tent of linear interpolation, or Keys's kernel (1981) with the slope a.
double kernel(const ResizeRule& rule, double x)
{
    const double d = std::abs(x), a = rule.cubic_a;
    if (rule.mode == "linear") return std::max(0.0, 1 - d);
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

} // namespace

std::vector<double> positions(const ResizedAxis& axis, const ResizeRule& rule)
{
    std::vector<double> at;
    for (std::int64_t i = 0; i < axis.out; ++i)
        at.push_back(position(axis, rule.coordinates, static_cast<double>(i)));
    return at;
}

std::vector<std::int64_t> nearest_elements(const ResizedAxis& axis, const ResizeRule& rule,
                                           const std::vector<double>& at)
{
    std::vector<std::int64_t> elements;
    for (const double x : at) {
        double near = std::ceil(x - 0.5); // round_prefer_floor
        if (rule.nearest == "round_prefer_ceil") near = std::floor(x + 0.5);
        if (rule.nearest == "floor") near = std::floor(x);
        if (rule.nearest == "ceil") near = std::ceil(x);
        const double last = static_cast<double>(axis.size - 1);
        elements.push_back(std::isnan(x) ? 0 : static_cast<std::int64_t>(std::clamp(near, 0.0, last)));
    }
    return elements;
}

std::vector<double> weights(const ResizedAxis& axis, const ResizeRule& rule, const std::vector<double>& at)
{
    const auto out = static_cast<std::size_t>(axis.out);
    std::vector<double> matrix(static_cast<std::size_t>(axis.size) * out);
    const double narrow = rule.antialias ? std::min(axis.scale, 1.0) : 1.0;
    const double reach = (rule.mode == "linear" ? 1 : 2) / narrow;
    for (std::size_t o = 0; o < out; ++o) {
        const double x = at[o];
        if (std::isnan(x)) continue;
        const auto first = static_cast<std::int64_t>(std::floor(x - reach)),
                   last = static_cast<std::int64_t>(std::ceil(x + reach));
        double sum = 0;
        const auto weight = [&](std::int64_t i) {
            const bool outside = i < 0 || i >= axis.size;
            return outside && rule.exclude_outside ? 0 : kernel(rule, (static_cast<double>(i) - x) * narrow);
        };
        for (std::int64_t i = first; i <= last; ++i) sum += weight(i);
        for (std::int64_t i = first; i <= last; ++i) {
            const auto inside = static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, axis.size - 1));
            matrix[inside * out + o] += weight(i) / sum;
        }
    }
    return matrix;
}

} // namespace reprise::onnx
