// Ops have the same bits at each size of subgroups, and in each order of workgroups: some larger ones, and a sample of
// all.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include <reprise/reprise.hpp>

#include "simulator/device.hpp"
#include "support/devices.hpp"
#include "testing/op_suite.hpp"

namespace reprise::test {
namespace {

using Bits = std::vector<std::vector<std::uint32_t>>;

std::vector<std::uint32_t> bits_of_floats(const Tensor& t)
{
    std::vector<std::uint32_t> bits;
    for (const float f : t.to_vector<float>()) bits.push_back(std::bit_cast<std::uint32_t>(f));
    return bits;
}

// An op's result and its gradients.
template <class F> Bits results(const simulator::Options& options, const F& f)
{
    const UseDevice use(open(simulator::make_simulator(options)));
    manual_seed(3);
    std::vector<Tensor> inputs;
    const Tensor result = f([&](Shape s) {
        inputs.push_back(randn(s).detach().requires_grad_(true));
        return inputs.back();
    });
    result.sum().backward();
    Bits found{bits_of_floats(result)};
    for (const Tensor& t : inputs) found.push_back(bits_of_floats(t.grad()));
    return found;
}

template <class F> void expect_same_bits(const F& f)
{
    const Bits want = results({.subgroup_size = 32}, f);
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
TEST(SimulatorBits, OfBatchNorms)
{
    for (const Shape& x : {Shape{3, 2, 50, 31}, Shape{2, 3, 64, 64}})
        expect_same_bits([&](const auto& input) {
            return batch_norm(input(x), {}, {}, input({x[1]}), input({x[1]}), {.training = true});
        });
}
TEST(SimulatorBits, OfGroupNorms)
{
    expect_same_bits([](const auto& input) {
        return group_norm(input({2, 4, 12, 9}), 2, input({4}), input({4})) * input({2, 4, 12, 9});
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

// The smallest size with elements of each sample of every op, and its gradients.
class SimulatorBitsOfOps : public testing::TestWithParam<std::string> {};

TEST_P(SimulatorBitsOfOps, AreTheSameAtEachSizeOfSubgroups)
{
    const OpInfo& row = op_info(GetParam());
    for (const Sample& sample : row.samples) {
        const auto positive = std::ranges::find_if(sample.sizes, [](std::int64_t n) { return n > 1; });
        const std::int64_t size = positive == sample.sizes.end() ? sample.sizes.back() : *positive;
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
