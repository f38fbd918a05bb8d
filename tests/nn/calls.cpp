// Calls of several arguments and results: one syntax, with hooks, checkpoints and places.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace {

using namespace reprise;
using test::bits;
using test::floats;
using testing::ElementsAre;
using testing::HasSubstr;
using Tensors = std::vector<Tensor>;

Tensor of(std::vector<float> v) { return from_vector(v); }

struct Both {
    Tensor sum{};
    std::pair<Tensor, Tensor> scaled{};
};
// Of a user, with a structure as its result.
struct Mix : nn::ModuleOf<Both(Tensor, std::vector<Tensor>, double)> {
    Both forward(Tensor a, std::vector<Tensor> others, double factor) override
    {
        Tensor total = a;
        for (const Tensor& t : others) total = total + t;
        return {total, {a * factor, total * factor}};
    }
};

TEST(ModuleCall, FindsTheTensorsOfStructures)
{
    Mix mix;
    std::vector<std::size_t> seen;
    mix.register_forward_pre_hook([&](nn::Module& m, const Tensors& in) {
        EXPECT_EQ(&m, &mix);
        seen.push_back(in.size());
        return Tensors{in[0] * 10, Tensor(), in[2] + 1};
    });
    mix.register_forward_hook([&](nn::Module&, const Tensors& in, const Tensors& out) {
        seen.insert(seen.end(), {in.size(), out.size()});
        EXPECT_THAT(floats(in[0]), ElementsAre(10));
        return Tensors{Tensor(), out[1] + 0.5};
    });
    const auto [sum, scaled] = mix(of({1}), {of({2}), of({3})}, 2);
    EXPECT_THAT(seen, ElementsAre(3, 3, 3));
    EXPECT_THAT(floats(sum), ElementsAre(10 + 2 + 4));
    EXPECT_THAT(floats(scaled.first), ElementsAre(20.5));
    EXPECT_THAT(floats(scaled.second), ElementsAre(32));
}

TEST(ModuleCall, HooksOfOneTensorSeeTheFirstAndMayGiveNothing)
{
    nn::LSTM lstm(2, 3);
    int calls = 0;
    lstm.register_forward_pre_hook([&](nn::Module&, const Tensor& in) {
        EXPECT_EQ(in.shape(), (Shape{4, 1, 2}));
        ++calls;
    });
    lstm.register_forward_hook([&](nn::Module&, const Tensor& in, const Tensor& out) {
        EXPECT_EQ(in.shape(), (Shape{4, 1, 2}));
        EXPECT_EQ(out.shape(), (Shape{4, 1, 3}));
        ++calls;
        return out * 0;
    });
    lstm(ones({4, 1, 2}));
    const auto [out, state] = lstm(ones({4, 1, 2}), {zeros({1, 1, 3}), ones({1, 1, 3})});
    EXPECT_EQ(calls, 4);
    EXPECT_THAT(floats(out), testing::Each(0.0f));
    EXPECT_EQ(std::get<1>(state).shape(), (Shape{1, 1, 3}));
}

TEST(ModuleCall, RefusesMoreTensorsThanThereAre)
{
    nn::ReLU relu;
    relu.register_forward_hook([](nn::Module&, const Tensors&, const Tensors& out) {
        return Tensors{out[0], out[0]};
    });
    const Caught caught = error_of([&] { relu(of({1})); });
    EXPECT_EQ(caught.kind, ErrorKind::argument);
    EXPECT_THAT(caught.text,
                HasSubstr("[register_forward_hook] The hook gave (2) tensors where there are (1)"));
}

struct Product : nn::ModuleOf<std::pair<Tensor, Tensor>(Tensor, Tensor)> {
    std::pair<Tensor, Tensor> forward(Tensor a, Tensor b) override { return {a * b, a + b}; }
};

TEST(ModuleCall, BackwardHooksSeeAllGradientsAtOnce)
{
    Product product;
    int calls = 0;
    const HookHandle hook =
        product.register_full_backward_hook([&](nn::Module&, const Tensors& in, const Tensors& out) {
            ++calls;
            EXPECT_EQ(in.size(), 2u);
            EXPECT_THAT(floats(in[0]), ElementsAre(3 * 5 + 7));
            EXPECT_THAT(floats(in[1]), ElementsAre(3 * 2 + 7));
            EXPECT_THAT(floats(out[0]), ElementsAre(3));
            EXPECT_THAT(floats(out[1]), ElementsAre(7));
            return Tensors{Tensor(), in[1] * 10};
        });
    Variable a(of({2})), b(of({5}));
    const auto run = [&] {
        a.zero_grad();
        b.zero_grad();
        const auto [p, s] = product(a, b);
        sum(p * 3 + s * 7).backward();
    };
    run();
    EXPECT_EQ(calls, 1);
    EXPECT_THAT(floats(a.grad()), ElementsAre(22));
    EXPECT_THAT(floats(b.grad()), ElementsAre(130));
    hook.remove();
    run();
    EXPECT_EQ(calls, 1);
    EXPECT_THAT(floats(b.grad()), ElementsAre(13));
}

TEST(ModuleCall, BackwardHooksGetZerosByOutputsThatAreNotUsedAndNothingByInputsThatNeedNone)
{
    Product product;
    int calls = 0;
    product.register_full_backward_hook([&](nn::Module&, const Tensors& in, const Tensors& out) {
        ++calls;
        EXPECT_FALSE(in[0].defined());
        EXPECT_THAT(floats(in[1]), ElementsAre(2));
        EXPECT_THAT(floats(out[1]), ElementsAre(0));
    });
    Variable b(of({5}));
    sum(product(of({2}), b).first).backward();
    EXPECT_EQ(calls, 1);
    EXPECT_THAT(floats(b.grad()), ElementsAre(2));
}

TEST(ModuleCall, ARecordedCallHasItsHooksInside)
{
    Product product;
    int calls = 0;
    product.register_forward_hook([&](nn::Module&, const Tensors&, const Tensors& out) {
        ++calls;
        return Tensors{out[0] + 1};
    });
    product.register_full_backward_hook([](nn::Module&, const Tensors& in, const Tensors&) {
        return Tensors{in[0] * 2, Tensor()};
    });
    Variable w(of({3}));
    const auto f = record(
        [&](Tensor x) {
            w.zero_grad();
            const auto [p, s] = product(expand(w, {x.size(0)}), x);
            sum(p + s).backward();
            return std::pair(p, w.grad());
        },
        {spec({symbol("n")})});
    for (const std::vector<float>& v : {std::vector<float>{2}, {4, 1}}) {
        const auto [p, g] = f(of(v));
        EXPECT_EQ(floats(p)[0], 3 * v[0] + 1);
        float slope = 0;
        for (const float x : v) slope += 2 * (x + 1);
        EXPECT_THAT(floats(g), ElementsAre(slope));
    }
    EXPECT_EQ(calls, 1);
}

// ---- checkpoints ----

// Whether the call ran as a checkpoint, and the gradients of all parameters.
template <class Call> std::pair<bool, std::vector<test::Bits>> run(nn::Module& net, const Call& call)
{
    bool inside = false;
    const HookHandle hook = net.register_forward_hook(
        [&](nn::Module&, const Tensor&, const Tensor&) { inside = is_checkpointing(); });
    net.zero_grad();
    manual_seed(5);
    call().backward();
    hook.remove();
    std::vector<test::Bits> gradients;
    for (const Variable& p : net.parameters()) gradients.push_back(bits(p.grad()));
    return {inside, gradients};
}

template <class Call> void expect_checkpoint(nn::Module& net, const Call& call)
{
    const auto plain = run(net, call);
    net.set_checkpoint(CheckpointOptions{});
    const auto checkpointed = run(net, call);
    EXPECT_FALSE(plain.first);
    EXPECT_TRUE(checkpointed.first);
    EXPECT_EQ(plain.second, checkpointed.second);
    net.set_checkpoint(std::nullopt);
    EXPECT_FALSE(run(net, call).first);
}

TEST(ModuleCall, OfSeveralArgumentsIsACheckpoint)
{
    const Tensor x = test::random_tensor({5, 2, 4}, 1), h = test::random_tensor({1, 2, 4}, 2);
    nn::LSTM lstm(4, 4);
    expect_checkpoint(lstm, [&] {
        const auto [y, state] = lstm(x, {h, h});
        return sum(y * y) + sum(std::get<1>(state));
    });
    nn::GRU gru(4, 4);
    expect_checkpoint(gru, [&] { return sum(std::get<1>(gru(x, h))); });
    nn::RNN rnn(4, 4);
    expect_checkpoint(rnn, [&] { return sum(std::get<0>(rnn(x, h))); });
    const Tensor row = narrow(x, 0, 0, 1), one = reshape(row, {2, 4}), first = reshape(h, {2, 4});
    nn::LSTMCell lstm_cell(4, 4);
    expect_checkpoint(lstm_cell, [&] { return sum(std::get<0>(lstm_cell(one, {first, first}))); });
    nn::GRUCell gru_cell(4, 4);
    expect_checkpoint(gru_cell, [&] { return sum(gru_cell(one, first)); });
    nn::RNNCell rnn_cell(4, 4);
    expect_checkpoint(rnn_cell, [&] { return sum(rnn_cell(one, first)); });
    nn::MultiheadAttention attention(4, 2, {.dropout = 0.5});
    expect_checkpoint(attention, [&] { return sum(std::get<0>(attention(x, x, x, {.is_causal = true}))); });
    nn::TransformerEncoderLayer layer(4, 2, {.dim_feedforward = 8});
    expect_checkpoint(layer, [&] { return sum(layer(x, {.is_causal = true}) * x); });
}

TEST(ModuleCall, LossesAndRotationsHaveHooks)
{
    int calls = 0;
    const auto count = [&](nn::Module&, const Tensors& in, const Tensors& out) {
        calls += static_cast<int>(10 * in.size() + out.size());
    };
    nn::MSELoss loss;
    loss.register_forward_hook(count);
    loss(ones({2}), zeros({2}));
    EXPECT_EQ(calls, 21);
    nn::CosineEmbeddingLoss cosine;
    cosine.register_forward_hook(count);
    cosine(ones({2, 3}), ones({2, 3}), ones({2}));
    EXPECT_EQ(calls, 21 + 31);
    nn::RotaryEmbedding rotate(4);
    rotate.register_forward_hook(count);
    rotate(ones({2, 3, 4}), 7);
    EXPECT_EQ(calls, 21 + 31 + 11);
}

TEST(ModuleCall, AnomaliesAreInTheCallersLine)
{
    struct Root : nn::ModuleOf<Tensor(Tensor, Tensor)> {
        Tensor forward(Tensor a, Tensor b) override { return sqrt(a) + b; }
    } root;
    const detect_anomaly watch;
    const auto line = std::source_location::current().line() + 1;
    const Caught e = error_of([&] { root(of({-1}), of({1})); });
    EXPECT_THAT(e.text, HasSubstr("calls.cpp:" + std::to_string(line)));
}

TEST(ModuleCall, AHookOfAModuleThatIsGoneDoesNotRun)
{
    int calls = 0;
    Variable x(of({2}));
    Tensor y;
    {
        nn::ReLU relu;
        relu.register_full_backward_hook([&](nn::Module&, const Tensor&, const Tensor&) { ++calls; });
        y = relu(x);
        nn::ReLU moved = std::move(relu);
        sum(y).backward({}, {.retain_graph = true});
        EXPECT_EQ(calls, 1);
    }
    sum(y).backward();
    EXPECT_EQ(calls, 1);
    EXPECT_THAT(floats(x.grad()), ElementsAre(2));
}

// ---- records take and give structs ----

struct Pair {
    Tensor a, b;
};

TEST(Structures, MayBeStructs)
{
    const Dim n = symbol("n");
    const auto f = record(
        [](Pair p) {
            return Both{p.a + p.b, {p.a, p.b * 2}};
        },
        {std::vector<Spec>{spec({n}), spec({n})}});
    const Both got = f({of({1, 2}), of({3, 4})});
    EXPECT_THAT(floats(got.sum), ElementsAre(4, 6));
    EXPECT_THAT(floats(got.scaled.second), ElementsAre(6, 8));
}

} // namespace
