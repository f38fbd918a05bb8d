// Truncated backpropagation through time: a program for one chunk of a sequence that carries its state from call
// to call, and gradients of chunks that add up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>

#include "shape/error_of.hpp"
#include "support/training.hpp"

namespace reprise {
namespace {

constexpr std::int64_t rows = 3, inputs = 4, hidden = 5;

// h' = tanh(x W + h U), over the steps that the chunk has.
struct Cell {
    Variable w{test::random_tensor({inputs, hidden}, 1)}, u{test::random_tensor({hidden, hidden}, 2)};
    Variable h{zeros({rows, hidden}), false};

    // The sum of squares of the state after each step.  The chunk's length is a number: its steps are unrolled.
    Tensor loss(const Tensor& x, std::int64_t steps)
    {
        Tensor state = h.detach(), total = zeros({});
        for (std::int64_t t = 0; t < steps; ++t) {
            state = tanh(matmul(squeeze(narrow(x, 0, t, 1), 0), w) + matmul(state, u));
            total = total + sum(square(state));
        }
        h.assign(state.detach());
        return total;
    }
    std::vector<Variable> parameters() const { return {w, u}; }
};

TEST(Chunks, CarryTheirStateAndAddUpTheirGradients)
{
    constexpr std::int64_t chunk = 4, chunks = 3;
    const Tensor x = test::random_tensor({chunk * chunks, rows, inputs}, 3);
    Cell eager, recorded;
    const auto part = record(
        [&](Tensor piece) {
            const Tensor loss = recorded.loss(piece, chunk);
            loss.backward(); // adds: the gradients are state of the program
            return loss;
        },
        {spec({chunk, rows, inputs})});
    for (int sequence = 0; sequence < 2; ++sequence) {
        for (Cell* c : {&eager, &recorded}) {
            c->h.assign(zeros({rows, hidden}));
            for (Variable& p : c->parameters()) p.zero_grad();
        }
        for (std::int64_t i = 0; i < chunks; ++i) {
            const Tensor piece = narrow(x, 0, i * chunk, chunk);
            const Tensor loss = eager.loss(piece, chunk);
            loss.backward();
            EXPECT_EQ(test::bits(part(piece)), test::bits(loss)) << "chunk " << i;
            EXPECT_EQ(test::bits(recorded.h), test::bits(eager.h)) << "chunk " << i;
        }
        for (std::size_t i = 0; i < 2; ++i)
            EXPECT_EQ(test::bits(recorded.parameters()[i].grad()), test::bits(eager.parameters()[i].grad()));
    }
}

// Where nothing flows through the state, gradients of the parts are those of the whole.
TEST(Chunks, OfAnyLengthAddUpToTheWhole)
{
    const Dim steps = symbol("steps"), from = symbol("from"), count = symbol("count");
    Variable w(test::random_tensor({inputs, hidden}, 1));
    const auto f = [&](Tensor x, Dim start, Dim length) {
        const Tensor loss = sum(square(tanh(matmul(narrow(x, 0, start, length), w))));
        loss.backward();
        return loss;
    };
    const auto part = record(f, {spec({steps, rows, inputs}), from, count});
    const Tensor x = test::random_tensor({10, rows, inputs}, 3);
    w.zero_grad();
    f(x, 0, 10);
    const std::vector<float> whole = w.grad().to_vector<float>();
    for (const std::vector<std::int64_t>& lengths :
         {std::vector<std::int64_t>{10}, {3, 3, 4}, {1, 9}, {2, 0, 5, 3}}) {
        w.zero_grad();
        std::int64_t at = 0;
        for (const std::int64_t length : lengths) {
            part(x, at, length);
            at += length;
        }
        const std::vector<float> sum = w.grad().to_vector<float>();
        for (std::size_t i = 0; i < whole.size(); ++i)
            EXPECT_NEAR(sum[i], whole[i], 1e-5 * (1 + std::fabs(whole[i]))) << lengths.size() << " parts";
    }
}

} // namespace
} // namespace reprise
