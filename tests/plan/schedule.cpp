// Epochs and lifetimes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

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
    p.launch({a}, {p.output()}); // independent of its neighbour
    p.launch({c}, {p.output()});
    EXPECT_THAT(p.epochs(), ElementsAre(0, 0, 1, 1, 2));
}

// Such as the cast of a weight.
TEST(Schedule, WhatDependsOnNothingJoinsThePreviousEpoch)
{
    HandMade p;
    const auto x = p.external(), a = p.temporary(), b = p.temporary(), c = p.temporary(), d = p.temporary();
    p.launch({x}, {a});
    p.launch({a}, {b});
    p.launch({b}, {c});
    p.launch({x}, {d});                       // launch 3
    p.launch({c, d}, {p.temporary(1 << 10)}); // as much memory as d needs more
    EXPECT_THAT(p.epochs(), ElementsAre(0, 1, 1, 2, 3));
    EXPECT_EQ(p.plan.launches[2].label, "launch 3");
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
    for (const std::int64_t size : {1 << 16, 1 << 16, 64}) {
        const auto work = p.temporary(size), out = p.output();
        p.launch({x}, {work});
        p.launch({work}, {out});
    }
    EXPECT_THAT(p.epochs(), ElementsAre(0, 1, 2, 2, 3, 3));
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

HandMade of_gpu()
{
    HandMade p;
    p.capabilities.kind = device::Kind::discrete;
    return p;
}
// Where epochs cost much, an independent launch joins an earlier one.
TEST(Schedule, OnGpusALaunchMovesUpToWhatItDependsOn)
{
    HandMade p = of_gpu();
    const auto x = p.external(), a = p.temporary(), b = p.temporary(), c = p.temporary();
    p.launch({x}, {a});
    p.launch({a}, {b});
    const auto moved = p.launch({x}, {c});
    p.fallback(moved, {x}, {c});
    p.launch({b, c}, {p.temporary(1 << 10)}); // sets the memory that an epoch may take
    EXPECT_THAT(p.epochs(), ElementsAre(0, 0, 0, 1, 2));
    EXPECT_THAT(p.labels(), ElementsAre("launch 0", "launch 2", "launch 3", "launch 1", "launch 4"));
    EXPECT_EQ(p.plan.launches[2].fallback_of, 1u);
    EXPECT_EQ(p.plan.epochs, 3u);
}

TEST(Schedule, AWriterDoesNotMoveUpBeforeAReader)
{
    HandMade p = of_gpu();
    const auto x = p.external(), state = p.external(), a = p.temporary();
    p.launch({x}, {a});
    p.launch({a, state}, {p.output()});
    p.launch({x}, {state});
    EXPECT_THAT(p.epochs(), ElementsAre(0, 1, 2));
}

TEST(Schedule, ALaunchDoesNotMoveUpIfThatTakesMoreMemory)
{
    for (const int large : {1 << 16, 64}) {
        HandMade p = of_gpu();
        const auto x = p.external(), a = p.temporary(1 << 16), b = p.temporary(), c = p.temporary(large);
        p.launch({x}, {a});
        p.launch({a}, {b});
        p.launch({x}, {c});
        p.launch({b, c}, {p.output()});
        if (large > 64) EXPECT_THAT(p.epochs(), ElementsAre(0, 1, 2, 3));
        else EXPECT_THAT(p.epochs(), ElementsAre(0, 0, 1, 2));
    }
}

TEST(Schedule, RecomputationsStayWhereTheirResultsAreNeeded)
{
    HandMade p = of_gpu();
    const auto x = p.external(), a = p.temporary(), b = p.temporary(), c = p.temporary(), d = p.temporary();
    p.launch({x}, {a});
    p.launch({a}, {b});
    p.launch({b}, {c});
    p.launch({a}, {d});
    p.plan.launches.back().recomputation = 1;
    p.launch({c, d}, {p.temporary(1 << 10)});
    EXPECT_THAT(p.epochs(), ElementsAre(0, 1, 2, 2, 3));
}

// Of random plans: conflicting launches keep their order, and epochs hold no more than the most that they do on a CPU,
// or a single launch needs.
TEST(Schedule, OnGpusOrderAndMemoryOfRandomPlansAreKept)
{
    std::uint32_t seed = 1;
    const auto random = [&](std::uint32_t below) {
        seed = seed * 1664525u + 1013904223u;
        return (seed >> 8) % below;
    };
    const auto largest_epoch = [](const Plan& plan) {
        std::vector<std::int64_t> live(plan.epochs, 0);
        for (const PlanValue& v : plan.values)
            for (std::uint32_t e = v.first; v.place == Place::temporary && e <= v.last; ++e)
                live[e] += v.elements.value();
        return live.empty() ? 0 : *std::max_element(live.begin(), live.end());
    };
    std::uint32_t fewer = 0;
    for (int round = 0; round < 200; ++round) {
        HandMade p;
        std::vector<std::uint32_t> values{p.external(), p.external()};
        const std::uint32_t count = 2 + random(40);
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t a = values[random(static_cast<std::uint32_t>(values.size()))],
                                b = values[random(static_cast<std::uint32_t>(values.size()))];
            const std::uint32_t to = i + 1 == count ? p.output() : p.temporary(64 << random(4));
            p.launch({a, b}, {to});
            values.push_back(to);
        }
        HandMade q = p;
        q.capabilities.kind = device::Kind::discrete;
        p.epochs();
        q.epochs();
        fewer += q.plan.epochs < p.plan.epochs ? 1 : 0;
        EXPECT_LE(q.plan.epochs, p.plan.epochs) << round;
        EXPECT_LE(largest_epoch(q.plan), largest_epoch(p.plan) * 65 / 64 + 64) << round;
        for (const PlanLaunch& first : p.plan.launches)
            for (const PlanLaunch& second : p.plan.launches) {
                if (&first >= &second || !conflict(first, second)) continue;
                const auto epoch_of = [&](const PlanLaunch& l) {
                    return std::find_if(q.plan.launches.begin(), q.plan.launches.end(),
                                        [&](const PlanLaunch& m) { return m.label == l.label; })
                        ->epoch;
                };
                EXPECT_LT(epoch_of(first), epoch_of(second)) << round;
            }
    }
    EXPECT_GT(fewer, 100u);
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
