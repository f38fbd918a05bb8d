// Launches whose results nobody reads go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/hand_made.hpp"

namespace reprise::plan {
namespace {

using testing::ElementsAre;

std::vector<std::string> left(HandMade& p)
{
    eliminate_dead_code(p.plan);
    std::vector<std::string> labels;
    for (const PlanLaunch& l : p.plan.launches) labels.push_back(l.label);
    return labels;
}

TEST(Dead, AChainThatEndsInATemporaryGoes)
{
    HandMade p;
    const auto x = p.external(), a = p.temporary(), b = p.temporary(), c = p.temporary();
    p.launch({x}, {a});
    p.launch({a}, {b});
    p.launch({b}, {c});
    p.launch({a}, {p.output()});
    EXPECT_THAT(left(p), ElementsAre("launch 0", "launch 3"));
}

TEST(Dead, WhatWritesStateStays)
{
    HandMade p;
    p.launch({p.external()}, {p.external()});
    EXPECT_THAT(left(p), ElementsAre("launch 0"));
}

TEST(Dead, OneLiveOutputKeepsALaunch)
{
    HandMade p;
    const auto values = p.temporary(), places = p.temporary();
    p.launch({p.external()}, {values, places});
    p.launch({values}, {p.output()});
    EXPECT_THAT(left(p), ElementsAre("launch 0", "launch 1"));
}

TEST(Dead, FallbacksStillPointAtTheirLaunch)
{
    HandMade p;
    const auto x = p.external(), out = p.output();
    p.launch({x}, {p.temporary()});
    const auto l = p.launch({x}, {out});
    p.fallback(l, {x}, {out});
    EXPECT_THAT(left(p), ElementsAre("launch 1", "launch 2"));
    EXPECT_EQ(p.plan.launches[1].fallback_of, 0u);
}

} // namespace
} // namespace reprise::plan
