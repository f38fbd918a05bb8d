// State is written in place where that can't be noticed, else copied at the end of the call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/hand_made.hpp"

namespace reprise::plan {
namespace {

using testing::ElementsAre;

// cell = f(cell, gradient), and the copy that lower() appends.
struct Update {
    HandMade p;
    std::uint32_t cell = p.external(), gradient = p.external(), fresh = p.output();
    std::uint32_t update = p.launch({cell, gradient}, {fresh}, true);
    Request request;
    bool given = false; // to the caller, too

    std::vector<std::string> compiled()
    {
        Compiled c;
        const auto view = [&](std::uint32_t v) {
            return ops::View{.value = v, .dtype = f32, .layout = {{64}, {1}, 0}};
        };
        c.external = {cell};
        c.results = {view(fresh)};
        request.assignments = {{.to = 0, .from = 0}};
        if (given) c.results.push_back(view(fresh));
        c.state_copies = {p.launch({fresh}, {cell})};
        c.plan = p.plan;
        assign_state(c, request);
        p.plan = c.plan;
        result = c.results[0].value;
        std::vector<std::string> labels;
        for (const PlanLaunch& l : c.plan.launches) labels.push_back(l.label);
        return labels;
    }
    std::uint32_t result = 0;
};

TEST(State, AnUpdateIsWrittenIntoItsCell)
{
    Update u;
    EXPECT_THAT(u.compiled(), ElementsAre("launch 0"));
    EXPECT_EQ(u.p.plan.launches[0].operands[2].value, u.cell);
    EXPECT_EQ(u.result, u.cell);
    EXPECT_EQ(u.p.plan.values[u.fresh].place, Place::temporary);
}

TEST(State, EarlierReadersDoNotMatter)
{
    Update u;
    u.p.plan.launches.clear();
    u.p.launch({u.cell}, {u.p.output()});
    u.p.launch({u.cell, u.gradient}, {u.fresh}, true);
    EXPECT_THAT(u.compiled(), ElementsAre("launch 0", "launch 1"));
    EXPECT_EQ(u.result, u.cell);
}

TEST(State, LaterReadersOfTheOldValueNeedTheCopy)
{
    Update u;
    u.p.launch({u.cell}, {u.p.output()});
    EXPECT_THAT(u.compiled(), ElementsAre("launch 0", "launch 1", "launch 2"));
    EXPECT_EQ(u.result, u.cell); // nobody but the cell gets it
    EXPECT_EQ(u.p.plan.values[u.fresh].place, Place::temporary);
}

TEST(State, LaterReadersOfTheNewValueDoNot)
{
    Update u;
    const auto out = u.p.output();
    u.p.launch({u.fresh}, {out});
    EXPECT_THAT(u.compiled(), ElementsAre("launch 0", "launch 1"));
    EXPECT_EQ(u.p.plan.launches[1].operands[0].value, u.cell);
}

TEST(State, AKernelThatReadsElsewhereNeedsTheCopy)
{
    Update u;
    u.p.plan.launches[0].in_place = false;
    EXPECT_EQ(u.compiled().size(), 2u);
}

TEST(State, AValueThatTheCallerGetsNeedsTheCopy)
{
    Update u;
    u.given = true;
    EXPECT_EQ(u.compiled().size(), 2u);
    EXPECT_EQ(u.p.plan.values[u.fresh].place, Place::output);
}

TEST(State, ACellOfAnotherSizeNeedsTheCopy)
{
    Update u;
    u.p.plan.values[u.fresh].elements = 65;
    EXPECT_EQ(u.compiled().size(), 2u);
}

} // namespace
} // namespace reprise::plan
