#include "plan/draw.hpp"

#include <algorithm>
#include <initializer_list>
#include <iomanip>
#include <sstream>
#include <vector>

namespace reprise::plan {

namespace {

constexpr double left = 84, top = 64, bottom = 64, right = 24,
                 height = 520;                                           // margins and plot height, pixels
constexpr double min_width = 900, min_epoch = 12, character_width = 5.6; // pixels

std::string escaped(const std::string& text)
{
    std::string out;
    for (const char c : text)
        out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
    return out;
}

// "1.5 MiB"
std::string readable(std::uint64_t bytes)
{
    constexpr const char* units[] = {"B", "KiB", "MiB", "GiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; value >= 1024 && unit < 3; ++unit) value /= 1024;
    std::ostringstream out;
    out << std::setprecision(value < 10 && unit    ? 2
                             : value < 100 && unit ? 3
                                                   : 4)
        << value << ' ' << units[unit];
    return out.str();
}

// Returns the kind of a value by its name: "conv2d" for "%12 conv2d".
std::string kind_of(const std::string& name)
{
    const std::size_t space = name[0] == '%' ? name.find(' ') : std::string::npos;
    return space == std::string::npos ? name : name.substr(space + 1);
}

// Returns one colour per kind, the same in each picture and light enough for a readable label.
std::string colour_of(const std::string& kind)
{
    std::uint32_t hash = 2166136261u; // FNV-1a
    for (const char c : kind) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    std::ostringstream out;
    out << '#' << std::hex;
    for (int channel = 0; channel < 3; ++channel, hash /= 97) out << 150 + hash % 97;
    return out.str();
}

// Returns the smallest power of 2 as a distance between marks that yields at most `max_steps` steps over the range.
std::uint64_t step_for(std::uint64_t range, std::uint64_t max_steps)
{
    std::uint64_t step = 1;
    while (range / step > max_steps) step *= 2;
    return step;
}

class Picture {
public:
    Picture(const Plan& plan, const ArenaPicture& p) : plan_(plan), picture_(p)
    {
        const double epochs = std::max<double>(plan.epochs, 1);
        epoch_ = std::max(min_width / epochs, min_epoch);
        width_ = epoch_ * epochs;
        scale_ = height / static_cast<double>(std::max<std::uint64_t>(p.arena, 1));
        out_ << std::fixed << std::setprecision(1);
    }

    std::string draw()
    {
        const double w = left + width_ + right, h = top + height + bottom;
        out_ << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << w << "\" height=\"" << h
             << "\" viewBox=\"0 0 " << w << ' ' << h << "\" font-family=\"Helvetica, Arial, sans-serif\">\n"
             << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
        text(left, 24, "start", 15, picture_.title);
        text(left, 44, "start", 11,
             "arena " + readable(picture_.arena) + ", lower bound " + readable(picture_.lower_bound) +
                 " (most bytes alive in one epoch); the line is what is alive");
        axes();
        for (std::size_t i = 0; i < plan_.values.size(); ++i) box(i);
        alive();
        line(picture_.arena, "#2c3e50", "start", "arena");
        line(picture_.lower_bound, "#c0392b", "end", "lower bound");
        out_ << "</svg>\n";
        return out_.str();
    }

private:
    double height_of(std::uint64_t bytes) const { return top + height - static_cast<double>(bytes) * scale_; }
    double epoch_at(std::uint32_t epoch) const { return left + epoch_ * epoch; }

    void text(double x, double y, const char* anchor, int size, const std::string& what)
    {
        out_ << "<text x=\"" << x << "\" y=\"" << y << "\" text-anchor=\"" << anchor << "\" font-size=\""
             << size << "\">" << escaped(what) << "</text>\n";
    }

    void axes()
    {
        const std::uint64_t bytes = step_for(picture_.arena, 8);
        for (std::uint64_t at = 0; at <= picture_.arena; at += bytes) {
            out_ << "<line x1=\"" << left << "\" x2=\"" << left + width_ << "\" y1=\"" << height_of(at)
                 << "\" y2=\"" << height_of(at) << "\" stroke=\"#e4e4e4\"/>\n";
            text(left - 6, height_of(at) + 4, "end", 10, readable(at));
        }
        const auto epochs = static_cast<std::uint32_t>(
            step_for(plan_.epochs, static_cast<std::uint64_t>(std::max(width_ / 40, 1.0))));
        for (std::uint32_t e = 0; e < plan_.epochs; e += epochs)
            text(epoch_at(e) + epoch_ / 2, top + height + 16, "middle", 10, std::to_string(e));
        text(left + width_ / 2, top + height + 36, "middle", 12, "epoch");
    }

    void box(std::size_t i)
    {
        const PlanValue& v = plan_.values[i];
        const std::uint64_t bytes = picture_.bytes[i];
        if (v.place != Place::temporary || v.first > v.last || bytes == 0) return;
        const double x = epoch_at(v.first), w = epoch_ * (v.last - v.first + 1);
        const double h = static_cast<double>(bytes) * scale_, y = height_of(picture_.offsets[i] + bytes);
        const std::string label = v.name + "  " + readable(bytes);
        out_ << "<g><title>" << escaped(label) << "  (" << escaped(v.elements.text()) << " of "
             << name_of(v.dtype) << ", at " << readable(picture_.offsets[i]) << ", epochs " << v.first
             << " to " << v.last << ")</title><rect x=\"" << x << "\" y=\"" << y << "\" width=\"" << w
             << "\" height=\"" << h << "\" fill=\"" << colour_of(kind_of(v.name))
             << "\" stroke=\"#555\" stroke-width=\"0.5\"/>";
        write(x + w / 2, y + h / 2, w, h, {label, v.name, readable(bytes)});
        out_ << "</g>\n";
    }

    // Writes the first of the labels that fits into the box, horizontally or rotated.
    void write(double x, double y, double w, double h, std::initializer_list<std::string> labels)
    {
        for (const std::string& label : labels) {
            const double length = character_width * static_cast<double>(label.size()) + 6;
            if (length <= w && h >= 11) return text(x, y + 3.5, "middle", 10, label);
            if (length > h || w < 11) continue;
            out_ << "<g transform=\"rotate(-90 " << x << ' ' << y << ")\">";
            text(x, y + 3.5, "middle", 10, label);
            out_ << "</g>";
            return;
        }
    }

    // Draws the sum of the live bytes in each epoch.
    void alive()
    {
        std::vector<std::uint64_t> bytes(plan_.epochs, 0);
        for (std::size_t i = 0; i < plan_.values.size(); ++i) {
            const PlanValue& v = plan_.values[i];
            if (v.place != Place::temporary || v.first > v.last) continue;
            for (std::uint32_t e = v.first; e <= v.last; ++e) bytes[e] += picture_.bytes[i];
        }
        out_ << "<polyline fill=\"none\" stroke=\"#222\" stroke-width=\"1.5\" points=\"";
        for (std::uint32_t e = 0; e < plan_.epochs; ++e)
            out_ << epoch_at(e) << ',' << height_of(bytes[e]) << ' ' << epoch_at(e + 1) << ','
                 << height_of(bytes[e]) << ' ';
        out_ << "\"/>\n";
    }

    void line(std::uint64_t bytes, const char* colour, const char* end, const char* what)
    {
        const double y = height_of(bytes), x = end[0] == 's' ? left + 4 : left + width_ - 4;
        out_ << "<line x1=\"" << left << "\" x2=\"" << left + width_ << "\" y1=\"" << y << "\" y2=\"" << y
             << "\" stroke=\"" << colour << "\" stroke-dasharray=\"6 4\"/>\n<text x=\"" << x << "\" y=\""
             << y - 4 << "\" text-anchor=\"" << end << "\" font-size=\"10\" fill=\"" << colour << "\">"
             << what << "</text>\n";
    }

    const Plan& plan_;
    const ArenaPicture& picture_;
    double epoch_ = 0, width_ = 0, scale_ = 0;
    std::ostringstream out_;
};

} // namespace

std::string draw_svg(const Plan& plan, const ArenaPicture& picture) { return Picture(plan, picture).draw(); }

} // namespace reprise::plan
