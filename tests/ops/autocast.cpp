// What a guard of autocast reaches, and what its casts do to gradients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>

#include <reprise/autocast.hpp>
#include <reprise/autograd.hpp>
#include <reprise/autograd/checkpoint.hpp>
#include <reprise/nn.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "ops/dtypes_of.hpp"
#include "ops/near.hpp"
#include "shape/error_of.hpp"
#include "support/devices.hpp"
#include "testing/op_suite.hpp"
#include "testing/use_device.hpp"

namespace reprise::test {
namespace {

using nn::LSTMState;
using testing::HasSubstr;

// The dtypes in which a product of f32 matrices is computed, here.
DType of_product()
{
    const Tensor x = ones({2, 2}, {.device = Device("reference")});
    return matmul(x, x).dtype();
}

TEST(Autocast, CountsTheInnermostGuard)
{
    EXPECT_FALSE(autocast_enabled());
    EXPECT_EQ(of_product(), f32);
    {
        const autocast outer(bf16);
        EXPECT_TRUE(autocast_enabled());
        EXPECT_EQ(autocast_dtype(), bf16);
        EXPECT_EQ(of_product(), bf16);
        {
            const autocast inner(f16);
            EXPECT_EQ(of_product(), f16);
            const autocast off(bf16, false);
            EXPECT_EQ(of_product(), f32);
        }
        EXPECT_EQ(of_product(), bf16);
    }
    EXPECT_EQ(of_product(), f32);
    auto product = autocasted([](const Tensor& x) { return matmul(x, x); }, f16);
    EXPECT_EQ(product(ones({2, 2})).dtype(), f16);
    auto recorded = record(autocasted([](Tensor x) { return matmul(x, x); }), {spec({2, 2})});
    EXPECT_EQ(recorded(ones({2, 2})).dtype(), bf16);
    EXPECT_FALSE(autocast_enabled());
}

TEST(Autocast, TakesDtypesOf16BitsOnly)
{
    for (const DType t : {f32, f64, i32, boolean})
        EXPECT_THAT(error_of([&] { return autocast(t), 0; }).text, HasSubstr("f16 or bf16")) << name_of(t);
    EXPECT_FALSE(autocast_enabled());
}

TEST(Autocast, LeavesDoublesAndIntegersAlone)
{
    const autocast guard(bf16);
    const Device host("reference");
    const Tensor d = ones({2, 2}, {.dtype = f64, .device = host});
    EXPECT_EQ(matmul(d, d).dtype(), f64);
    EXPECT_EQ(exp(d).dtype(), f64);
    EXPECT_EQ(sum(ones({2}, {.dtype = i32, .device = host})).dtype(), i64);
    EXPECT_EQ(softmax(ones({2, 2}, {.dtype = bf16, .device = host}), 1, f16).dtype(), f16);
}

// The cast of a bias, too: a sum of bf16 and f32 would be f32.
TEST(Autocast, GivesGradientsOfTheDtypeOfTheirLeaves)
{
    const Variable w(random_tensor({4, 3}, 1)), b(random_tensor({4}, 2)), x(random_tensor({5, 3}, 3));
    Tensor loss;
    {
        const autocast guard(bf16);
        const Tensor y = linear(x, w, b);
        EXPECT_EQ(y.dtype(), bf16);
        loss = mse_loss(y, zeros({5, 4}));
        EXPECT_EQ(loss.dtype(), f32);
    }
    loss.backward();
    for (const Variable& v : {w, b, x}) EXPECT_EQ(v.grad().dtype(), f32);
    // by hand
    const Tensor xb = cast(x.detach(), bf16), wb = cast(w.detach(), bf16), bb = cast(b.detach(), bf16);
    const Tensor y = linear(xb, wb, bb), dy = cast(cast(y, f32) * (2.0 / 20), bf16);
    EXPECT_EQ(bits(w.grad()), bits(cast(matmul(dy.t(), xb), f32)));
    EXPECT_EQ(bits(x.grad()), bits(cast(matmul(dy, wb), f32)));
    EXPECT_EQ(bits(b.grad()), bits(cast(sum(dy, {0}), f32)));
}

// A weight in two products, and several backward passes within one guard.
TEST(Autocast, AddsGradientsOfSeveralBackwardPasses)
{
    Variable w(random_tensor({3, 3}, 1));
    const Tensor x = random_tensor({3, 3}, 2);
    const auto loss = [&] { return sum(matmul(matmul(x, w), w)); };
    const auto gradient = [&](const std::function<void()>& pass) {
        w.zero_grad();
        pass();
        return w.grad().to_vector<float>();
    };
    std::vector<float> once = gradient([&] {
        const autocast guard(bf16);
        loss().backward();
    });
    for (float& g : once) g *= 2;
    EXPECT_EQ(once, gradient([&] {
                  const autocast guard(bf16);
                  loss().backward();
                  loss().backward();
              }));
    EXPECT_EQ(once, gradient([&] {
                  Tensor a, b;
                  {
                      const autocast guard(bf16);
                      a = loss();
                      b = loss();
                  }
                  a.backward();
                  b.backward();
              }));
}

// The number of launches that read the state of a program that has one tensor of state.
std::size_t reads_of_state(const Program& p)
{
    std::istringstream text(p.text());
    std::string line, state;
    std::size_t count = 0;
    while (std::getline(text, line)) {
        if (line.starts_with("state ")) state = line.substr(6, line.find(' ', 6) - 6);
        if (!line.starts_with("  ")) continue;
        for (const char* before : {"(", ", "})
            if (line.find(before + state + ",") != std::string::npos) ++count;
    }
    return count;
}

TEST(Autocast, CastsAWeightOncePerStep)
{
    const Tensor w = random_tensor({8, 8}, 1);
    const auto uses = [&w](std::initializer_list<DType> dtypes) {
        return record(
            [&](Tensor x) {
                for (const DType t : dtypes) {
                    const autocast guard(t);
                    x = linear(x, w);
                }
                return x;
            },
            {spec({symbol("n"), 8})});
    };
    const std::size_t once = reads_of_state(uses({bf16}));
    EXPECT_GE(once, 1u);
    EXPECT_EQ(reads_of_state(uses({bf16, bf16, bf16})), once);
    const Tensor x = random_tensor({3, 8}, 2);
    const Tensor first = linear(cast(x, bf16), cast(w, bf16));
    EXPECT_EQ(bits(uses({bf16, f16})(x)), bits(linear(cast(first, f16), cast(w, f16))));
}

// A temporary that is widened and narrowed back stays where it is; one of another dtype, or a part of one, is cast.
TEST(Autocast, CastsBackWithoutALaunch)
{
    const auto program = [](DType t, Tensor (*between)(const Tensor&, DType)) {
        return record([=](Tensor x) { return matmul(between(matmul(x, x), t), x); }, {spec({8, 8}, bf16)});
    };
    const auto unchanged = [](const Tensor& h, DType) { return h; };
    const auto back = [](const Tensor& h, DType t) { return cast(cast(cast(h, f32), t), bf16); };
    const auto part_back = [](const Tensor& h, DType t) {
        const Tensor half = cast(cast(h.narrow(1, 0, 4), f32), t);
        return cat({half, half}, 1);
    };
    const Tensor x = cast(random_tensor({8, 8}, 3), bf16), h = matmul(x, x);
    EXPECT_EQ(program(bf16, back).launches(), program(bf16, unchanged).launches());
    EXPECT_EQ(bits(program(bf16, back)(x)), bits(matmul(h, x)));
    EXPECT_EQ(bits(program(f16, back)(x)), bits(matmul(cast(cast(h, f16), bf16), x)));
    EXPECT_EQ(bits(program(bf16, part_back)(x)),
              bits(matmul(cat({h.narrow(1, 0, 4), h.narrow(1, 0, 4)}, 1), x)));
}

// A row that is cast back does not keep the temporary of which it is a part.
TEST(Autocast, CastsBackAPartToMemoryOfItsOwn)
{
    const Program p = record([](Tensor x) { return cast(cast(matmul(x, x).narrow(0, 0, 1), f32), bf16); },
                             {spec({64, 64}, bf16)});
    EXPECT_EQ(p.memory({}).outputs, 256u);
}

// The outputs of a checkpoint that are casts of each other: values and gradients are those without a checkpoint.
TEST(Autocast, CastsBackWithinACheckpoint)
{
    const Tensor x = random_tensor({4, 4}, 5);
    const auto gradient = [&x](bool checkpointed) {
        const auto step = [=](Tensor in) {
            const Tensor leaf = in.detach().requires_grad_();
            const auto f = [](const Tensor& v) {
                const Tensor h = matmul(cast(v, bf16), cast(v, bf16)), w = cast(exp(h), f32);
                return std::vector<Tensor>{w, cast(w, bf16)};
            };
            const std::vector<Tensor> y = checkpointed ? checkpoint(f, leaf) : f(leaf);
            const Tensor loss = sum(y[0] * y[0]) + sum(cast(matmul(y[1], y[1]), f32));
            return grad(loss, leaf);
        };
        return bits(record(step, {spec({4, 4})})(x));
    };
    EXPECT_EQ(gradient(true), gradient(false));
}

TEST(Autocast, CastsAWeightAgainAfterItChanged)
{
    const auto step = [](Tensor w) {
        return [w](Tensor x) mutable {
            const autocast guard(bf16);
            x = linear(x, w);
            w.mul_(0.5);
            return linear(x, w);
        };
    };
    const Tensor x = random_tensor({3, 8}, 2);
    const Tensor eager = step(random_tensor({8, 8}, 1))(x);
    EXPECT_EQ(bits(record(step(random_tensor({8, 8}, 1)), {spec({3, 8})})(x)), bits(eager));
    const Tensor w = cast(random_tensor({8, 8}, 1), bf16);
    EXPECT_EQ(bits(eager), bits(linear(linear(cast(x, bf16), w), w * 0.5)));
}

// Two steps each, the second from the state of the first, with an input in f32 and in the dtype of the guard.
TEST(Autocast, OfRecurrentLayersIsLow)
{
    const autocast guard(bf16);
    for (const DType dtype : {f32, bf16}) {
        const Tensor x = cast(random_tensor({4, 2, 3}, 1), dtype),
                     one = cast(random_tensor({2, 3}, 2), dtype);
        nn::RNN rnn(3, 5);
        nn::GRU gru(3, 5);
        nn::LSTM lstm(3, 5);
        nn::RNNCell cell(3, 5);
        nn::GRUCell gated(3, 5);
        nn::LSTMCell with_memory(3, 5);
        Tensor h, g;
        LSTMState state;
        for (int step = 0; step < 2; ++step) {
            h = std::get<1>(rnn(x, h));
            g = std::get<1>(gru(x, g));
            state = std::get<1>(lstm(x, state));
            EXPECT_EQ(dtypes_of({h, g, std::get<0>(state), std::get<1>(state)}), std::vector<DType>(4, bf16));
        }
        Tensor of_cell, of_gated;
        LSTMState memory;
        for (int step = 0; step < 2; ++step) {
            of_cell = cell(one, of_cell);
            of_gated = gated(one, of_gated);
            memory = with_memory(one, memory);
            EXPECT_EQ(dtypes_of({of_cell, of_gated, std::get<0>(memory), std::get<1>(memory)}),
                      std::vector<DType>(4, bf16));
        }
    }
}

TEST(Autocast, OfLossesIsF32)
{
    namespace F = nn::functional;
    const autocast guard(f16);
    const Tensor x = cast(random_tensor({4, 3}, 1, 0.1, 0.9), f16),
                 y = cast(random_tensor({4, 3}, 2, 0.1, 0.9), f16), z = cast(random_tensor({4, 3}, 3), f16);
    const Tensor classes = remainder(arange(4), 3.0);
    for (const Tensor& loss :
         {F::margin_ranking_loss(x, y, z), F::hinge_embedding_loss(x, y), F::soft_margin_loss(x, y),
          F::triplet_margin_loss(x, y, z), F::poisson_nll_loss(x, y), F::gaussian_nll_loss(x, y, x),
          F::multi_margin_loss(x, classes), F::multilabel_soft_margin_loss(x, y), bce_loss(x, y),
          bce_with_logits_loss(x, y), kl_div(x, y), cross_entropy(x, classes)})
        EXPECT_EQ(loss.dtype(), f32);
    // The difference's square would be infinite in f16.
    const Tensor far = full({1}, 300, {.dtype = f16}), zero = zeros({1}, {.dtype = f16});
    EXPECT_EQ(mse_loss(far, zero).item<float>(), 90000);
    EXPECT_EQ(F::gaussian_nll_loss(far, zero, ones({1}, {.dtype = f16})).item<float>(), 45000);
}

TEST(Autocast, KeepsNumbersAndDtypesThatAreGiven)
{
    const Tensor x = full({1}, 8, {.dtype = bf16});
    const autocast guard(bf16);
    EXPECT_EQ(pow(x, 1.0 / 3).item<float>(), pow(full({1}, 8), 1.0 / 3).item<float>());
    EXPECT_EQ(nn::functional::softmax(x, nn::functional::SoftmaxFuncOptions(0).dtype(f16)).dtype(), f16);
    EXPECT_EQ(linalg_vector_norm(x, 2, {}, false, f16).dtype(), f16);
    Tensor total = full({1, 1}, 1 + 0x1p-20F);
    total.addmm_(zeros({1, 2}), zeros({2, 1})); // in place nothing is cast
    EXPECT_EQ(total.item<float>(), 1 + 0x1p-20F);
    EXPECT_EQ(
        addcmul(ones({1}), full({1}, 300, {.dtype = f16}), full({1}, 300, {.dtype = f16})).item<float>(),
        90001);
}

TEST(Autocast, EndsWhereAnErrorIsThrown)
{
    const Tensor x = ones({2, 3});
    EXPECT_EQ(error_of([&] {
                  const autocast guard(bf16);
                  return matmul(x, x);
              }).kind,
              ErrorKind::shape);
    EXPECT_FALSE(autocast_enabled());
    EXPECT_EQ(of_product(), f32);
}

// Whether the backward pass runs within a guard does not matter.
TEST(Autocast, DoesNotReachGradients)
{
    const auto gradient = [](bool within) {
        const Variable w(random_tensor({4, 3}, 1));
        Tensor loss;
        {
            const autocast guard(bf16);
            loss = sum(softmax(matmul(w, random_tensor({3, 4}, 2)), 1) * random_tensor({4, 4}, 3));
        }
        const autocast guard(f16, within);
        loss.backward();
        return bits(w.grad());
    };
    EXPECT_EQ(gradient(false), gradient(true));
}

// Each casts its arguments as a product does, in its backward function, too; without the guard there, products of bf16
// and f32 would be refused.
TEST(Autocast, OfACustomFunctionReachesItsBackward)
{
    const CustomFunction product(
        "product",
        [](FunctionContext& c, const std::vector<Tensor>& in) {
            c.save_for_backward(in);
            return std::vector{matmul(in[0], in[1])};
        },
        [](const FunctionContext& c, const std::vector<Tensor>& dy) {
            return std::vector{matmul(dy[0], c.saved(1).t()), matmul(c.saved(0).t(), dy[0])};
        });
    const auto gradients = [&](bool custom, bool recorded, bool within) {
        Variable w(random_tensor({3, 4}, 2));
        const auto step = [&](const std::vector<Tensor>& in) {
            w.zero_grad();
            Tensor loss;
            {
                const autocast guard(bf16);
                const Tensor y = custom ? product(in[0], w) : matmul(in[0], w);
                EXPECT_EQ(y.dtype(), bf16);
                loss = sum(softmax(y, 1) * random_tensor({4}, 3));
                if (within) loss.backward();
            }
            if (!within) loss.backward();
            return std::vector{loss};
        };
        Program program;
        if (recorded) program = record_function(step, {spec({symbol("batch"), 3})}, {.keep_grads = true});
        std::vector<std::vector<std::byte>> out;
        for (const std::int64_t size : {5, 2}) {
            const std::vector<Tensor> in{random_tensor({size, 3}, 1)};
            (recorded ? program.call(in) : step(in))[0].eval();
            EXPECT_EQ(w.grad().dtype(), f32);
            out.push_back(bits(w.grad()));
        }
        return out;
    };
    const auto want = gradients(false, false, false);
    for (const bool recorded : {false, true})
        for (const bool within : {false, true})
            EXPECT_EQ(gradients(true, recorded, within), want) << recorded << within;
}

// Its forward function computes in the dtypes of its arguments, but its backward function in those of the guard.
TEST(Autocast, OfAProgramWithACustomFunctionIsThatOfItsRecording)
{
    const CustomFunction twice(
        "twice", [](FunctionContext&, const std::vector<Tensor>& in) { return std::vector{in[0] * 2}; },
        [](const FunctionContext&, const std::vector<Tensor>& dy) {
            return std::vector{matmul(dy[0], ones({3, 3}))};
        });
    Variable w(random_tensor({2, 3}, 1));
    Program program;
    {
        const autocast outside(bf16);
        program = record(
            [&](Tensor x) {
                w.zero_grad();
                const Tensor y = mean(twice(w) * x);
                y.backward();
                return y;
            },
            {spec({2, 3})});
        program.call({ones({2, 3})})[0].eval();
    }
    EXPECT_EQ(error_of([&] { return program.call({ones({2, 3})}); }).kind, ErrorKind::state);
}

// The guard is around the checkpoint, in it, or both; its recomputation casts as the forward pass did.
TEST(Autocast, OfACheckpointEqualsTheFunctionWithoutOne)
{
    const auto gradients = [](bool checkpoints, bool outer, bool inner) {
        const Variable w(random_tensor({4, 4}, 1)), x(random_tensor({3, 4}, 2));
        const auto f = [&](const Tensor& t) {
            const autocast guard(inner ? f16 : bf16, inner || (outer && autocast_enabled()));
            return sum(softmax(matmul(gelu(matmul(t, w)), w), 1) * random_tensor({3, 4}, 3));
        };
        Tensor loss;
        {
            const autocast guard(bf16, outer);
            loss = checkpoints ? checkpoint(f, x) : f(x);
        }
        loss.backward();
        return std::vector{bits(w.grad()), bits(x.grad())};
    };
    for (const bool outer : {false, true})
        for (const bool inner : {false, true})
            EXPECT_EQ(gradients(true, outer, inner), gradients(false, outer, inner)) << outer << inner;
}

TEST(Autocast, OfARecordedStepEqualsEagerCode)
{
    const auto train = [](bool recorded) {
        manual_seed(7);
        nn::Sequential net(nn::Linear(6, 8), nn::BatchNorm1d(8), nn::GELU(), nn::Linear(8, 3));
        const auto step = [&](const std::vector<Tensor>& in) {
            Tensor loss;
            {
                const autocast guard(bf16);
                loss = cross_entropy(checkpoint([&](Tensor x) { return net(x); }, in[0]), in[1]);
            }
            net.zero_grad();
            loss.backward();
            return std::vector{loss};
        };
        Program program;
        const Dim batch = symbol("batch");
        if (recorded)
            program = record_function(step, {spec({batch, 6}), spec({batch}, i32)}, {.keep_grads = true});
        std::vector<std::vector<std::byte>> out;
        for (const std::int64_t size : {4, 7}) {
            const std::vector<Tensor> in = {random_tensor({size, 6}, 5), remainder(arange(size), 3.0)};
            out.push_back(bits((recorded ? program.call(in) : step(in))[0]));
            for (const Variable& p : net.parameters()) out.push_back(bits(p.grad()));
        }
        return out;
    };
    EXPECT_EQ(train(true), train(false));
}

// A program is valid for the state that it was recorded in, unless it does not depend on it.
TEST(Autocast, OfAProgramIsThatOfItsRecording)
{
    const Tensor x = random_tensor({2, 2}, 1);
    const auto product = [](Tensor a) { return matmul(a, a); };
    {
        auto program = record(product, {spec({2, 2})});
        EXPECT_EQ(program(x).dtype(), f32);
        const autocast guard(bf16);
        EXPECT_THAT(error_of([&] { return program(x); }).text,
                    HasSubstr("recorded with autocast (off) and is called with autocast (bf16)"));
    }
    {
        auto program = [&] {
            const autocast guard(bf16);
            return record(product, {spec({2, 2})});
        }();
        EXPECT_THAT(error_of([&] { return program(x); }).text, HasSubstr("recorded with autocast (bf16)"));
        {
            const autocast guard(f16);
            EXPECT_THAT(error_of([&] { return program(x); }).text, HasSubstr("autocast (f16)"));
        }
        const autocast guard(bf16);
        EXPECT_EQ(program(x).dtype(), bf16);
        // A program around it depends on the guard, too.
        auto outer = record([&](Tensor a) { return program(a) + 1.0; }, {spec({2, 2})});
        const autocast off(bf16, false);
        EXPECT_THAT(error_of([&] { return outer(x); }).text, HasSubstr("recorded with autocast (bf16)"));
    }
    auto own = record(
        [&](Tensor a) {
            const autocast guard(bf16);
            return product(a);
        },
        {spec({2, 2})});
    auto none = record([](Tensor a) { return relu(a) + std(a) + exp(a) + sum(a); }, {spec({2, 2})});
    const autocast guard(f16);
    EXPECT_EQ(own(x).dtype(), bf16);
    EXPECT_EQ(none(x).dtype(), f32);
}

// Statistics and parameters in f32 with an input of 16 bits, as PyTorch has them.
TEST(Autocast, BatchNormKeepsItsParametersInF32)
{
    nn::BatchNorm2d plain(3, {.affine = false});
    for (const bool training : {true, false}) {
        plain.train(training);
        EXPECT_EQ(plain(cast(random_tensor({4, 3, 2, 2}, 1), bf16)).dtype(), bf16) << training;
    }
    nn::BatchNorm2d norm(3);
    const Tensor x = cast(random_tensor({4, 3, 2, 2}, 1), bf16);
    const Tensor y = norm(x);
    EXPECT_EQ(y.dtype(), bf16);
    EXPECT_EQ(norm.running_mean.dtype(), f32);
    nn::BatchNorm2d wide(3);
    EXPECT_EQ(bits(y), bits(cast(wide(cast(x, f32)), bf16)));
    EXPECT_EQ(bits(norm.running_var), bits(wide.running_var));
    norm.eval();
    wide.eval();
    EXPECT_EQ(bits(norm(x)), bits(cast(wide(cast(x, f32)), bf16)));
}

} // namespace
} // namespace reprise::test
