// What holds between passes: a plan that breaks it is named with the pass that left it so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/hand_made.hpp"

namespace reprise::plan {
namespace {

using testing::HasSubstr;

// y = f(x), z = g(y): a plan without faults.
struct Chained : HandMade {
    std::uint32_t x = external(), y = temporary(), z = output();
    std::uint32_t f = launch({x}, {y}), g = launch({y}, {z});
    std::vector<ops::View> results{{.value = z}};

    std::string fault() const
    {
        Compiled c;
        c.plan = plan;
        c.external = {x};
        c.results = results;
        try {
            check_invariants(c, "pass");
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::internal);
            EXPECT_THAT(e.what(), HasSubstr("[pass]"));
            return e.what();
        }
        return "none";
    }
};

TEST(Invariants, HoldForAPlanWithoutFaults) { EXPECT_EQ(Chained().fault(), "none"); }

TEST(Invariants, AReadBeforeTheWriteIsFound)
{
    Chained p;
    std::swap(p.plan.launches[0], p.plan.launches[1]);
    EXPECT_THAT(p.fault(), HasSubstr("launch 0 (launch 1) reads v1 before it is written"));
}

TEST(Invariants, AResultThatIsNoValueIsFound)
{
    Chained p;
    p.results.front().value = 9;
    EXPECT_THAT(p.fault(), HasSubstr("result v9 is no value"));
}

TEST(Invariants, AnOperandThatIsNoValueIsFound)
{
    Chained p;
    p.plan.launches[1].operands[0].value = 7;
    EXPECT_THAT(p.fault(), HasSubstr("has v7, which is no value"));
}

TEST(Invariants, AnAbsentOperandIsNotRead)
{
    Chained p;
    PlanOperand absent = p.plan.launches[0].operands[0];
    absent.value = p.z;
    absent.absent = true;
    p.plan.launches[0].operands.push_back(absent);
    EXPECT_EQ(p.fault(), "none");
}

TEST(Invariants, AFallbackWritesWhatItsLaunchWrites)
{
    Chained p;
    p.fallback(p.g, {p.y}, {p.z});
    EXPECT_EQ(p.fault(), "none");
    p.plan.launches.back().operands.back().value = p.y;
    EXPECT_THAT(p.fault(), HasSubstr("writes other values than launch 1"));
    p.plan.launches.back().fallback_of = 2;
    EXPECT_THAT(p.fault(), HasSubstr("is a fallback of launch 2, which is no earlier one"));
}

TEST(Invariants, ASegmentThatDoesNotExistIsFound)
{
    Chained p;
    p.plan.launches[0].segment = 0;
    EXPECT_THAT(p.fault(), HasSubstr("launch 0 (launch 0) lies in no segment that exists"));
    p.plan.segments.push_back(no_segment);
    EXPECT_EQ(p.fault(), "none");
    p.plan.values[1].segment = 1;
    EXPECT_THAT(p.fault(), HasSubstr("value 1 lies in no segment that exists"));
}

TEST(Invariants, EpochsDoNotDecrease)
{
    Chained p;
    p.plan.launches[0].epoch = 1;
    EXPECT_THAT(p.fault(), HasSubstr("launch 1 (launch 1) is of an earlier epoch"));
}

TEST(Invariants, AChainHasTheOperandsOfItsLaunch)
{
    Chained p;
    auto chain = std::make_shared<kernels::Chain>();
    chain->inputs.resize(1);
    chain->results = {0};
    p.plan.launches[0].chain = chain;
    EXPECT_EQ(p.fault(), "none");
    p.plan.launches[0].operands.pop_back();
    EXPECT_THAT(p.fault(), HasSubstr("has 1 operands, not those of its chain"));
}

} // namespace
} // namespace reprise::plan
