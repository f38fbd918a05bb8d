// What an elementwise launch is the last to read lends its memory to a result, and to nothing that would notice.
#include <gtest/gtest.h>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/program.hpp>

#include "support/devices.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using Tensors = std::vector<Tensor>;

class InPlace : public testing::TestWithParam<const char*> {
protected:
    // The arena in matrices of 64 by 64.
    static double matrices(const TracedFunction& f, bool fuse = false)
    {
        const Program program = record_function(f, {spec({64, 64}), spec({64, 64})}, {.fuse = fuse});
        return static_cast<double>(program.arena_bytes({})) / (64 * 64 * 4);
    }
    Device device = test::imitation(GetParam());
    test::UseDevice use{device};
};
INSTANTIATE_TEST_SUITE_P(Devices, InPlace, testing::Values("lavapipe", "swiftshader", "gpu"),
                         [](const auto& test) { return test.param; });

TEST_P(InPlace, OfALastRead)
{
    EXPECT_EQ(matrices([](const Tensors& in) {
                  Tensor x = matmul(in[0], in[1]);
                  for (int i = 0; i < 3; ++i) x = exp(x) * 2; // all in one place
                  return Tensors{matmul(x, in[0])};
              }),
              1);
}

TEST_P(InPlace, OfOneOfSeveralOperands)
{
    EXPECT_EQ(matrices([](const Tensors& in) {
                  const Tensor x = matmul(in[0], in[1]), y = matmul(in[1], in[0]);
                  return Tensors{matmul(x * y + in[0], in[0])}; // x * y over x; y is gone with it
              }),
              2);
}

TEST_P(InPlace, NotOfWhatIsReadLater)
{
    EXPECT_EQ(matrices([](const Tensors& in) {
                  const Tensor x = matmul(in[0], in[1]), y = exp(x);
                  return Tensors{matmul(y, x)};
              }),
              2);
}

TEST_P(InPlace, NotOfWhatIsReadInAnotherOrder)
{
    EXPECT_EQ(matrices([](const Tensors& in) {
                  const Tensor x = matmul(in[0], in[1]);
                  return Tensors{sum(exp(transpose(x, 0, 1)))};
              }),
              2);
    EXPECT_EQ(matrices([](const Tensors& in) {
                  const Tensor x = matmul(in[0], in[1]);
                  return Tensors{sum(x + transpose(x, 0, 1))};
              }),
              2);
}

// Each of two results over what the other is made of, too.  a and b are no products, which on GPUs would compute the
// chain.
TEST_P(InPlace, OfAChainOfTwoResults)
{
    EXPECT_EQ(matrices(
                  [](const Tensors& in) {
                      const Tensor a = cumsum(in[0], 0), b = cumsum(in[1], 0), r = sin(b), q = a + b;
                      return Tensors{matmul(r, q)};
                  },
                  true),
              2);
}

TEST_P(InPlace, NotOfWhatABroadcastReads)
{
    EXPECT_EQ(matrices([](const Tensors& in) {
                  const Tensor x = matmul(in[0], in[1]);
                  return Tensors{matmul(x * narrow(x, 0, 0, 1), in[0])};
              }),
              2);
}

TEST_P(InPlace, NotOfWhatIsReadFromItsMiddle)
{
    EXPECT_EQ(matrices([](const Tensors& in) {
                  const Tensor x = matmul(in[0], in[1]);
                  return Tensors{matmul(exp(narrow(x, 0, 1, 63)), in[0])};
              }),
              2 - 1.0 / 64);
}

TEST_P(InPlace, NotOfAnotherElementSize)
{
    EXPECT_EQ(matrices([](const Tensors& in) {
                  const Tensor x = matmul(in[0], in[1]);
                  return Tensors{sum(cast(x > 0, f32))};
              }),
              1.25); // bools lie beside x
}

// The bits are those of values that lie apart, whatever reads and writes the same memory.
TEST(ReuseOnADevice, KeepsTheBits)
{
    const Tensor x = test::random_tensor({37, 41}, 1), y = test::random_tensor({37, 41}, 2);
    const auto f = [](const Tensor& p, const Tensor& q) {
        const Tensor a = matmul(p, transpose(q, 0, 1)), b = matmul(q, transpose(p, 0, 1));
        const Tensor r = sin(b), s = a + b, t = exp(s * 0.1) - r * a;
        return std::vector<Tensor>{matmul(r, s), matmul(t, s), sum(r * narrow(t, 0, 0, 1))};
    };
    std::vector<test::Bits> want;
    for (const Tensor& t : f(x, y)) want.push_back(test::bits(t));
    for (const bool fuse : {false, true}) {
        const Program p = record_function([&](const Tensors& in) { return f(in[0], in[1]); },
                                          {spec({symbol("n"), 41}), spec({symbol("m"), 41})}, {.fuse = fuse});
        const Tensors got = p.call({x, y});
        for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(test::bits(got[i]), want[i]) << fuse << i;
    }
}

} // namespace
} // namespace reprise
