// Ops have the same bits at each size of subgroups, and in each order of workgroups.
#include <gtest/gtest.h>

#include <reprise/reprise.hpp>

#include "simulator/device.hpp"
#include "support/devices.hpp"

namespace reprise::test {
namespace {

using Bits = std::vector<std::vector<float>>;

// Of an op's result and its gradients.
template <class F> Bits bits(const simulator::Options& options, const F& f)
{
    const UseDevice use(open(simulator::make_simulator(options)));
    manual_seed(3);
    std::vector<Tensor> inputs;
    const Tensor result = f([&](Shape s) {
        inputs.push_back(randn(s).detach().requires_grad_(true));
        return inputs.back();
    });
    result.sum().backward();
    Bits found{result.to_vector<float>()};
    for (const Tensor& t : inputs) found.push_back(t.grad().to_vector<float>());
    return found;
}

template <class F> void expect_same_bits(const F& f)
{
    const Bits want = bits({.subgroup_size = 32}, f);
    EXPECT_EQ(bits({.subgroup_size = 16}, f), want);
    EXPECT_EQ(bits({.subgroup_size = 64}, f), want);
    EXPECT_EQ(bits({.subgroup_size = 32, .reverses = true}, f), want);
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

} // namespace
} // namespace reprise::test
