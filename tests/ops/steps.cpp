// sgd_step and adam_step against the formulas in double.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/reduce_tools.hpp"
#include "shape/error_of.hpp"
#include "support/devices.hpp"

namespace {

using namespace reprise;
using namespace reduce_tools;
using testing::HasSubstr;
using Doubles = std::vector<double>;

Doubles doubles(const Floats& v) { return {v.begin(), v.end()}; }

void expect_near(const Tensor& found, const Doubles& want)
{
    const Floats v = found.to_vector<float>();
    ASSERT_EQ(v.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_NEAR(v[i], want[i], 2e-6 * (1 + std::fabs(want[i]))) << i;
}

Tensor number(double v) { return from_vector(Floats{static_cast<float>(v)}); } // in memory
Tensor known(double v) { return full({}, v); }                                 // by the host

const std::vector<std::int64_t> sizes{1, 3, 4, 1000};

struct Sgd {
    double momentum, dampening, weight_decay;
    bool nesterov;
};

TEST(SgdStep, FollowsTheFormula)
{
    for (const Sgd& o : {Sgd{0, 0, 0, false}, Sgd{0, 0, 0.1, false}, Sgd{0.9, 0, 0, false},
                         Sgd{0.9, 0.3, 0.01, false}, Sgd{0.8, 0, 0.05, true}})
        for (const std::int64_t n : sizes) {
            Tensor p = drawn({n}, 1), v = drawn({n}, 2);
            Doubles want_p = doubles(numbers(n, 1)), want_v = doubles(numbers(n, 2));
            for (std::uint32_t step = 0; step < 3; ++step) {
                const Doubles g = doubles(numbers(n, 10 + step));
                const auto next = sgd_step(p, drawn({n}, 10 + step),
                                           o.momentum != 0 ? std::vector{v} : std::vector<Tensor>(),
                                           {.lr = step == 1 ? number(0.05) : known(0.05),
                                            .momentum = o.momentum,
                                            .share = 1 - o.dampening,
                                            .weight_decay = o.weight_decay,
                                            .nesterov = o.nesterov});
                p = next[0];
                if (o.momentum != 0) v = next[1];
                for (std::size_t i = 0; i < g.size(); ++i) {
                    double d = g[i] + o.weight_decay * want_p[i];
                    if (o.momentum != 0) {
                        want_v[i] = o.momentum * want_v[i] + (1 - o.dampening) * d;
                        d = o.nesterov ? d + o.momentum * want_v[i] : want_v[i];
                    }
                    want_p[i] -= 0.05 * d;
                }
            }
            expect_near(p, want_p);
            if (o.momentum != 0) expect_near(v, want_v);
        }
}

struct Adam {
    double beta1, beta2, weight_decay;
    bool decoupled;
};

TEST(AdamStep, FollowsTheFormula)
{
    for (const Adam& o : {Adam{0.9, 0.999, 0, false}, Adam{0.9, 0.99, 0.1, false},
                          Adam{0.9, 0.999, 0.1, true}, Adam{0.3, 0.9, 0, false}, Adam{0, 0, 0, false}})
        for (const std::int64_t n : sizes) {
            const auto count = static_cast<std::size_t>(n);
            Tensor p = drawn({n}, 1), m = zeros({n}), v = zeros({n});
            Doubles want_p = doubles(numbers(n, 1)), want_m(count), want_v(count);
            for (int step = 1; step <= 3; ++step) {
                const auto seed = static_cast<std::uint32_t>(step);
                const Doubles g = doubles(numbers(n, 10 + seed));
                const double c1 = 1 - std::pow(o.beta1, step), c2 = 1 - std::pow(o.beta2, step);
                const double rate = 0.01 / c1;
                const auto next = adam_step(p, drawn({n}, 10 + seed), {m, v},
                                            {.step_size = step == 2 ? number(rate) : known(rate),
                                             .share1 = 1 - o.beta1,
                                             .beta2 = o.beta2,
                                             .share2 = 1 - o.beta2,
                                             .root = step == 3 ? number(std::sqrt(c2)) : known(std::sqrt(c2)),
                                             .weight_decay = o.decoupled ? 0 : o.weight_decay,
                                             .kept = o.decoupled ? 1 - 0.01 * o.weight_decay : 1});
                p = next[0];
                m = next[1];
                v = next[2];
                for (std::size_t i = 0; i < count; ++i) {
                    const double d = g[i] + (o.decoupled ? 0 : o.weight_decay * want_p[i]);
                    if (o.decoupled) want_p[i] -= 0.01 * o.weight_decay * want_p[i];
                    want_m[i] = o.beta1 * want_m[i] + (1 - o.beta1) * d;
                    want_v[i] = o.beta2 * want_v[i] + (1 - o.beta2) * d * d;
                    want_p[i] -= 0.01 * (want_m[i] / c1) / (std::sqrt(want_v[i] / c2) + 1e-8);
                }
            }
            expect_near(p, want_p);
            expect_near(m, want_m);
            expect_near(v, want_v);
        }
}

// Averages of squares are never negative: where one is, there is no deviation, whatever the device's square root says.
TEST(AdamStep, OfANegativeSecondMomentIsNaN)
{
    const Tensor ones3 = ones({3});
    const auto next = adam_step(ones3, zeros({3}), {ones3, from_vector(Floats{-1, 0, 4})},
                                {.step_size = known(0.5),
                                 .share1 = 0.5,
                                 .beta2 = 1,
                                 .share2 = 0,
                                 .root = known(1),
                                 .eps = 0.25,
                                 .kept = 1});
    const Floats p = next[0].to_vector<float>();
    EXPECT_TRUE(std::isnan(p[0]));
    EXPECT_FLOAT_EQ(p[1], 0); // 1 - 0.5 * 0.5 / 0.25
    EXPECT_NEAR(p[2], 1 - 0.25 / 2.25, 1e-6);
}

TEST(SgdStep, TakesStridedGradients)
{
    const Tensor p = drawn({4, 6}, 1), g = drawn({6, 4}, 2).t();
    const Tensor found = sgd_step(p, g, {}, {.lr = known(0.5)})[0];
    expect_near(found, doubles((p - g * 0.5).to_vector<float>()));
}

// Kernels of each read the rate in a dtype of their own.
TEST(SgdStep, OfAnF64BesideAnF32Parameter)
{
    const device::Capabilities& c = test::inner(default_device()).capabilities();
    const auto wide = [](std::uint32_t seed) { return cast(drawn({5}, seed), f64); };
    if (!c.float64 && !c.host_kernels) {
        EXPECT_THROW(wide(1).eval(), Error);
        return;
    }
    const auto next = sgd_step({{drawn({3}, 1), drawn({3}, 2)}, {wide(3), wide(4)}}, {.lr = number(0.5)});
    expect_near(next[0][0], doubles((drawn({3}, 1) - drawn({3}, 2) * 0.5).to_vector<float>()));
    EXPECT_EQ(next[1][0].dtype(), f64);
    expect_near(cast(next[1][0], f32), doubles((drawn({5}, 3) - drawn({5}, 4) * 0.5).to_vector<float>()));
}

// The program updates its state in place and queries the learning rate at each call.
TEST(SgdStep, UpdatesAProgramsState)
{
    double lr = 0.1;
    Variable p(drawn({37}, 1), false), v(zeros({37}), false);
    const Program step = record(
        [&](Tensor g) {
            const auto next = sgd_step(p, g, {v}, {.lr = host_scalar([&] { return lr; }), .momentum = 0.9});
            p.assign(next[0]);
            v.assign(next[1]);
        },
        {spec({37})});
    Doubles want_p = doubles(numbers(37, 1)), want_v(37);
    for (const double rate : {0.1, 0.2, 0.05}) {
        lr = rate;
        step.call({drawn({37}, 5)});
        const Doubles g = doubles(numbers(37, 5));
        for (std::size_t i = 0; i < g.size(); ++i) {
            want_v[i] = 0.9 * want_v[i] + g[i];
            want_p[i] -= rate * want_v[i];
        }
    }
    expect_near(p, want_p);
    expect_near(v, want_v);
}

TEST(Steps, RefuseWhatDoesNotFit)
{
    const Tensor p = zeros({3}), lr = known(0.1);
    const Caught sizes_differ = error_of([&] { return sgd_step(p, zeros({4}), {}, {.lr = lr}); });
    EXPECT_EQ(sizes_differ.kind, ErrorKind::shape);
    EXPECT_THAT(sizes_differ.text, HasSubstr("[sgd_step] The grad is f32[4] but the param is f32[3]"));
    const Caught rates = error_of([&] { return sgd_step(p, p, {}, {.lr = zeros({2})}); });
    EXPECT_EQ(rates.kind, ErrorKind::shape);
    EXPECT_THAT(rates.text, HasSubstr("[sgd_step] The lr is f32[2]"));
    const Caught integers = error_of([&] {
        return adam_step(p, zeros({3}, {.dtype = i32}), {p, p}, {.step_size = lr});
    });
    EXPECT_EQ(integers.kind, ErrorKind::dtype);
}

} // namespace
