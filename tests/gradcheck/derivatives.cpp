// Each row's gradients and gradients of gradients against central differences: in double precision on the reference
// device, so once, and not for each driver.
#include <gtest/gtest.h>

#include "testing/op_suite.hpp"

namespace reprise::test {
namespace {

class Row : public testing::TestWithParam<std::string> {
protected:
    const OpInfo& row = op_info(GetParam());
};
const auto name_of_row = [](const auto& test) { return test.param; };

struct GradCheckOf : Row {};
INSTANTIATE_TEST_SUITE_P(Ops, GradCheckOf, testing::ValuesIn(rows_for(Check::gradcheck)), name_of_row);

TEST_P(GradCheckOf, TheGradient)
{
    for (const Sample& sample : row.samples) {
        if (!sample.differentiable) continue;
        const GradCheck result = check_gradient(row, sample);
        EXPECT_TRUE(result.passed) << sample.what << ": " << result.message;
    }
}

struct SecondGradient : Row {};
INSTANTIATE_TEST_SUITE_P(Ops, SecondGradient, testing::ValuesIn(rows_for(Check::twice)), name_of_row);

TEST_P(SecondGradient, TheGradientOfTheGradient)
{
    for (const Sample& sample : row.samples) {
        if (!sample.differentiable) continue;
        const GradCheck result = check_second_gradient(row, sample);
        EXPECT_TRUE(result.passed) << sample.what << ": " << result.message;
    }
}

} // namespace
} // namespace reprise::test
