// Parameters in f16 and bf16 train: the step is computed in f32, state and parameter are rounded to the parameter's
// dtype.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include <reprise/reprise.hpp>

#include "optim/reference.hpp"

namespace {

using namespace reprise;

constexpr long long count = 7;

double epsilon(DType t) { return t == f16 ? 0x1p-11 : 0x1p-8; }

// Four steps; each rounds the parameter and its moments once.
template <class Reference, class Make> void follow(Reference want, const Make& make)
{
    for (const DType t : {f16, bf16}) {
        Reference eager = want;
        Variable p(cast(from_vector(initial(count)), t));
        for (const float v : cast(p, f32).to_vector<float>()) eager.p.push_back(v);
        Reference replayed = eager;
        const auto check = [&](const Reference& r, const char* what) {
            EXPECT_EQ(p.dtype(), t);
            const auto found = p.to_vector<float>();
            for (std::size_t i = 0; i < found.size(); ++i)
                EXPECT_NEAR(found[i], r.p[i], 8 * epsilon(t) * (1 + std::fabs(r.p[i])))
                    << what << ' ' << name_of(t) << ' ' << i;
        };
        const std::vector<float> start = p.to_vector<float>();
        const auto rounded = [&](int step) {
            return cast(cast(from_vector(gradient(count, step)), t), f32).to_vector<float>();
        };
        {
            const auto optimizer = make(p);
            for (int step = 0; step < 4; ++step) {
                p.set_grad(cast(from_vector(gradient(count, step)), t));
                optimizer->step();
                eager.step(rounded(step));
            }
            check(eager, "eager");
        }
        const std::vector<float> after = p.to_vector<float>();
        p.assign(cast(from_vector(start), t));
        const auto optimizer = make(p);
        const Program program = record(
            [&](Tensor g) {
                p.set_grad(g);
                optimizer->step();
                return g * 1;
            },
            {spec({count}, t)});
        for (int step = 0; step < 4; ++step) {
            static_cast<void>(program(cast(from_vector(gradient(count, step)), t)));
            replayed.step(rounded(step));
        }
        check(replayed, "recorded");
        EXPECT_EQ(p.to_vector<float>(), after) << name_of(t);
    }
}

TEST(HalfParameters, FollowSGD)
{
    const optim::SGD::Options o{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true};
    follow(SgdReference{.o = o},
           [&](const Variable& p) { return std::make_unique<optim::SGD>(std::vector<Variable>{p}, o); });
}

TEST(HalfParameters, FollowAdamW)
{
    const optim::Adam::Options o{.lr = 0.05, .eps = 1e-3, .weight_decay = 0.01};
    AdamReference want{.o = o};
    want.decoupled = true;
    follow(want, [&](const Variable& p) {
        return std::make_unique<optim::AdamW>(
            std::vector<Variable>{p},
            optim::AdamW::Options{
                .lr = o.lr, .betas = o.betas, .eps = o.eps, .weight_decay = o.weight_decay});
    });
}

// A net whose parameters, activations and gradients are bf16 learns.
TEST(HalfParameters, Train)
{
    manual_seed(1);
    Variable w1(cast(randn({4, 16}) * 0.5, bf16)), b1(zeros({16}, {.dtype = bf16})),
        w2(cast(randn({16, 1}) * 0.25, bf16));
    optim::SGD sgd({w1, b1, w2}, {.lr = 0.05, .momentum = 0.9});
    const Tensor x = cast(randn({64, 4}), bf16), y = tanh(sum(x, {1}, true) * 0.5);
    float first = 0, last = 0;
    for (int step = 0; step < 60; ++step) {
        sgd.zero_grad();
        const Tensor loss = mse_loss(matmul(tanh(matmul(x, w1) + b1), w2), y);
        loss.backward();
        EXPECT_EQ(w1.grad().dtype(), bf16);
        sgd.step();
        last = loss.item<float>();
        if (step == 0) first = last;
    }
    EXPECT_LT(last, 0.1F * first);
}

} // namespace
