#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <reprise/error.hpp>
#include <reprise/train.hpp>
#include <reprise/whole_file.hpp>

#include "train/ticks.hpp"

namespace reprise::train {

namespace {

// Sizes in pixels.
constexpr double figure_width = 900, title_height = 44, panel_height = 330;
constexpr double left = 80, right = 24, top = 40, bottom = 56; // around a panel's axes
constexpr std::size_t max_points = 2000;                       // of a line: about 2 per pixel

// The palette of Okabe and Ito, which colour-blind readers can distinguish.
constexpr std::array<const char*, 6> colours{"#0072b2", "#d55e00", "#009e73",
                                             "#cc79a7", "#e69f00", "#56b4e9"};

struct Range {
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();
    void add(double value)
    {
        if (!std::isfinite(value)) return;
        value = std::clamp(value, -1e300, 1e300); // so that high - low is finite
        low = std::min(low, value);
        high = std::max(high, value);
    }
    // Widens an empty range, as an axis needs a length.
    void settle()
    {
        if (low > high) *this = {0, 1};
        if (high - low <= std::max(std::abs(low), std::abs(high)) * 1e-12) {
            const double room = low == 0 ? 1 : std::abs(low) * 0.1;
            *this = {low - room, high + room};
        }
    }
};

// Formats with one decimal, independent of the locale.
std::string pixel(double value)
{
    std::array<char, 64> text;
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 1).ptr;
    return {text.data(), end};
}

std::string escape(const std::string& text)
{
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        default: out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c; // XML allows no control characters
        }
    }
    return out;
}

std::string text_at(double x, double y, const std::string& text, const std::string& attributes)
{
    return "<text x=\"" + pixel(x) + "\" y=\"" + pixel(y) + "\" " + attributes + ">" + escape(text) +
           "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, const std::string& colour)
{
    return "<line x1=\"" + pixel(x1) + "\" y1=\"" + pixel(y1) + "\" x2=\"" + pixel(x2) + "\" y2=\"" +
           pixel(y2) + "\" stroke=\"" + colour + "\"/>\n";
}

// Returns the indices of the points to draw: of each bucket of a long series the minimum, the maximum and a value
// that is not finite, so that no peak and no gap is lost.
std::vector<std::size_t> thinned(const Series& s)
{
    std::vector<std::size_t> indices;
    const std::size_t buckets = max_points / 2, count = s.y.size();
    if (count <= max_points) {
        for (std::size_t i = 0; i < count; ++i) indices.push_back(i);
        return indices;
    }
    for (std::size_t b = 0; b < buckets; ++b) {
        const std::size_t begin = b * count / buckets, end = (b + 1) * count / buckets;
        std::size_t lowest = begin, highest = begin, broken = end;
        for (std::size_t i = begin; i < end; ++i) {
            if (!std::isfinite(s.y[i])) broken = i;
            if (!(s.y[i] >= s.y[lowest])) lowest = i;
            if (!(s.y[i] <= s.y[highest])) highest = i;
        }
        std::array<std::size_t, 3> chosen{lowest, highest, broken};
        std::sort(chosen.begin(), chosen.end());
        for (const std::size_t i : chosen)
            if (i < end && (indices.empty() || indices.back() != i)) indices.push_back(i);
    }
    return indices;
}

class PanelWriter {
public:
    PanelWriter(const Panel& panel, double offset, std::size_t index)
        : panel_(panel), y_top_(offset + top), y_bottom_(offset + panel_height - bottom),
          clip_("panel" + std::to_string(index))
    {
        for (const Series& s : panel.series) {
            if (s.x.size() != s.y.size())
                detail::fail(ErrorKind::argument, "to_svg", "The series (", s.label, ") has ", s.x.size(),
                             " x, but ", s.y.size(), " y.");
            for (const double x : s.x) x_.add(along(x));
            for (const double y : s.y) y_.add(y);
        }
        const bool open_low = !panel.y_min, open_high = !panel.y_max;
        if (panel.y_min) y_.low = *panel.y_min;
        if (panel.y_max) y_.high = *panel.y_max;
        x_.settle();
        y_.settle();
        const double room = (y_.high - y_.low) * 0.04;
        if (open_low) y_.low = y_.low >= 0 && y_.low < room ? 0 : y_.low - room;
        if (open_high) y_.high += room;
    }

    std::string svg() const
    {
        std::string out = axes();
        out += "<clipPath id=\"" + clip_ + "\"><rect x=\"" + pixel(x_left) + "\" y=\"" + pixel(y_top_) +
               "\" width=\"" + pixel(x_right - x_left) + "\" height=\"" + pixel(y_bottom_ - y_top_) +
               "\"/></clipPath>\n";
        for (std::size_t i = 0; i < panel_.series.size(); ++i)
            out += curve(panel_.series[i], colours[i % colours.size()]);
        return out + legend();
    }

private:
    static constexpr double x_left = left, x_right = figure_width - right;

    // Returns the position along the horizontal axis, in its unit; NaN where there is none.
    double along(double x) const
    {
        if (!panel_.x_log) return x;
        return x > 0 ? std::log10(x) : std::numeric_limits<double>::quiet_NaN();
    }
    double px(double at) const { return x_left + (at - x_.low) / (x_.high - x_.low) * (x_right - x_left); }
    double py(double y) const { return y_bottom_ - (y - y_.low) / (y_.high - y_.low) * (y_bottom_ - y_top_); }

    std::string axes() const
    {
        const double middle = (x_left + x_right) / 2, y_middle = (y_top_ + y_bottom_) / 2;
        std::string out;
        for (const Tick& tick : panel_.x_log ? log_ticks(x_.low, x_.high, 9) : ticks(x_.low, x_.high, 9)) {
            out += line(px(tick.value), y_top_, px(tick.value), y_bottom_, "#e4e4e4");
            out += line(px(tick.value), y_bottom_, px(tick.value), y_bottom_ + 5, "#444");
            out += text_at(px(tick.value), y_bottom_ + 19, tick.text, "text-anchor=\"middle\"");
        }
        for (const Tick& tick : ticks(y_.low, y_.high, 7)) {
            out += line(x_left, py(tick.value), x_right, py(tick.value), "#e4e4e4");
            out += line(x_left - 5, py(tick.value), x_left, py(tick.value), "#444");
            out += text_at(x_left - 9, py(tick.value) + 4, tick.text, "text-anchor=\"end\"");
        }
        out += line(x_left, y_bottom_, x_right, y_bottom_, "#444");
        out += line(x_left, y_top_, x_left, y_bottom_, "#444");
        out += text_at(middle, y_top_ - 12, panel_.title, "text-anchor=\"middle\" font-size=\"15\"");
        out += text_at(middle, y_bottom_ + 42, panel_.x_label, "text-anchor=\"middle\"");
        out += text_at(22, y_middle, panel_.y_label,
                       "text-anchor=\"middle\" transform=\"rotate(-90 22 " + pixel(y_middle) + ")\"");
        return out;
    }

    std::string curve(const Series& s, const std::string& colour) const
    {
        std::string path, marks;
        bool pen_down = false;
        for (const std::size_t i : thinned(s)) {
            const bool there = std::isfinite(along(s.x[i])) && std::isfinite(s.y[i]);
            if (there) {
                const std::string x = pixel(px(along(s.x[i]))), y = pixel(py(s.y[i]));
                path += (pen_down ? "L" : "M") + x + " " + y;
                const bool inside =
                    s.y[i] >= y_.low && s.y[i] <= y_.high; // marks are not clipped at the edge
                if (s.points && inside)
                    marks +=
                        "<circle cx=\"" + x + "\" cy=\"" + y + "\" r=\"3.5\" fill=\"" + colour + "\"/>\n";
            }
            pen_down = there;
        }
        std::string out = "<g clip-path=\"url(#" + clip_ + ")\">\n";
        if (!path.empty())
            out += "<path d=\"" + path + "\" fill=\"none\" stroke=\"" + colour +
                   "\" stroke-linejoin=\"round\" " +
                   (s.faint ? "stroke-width=\"1\" stroke-opacity=\"0.3\"" : "stroke-width=\"2\"") + "/>\n";
        return out + "</g>\n" + marks;
    }

    // Draws the legend in the corner that curves cover least. Widths of text are estimates: only the viewer knows them.
    std::string legend() const
    {
        constexpr double row = 19, per_character = 7.2, sample = 24;
        std::size_t rows = 0, longest = 0;
        for (const Series& s : panel_.series) {
            rows += s.label.empty() ? 0 : 1;
            longest = std::max(longest, s.label.size());
        }
        if (rows == 0) return "";
        const double width = sample + 24 + per_character * static_cast<double>(longest);
        const double height = row * static_cast<double>(rows) + 10;
        double x = 0, y = 0;
        std::size_t fewest = std::numeric_limits<std::size_t>::max();
        for (const double left_side : {x_right - width - 8, x_left + 8})
            for (const double top_side : {y_top_ + 8, y_bottom_ - height - 8})
                if (const std::size_t n = drawn_within(left_side, top_side, width, height); n < fewest) {
                    fewest = n;
                    x = left_side;
                    y = top_side;
                }
        std::string out = "<rect x=\"" + pixel(x) + "\" y=\"" + pixel(y) + "\" width=\"" + pixel(width) +
                          "\" height=\"" + pixel(height) +
                          "\" fill=\"#fff\" fill-opacity=\"0.85\" stroke=\"#ccc\"/>\n";
        double at = y + 5 + row / 2;
        for (std::size_t i = 0; i < panel_.series.size(); ++i) {
            const Series& s = panel_.series[i];
            if (s.label.empty()) continue;
            const std::string colour = colours[i % colours.size()];
            out += "<line x1=\"" + pixel(x + 8) + "\" y1=\"" + pixel(at) + "\" x2=\"" +
                   pixel(x + 8 + sample) + "\" y2=\"" + pixel(at) + "\" stroke=\"" + colour + "\" " +
                   (s.faint ? "stroke-width=\"1\" stroke-opacity=\"0.5\"" : "stroke-width=\"2\"") + "/>\n";
            if (s.points)
                out += "<circle cx=\"" + pixel(x + 8 + sample / 2) + "\" cy=\"" + pixel(at) +
                       "\" r=\"3.5\" fill=\"" + colour + "\"/>\n";
            out += text_at(x + 16 + sample, at + 4, s.label, "");
            at += row;
        }
        return out;
    }

    // Counts samples of curves inside a rectangle, in pixels. Each segment between two points has 16 samples.
    std::size_t drawn_within(double x, double y, double width, double height) const
    {
        constexpr int samples = 16;
        std::size_t count = 0;
        for (const Series& s : panel_.series) {
            const std::vector<std::size_t> points = thinned(s);
            for (std::size_t k = 0; k < points.size(); ++k)
                for (int p = 0; p < samples; ++p) {
                    const std::size_t a = points[k], b = points[std::min(k + 1, points.size() - 1)];
                    const double share = static_cast<double>(p) / samples;
                    const double at_x = px(along(s.x[a]) + share * (along(s.x[b]) - along(s.x[a]))),
                                 at_y = py(s.y[a] + share * (s.y[b] - s.y[a]));
                    count += at_x >= x && at_x <= x + width && at_y >= y && at_y <= y + height;
                }
        }
        return count;
    }

    const Panel& panel_;
    double y_top_, y_bottom_;
    std::string clip_;
    Range x_, y_;
};

} // namespace

std::string to_svg(const Figure& figure)
{
    const double height = title_height + panel_height * static_cast<double>(figure.panels.size());
    const std::string size = "width=\"" + pixel(figure_width) + "\" height=\"" + pixel(height) + "\"";
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" " + size + " viewBox=\"0 0 " +
                      pixel(figure_width) + " " + pixel(height) +
                      "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n" + "<rect " + size +
                      " fill=\"#fff\"/>\n";
    out += text_at(figure_width / 2, 30, figure.title, "text-anchor=\"middle\" font-size=\"19\"");
    for (std::size_t i = 0; i < figure.panels.size(); ++i)
        out += PanelWriter(figure.panels[i], title_height + panel_height * static_cast<double>(i), i).svg();
    return out + "</svg>\n";
}

void save_svg(const std::filesystem::path& path, const Figure& figure)
{
    const std::string text = to_svg(figure);
    WholeFile file(path);
    file.write(text);
    file.commit();
}

std::vector<double> running_mean(const std::vector<double>& values, std::size_t width)
{
    if (width == 0) detail::fail(ErrorKind::argument, "running_mean", "The width (0) must be at least 1.");
    std::vector<double> out;
    for (std::size_t end = 1; end <= values.size(); ++end) {
        const std::size_t begin = end > width ? end - width : 0;
        double sum = 0; // no sliding sum: a NaN would stay in it for good
        for (std::size_t i = begin; i < end; ++i) sum += values[i];
        out.push_back(sum / static_cast<double>(end - begin));
    }
    return out;
}

} // namespace reprise::train
