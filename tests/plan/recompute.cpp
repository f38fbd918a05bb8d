// Segments: what reads their interior from outside reads clones, made as late as possible and of what is needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/hand_made.hpp"

namespace reprise::plan {
namespace {

using testing::ElementsAre;

struct Segmented : HandMade {
    std::uint32_t interior(std::uint32_t segment)
    {
        const std::uint32_t v = temporary();
        plan.values[v].segment = segment;
        return v;
    }
    std::uint32_t segment(std::uint32_t outer = no_segment)
    {
        plan.segments.push_back(outer);
        return static_cast<std::uint32_t>(plan.segments.size() - 1);
    }
    // A node of its own.
    std::uint32_t in(std::uint32_t segment, std::initializer_list<std::uint32_t> reads,
                     std::initializer_list<std::uint32_t> writes)
    {
        const std::uint32_t l = launch(reads, writes);
        plan.launches[l].segment = segment;
        plan.launches[l].node = ++nodes;
        return l;
    }
    // "launch 0", or "launch 0, again", in their order; without those that nobody needs.
    std::vector<std::string> replayed()
    {
        Compiled c{.plan = plan};
        c.state_copies = copies;
        recompute_segments(c);
        eliminate_dead_code(c.plan);
        plan = c.plan;
        copies = c.state_copies;
        std::vector<std::string> out;
        for (const PlanLaunch& l : plan.launches) out.push_back(l.label.substr(7));
        return out;
    }
    std::uint32_t nodes = 0;
    std::vector<std::uint32_t> copies;
};

TEST(Recompute, ClonesWhatIsReadOutsideRightBeforeIt)
{
    Segmented p;
    const std::uint32_t s = p.segment(), x = p.external(), a = p.interior(s), b = p.interior(s),
                        y = p.temporary(), other = p.output(), g = p.temporary(), out = p.output();
    p.in(s, {x}, {a});
    p.in(s, {a}, {b});
    p.in(s, {b}, {y});
    p.in(no_segment, {y}, {other});
    p.in(no_segment, {y, b}, {g});   // needs a and b again
    p.in(no_segment, {g, a}, {out}); // has a already
    EXPECT_THAT(p.replayed(), ElementsAre("0", "1", "2", "3", "0, again", "1, again", "4", "5"));
    p.epochs();
    EXPECT_LT(p.plan.values[a].last, 3u); // the originals are gone by then
    EXPECT_LT(p.plan.values[b].last, 3u);
}

TEST(Recompute, LeavesOutWhatNobodyReads)
{
    Segmented p;
    const std::uint32_t s = p.segment(), x = p.external(), a = p.interior(s), b = p.interior(s),
                        y = p.output(), out = p.output();
    p.in(s, {x}, {a});
    p.in(s, {a}, {b});
    p.in(s, {b}, {y});
    p.in(no_segment, {y, a}, {out});
    EXPECT_THAT(p.replayed(), ElementsAre("0", "1", "2", "0, again", "3"));
}

TEST(Recompute, OfValuesThatExistClonesNothing)
{
    Segmented p;
    const std::uint32_t s = p.segment(), x = p.external(), a = p.output(), y = p.output(), out = p.output();
    p.plan.values[a].segment = s; // the caller gets it
    p.in(s, {x}, {a});
    p.in(s, {a}, {y});
    p.in(no_segment, {a, y}, {out});
    EXPECT_THAT(p.replayed(), ElementsAre("0", "1", "2"));
}

// Where the forward pass is over, only what is computed again is left of it.
TEST(Recompute, IsAllThatIsLeftOfAForwardPassThatIsOver)
{
    Segmented p;
    const std::uint32_t s = p.segment(), x = p.external(), a = p.interior(s), b = p.interior(s),
                        g = p.external(), out = p.output(), later = p.temporary();
    p.in(s, {x}, {a});
    p.in(s, {a}, {b});
    p.in(no_segment, {g}, {later});
    p.in(no_segment, {later, b}, {out});
    EXPECT_THAT(p.replayed(), ElementsAre("2", "0, again", "1, again", "3"));
}

// The inner segment is computed again twice: for what follows it in the outer one, and for its own backward pass.
TEST(Recompute, OfNestedSegmentsHasGenerations)
{
    Segmented p;
    const std::uint32_t outer = p.segment(), inner = p.segment(outer), x = p.external();
    const std::uint32_t a = p.interior(outer), i = p.interior(inner), b = p.interior(outer),
                        y = p.temporary(), g = p.temporary(), h = p.temporary(), out = p.output();
    p.in(outer, {x}, {a});           // 0
    p.in(inner, {a}, {i});           // 1
    p.in(inner, {i}, {b});           // 2
    p.in(outer, {b}, {y});           // 3
    p.in(no_segment, {y, b}, {g});   // 4: b, which is made of a and i
    p.in(no_segment, {g, i}, {h});   // 5: i, of the a that is there again
    p.in(no_segment, {h, a}, {out}); // 6
    EXPECT_THAT(p.replayed(), ElementsAre("0", "1", "2", "3", "0, again", "1, again", "2, again", "4",
                                          "1, again", "5", "6"));
    p.epochs();
    std::vector<std::uint32_t> lives; // of the clones of i: one is gone before the other is made
    for (const PlanValue& v : p.plan.values)
        if (v.name == "value " + std::to_string(i) + " again") lives.insert(lives.end(), {v.first, v.last});
    ASSERT_EQ(lives.size(), 4u);
    EXPECT_LT(lives[1], lives[2]);
}

TEST(Recompute, KeepsFallbacksAndStateCopies)
{
    Segmented p;
    const std::uint32_t s = p.segment(), x = p.external(), state = p.external(), a = p.interior(s),
                        y = p.temporary(), out = p.temporary();
    p.in(s, {x}, {a});
    p.plan.launches[p.fallback(0, {x}, {a})].segment = s;
    p.plan.launches[1].node = p.plan.launches[0].node;
    p.in(s, {a}, {y});
    p.in(no_segment, {y, a}, {out});
    p.copies.push_back(p.in(no_segment, {out}, {state}));
    EXPECT_THAT(p.replayed(), ElementsAre("0", "1", "2", "0, again", "1, again", "3", "4"));
    EXPECT_EQ(p.plan.launches[1].fallback_of, 0u);
    EXPECT_EQ(p.plan.launches[4].fallback_of, 3u);
    EXPECT_THAT(p.copies, ElementsAre(6));
}

TEST(Recompute, OfALongChainNeedsNoStack)
{
    Segmented p;
    const std::uint32_t s = p.segment(), x = p.external(), y = p.output(), out = p.output();
    std::uint32_t last = x;
    constexpr std::uint32_t length = 50'000;
    for (std::uint32_t i = 0; i < length; ++i) {
        const std::uint32_t next = p.interior(s);
        p.in(s, {last}, {next});
        last = next;
    }
    p.in(s, {last}, {y});
    p.in(no_segment, {y, last}, {out});
    EXPECT_EQ(p.replayed().size(), 2 * length + 2);
}

// What a node keeps between its launches belongs to each of its replays.
TEST(Recompute, ClonesAllLaunchesOfANode)
{
    Segmented p;
    const std::uint32_t s = p.segment(), x = p.external(), work = p.interior(s), a = p.interior(s),
                        y = p.output(), out = p.output();
    p.in(s, {x}, {work});
    p.in(s, {x}, {});
    p.plan.launches[1].operands.push_back({work, 0, DType::f32, ops::Use::update});
    p.in(s, {work}, {a});
    for (std::uint32_t i = 0; i < 3; ++i) p.plan.launches[i].node = 7;
    p.in(s, {a}, {y});
    p.in(no_segment, {y, a}, {out});
    EXPECT_THAT(p.replayed(), ElementsAre("0", "1", "2", "3", "0, again", "1, again", "2, again", "4"));
    const PlanLaunch& update = p.plan.launches[5];
    EXPECT_EQ(update.operands[1].value, p.plan.launches[4].operands[1].value);
    EXPECT_NE(update.operands[1].value, work);
}

} // namespace
} // namespace reprise::plan
