// Plots as SVG.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <cmath>
#include <cstdio>
#include <limits>
#include <regex>

#include <reprise/train.hpp>

#include "train/ticks.hpp"

#include "io/scratch.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using train::Figure;
using train::Panel;
using train::Series;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<std::string> texts(double low, double high, int most)
{
    std::vector<std::string> out;
    for (const train::Tick& tick : train::ticks(low, high, most)) out.push_back(tick.text);
    return out;
}

TEST(Ticks, AreRoundNumbers)
{
    EXPECT_THAT(texts(0, 1, 5), ElementsAre("0.0", "0.2", "0.4", "0.6", "0.8", "1.0"));
    EXPECT_THAT(texts(0, 1876, 9), ElementsAre("0", "500", "1000", "1500"));
    EXPECT_THAT(texts(-3, 3, 6), ElementsAre("-3", "-2", "-1", "0", "1", "2", "3"));
    EXPECT_THAT(texts(0.213, 0.2299, 4), ElementsAre("0.215", "0.220", "0.225"));
    EXPECT_THAT(texts(0, 5e8, 5), ElementsAre("0e+00", "1e+08", "2e+08", "3e+08", "4e+08", "5e+08"));
    EXPECT_THAT(texts(0, 4e-7, 4), ElementsAre("0e+00", "1e-07", "2e-07", "3e-07", "4e-07"));
}

TEST(Ticks, ComeInAReadableNumberAtAnyRange)
{
    for (double low : {-1e6, -1.0, 0.0, 1e-9, 0.7, 123456.0})
        for (double length = 1e-8; length < 1e9; length *= 1.7) {
            if (std::abs(low) > 1e7 * length) continue; // beyond what the digits tell apart
            const auto marks = train::ticks(low, low + length, 7);
            ASSERT_GE(marks.size(), 2u) << low << " " << length;
            ASSERT_LE(marks.size(), 8u) << low << " " << length;
            for (std::size_t i = 1; i < marks.size(); ++i) {
                EXPECT_LT(marks[i - 1].value, marks[i].value);
                EXPECT_NE(marks[i - 1].text, marks[i].text) << low << " " << length;
            }
        }
}

Figure one_panel(std::vector<Series> series)
{
    return {.title = "Title",
            .panels = {{.title = "Panel",
                        .x_label = "step",
                        .y_label = "loss (nats)",
                        .series = std::move(series),
                        .y_min = {},
                        .y_max = {}}}};
}

// Every coordinate of the drawing is a number inside the picture; every element that is opened is closed.
void expect_sound(const std::string& svg)
{
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
    const auto count = [&](const std::string& part) {
        std::size_t n = 0;
        for (std::size_t at = svg.find(part); at != std::string::npos; at = svg.find(part, at + 1)) ++n;
        return n;
    };
    for (const char* element : {"svg", "text", "g", "clipPath"})
        EXPECT_EQ(count("<" + std::string(element) + " "), count("</" + std::string(element) + ">"))
            << element;
}

TEST(Plot, ShowsTitlesAxesUnitsAndLegend)
{
    const std::string svg =
        train::to_svg(one_panel({{.label = "training", .x = {1, 2, 3}, .y = {3, 2, 1}},
                                 {.label = "test", .x = {3}, .y = {1.5}, .points = true}}));
    for (const char* part :
         {">Title<", ">Panel<", ">step<", ">loss (nats)<", ">training<", ">test<", ">1.0<", "<circle"})
        EXPECT_THAT(svg, HasSubstr(part));
    expect_sound(svg);
}

TEST(Plot, ALineGoesThroughItsPoints)
{
    Figure figure = one_panel({{.label = "", .x = {0, 1, 2}, .y = {0, 1, 0}}});
    figure.panels[0].y_min = 0;
    figure.panels[0].y_max = 1;
    // The axes span x 80 to 876 and y 84 to 318 of the picture.
    EXPECT_THAT(train::to_svg(figure), HasSubstr("M80.0 318.0L478.0 84.0L876.0 318.0"));
}

// Whatever corner a curve leaves free.
TEST(Ticks, OfALogarithmicAxisArePowersOfTen)
{
    const auto texts = [](double low, double high) {
        std::vector<std::string> out;
        for (const train::Tick& tick : train::log_ticks(low, high, 9)) out.push_back(tick.text);
        return out;
    };
    EXPECT_THAT(texts(-7, 1),
                ElementsAre("1e-07", "1e-06", "1e-05", "0.0001", "0.001", "0.01", "0.1", "1", "10"));
    EXPECT_THAT(texts(-0.5, 1), ElementsAre("0.5", "1", "2", "5", "10"));
    EXPECT_LE(texts(-300, 300).size(), 10u);
    EXPECT_EQ(train::log_ticks(-2, 0, 9).front().value, -2);
}

TEST(Plot, HasALogarithmicAxis)
{
    Figure figure = one_panel({{.label = "", .x = {0, 0.01, 0.1, 1, 100}, .y = {5, 0, 1, 2, 4}}});
    figure.panels[0].x_log = true;
    figure.panels[0].y_min = 0;
    figure.panels[0].y_max = 4;
    const std::string svg = train::to_svg(figure);
    expect_sound(svg);
    // From 80 to 876 pixels in four powers of ten; 0 has no place.
    EXPECT_THAT(svg, HasSubstr("d=\"M80.0 318.0L279.0 259.5L478.0 201.0L876.0 84.0\""));
    EXPECT_THAT(svg, HasSubstr(">0.01</text>"));
    figure.panels[0].series = {{.label = "", .x = {0, -1}, .y = {1, 2}}};
    expect_sound(train::to_svg(figure));
}

TEST(Plot, TheLegendCoversNoCurveWhereACornerIsFree)
{
    const std::vector<std::vector<double>> shapes = {{5, 4, 3, 2, 1, 0},   {0, 1, 2, 3, 4, 5},
                                                     {0, 5, 4, 3, 2, 1.5}, {5, 0, 1, 2, 3, 3.5},
                                                     {0, 0, 0, 1, 5, 5},   {5, 5, 5, 4, 0, 0}};
    for (const auto& y : shapes) {
        const std::string svg =
            train::to_svg(one_panel({{.label = "loss", .x = {0, 1, 2, 3, 4, 5}, .y = y}}));
        double left = 0, top = 0, width = 0, height = 0; // of the legend
        const std::string rect = svg.substr(0, svg.find("fill-opacity"));
        ASSERT_EQ(std::sscanf(rect.c_str() + rect.rfind("<rect"),
                              "<rect x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"", &left, &top, &width,
                              &height),
                  4);
        const double low = *std::min_element(y.begin(), y.end()),
                     high = *std::max_element(y.begin(), y.end());
        for (double x = 0; x < 5; x += 0.01) { // axes as below, with a little room at their ends
            const auto i = static_cast<std::size_t>(x);
            const double value = y[i] + (x - static_cast<double>(i)) * (y[i + 1] - y[i]);
            const double at_x = 80 + x / 5 * 796, at_y = 318 - (value - low) / (high - low) * 225;
            EXPECT_FALSE(at_x >= left && at_x <= left + width && at_y >= top && at_y <= top + height)
                << testing::PrintToString(y) << " at " << x;
        }
    }
}

TEST(Plot, StandsEmptySingleAndConstantSeries)
{
    expect_sound(train::to_svg({}));
    expect_sound(train::to_svg(one_panel({})));
    expect_sound(train::to_svg(one_panel({{.label = "empty", .x = {}, .y = {}}})));
    expect_sound(train::to_svg(one_panel({{.label = "one", .x = {5}, .y = {7}}})));
    expect_sound(train::to_svg(one_panel({{.label = "zero", .x = {0, 0}, .y = {0, 0}}})));
    expect_sound(train::to_svg(one_panel({{.label = "constant", .x = {1, 2, 3}, .y = {1e30, 1e30, 1e30}}})));
    expect_sound(train::to_svg(one_panel({{.label = "tiny", .x = {1, 2}, .y = {1e-300, 2e-300}}})));
    expect_sound(train::to_svg(one_panel({{.label = "huge", .x = {1, 2}, .y = {-1e308, 1e308}}})));
}

TEST(Plot, ValuesThatAreNotFiniteInterruptTheLine)
{
    const std::string svg =
        train::to_svg(one_panel({{.label = "x", .x = {0, 1, 2, 3, 4}, .y = {1, 2, nan, infinity, 1}}}));
    expect_sound(svg);
    EXPECT_TRUE(std::regex_search(svg, std::regex("d=\"M[0-9. ]+L[0-9. ]+M[0-9. ]+\"")));
    expect_sound(train::to_svg(one_panel({{.label = "x", .x = {nan, infinity}, .y = {1, nan}}})));
}

TEST(Plot, LongSeriesKeepTheirPeaks)
{
    Series s{.label = "", .x = {}, .y = {}};
    for (int i = 0; i < 100'000; ++i) {
        s.x.push_back(i);
        s.y.push_back(i == 54'321 ? 1.0 : i == 77'777 ? -1.0 : i == 90'000 ? nan : 0.0);
    }
    const std::string svg = train::to_svg(one_panel({s}));
    EXPECT_LT(svg.size(), 100'000u);
    expect_sound(svg);
    // The range is [-1.08, 1.08]: the peaks are at 0.08 / 2.16 of the height from its ends.
    EXPECT_THAT(svg, HasSubstr(" 92.7"));
    EXPECT_THAT(svg, HasSubstr(" 309.3"));
    EXPECT_EQ(std::count(svg.begin(), svg.end(), 'M'), 2); // the NaN is seen
}

TEST(Plot, TextIsEscaped)
{
    Figure figure = one_panel({{.label = "a<b & \"c\"", .x = {1, 2}, .y = {1, 2}}});
    figure.title = "<script>\n";
    const std::string svg = train::to_svg(figure);
    EXPECT_THAT(svg, HasSubstr("a&lt;b &amp; &quot;c&quot;"));
    EXPECT_THAT(svg, HasSubstr("&lt;script&gt; <"));
}

TEST(Plot, DoesNotDependOnTheLocale)
{
    const Figure figure = one_panel({{.label = "", .x = {0, 0.5}, .y = {0.25, 0.75}}});
    const std::string svg = train::to_svg(figure);
    for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "German"}) {
        if (!std::setlocale(LC_ALL, name)) continue; // not installed
        EXPECT_EQ(train::to_svg(figure), svg) << name;
    }
    std::setlocale(LC_ALL, "C");
}

TEST(Plot, RefusesSeriesThatDoNotMatch)
{
    const Caught caught = error_of([] {
        return train::to_svg(one_panel({{.label = "s", .x = {1, 2}, .y = {1}}}));
    });
    EXPECT_EQ(caught.kind, ErrorKind::argument);
    EXPECT_THAT(caught.text, HasSubstr("(s) has 2 x, but 1 y"));
}

TEST(Plot, IsSavedWhole)
{
    const Scratch scratch;
    const Figure figure = one_panel({{.label = "s", .x = {1, 2}, .y = {1, 2}}});
    train::save_svg(scratch / "a.svg", figure);
    EXPECT_EQ(read_text(scratch / "a.svg"), train::to_svg(figure));
    EXPECT_EQ(error_of([&] { train::save_svg(scratch / "no" / "a.svg", figure); }).kind, ErrorKind::file);
}

TEST(RunningMean, TakesWhatThereIs)
{
    EXPECT_THAT(train::running_mean({2, 4, 6, 8}, 2), ElementsAre(2, 3, 5, 7));
    EXPECT_THAT(train::running_mean({2, 4}, 10), ElementsAre(2, 3));
    EXPECT_THAT(train::running_mean({}, 3), ElementsAre());
    const auto after = train::running_mean({nan, 1, 1}, 2);
    EXPECT_TRUE(std::isnan(after[1]));
    EXPECT_EQ(after[2], 1);
    EXPECT_EQ(error_of([] { return train::running_mean({1}, 0); }).kind, ErrorKind::argument);
}

} // namespace
