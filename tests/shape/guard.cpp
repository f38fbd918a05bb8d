// Conditions: what is decided at once, what is kept, and what an earlier one implies.
#include <gtest/gtest.h>

#include <reprise/error.hpp>

#include "shape/guard.hpp"

#include "error_of.hpp"

namespace {

using namespace reprise;
using shape::Relation;
using shape::Verdict;

struct GuardTest : testing::Test {
    Dim b = symbol("batch"), s = symbol("seq"), t = symbol("tokens", {.min = 8, .max = 64, .multiple_of = 8});
    shape::GuardList list;
    shape::GuardScope scope{list};

    void need(Relation r, const Dim& x, const Dim& y)
    {
        shape::require("op", r, x, y, [] { return std::string("No."); });
    }
};

TEST_F(GuardTest, Decides)
{
    EXPECT_EQ(shape::decide(Relation::equal, b, b), Verdict::holds);
    EXPECT_EQ(shape::decide(Relation::equal, b, s), Verdict::open);
    EXPECT_EQ(shape::decide(Relation::equal, b, b + 1), Verdict::fails);
    EXPECT_EQ(shape::decide(Relation::equal, b, 1), Verdict::open);
    EXPECT_EQ(shape::decide(Relation::equal, t, 1), Verdict::fails);
    EXPECT_EQ(shape::decide(Relation::at_least, b, 0), Verdict::holds);
    EXPECT_EQ(shape::decide(Relation::at_least, b, 1), Verdict::open);
    EXPECT_EQ(shape::decide(Relation::at_least, 64, t), Verdict::holds);
    EXPECT_EQ(shape::decide(Relation::at_least, 63, t), Verdict::open);
    EXPECT_EQ(shape::decide(Relation::at_least, 7, t), Verdict::fails);
    EXPECT_EQ(shape::decide(Relation::multiple, t, 4), Verdict::holds);
    EXPECT_EQ(shape::decide(Relation::multiple, t * b, 8), Verdict::holds);
    EXPECT_EQ(shape::decide(Relation::multiple, t + 4, 8), Verdict::fails);
    EXPECT_EQ(shape::decide(Relation::multiple, b, 2), Verdict::open);
    EXPECT_EQ(shape::decide(Relation::multiple, b * t, t), Verdict::holds);
    EXPECT_EQ(shape::decide(Relation::multiple, b * s, s), Verdict::open) << "seq may be 0";
    EXPECT_EQ(shape::decide(Relation::multiple, b, 0), Verdict::fails);
    EXPECT_EQ(shape::decide(Relation::multiple, 12, 4), Verdict::holds);
}

TEST_F(GuardTest, KeepsEachOnce)
{
    need(Relation::equal, b, s);
    need(Relation::equal, s, b);
    need(Relation::at_least, b, s);
    need(Relation::at_least, s, b);
    need(Relation::multiple, b, 4);
    need(Relation::multiple, b, 4);
    ASSERT_EQ(list.guards().size(), 4u);
    EXPECT_EQ(list.guards()[0].condition(), "batch == seq");
    EXPECT_EQ(list.guards()[2].condition(), "seq >= batch");
    EXPECT_EQ(list.guards()[3].condition(), "4 divides batch");
}

TEST_F(GuardTest, DropsWhatEarlierBoundsImply)
{
    need(Relation::at_least, b + 2, 5); // batch >= 3
    need(Relation::at_least, b, 2);
    need(Relation::at_least, floor_div(b - 3, 2) + 1, 0);
    need(Relation::at_least, b * s, s);
    EXPECT_EQ(list.guards().size(), 1u);
    need(Relation::at_least, b, 4);
    EXPECT_EQ(list.guards().size(), 2u);
    need(Relation::at_least, t, 24);
    need(Relation::at_least, t, 17);
    EXPECT_EQ(list.guards().size(), 3u);
    need(Relation::at_least, t, 25);
    EXPECT_EQ(list.guards().size(), 4u);
}

TEST_F(GuardTest, SaysHowItIsMissed)
{
    const auto fault = [](Relation r, const Dim& x, const Dim& y) {
        return shape::Guard{r, x, y, ""}.fault(3, 5);
    };
    EXPECT_EQ(fault(Relation::equal, b, s), "(batch) is (3), not (seq) = (5)");
    EXPECT_EQ(fault(Relation::at_least, b + 1, 5), "(batch + 1) is (3), not at least (5)");
    EXPECT_EQ(fault(Relation::multiple, b, 5), "(batch) is (3), no multiple of (5)");
}

} // namespace
