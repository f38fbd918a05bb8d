// Sizes, scalars, options and accessors beside C++ numbers, as libtorch programs mix them.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <reprise/reprise.hpp>

namespace reprise {
namespace {

TEST(Numbers, CountUpSizes)
{
    const Tensor x = zeros({6, 4});
    std::int64_t total = 1;
    total += x.size(0);
    total *= x.size(1);
    total -= x.size(0);
    total /= x.size(1);
    EXPECT_EQ(total, (1 + 6) * 4 / 4 - 2); // (28 - 6) / 4 rounded down
    double mean = 3;
    mean += x.size(0);
    mean /= x.size(1);
    EXPECT_EQ(mean, 2.25);
    float scaled = 0.5F;
    scaled *= x.size(1);
    EXPECT_EQ(scaled, 2);
    std::size_t small = 1;
    EXPECT_THROW(small -= x.size(0), Error); // below 0
}

// Braces are sizes, also where there is one in parentheses; a number alone counts sizes of 0.
TEST(Numbers, BracesAreSizes)
{
    EXPECT_EQ(Shape({6}).size(), 1u);
    EXPECT_EQ(Shape({6})[0], 6);
    EXPECT_EQ(Shape{6}.size(), 1u);
    EXPECT_EQ(Shape(6).size(), 6u);
    EXPECT_EQ(Shape(std::size_t{2}), Shape({0, 0}));
}

TEST(Numbers, SizesMakeTensors)
{
    const Tensor x = arange(6, f32);
    const Dim n = x.size(0);
    EXPECT_EQ(zeros(n).sizes(), Shape({6}));
    EXPECT_EQ(ones(n, kLong).dtype(), i64);
    EXPECT_EQ(zeros(3, {.dtype = kLong}).dtype(), i64);
    EXPECT_EQ(rand(3, TensorOptions().dtype(kHalf)).dtype(), f16);
    EXPECT_EQ(x.view(n).sizes(), Shape({6}));
    EXPECT_EQ(x.repeat(Dim(2)).numel(), 12);
    EXPECT_TRUE((n != x).all().item<bool>());
    EXPECT_EQ((Dim(2) == x).sum().item<int>(), 1);
    EXPECT_EQ(x.slice(0, 4).to_vector<float>(), (std::vector<float>{4, 5}));
    EXPECT_EQ(x.slice().numel(), 6);
}

TEST(Numbers, ScalarsRefuseWhatTheyCannotHold)
{
    EXPECT_EQ(Scalar(std::numeric_limits<std::int64_t>::max()).toLong(),
              std::numeric_limits<std::int64_t>::max());
    EXPECT_THROW(Scalar{std::numeric_limits<std::uint64_t>::max()}, Error);
    EXPECT_TRUE(Scalar(true).toBool());
}

TEST(Numbers, AccessorsGiveElements)
{
    const Tensor mask = tensor({true, false}), x = tensor({1.5, 2.5});
    const auto bits = mask.accessor<bool, 1>();
    static_assert(std::is_same_v<decltype(bits[0]), bool>);
    EXPECT_TRUE(bits[0]);
    EXPECT_FALSE(bits[1]);
    const float& kept = x.accessor<float, 1>()[1]; // outlives the accessor
    EXPECT_EQ(kept, 2.5F);
}

TEST(Numbers, NormsWithoutOrderAreOfOrderTwo)
{
    const Tensor x = tensor({{3.0, 4.0}, {0.0, 5.0}});
    EXPECT_EQ(x.norm({}, 1).to_vector<float>(), (std::vector<float>{5, 5}));
    EXPECT_EQ(x.norm(nullopt, 0)[0].item<float>(), 3);
    EXPECT_EQ(linalg_norm(x, nullopt, 1).to_vector<float>(), (std::vector<float>{5, 5}));
    EXPECT_EQ(x.norm(0, 1).to_vector<float>(), (std::vector<float>{2, 1}));
}

TEST(Numbers, OptionsOfNewTensors)
{
    const Tensor x = zeros({2}, f16);
    EXPECT_EQ(x.new_zeros({1}).dtype(), f16);
    EXPECT_EQ(x.new_zeros({1}, kLong).dtype(), i64);
    EXPECT_EQ(x.new_ones({1}, x.device()).dtype(), f16);
    EXPECT_EQ(x.new_full({2}, 3, kFloat).to_vector<float>(), (std::vector<float>{3, 3}));
    EXPECT_EQ(x.new_empty({2}, {.dtype = kInt}).dtype(), i32);
    EXPECT_EQ(x.to(x.device(), true).dtype(), f16);
    EXPECT_EQ(x.to(TensorOptions().dtype(kFloat), true).dtype(), f32);
    EXPECT_EQ(zeros({1}, TensorOptions().device(kCPU, 0)).device().name(), "reference");
    EXPECT_TRUE(zeros({1}, kCPU).is_cpu());
    EXPECT_FALSE(zeros({1}, kCPU).is_cuda());
}

TEST(Numbers, ContiguityIsPyTorchs)
{
    const Tensor x = arange(6).view({2, 3});
    EXPECT_TRUE(x.is_contiguous());
    EXPECT_FALSE(x.t().is_contiguous());
    EXPECT_TRUE(x.t().contiguous().is_contiguous());
    EXPECT_TRUE(x[1].is_contiguous());
    EXPECT_FALSE(x.select(1, 0).is_contiguous());
}

TEST(Numbers, BackwardTakesNothingForKeepingTheGraph)
{
    Tensor x = tensor({2.0}, requires_grad());
    const Tensor y = (x * x * x).sum();
    y.backward({}, nullopt, true); // creates a graph, and so keeps this one
    x.grad().sum().backward();
    EXPECT_EQ(x.grad().item<float>(), 12 + 12); // 3 x^2 + 6 x
}

TEST(Numbers, OtherNamesOfOps)
{
    const Tensor a = arange(3), b = arange(3, 6);
    EXPECT_EQ(concat({a, b}).numel(), 6);
    EXPECT_EQ(column_stack({a, b}).sizes(), Shape({3, 2}));
    EXPECT_EQ(argwhere(a > 0).to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 2}));
    EXPECT_TRUE(equal(tensor({0.0, 1.0}).bernoulli(), tensor({0.0, 1.0})));
}

// Dictionaries that a function returned may be read in one expression.
TEST(Numbers, TemporaryDictionariesKeepTheirValues)
{
    nn::Linear layer(2, 3);
    int count = 0;
    for (const auto& item : layer.named_parameters().items()) count += item.key().empty() ? 0 : 1;
    EXPECT_EQ(count, 2);
    const auto& weight = layer.named_parameters()["weight"];
    EXPECT_EQ(weight.sizes(), Shape({3, 2}));
}

} // namespace
} // namespace reprise
