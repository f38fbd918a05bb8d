// Kernels that convert as they load and store have the bits of separate casts.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "support/devices.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using test::bits;

struct RowKernel {
    const char* name;
    std::function<Tensor(const Tensor& x, const Tensor& weight)> f;
};
const std::vector<RowKernel> row_kernels{
    {"layer_norm", [](const Tensor& x, const Tensor& w) { return layer_norm(x, {x.size(1)}, w, w); }},
    {"log_softmax", [](const Tensor& x, const Tensor&) { return log_softmax(x, -1); }},
    {"softmax", [](const Tensor& x, const Tensor&) { return softmax(x, -1); }},
};

// Each of x, the gradient of the result, the result and the gradient of x may be narrow.
TEST(Conversions, OfRowsHaveTheBitsOfCasts)
{
    for (const RowKernel& kernel : row_kernels)
        for (const DType low : {f16, bf16})
            for (const std::int64_t columns : {300, 30})
                for (const int narrow :
                     low == f16 && columns == 300 ? std::vector{1, 2, 4, 8, 15} : std::vector{15}) {
                    const auto dtype = [&](int bit) { return (narrow >> bit & 1) != 0 ? low : f32; };
                    const Tensor x = cast(test::random_tensor({7, columns}, 1, -3, 3), dtype(0)),
                                 dy = cast(test::random_tensor({7, columns}, 2, -1, 1), dtype(1)),
                                 weight = test::random_tensor({columns}, 3, 0.5, 1.5);
                    const auto gradients = [&](const Tensor& wide, const Tensor& wide_dy, const Tensor& w) {
                        Variable v(wide), u(w);
                        const Tensor y = kernel.f(v, u);
                        std::vector<Tensor> all =
                            grad({y}, {v, u}, {.allow_unused = true, .cotangents = {wide_dy}});
                        all.push_back(y.detach());
                        return all;
                    };
                    const auto results = [&](const std::vector<Tensor>& all) {
                        std::vector<Tensor> out{cast(all[0], dtype(2)), cast(all[2], dtype(3))};
                        if (all[1].defined()) out.push_back(all[1]);
                        return out;
                    };
                    const Program joined = record(
                        [&](const Tensor& in, const Tensor& in_dy, const Tensor& w) {
                            return results(gradients(cast(in, f32), cast(in_dy, f32), w));
                        },
                        {spec({7, columns}, x.dtype()), spec({7, columns}, dy.dtype()), spec({columns})});
                    const std::vector<Tensor> got = joined.call({x, dy, weight});
                    const Tensor wide = cast(x, f32), wide_dy = cast(dy, f32);
                    wide.eval();
                    wide_dy.eval();
                    const std::vector<Tensor> apart = gradients(wide, wide_dy, weight);
                    for (const Tensor& t : apart)
                        if (t.defined()) t.eval();
                    const std::vector<Tensor> want = results(apart);
                    ASSERT_EQ(got.size(), want.size());
                    for (std::size_t i = 0; i < got.size(); ++i)
                        EXPECT_EQ(bits(got[i]), bits(want[i]))
                            << kernel.name << " " << low << " " << columns << " " << narrow << " " << i;
                }
}

// A step reads a gradient of 16 bits that was cast to f32.
TEST(Conversions, OfGradientsHaveTheBitsOfCasts)
{
    for (const DType low : {f16, bf16}) {
        const Tensor g = cast(test::random_tensor({5, 13}, 1, -1, 1), low),
                     p = test::random_tensor({5, 13}, 2), m = test::random_tensor({5, 13}, 3),
                     v = test::random_tensor({5, 13}, 4, 0, 1);
        const auto next = [](const Tensor& gradient, const Tensor& param, const Tensor& first,
                             const Tensor& second) {
            return adam_step(param, gradient, {first, second}, {.step_size = 0.1});
        };
        const Program joined = record([&](const Tensor& a, const Tensor& b, const Tensor& c,
                                          const Tensor& d) { return next(cast(a + 0, f32), b, c, d); },
                                      {spec({5, 13}, low), spec({5, 13}), spec({5, 13}), spec({5, 13})});
        const Tensor wide = cast(g, f32);
        wide.eval();
        const std::vector<Tensor> want = next(wide, p, m, v), got = joined.call({g, p, m, v});
        for (std::size_t i = 0; i < want.size(); ++i)
            EXPECT_EQ(bits(got[i]), bits(want[i])) << low << " " << i;
    }
}

// The pass that removes a scale reads gradients of 16 bits that were cast to f32, also infinite ones.
TEST(Conversions, OfScaledGradientsHaveTheBitsOfCasts)
{
    for (const DType low : {f16, bf16})
        for (const float last : {1.0f, std::numeric_limits<float>::infinity()}) {
            std::vector<float> values = test::random_tensor({5000}, 1, -1, 1).to_vector<float>();
            values.back() = last;
            const Tensor g = cast(from_vector(values, {5000}), low), factor = full({}, 0.125);
            const auto unscaled = [](const Tensor& gradient, const Tensor& by) {
                const Unscaled u = unscale({gradient, gradient * 2}, by);
                return std::vector{u.gradients[0], u.gradients[1], u.nonfinite};
            };
            const std::vector<Tensor> got =
                record([&](const Tensor& a, const Tensor& b) { return unscaled(cast(a + 0, f32), b); },
                       {spec({5000}, low), spec({})})
                    .call({g, factor});
            const Tensor wide = cast(g, f32);
            wide.eval();
            const std::vector<Tensor> want = unscaled(wide, factor);
            for (std::size_t i = 0; i < want.size(); ++i)
                EXPECT_EQ(bits(got[i]), bits(want[i])) << low << " " << i;
            EXPECT_EQ(got[2].item<float>(), last == 1 ? 0.0f : 1.0f);
        }
}

// A sum reads the narrow elements of a cast, and stores its result narrow: of rows, of columns, in one part and in
// many.
TEST(Conversions, OfSumsHaveTheBitsOfCasts)
{
    struct Case {
        Shape shape;
        std::vector<std::int64_t> dims;
    };
    const std::vector<Case> cases{{{40, 24}, {0}},      {{40, 24}, {1}}, {{6000, 8}, {0}}, {{3, 6000}, {1}},
                                  {{5, 12, 8}, {0, 1}}, {{9, 7}, {0}},   {{0, 8}, {0}}};
    for (const Case& c : cases)
        for (const DType low : {f16, bf16}) {
            const Tensor x = cast(test::random_tensor(c.shape, 1, -1, 1), low);
            const auto sums = [&](const Tensor& in) {
                return std::vector<Tensor>{sum(cast(in, f32), c.dims),
                                           cast(sum(cast(in, f32) * 3, c.dims), low)};
            };
            const std::vector<Tensor> got = record(sums, {spec(c.shape, low)}).call({x});
            const Tensor wide = cast(x, f32), product = wide * 3;
            wide.eval();
            product.eval();
            Tensor first = sum(wide, c.dims), second = sum(product, c.dims);
            first.eval();
            second.eval();
            EXPECT_EQ(bits(got[0]), bits(first)) << low << " " << c.shape.size() << " " << c.dims[0];
            EXPECT_EQ(bits(got[1]), bits(cast(second, low)))
                << low << " " << c.shape.size() << " " << c.dims[0];
        }
}

} // namespace
} // namespace reprise
