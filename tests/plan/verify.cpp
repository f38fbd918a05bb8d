// The verifier sees each kind of fault on plans made for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/hand_made.hpp"
#include "plan/verify.hpp"

namespace reprise::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Chain {
    HandMade p;
    std::uint32_t x = p.external(), a = p.temporary(), b = p.temporary(), out = p.output();
    std::vector<Range> ranges;
    std::vector<bool> enabled;

    Chain()
    {
        p.launch({x}, {a});
        p.launch({a}, {b});
        p.launch({b}, {out});
        p.epochs();
        for (std::uint64_t i = 0; i < p.plan.values.size(); ++i) ranges.push_back({i * 256, i * 256 + 256});
        enabled.assign(3, true);
    }
    std::vector<std::string> faults() const { return find_hazards(p.plan, ranges, enabled); }
};

TEST(Verify, PassesACorrectPlan) { EXPECT_THAT(Chain().faults(), IsEmpty()); }

TEST(Verify, ValuesThatDoNotLiveAtOnceMayShareBytes)
{
    Chain c;
    c.ranges[c.out] = c.ranges[c.a];
    EXPECT_THAT(c.faults(), IsEmpty());
}

TEST(Verify, TwoLaunchesOfAnEpochMayNotTouchTheSameBytes)
{
    Chain c;
    c.p.plan.launches[1].epoch = 0;
    EXPECT_THAT(c.faults(), Contains(HasSubstr(
                                "launches 0 (launch 0) and 1 (launch 1) of epoch 0 touch the same bytes")));
}

TEST(Verify, ReadersOfOneValueMayShareAnEpoch)
{
    Chain c;
    c.p.launch({c.x}, {c.p.output()});
    c.p.plan.launches.back().epoch = 2;
    c.ranges.push_back({8192, 8448});
    c.enabled.push_back(true);
    EXPECT_THAT(c.faults(), IsEmpty());
}

TEST(Verify, AValueMayNotBeOverwrittenBeforeItsLastReader)
{
    Chain c;
    const auto late = c.p.temporary();
    c.p.launch({c.x}, {late});
    c.p.launch({c.a, late}, {c.p.output()});
    c.p.plan.launches[3].epoch = 3;
    c.p.plan.launches[4].epoch = 4;
    c.enabled.assign(5, true);
    c.ranges.push_back({c.ranges[c.a].begin + 16, c.ranges[c.a].end + 16});
    c.ranges.push_back({8192, 8448});
    EXPECT_THAT(c.faults(), Contains(HasSubstr("reads v1 where another value lies")));
}

TEST(Verify, OneOverlappingByteIsEnough)
{
    Chain c;
    c.ranges[c.b] = {c.ranges[c.a].end - 1, c.ranges[c.a].end + 255};
    EXPECT_THAT(c.faults(), Contains(HasSubstr("writes v2 on the bytes of v1")));
}

TEST(Verify, AValueMustBeWrittenBeforeItIsRead)
{
    Chain c;
    c.enabled[0] = false;
    EXPECT_THAT(c.faults(),
                Contains(HasSubstr("launch 1 (launch 1) reads v1 where another value lies, or before")));
}

TEST(Verify, WhatAnEarlierCallLeftInTheArenaIsNothing)
{
    Chain c; // b is read in the epoch before it is written: the second call would find the first one's
    std::swap(c.p.plan.launches[1].epoch, c.p.plan.launches[2].epoch);
    std::swap(c.p.plan.launches[1], c.p.plan.launches[2]);
    EXPECT_THAT(c.faults(), Contains(HasSubstr("reads v2")));
}

TEST(Verify, OnlyKernelsMadeForItMayWriteWhatTheyRead)
{
    Chain c;
    c.p.plan.launches[1].operands[1].value = c.a; // a = f(a)
    c.p.plan.launches[2].operands[0].value = c.a;
    EXPECT_THAT(c.faults(), Contains(HasSubstr("launch 1 (launch 1) writes v1")));
    c.p.plan.launches[1].in_place = true;
    EXPECT_THAT(c.faults(), IsEmpty());
}

TEST(Verify, LaunchesThatDoNotRunDoNotMatter)
{
    Chain c;
    const auto l = c.p.launch({c.x}, {c.a});
    c.p.plan.launches[l].epoch = 2;
    c.enabled.push_back(false);
    EXPECT_THAT(c.faults(), IsEmpty());
}

} // namespace
} // namespace reprise::plan
