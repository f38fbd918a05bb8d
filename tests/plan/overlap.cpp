// Host calls run beside launches that do not depend on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "plan/hand_made.hpp"
#include "plan/place.hpp"
#include "plan/verify.hpp"

namespace reprise::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Overlap : public testing::Test {
protected:
    std::uint32_t shared()
    {
        const std::uint32_t v = p.temporary();
        p.plan.values[v].on_host = true;
        return v;
    }
    std::uint32_t call(std::uint32_t from, std::uint32_t to)
    {
        const std::uint32_t l = p.launch({from}, {to});
        p.plan.launches[l].on_host = true;
        p.plan.launches[l].label = "call " + std::to_string(l);
        return l;
    }
    HandMade p;
};

TEST_F(Overlap, PlansWithoutHostCallsStayAsTheyAre)
{
    const auto x = p.external(), a = p.temporary();
    p.launch({x}, {a});
    p.launch({a}, {p.output()});
    p.launch({x}, {p.output()});
    const auto before = p.labels();
    overlap_host_calls(p.plan);
    EXPECT_EQ(p.labels(), before);
}

// As gradients in a backward pass: their exchanges come last in the program.
TEST_F(Overlap, CallsBeginEarlyAndTheirReadersWait)
{
    const auto x = p.external(), g2 = p.temporary(), g1 = p.temporary(), b2 = p.temporary(), s2 = shared(),
               r2 = shared(), s1 = shared(), r1 = shared();
    const auto product = [&](std::uint32_t from, std::uint32_t to) {
        p.plan.launches[p.launch({from}, {to})].flops = 1000;
    };
    product(x, g2);               // launch 0
    product(g2, g1);              // launch 1
    p.launch({g2}, {b2});         // launch 2
    p.launch({b2}, {s2});         // launch 3: copies for the call
    call(s2, r2);                 // call 4
    p.launch({r2}, {p.output()}); // launch 5
    p.launch({g1}, {s1});         // launch 6
    call(s1, r1);                 // call 7
    p.launch({r1}, {p.output()}); // launch 8
    p.launch({x}, {p.output()});  // launch 9: depends on nothing
    overlap_host_calls(p.plan);
    EXPECT_THAT(p.labels(), ElementsAre("launch 0", "launch 2", "launch 3", "call 4", "launch 1", "launch 6",
                                        "call 7", "launch 9", "launch 5", "launch 8"));
    p.epochs();
    const auto& l = p.plan.launches;
    const auto first = std::find_if(l.begin(), l.end(), [](auto& one) { return one.label == "call 4"; });
    ASSERT_NE(first, l.end());
    EXPECT_GT(first->joins, first->epoch + 1) << "nothing runs beside the call";
    EXPECT_EQ(p.plan.values[s2].last, first->joins - 1);
}

// The result of the first call scales what the second one sends, which therefore does not wait for the end.
TEST_F(Overlap, ScalingByACallsResultDoesNotWaitForTheEnd)
{
    const auto x = p.external(), g2 = p.temporary(), g1 = p.temporary(), share = p.temporary(),
               b = p.temporary(), s0 = shared(), r0 = shared(), s1 = shared(), r1 = shared();
    const auto product = [&](std::uint32_t from, std::uint32_t to) {
        p.plan.launches[p.launch({from}, {to})].flops = 1000;
    };
    p.launch({x}, {s0});
    call(s0, r0);                 // call 1
    product(x, g2);               // launch 2
    product(g2, g1);              // launch 3
    p.launch({r0}, {share});      // launch 4
    p.launch({g2, share}, {b});   // launch 5
    p.launch({b}, {s1});          // launch 6
    call(s1, r1);                 // call 7
    p.launch({r1}, {p.output()}); // launch 8
    product(g1, p.output());      // launch 9
    overlap_host_calls(p.plan);
    EXPECT_THAT(p.labels(), ElementsAre("launch 0", "call 1", "launch 2", "launch 4", "launch 5", "launch 6",
                                        "call 7", "launch 3", "launch 9", "launch 8"));
}

// Nothing but the first call's result keeps the second one from beginning: other launches run beside the first one.
TEST_F(Overlap, CallsOfACallsResultWait)
{
    const auto x = p.external(), s0 = shared(), r0 = shared(), s1 = shared(), r1 = shared();
    p.launch({x}, {s0});
    call(s0, r0);                                              // call 1
    p.launch({r0}, {s1});                                      // launch 2
    call(s1, r1);                                              // call 3
    p.plan.launches[p.launch({x}, {p.output()})].flops = 1000; // launch 4
    overlap_host_calls(p.plan);
    EXPECT_THAT(p.labels(), ElementsAre("launch 0", "call 1", "launch 4", "launch 2", "call 3"));
}

// A write of what a waiting launch reads waits, too.
TEST_F(Overlap, WritersWaitForReadersThatWait)
{
    const auto state = p.external(), s = shared(), r = shared();
    p.launch({state}, {s});
    call(s, r);
    p.launch({r, state}, {p.output()}); // launch 2
    p.launch({p.external()}, {state});  // launch 3
    overlap_host_calls(p.plan);
    EXPECT_THAT(p.labels(), ElementsAre("launch 0", "call 1", "launch 2", "launch 3"));
}

TEST_F(Overlap, CallsThatNobodyWaitsForEndWithTheCall)
{
    const auto x = p.external(), s = shared(), r = shared();
    p.launch({x}, {s});
    call(s, r);
    p.epochs();
    EXPECT_EQ(p.plan.launches[1].joins, p.plan.epochs);
    EXPECT_EQ(p.plan.values[s].last, p.plan.epochs - 1);
}

// Random plans keep the order of all launches that conflict, and have no hazards wherever temporaries are placed.
TEST_F(Overlap, RandomPlansHaveNoHazards)
{
    std::mt19937 random(7);
    for (int round = 0; round < 300; ++round) {
        p = {};
        std::vector<std::uint32_t> written{p.external(), p.external()};
        const auto any = [&] { return written[random() % written.size()]; };
        for (int i = 0; i < 30; ++i) {
            const bool calls = random() % 4 == 0;
            if (calls) {
                const auto s = shared(), r = shared(), out = p.temporary(1 + random() % 500);
                p.launch({any()}, {s});
                call(s, r);
                p.launch({r}, {out});
                written.push_back(out);
            } else if (random() % 8 == 0) {
                p.launch({any()}, {written[random() % 2]}); // of state
            } else {
                const auto out = p.temporary(1 + random() % 500);
                p.launch({any(), any()}, {out});
                written.push_back(out);
            }
        }
        for (const std::uint32_t v : written) p.launch({v}, {p.output()});
        for (auto& l : p.plan.launches) // a launch that reads what it writes would be one in place
            for (auto& o : l.operands)
                if (o.use == ops::Use::read && o.value == l.operands.back().value) o.absent = true;
        const std::vector<PlanLaunch> before = p.plan.launches;
        p.capabilities.kind = round % 2 ? device::Kind::cpu : device::Kind::discrete;
        overlap_host_calls(p.plan);
        ASSERT_EQ(p.plan.launches.size(), before.size());
        const auto at = [&](const PlanLaunch& l) {
            return std::find_if(p.plan.launches.begin(), p.plan.launches.end(),
                                [&](const PlanLaunch& o) { return o.label == l.label; });
        };
        for (std::size_t b = 0; b < before.size(); ++b)
            for (std::size_t a = 0; a < b; ++a)
                if (conflict(before[a], before[b])) {
                    ASSERT_LT(at(before[a]), at(before[b]));
                }
        p.epochs();
        std::vector<std::string> calls, calls_before;
        for (const PlanLaunch& l : p.plan.launches)
            if (l.on_host) calls.push_back(l.label);
        for (const PlanLaunch& l : before)
            if (l.on_host) calls_before.push_back(l.label);
        ASSERT_EQ(calls, calls_before);
        std::vector<std::uint64_t> bytes, offsets, host_offsets;
        for (const PlanValue& v : p.plan.values)
            bytes.push_back(static_cast<std::uint64_t>(v.elements.value()) * 4);
        const std::vector<Placement::Bytes> sizes{bytes};
        const std::uint64_t arena = Placement(p.plan, sizes, 4).fill(bytes, 0, 0, offsets);
        const std::uint64_t shared = Placement(p.plan, sizes, 4, true).fill(bytes, 0, 0, host_offsets);
        std::vector<Range> ranges;
        std::uint64_t end = arena + shared;
        for (std::size_t v = 0; v < bytes.size(); ++v) {
            const PlanValue& value = p.plan.values[v];
            const std::uint64_t begin = value.place != Place::temporary ? end
                                        : value.on_host                 ? arena + host_offsets[v]
                                                                        : offsets[v];
            ranges.push_back({begin, begin + bytes[v]});
            if (value.place != Place::temporary) end += aligned(bytes[v]);
        }
        ASSERT_THAT(find_hazards(p.plan, ranges, std::vector<bool>(before.size(), true)), IsEmpty()) << round;
    }
}

// The verifier sees a launch that uses memory of a call that has not ended.
TEST_F(Overlap, CallsThatRunTooLongAreFound)
{
    const auto x = p.external(), s = shared(), r = shared(), other = shared();
    p.launch({x}, {s});
    call(s, r);
    p.launch({x}, {other});
    p.launch({other}, {p.output()});
    p.launch({r}, {p.output()});
    p.epochs();
    std::vector<Range> ranges;
    for (std::size_t v = 0; v < p.plan.values.size(); ++v) ranges.push_back({v * 256, v * 256 + 256});
    const std::vector<bool> all(p.plan.launches.size(), true);
    EXPECT_THAT(find_hazards(p.plan, ranges, all), IsEmpty());
    ranges[other] = ranges[s];
    EXPECT_FALSE(find_hazards(p.plan, ranges, all).empty());
}

} // namespace
} // namespace reprise::plan
