// The gradient checks notice a VJP that is wrong: multiplied by 7, negated, zeroed.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <span>

#include "graph/cell.hpp"
#include "ops/readers.hpp"
#include "ops/registry.hpp"
#include "support/vjp_mutation.hpp"
#include "testing/op_suite.hpp"
#include "testing/use_device.hpp"

namespace reprise::test {
namespace {

using Check1 = GradCheck (*)(const OpInfo&, const Sample&, const GradCheckOptions&);

struct Fault {
    const char* name;
    Tensor (*change)(const Tensor&);
};
constexpr Fault faults[] = {
    {"multiplied by 7", [](const Tensor& g) { return g * 7; }},
    {"zeroed", [](const Tensor& g) { return g * 0; }},
    {"negated", [](const Tensor& g) { return -g; }},
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
            if (asks_gradient(sample.arguments[i])) most = std::max(most, i + 1);
    return most;
}

bool has_gradient(const OpInfo& row, std::size_t input)
{
    const auto* table = static_cast<const ops::Row*>(op_of(row.name)->row);
    if (table && !table->differentiable(static_cast<int>(input))) return false; // a step function: 0
    for (const Sample& sample : row.samples)
        if (sample.differentiable && input < sample.arguments.size() &&
            asks_gradient(sample.arguments[input]))
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

std::vector<std::string> twice_differentiable(bool of_table)
{
    std::vector<std::string> names = ops_with(Check::twice);
    std::erase_if(names, [&](const std::string& name) { return (op_of(name)->row != nullptr) != of_table; });
    return names;
}

// A row's derivatives are ops with VJPs of their own.
struct SecondSensitivity : testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Ops, SecondSensitivity, testing::ValuesIn(twice_differentiable(true)),
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

// Of all nodes that these depend on and that require a gradient.
std::set<const graph::Op*> ops_below(const std::vector<Tensor>& outputs)
{
    std::set<const graph::Op*> ops;
    std::set<const graph::Node*> seen;
    std::vector<const graph::Node*> stack;
    for (const Tensor& t : outputs) stack.push_back(graph::read(t).node.get());
    while (!stack.empty()) {
        const graph::Node* const n = stack.back();
        stack.pop_back();
        if (n->is_leaf || !n->requires_grad || !seen.insert(n).second) continue;
        ops.insert(n->op);
        for (const graph::Value& input : n->inputs) stack.push_back(input.node.get());
    }
    return ops;
}

// The ops whose results are the row's gradients.  Ops of the outputs are left out: their VJPs are a part of
// the gradient, and central differences would follow a fault.
std::set<const graph::Op*> derivatives_of(const OpInfo& row)
{
    std::set<const graph::Op*> derivatives;
    // The check multiplies outputs by their cotangents: where an op passes a cotangent on, the gradient is that
    // product's.
    const graph::Op& of_check = ops::row_op("mul", 1);
    const Setting setting{Device("reference"), true};
    const UseDevice use(setting.device);
    for (const Sample& sample : row.samples) {
        if (!sample.differentiable) continue;
        std::vector<Tensor> in = inputs(sample, draw(row, sample, checked_size(sample)), setting);
        for (std::size_t i = 0; i < in.size(); ++i)
            if (asks_gradient(sample.arguments[i])) in[i].requires_grad_();
        const std::vector<Tensor> outputs = sample.call(in);
        std::vector<Tensor> seeds = cotangents(outputs, setting);
        for (Tensor& t : seeds)
            if (t.defined()) t.requires_grad_();
        const std::set<const graph::Op*> forward = ops_below(outputs);
        for (const Tensor& gradient : evaluate(sample, in, seeds).gradients) {
            if (!gradient.defined() || !gradient.requires_grad()) continue;
            const graph::Node& n = *graph::read(gradient).node;
            if (!n.is_leaf && n.op != &of_check && !forward.contains(n.op)) derivatives.insert(n.op);
        }
    }
    return derivatives;
}

struct StructuredSecondSensitivity : testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Ops, StructuredSecondSensitivity, testing::ValuesIn([] {
                             std::vector<std::string> names = twice_differentiable(false);
                             // The others are differentiated through ops that a fault would reach as well.
                             std::erase_if(names, [](const std::string& name) { return !op_of(name)->vjp; });
                             return names;
                         }()),
                         [](const auto& test) { return test.param; });

// An op that makes its own gradient, such as flip, leaves nothing to spoil here: ASpoiltVjpIsNoticed has it.
TEST_P(StructuredSecondSensitivity, ASpoiltVjpOfADerivativeIsNoticed)
{
    const OpInfo& row = op_info(GetParam());
    for (const graph::Op* derivative : derivatives_of(row))
        for (const Fault& fault : std::span(faults).first(2)) { // two negations in a row would be right
            const VjpMutation spoil(*derivative,
                                    [&](std::size_t, const Tensor& g) { return fault.change(g); });
            EXPECT_TRUE(noticed(row, check_second_gradient)) << derivative->name << " " << fault.name;
        }
}

} // namespace
} // namespace reprise::test
