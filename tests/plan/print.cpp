#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/hand_made.hpp"

namespace reprise::plan {
namespace {

HandMade small()
{
    HandMade p;
    const Dim n = symbol("n");
    const auto x = p.external(), a = p.temporary(n * 4), unused = p.temporary(), out = p.output();
    const auto first = p.launch({x}, {a});
    p.plan.launches[first].groups = ceil_div(n, 256);
    p.plan.launches[first].texels = true;
    p.fallback(first, {x}, {a});
    p.launch({a, x}, {out});
    p.plan.launches.back().operands[1].absent = true;
    p.plan.launches.back().operands[0].offset = n;
    p.epochs();
    static_cast<void>(unused);
    return p;
}

TEST(Print, SaysValuesEpochsLaunches)
{
    EXPECT_EQ(print(small().plan), R"(v0  f32 x 64  external  epochs 0..0  value 0
v1  f32 x n * 4  temporary  epochs 0..1  value 1
v3  f32 x 64  output  epochs 1..1  value 3
epoch 0
  launch 0(v0, =v1)  groups floor(n + 255, 256)  in the slab
  launch 1(v0, =v1)  groups 1  else
epoch 1
  launch 2(v1[n], -, =v3)  groups 1
)");
}

TEST(Print, DotHasANodeForEachValueAndLaunch)
{
    const std::string dot = print_dot(small().plan);
    for (const char* part :
         {"digraph plan {", "v0 [", "v1 [", "v3 [", "l0 [", "l2 [", "v0 -> l0;", "l0 -> v1;", "v1 -> l2;"})
        EXPECT_THAT(dot, testing::HasSubstr(part));
    EXPECT_THAT(dot, testing::Not(testing::HasSubstr("v2 ["))); // nobody touches it
}

} // namespace
} // namespace reprise::plan
