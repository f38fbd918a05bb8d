#include "train/ticks.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace reprise::train {

namespace {

// Formats with enough decimals to distinguish neighbours, and large or small numbers with an exponent. Independent of
// the locale.
std::string tick_text(double value, double step)
{
    const double largest = std::max(std::abs(value), step);
    const bool scientific = largest >= 1e7 || step < 1e-5;
    const auto exponent = [](double x) { return std::floor(std::log10(x) + 1e-9); };
    const double digits = (scientific ? exponent(largest) : 0) - exponent(step); // a step has one digit
    const int decimals = static_cast<int>(std::clamp(digits, 0.0, 15.0));
    std::array<char, 64> text;
    const auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, format, decimals).ptr;
    return {text.data(), end};
}

} // namespace

std::vector<Tick> ticks(double low, double high, int max_count)
{
    const double raw = (high - low) / max_count;
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    double step = 10 * power;
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= raw * (1 - 1e-9)) {
            step = factor * power;
            break;
        }
    std::vector<Tick> out;
    const double first = std::ceil(low / step - 1e-9), last = std::floor(high / step + 1e-9);
    for (double k = first; k <= last && out.size() < 100; ++k) {
        const double value = k == 0 ? 0 : k * step; // no -0
        out.push_back({value, tick_text(value, step)});
    }
    return out;
}

std::vector<Tick> log_ticks(double low, double high, int max_count)
{
    const double step = std::max(1.0, std::ceil((high - low) / max_count)); // in powers of ten
    const std::vector<double> factors =
        3 * (high - low) <= max_count ? std::vector<double>{1, 2, 5} : std::vector<double>{1};
    std::vector<Tick> out;
    for (double k = std::floor(low); k <= high && out.size() < 100; k += step)
        for (const double factor : factors) {
            const double value = k + std::log10(factor);
            if (value < low - 1e-9 || value > high + 1e-9) continue;
            std::array<char, 64> text;
            const auto end = std::to_chars(text.data(), text.data() + text.size(), factor * std::pow(10, k),
                                           std::chars_format::general, 3)
                                 .ptr;
            out.push_back({value, {text.data(), end}});
        }
    return out;
}

} // namespace reprise::train
