// What evaluation keeps for the tape, and what is freed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <reprise/autograd.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/losses.hpp>
#include <reprise/ops/reductions.hpp>

#include "support/devices.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

std::uint64_t launches_of(const std::function<void()>& f)
{
    const test::PlansOfTheirOwn planned; // one that an earlier test's plan serves counts no launches
    const std::uint64_t before = stats().launches;
    f();
    return stats().launches - before;
}

struct Layers {
    Variable w1{test::random_tensor({12, 16}, 1)}, w2{test::random_tensor({16, 4}, 2)};
    Tensor x = test::random_tensor({8, 12}, 3);
    Tensor target = from_vector(test::integers(8, 4, 0, 3), {8});
    Tensor loss() const { return cross_entropy(matmul(tanh(matmul(x, w1)), w2), target); }
    void read_grads() const
    {
        w1.grad().eval();
        w2.grad().eval();
    }
};

TEST(Evaluation, ReadingTheLossFirstRecomputesNothing)
{
    Layers at_once, in_parts;
    at_once.x.eval();
    const std::uint64_t together = launches_of([&] {
        const Tensor loss = at_once.loss();
        loss.backward();
        loss.eval();
        at_once.read_grads();
    });
    const std::uint64_t apart = launches_of([&] {
        const Tensor loss = in_parts.loss();
        static_cast<void>(loss.item<float>());
        loss.backward();
        in_parts.read_grads();
    });
    EXPECT_LE(apart, together);
    EXPECT_EQ(test::bits(at_once.w1.grad()), test::bits(in_parts.w1.grad()));
    EXPECT_EQ(test::bits(at_once.w2.grad()), test::bits(in_parts.w2.grad()));
}

// On the reference device each op is one launch.
TEST(Evaluation, BackwardRunsTheVjpsAlone)
{
    const test::UseDevice use(Device("reference"));
    const Variable w(test::random_tensor({3, 4}, 1));
    const Tensor x = test::random_tensor({2, 3}, 2);
    Tensor loss;
    EXPECT_EQ(launches_of([&] {
                  loss = sum(tanh(matmul(x, w)));
                  loss.eval();
              }),
              3u); // matmul, tanh, sum
    EXPECT_EQ(launches_of([&] {
                  loss.backward();
                  w.grad().eval();
              }),
              3u); // ones, tanh's derivative, a matrix product
}

TEST(Evaluation, AValueIsComputedOnce)
{
    const Tensor x = test::random_tensor({4}, 1), y = exp(x);
    y.eval();
    EXPECT_EQ(launches_of([&] { y.eval(); }), 0u);
    const Tensor z = y * y;
    EXPECT_EQ(launches_of([&] { z.eval(); }), launches_of([&] { (y * y).eval(); }));
}

class Memory : public testing::Test {
protected:
    // Once, so that what a device keeps for itself is there.
    void SetUp() override { step(1); }
    void step(int seed)
    {
        const Variable w(test::random_tensor({64, 64}, static_cast<std::uint64_t>(seed)));
        const Tensor x = test::random_tensor({32, 64}, 2);
        const Tensor loss = sum(tanh(matmul(tanh(matmul(x, w)), w)));
        loss.backward();
        w.grad().eval();
        loss.eval();
        default_device().synchronize();
    }
    std::uint64_t live() { return default_device().live_bytes(); }
};

TEST_F(Memory, IsAllGivenBack)
{
    const std::uint64_t before = live();
    for (int i = 0; i < 5; ++i) step(i);
    EXPECT_EQ(live(), before);
}

TEST_F(Memory, OfTheInteriorGoesWithBackward)
{
    const Variable w(test::random_tensor({64, 64}, 1));
    const Tensor x = test::random_tensor({256, 64}, 2);
    w.eval();
    const std::uint64_t before = live();
    Tensor loss = sum(tanh(tanh(tanh(matmul(x, w)))));
    loss.eval();
    const std::uint64_t forward = live();
    EXPECT_GE(forward, before + 3 * 256 * 64 * 4); // the tape keeps what the derivatives read
    loss.backward();
    w.grad().eval();
    const std::uint64_t gradient = 64 * 64 * 4, small = 2048;
    EXPECT_LE(live(), before + gradient + small); // though the loss is still held
}

TEST_F(Memory, OfATapeThatNobodyWalksGoesWithItsHandle)
{
    const Variable w(test::random_tensor({64, 64}, 1));
    w.eval();
    const std::uint64_t before = live();
    for (int i = 0; i < 4; ++i) {
        const Tensor loss = sum(tanh(matmul(w, w)));
        loss.eval();
    }
    EXPECT_EQ(live(), before);
}

TEST_F(Memory, OfForwardWithoutATapeIsNotKept)
{
    const Variable w(test::random_tensor({64, 64}, 1));
    w.eval();
    const no_grad guard;
    const std::uint64_t before = live();
    const Tensor loss = sum(tanh(matmul(w, w)));
    loss.eval();
    EXPECT_LE(live(), before + 1024);
}

TEST_F(Memory, OfALongQueueIsThatOfItsResults)
{
    Tensor x = test::random_tensor({4096}, 1);
    x.eval();
    const std::uint64_t before = live(), peak = default_device().peak_bytes();
    for (int i = 0; i < 5000; ++i) x = x * 0.5; // 16 KiB each
    x.eval();
    EXPECT_LE(default_device().peak_bytes(), std::max(peak, before + 64 * 16 * 1024));
}

TEST(Evaluation, ALongQueueIsWorkedOff)
{
    const Tensor x = test::random_tensor({4}, 1);
    std::vector<Tensor> many;
    for (int i = 0; i < 5000; ++i) many.push_back(x + static_cast<double>(i));
    EXPECT_EQ(launches_of([&] { many.front().eval(); }), 0u); // they were computed when the queue was long
    EXPECT_EQ(many.back().to_vector<float>()[0], x.to_vector<float>()[0] + 4999.0f);
}

} // namespace
} // namespace reprise
