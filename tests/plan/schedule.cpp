// Epochs and lifetimes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/hand_made.hpp"

namespace reprise::plan {
namespace {

using testing::ElementsAre;

TEST(Schedule, AnEmptyPlanHasNoEpoch)
{
    HandMade p;
    EXPECT_TRUE(p.epochs().empty());
    EXPECT_EQ(p.plan.epochs, 0u);
}

TEST(Schedule, AReaderComesAfterItsWriter)
{
    HandMade p;
    const auto x = p.external(), a = p.temporary(), b = p.temporary();
    p.launch({x}, {a});
    p.launch({a}, {b});
    p.launch({b}, {p.output()});
    EXPECT_THAT(p.epochs(), ElementsAre(0, 1, 2));
    EXPECT_EQ(p.plan.epochs, 3u);
}

TEST(Schedule, IndependentNeighboursShareAnEpoch)
{
    HandMade p;
    const auto x = p.external(), a = p.temporary(), b = p.temporary(), c = p.temporary();
    p.launch({x}, {a});
    p.launch({x}, {b}); // both only read x
    p.launch({a, b}, {c});
    p.launch({x}, {p.output()}); // independent of all, but of a later place in the order
    p.launch({c}, {p.output()});
    EXPECT_THAT(p.epochs(), ElementsAre(0, 0, 1, 1, 2));
}

// The launches of one node that write parts of a value; a reader, or another writer, comes later.
TEST(Schedule, PartsOfAValueShareAnEpoch)
{
    HandMade p;
    const auto x = p.external(), a = p.temporary();
    for (const std::uint32_t node : {1, 1, 1, 2}) {
        PlanLaunch& l = p.plan.launches[p.launch({x}, {a})];
        l.disjoint = true;
        l.node = node;
    }
    p.launch({a}, {p.output()});
    EXPECT_THAT(p.epochs(), ElementsAre(0, 0, 0, 1, 2));
}

// Two workspaces of one epoch would be more than any launch needs by itself.
TEST(Schedule, NeighboursThatHoldTooMuchTogetherAreApart)
{
    HandMade p;
    const auto x = p.external();
    for (const std::int64_t size : {4096, 4096, 64}) {
        const auto work = p.temporary(size), out = p.output();
        p.launch({x}, {work});
        p.launch({work}, {out});
    }
    EXPECT_THAT(p.epochs(), ElementsAre(0, 1, 2, 3, 3, 4));
}

TEST(Schedule, AWriterComesAfterReadersAndWritersOfItsValue)
{
    HandMade p;
    const auto state = p.external();
    p.launch({state}, {p.output()});
    p.launch({p.external()}, {state});
    p.launch({p.external()}, {state});
    EXPECT_THAT(p.epochs(), ElementsAre(0, 1, 2));
}

TEST(Schedule, AnUpdateIsAReadAndAWrite)
{
    HandMade p;
    const auto state = p.external();
    for (int i = 0; i < 3; ++i) {
        p.launch({}, {state});
        p.plan.launches.back().operands[0].use = ops::Use::update;
    }
    p.launch({state}, {p.output()});
    EXPECT_THAT(p.epochs(), ElementsAre(0, 1, 2, 3));
}

TEST(Schedule, ALaunchAndItsFallbackAreOne)
{
    HandMade p;
    const auto x = p.external(), a = p.temporary(), b = p.output();
    const auto first = p.launch({x}, {a});
    p.fallback(first, {x}, {a});
    const auto second = p.launch({a}, {b});
    p.fallback(second, {a, x}, {b});
    EXPECT_THAT(p.epochs(), ElementsAre(0, 0, 1, 1));
}

TEST(Schedule, AFallbacksOperandsCountToo)
{
    HandMade p;
    const auto x = p.external(), a = p.temporary(), b = p.output();
    p.launch({x}, {a});
    const auto l = p.launch({x}, {b});
    p.fallback(l, {x, a}, {b}); // only this one reads a
    EXPECT_THAT(p.epochs(), ElementsAre(0, 1, 1));
}

TEST(Schedule, AbsentOperandsConflictWithNothing)
{
    HandMade p;
    const auto a = p.temporary();
    p.launch({p.external()}, {a});
    p.launch({a}, {p.output()});
    p.plan.launches[1].operands[0].absent = true;
    EXPECT_THAT(p.epochs(), ElementsAre(0, 0));
}

TEST(Lifetimes, ReachFromTheFirstUseToTheLast)
{
    HandMade p;
    const auto x = p.external(), a = p.temporary(), b = p.temporary(), c = p.temporary(),
               unused = p.temporary();
    p.launch({x}, {a});
    p.launch({a}, {b});
    p.launch({b, a}, {c});
    p.launch({c}, {p.output()});
    p.epochs();
    const auto life = [&](std::uint32_t v) {
        return std::pair(p.plan.values[v].first, p.plan.values[v].last);
    };
    EXPECT_EQ(life(a), std::pair(0u, 2u));
    EXPECT_EQ(life(b), std::pair(1u, 2u));
    EXPECT_EQ(life(c), std::pair(2u, 3u));
    EXPECT_GT(life(unused).first, life(unused).second);
}

} // namespace
} // namespace reprise::plan
