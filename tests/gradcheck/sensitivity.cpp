// The gradient checks notice a VJP that is wrong: multiplied by 7, negated, zeroed.
#include <gtest/gtest.h>

#include "autograd/walk.hpp"
#include "ops/readers.hpp"
#include "ops/registry.hpp"
#include "testing/op_suite.hpp"

namespace reprise::test {
namespace {

using autograd::VjpMutation;
using Check1 = GradCheck (*)(const OpInfo&, const Sample&, const GradCheckOptions&);

struct Fault {
    const char* name;
    Tensor (*change)(const Tensor&);
};
constexpr Fault faults[] = {
    {"multiplied by 7", [](const Tensor& g) { return g * 7; }},
    {"negated", [](const Tensor& g) { return -g; }},
    {"zeroed", [](const Tensor& g) { return g * 0; }},
};

const graph::Op* op_of(const std::string& name)
{
    for (const graph::Op* op : ops::structured_ops())
        if (op->name == name) return op;
    for (const graph::Op* op : ops::elementwise_ops())
        if (op->name == name) return op;
    return nullptr;
}

bool noticed(const OpInfo& row, Check1 check)
{
    for (const Sample& sample : row.samples)
        if (sample.differentiable && !check(row, sample, {.find_entry = false}).passed) return true;
    return false;
}

std::size_t differentiable_inputs(const OpInfo& row)
{
    std::size_t most = 0;
    for (const Sample& sample : row.samples)
        for (std::size_t i = 0; sample.differentiable && i < sample.arguments.size(); ++i)
            if (sample.arguments[i].differentiable && is_floating(sample.arguments[i].dtype)) most = i + 1;
    return most;
}

bool has_gradient(const OpInfo& row, std::size_t input)
{
    const auto* table = static_cast<const ops::Row*>(op_of(row.name)->row);
    if (table && !table->differentiable(static_cast<int>(input))) return false; // a step function: 0
    for (const Sample& sample : row.samples)
        if (sample.differentiable && input < sample.arguments.size() &&
            sample.arguments[input].differentiable && !sample.arguments[input].number &&
            is_floating(sample.arguments[input].dtype))
            return true;
    return false;
}

std::vector<std::string> ops_with(Check check)
{
    std::vector<std::string> names = rows_for(check);
    std::erase_if(names, [](const std::string& name) { return !op_of(name); });
    return names;
}

struct Sensitivity : testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Ops, Sensitivity, testing::ValuesIn(ops_with(Check::gradcheck)),
                         [](const auto& test) { return test.param; });

TEST_P(Sensitivity, ASpoiltVjpIsNoticed)
{
    const OpInfo& row = op_info(GetParam());
    for (std::size_t input = 0; input < differentiable_inputs(row); ++input) {
        if (!has_gradient(row, input)) continue;
        for (const Fault& fault : faults) {
            const VjpMutation spoil(*op_of(row.name), [&](std::size_t i, const Tensor& g) {
                return i == input ? fault.change(g) : g;
            });
            EXPECT_TRUE(noticed(row, check_gradient))
                << "the gradient of input " << input << " " << fault.name;
        }
    }
    EXPECT_FALSE(noticed(row, check_gradient)) << "unspoilt";
}

// The cotangent itself is the derivative: no op comes of it.
bool passes_on(const OpInfo& row, std::size_t input)
{
    return std::string_view(static_cast<const ops::Row*>(op_of(row.name)->row)->text[1 + input]) == "dy";
}

// A row's derivatives are ops with VJPs of their own.
struct SecondSensitivity : testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Ops, SecondSensitivity, testing::ValuesIn([] {
                             std::vector<std::string> names;
                             for (const std::string& name : ops_with(Check::twice))
                                 if (op_of(name)->row) names.push_back(name);
                             return names;
                         }()),
                         [](const auto& test) { return test.param; });

TEST_P(SecondSensitivity, ASpoiltVjpOfADerivativeIsNoticed)
{
    const OpInfo& row = op_info(GetParam());
    for (std::size_t input = 0; input < differentiable_inputs(row); ++input) {
        if (!has_gradient(row, input)) continue;
        if (passes_on(row, input)) continue;
        const graph::Op& derivative = ops::row_op(row.name, 1 + static_cast<int>(input));
        for (const Fault& fault : faults) {
            const VjpMutation spoil(derivative,
                                    [&](std::size_t, const Tensor& g) { return fault.change(g); });
            EXPECT_TRUE(noticed(row, check_second_gradient)) << derivative.name << " " << fault.name;
        }
    }
}

} // namespace
} // namespace reprise::test
