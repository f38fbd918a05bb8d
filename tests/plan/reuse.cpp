// What an elementwise launch is the last to read lends its memory to a result, and to nothing that would notice.
#include <gtest/gtest.h>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/program.hpp>

#include "support/devices.hpp"

namespace reprise {
namespace {

using Tensors = std::vector<Tensor>;

class Reuse : public testing::TestWithParam<const char*> {
protected:
    // The arena in matrices of 64 by 64.
    double matrices(const TracedFunction& f)
    {
        const Program program = record_function(f, {spec({64, 64}), spec({64, 64})}, {.fuse = false});
        return static_cast<double>(program.arena_bytes({})) / (64 * 64 * 4);
    }
    Device device = test::imitation(GetParam());
    test::UseDevice use{device};
};
INSTANTIATE_TEST_SUITE_P(Devices, Reuse, testing::Values("lavapipe", "swiftshader", "gpu"),
                         [](const auto& test) { return test.param; });

TEST_P(Reuse, OfALastRead)
{
    EXPECT_EQ(matrices([](const Tensors& in) {
                  Tensor x = matmul(in[0], in[1]);
                  for (int i = 0; i < 3; ++i) x = exp(x) * 2; // all in one place
                  return Tensors{matmul(x, in[0])};
              }),
              1);
}

TEST_P(Reuse, OfOneOfSeveralOperands)
{
    EXPECT_EQ(matrices([](const Tensors& in) {
                  const Tensor x = matmul(in[0], in[1]), y = matmul(in[1], in[0]);
                  return Tensors{matmul(x * y + in[0], in[0])}; // x * y over x; y is gone with it
              }),
              2);
}

TEST_P(Reuse, NotOfWhatIsReadLater)
{
    EXPECT_EQ(matrices([](const Tensors& in) {
                  const Tensor x = matmul(in[0], in[1]), y = exp(x);
                  return Tensors{matmul(y, x)};
              }),
              2);
}

TEST_P(Reuse, NotOfWhatIsReadInAnotherOrder)
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

TEST_P(Reuse, NotOfAnotherElementSize)
{
    EXPECT_EQ(matrices([](const Tensors& in) {
                  const Tensor x = matmul(in[0], in[1]);
                  return Tensors{sum(cast(x > 0, f32))};
              }),
              1.25); // bools lie beside x
}

} // namespace
} // namespace reprise
