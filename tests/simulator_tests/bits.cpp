// Ops have the same bits at each size of subgroups, and in each order of workgroups: some larger ones, and a sample of all.
#include <gtest/gtest.h>

#include <reprise/reprise.hpp>

#include "simulator/device.hpp"
#include "support/devices.hpp"
#include "testing/op_suite.hpp"

namespace reprise::test {
namespace {

using Results = std::vector<std::vector<float>>;

// An op's result and its gradients.
template <class F> Results results(const simulator::Options& options, const F& f)
{
    const UseDevice use(open(simulator::make_simulator(options)));
    manual_seed(3);
    std::vector<Tensor> inputs;
    const Tensor result = f([&](Shape s) {
        inputs.push_back(randn(s).detach().requires_grad_(true));
        return inputs.back();
    });
    result.sum().backward();
    Results found{result.to_vector<float>()};
    for (const Tensor& t : inputs) found.push_back(t.grad().to_vector<float>());
    return found;
}

template <class F> void expect_same_bits(const F& f)
{
    const Results want = results({.subgroup_size = 32}, f);
    EXPECT_EQ(results({.subgroup_size = 16}, f), want);
    EXPECT_EQ(results({.subgroup_size = 64}, f), want);
    EXPECT_EQ(results({.subgroup_size = 32, .reverses = true}, f), want);
}

TEST(SimulatorBits, OfProducts)
{
    expect_same_bits([](const auto& input) { return matmul(input({70, 130}), input({130, 65})); });
}
TEST(SimulatorBits, OfConvolutions)
{
    expect_same_bits([](const auto& input) {
        return conv2d(input({2, 3, 9, 9}), input({5, 3, 3, 3}), input({5}), {.padding = 1});
    });
}
TEST(SimulatorBits, OfAttention)
{
    expect_same_bits([](const auto& input) {
        return scaled_dot_product_attention(input({1, 2, 40, 32}), input({1, 2, 40, 32}),
                                            input({1, 2, 40, 32}));
    });
}
TEST(SimulatorBits, OfNorms)
{
    expect_same_bits([](const auto& input) {
        return layer_norm(input({6, 200}), {200}, input({200}), input({200}));
    });
}
TEST(SimulatorBits, OfSoftmax)
{
    expect_same_bits([](const auto& input) { return softmax(input({9, 300}), -1) * input({9, 300}); });
}
TEST(SimulatorBits, OfSums)
{
    expect_same_bits([](const auto& input) {
        return sum(input({3, 5000}), {1}) + sum(input({500, 3}), {0});
    });
}

// The first size of each sample of every op, and its gradients.
class SimulatorBitsOfOps : public testing::TestWithParam<std::string> {};

TEST_P(SimulatorBitsOfOps, AreTheSameAtEachSizeOfSubgroups)
{
    const OpInfo& row = op_info(GetParam());
    for (const Sample& sample : row.samples) {
        const std::int64_t size = sample.sizes.front();
        const Data data = draw(row, sample, size);
        const auto bits_at = [&](const simulator::Options& options) {
            const Setting setting{open(simulator::make_simulator(options))};
            const Outcome outcome = run(sample, data, setting, sample.differentiable);
            return std::pair(bits_of(outcome.outputs), bits_of(outcome.gradients));
        };
        const auto want = bits_at({.subgroup_size = 32});
        EXPECT_EQ(bits_at({.subgroup_size = 16, .reverses = true}), want) << describe(sample, size);
        EXPECT_EQ(bits_at({.subgroup_size = 64}), want) << describe(sample, size);
    }
}

INSTANTIATE_TEST_SUITE_P(Ops, SimulatorBitsOfOps, testing::ValuesIn(rows_for(Check::forward)),
                         [](const auto& c) { return c.param; });

} // namespace
} // namespace reprise::test
