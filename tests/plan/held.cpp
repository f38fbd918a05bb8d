// What steps of one op and its gradient hold.
#include <gtest/gtest.h>

#include <reprise/reprise.hpp>

#include "support/devices.hpp"

namespace reprise {
namespace {

constexpr std::uint64_t mib = 1 << 20;

std::uint64_t peak(const TracedFunction& f, const std::vector<Spec>& specs)
{
    return record_function(f, specs, {.fuse = false}).memory({}).peak;
}

// All patches of these images take 36 MiB: CPUs hold an eighth of them at a time, others half.
TEST(Held, ByAConvolutionArePatchesOfAPart)
{
    const auto held = [](const char* device) {
        const test::UseDevice use(test::imitation(device));
        return peak(
            [](const std::vector<Tensor>& in) {
                const Variable x(in[0]), w(in[1]);
                const Tensor y = conv2d(x, w, {}, {.padding = {1, 1}});
                auto out = grad({y}, {x, w}, {.cotangents = {in[2]}});
                out.push_back(y);
                return out;
            },
            {spec({64, 16, 32, 32}), spec({16, 16, 3, 3}), spec({64, 16, 32, 32})});
    };
    EXPECT_LT(held("swiftshader"), 7 * mib);
    EXPECT_LT(held("gpu"), 24 * mib);
}

// The weights take 512 KiB: by matrices the gradient holds these and their gradient, nothing more of that size. Tiles
// on GPUs hold only the result, which takes 128 KiB, and two numbers for each query.
TEST(Held, ByAttentionAreTwoMatricesOrNone)
{
    const Spec heads = spec({2, 4, 128, 32});
    const auto held = [&](const char* device) {
        const test::UseDevice use(test::imitation(device));
        return peak(
            [](const std::vector<Tensor>& in) {
                const Variable q(in[0]), k(in[1]), v(in[2]);
                const Tensor y = scaled_dot_product_attention(q, k, v);
                return grad({y}, {q, k, v}, {.cotangents = {in[3]}});
            },
            {heads, heads, heads, heads});
    };
    EXPECT_LT(held("swiftshader"), 3 * mib / 2);
    EXPECT_LT(held("gpu"), mib / 4);
}

// The input of a product goes before its gradient comes; each takes 16 MiB, and the parts of the weight's gradient 4.
TEST(Held, ByAProductIsItsInputOrThatsGradient)
{
    const test::UseDevice use(test::imitation("gpu"));
    EXPECT_LT(peak(
                  [](const std::vector<Tensor>& in) {
                      const Variable a(in[0]), w(in[1]);
                      return grad({matmul(sin(a), w)}, {a, w}, {.cotangents = {in[2]}});
                  },
                  {spec({16384, 256}), spec({256, 256}), spec({16384, 256})}),
              24 * mib);
}

} // namespace
} // namespace reprise
