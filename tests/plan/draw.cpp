#include "plan/draw.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/hand_made.hpp"
#include "plan/place.hpp"

namespace reprise::plan {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count(const std::string& text, const std::string& part)
{
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
}

TEST(Draw, ARectangleForEachTemporary)
{
    HandMade p;
    const auto x = p.external(), a = p.temporary(), b = p.temporary(), unused = p.temporary(),
               out = p.output();
    p.launch({x}, {a});
    p.launch({a}, {b});
    p.launch({b}, {out});
    p.epochs();
    p.plan.values[a].name = "%3 a<b";
    std::vector<std::uint64_t> bytes(p.plan.values.size(), 1536), offsets;
    const Placement placement(p.plan, std::vector<std::vector<std::uint64_t>>{bytes}, 0);
    const std::uint64_t arena = placement.fill(bytes, 0, 0, offsets);
    const std::string svg =
        draw_svg(p.plan, {bytes, offsets, arena, placement.lower_bound(bytes), "n = 3 & more"});
    EXPECT_THAT(svg, testing::StartsWith("<svg xmlns"));
    EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
    EXPECT_THAT(svg, HasSubstr("n = 3 &amp; more"));
    EXPECT_EQ(count(svg, "<g><title>"), 2u) << "what is bound, given away or touched by nobody has no place";
    EXPECT_EQ(count(svg, "<g>") + count(svg, "<g transform"), count(svg, "</g>"));
    EXPECT_THAT(svg, HasSubstr("%3 a&lt;b  1.5 KiB"));
    EXPECT_THAT(svg, HasSubstr("epochs 0 to 1"));
    EXPECT_THAT(svg, HasSubstr("arena 3 KiB, lower bound 3 KiB"));
    static_cast<void>(unused);
}

TEST(Draw, APlanWithoutTemporaries)
{
    HandMade p;
    const auto x = p.external(), out = p.output();
    p.launch({x}, {out});
    p.epochs();
    const std::vector<std::uint64_t> none(p.plan.values.size(), 0);
    const std::string svg = draw_svg(p.plan, {none, none, 0, 0, "nothing"});
    EXPECT_THAT(svg, Not(HasSubstr("<g>")));
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

} // namespace
} // namespace reprise::plan
