// Dropout of ranks and of other parts of a batch: that of the whole batch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <reprise/backward.hpp>
#include <reprise/distributed.hpp>
#include <reprise/reprise.hpp>

#include "support/data_parallel.hpp"
#include "support/ranks.hpp"

namespace reprise {
namespace {

using distributed::World;
using test::batch, test::Batch, test::even, test::on_ranks;

struct Case {
    const char* name;
    Shape shape; // of four samples
    std::function<Tensor(const Tensor&)> call;
};

Tensor attention(const Tensor& x) { return scaled_dot_product_attention(x, x, x, {.dropout_p = 0.4}); }
const std::vector<Case> cases = {
    {"groups of four", {4, 8}, [](const Tensor& x) { return dropout(x, 0.5); }},
    {"any size", {4, 3}, [](const Tensor& x) { return dropout(x, 0.3); }},
    {"one element", {4, 1}, [](const Tensor& x) { return dropout(x, 0.5); }},
    {"halves", {4, 5}, [](const Tensor& x) { return dropout(x.to(f16), 0.5).to(f32); }},
    {"doubles", {4, 5}, [](const Tensor& x) { return dropout(x.to(f64), 0.5).to(f32); }},
    {"no elements", {4, 0}, [](const Tensor& x) { return dropout(x, 0.5); }},
    {"channels", {4, 6, 2, 2}, [](const Tensor& x) { return dropout2d(x, 0.5); }},
    {"noise", {4, 3}, [](const Tensor& x) { return x * randn_like(x) + rand_like(x); }},
    {"bernoulli", {4, 5}, [](const Tensor& x) { return x * bernoulli(zeros_like(x) + 0.5); }},
    {"alpha", {4, 7}, [](const Tensor& x) { return alpha_dropout(x, 0.5, true); }},
    {"attention", {4, 2, 5, 32}, attention},
    {"attention with wide heads", {4, 2, 5, 200}, attention},
};

// Values and gradients of [first, end) as part `part`.
std::vector<float> values_of(const Case& c, const Tensor& x, std::int64_t first, std::int64_t end,
                             std::int64_t part, bool recorded)
{
    manual_seed(11);
    const RandomPart guard(part);
    const auto both = [&](const Tensor& t) {
        const Tensor leaf = t.detach().requires_grad_();
        const Tensor y = c.call(leaf);
        return cat({y.reshape({-1}), grad((y * y).sum(), leaf).reshape({-1})}, 0);
    };
    Tensor own = x.narrow(0, first, end - first);
    if (!recorded) return both(own).to_vector<float>();
    Shape shape = c.shape;
    shape[0] = symbol("n");
    const auto program = record(both, {spec(shape)});
    manual_seed(11);
    return program(own.contiguous()).to_vector<float>();
}

class DropoutOfParts : public testing::TestWithParam<bool> {}; // whether it is recorded
INSTANTIATE_TEST_SUITE_P(Recorded, DropoutOfParts, testing::Bool());

TEST_P(DropoutOfParts, IsThatOfTheWhole)
{
    for (const Case& c : cases) {
        SCOPED_TRACE(c.name);
        const Tensor x = rand(c.shape) + 0.5;
        const std::vector<float> whole = values_of(c, x, 0, 4, 0, GetParam());
        const std::size_t half = whole.size() / 2; // values, then gradients
        for (const std::int64_t parts : {2, 4}) {
            std::vector<float> values, gradients;
            for (std::int64_t k = 0; k < parts; ++k) {
                const std::vector<float> own =
                    values_of(c, x, 4 / parts * k, 4 / parts * (k + 1), k, GetParam());
                const auto middle = own.begin() + static_cast<std::ptrdiff_t>(own.size() / 2);
                values.insert(values.end(), own.begin(), middle);
                gradients.insert(gradients.end(), middle, own.end());
            }
            const auto middle = whole.begin() + static_cast<std::ptrdiff_t>(half);
            const auto tensor = [](auto begin, auto end) { return from_vector(std::vector(begin, end)); };
            EXPECT_TRUE(
                allclose(tensor(values.begin(), values.end()), tensor(whole.begin(), middle), 1e-6, 1e-5));
            EXPECT_TRUE(allclose(tensor(gradients.begin(), gradients.end()), tensor(middle, whole.end()),
                                 1e-6, 1e-4));
        }
    }
    EXPECT_THROW(RandomPart(-1), Error);
}

// Gradients by functions that take the mask's random state are those of the part.
TEST(DropoutOfPart, HasTheGradientsOfItsMask)
{
    for (const std::int64_t columns : {4, 3}) {
        const Tensor x = ones({2, columns});
        manual_seed(4);
        const GeneratorState state = generator_state();
        const RandomPart part(3);
        EXPECT_TRUE(equal(dropout(x, 0.5), backward::dropout_backward(x, state, 0.5))) << columns;
    }
}

// Ranks follow one process with dropout, also with a smaller last batch.
TEST(DropoutOfRanks, FollowsOneProcess)
{
    std::vector<std::vector<double>> losses(3);
    std::vector<std::vector<float>> weights(3);
    for (const int ranks : {1, 2})
        on_ranks(ranks, [&](const World& w, const Device& d) {
            nn::Sequential net(nn::Linear(6, 15), nn::Tanh(), nn::Dropout(0.25), nn::Linear(15, 3));
            test::set_parameters(*net, w.rank());
            net->to(d);
            nn::DistributedDataParallel ddp(net, w);
            optim::SGD optimizer(net->parameters(), {.lr = 0.1});
            const Dim n = symbol("n");
            const auto step = record(
                [&](Tensor x, Tensor y) {
                    const Tensor loss = cross_entropy(ddp(x), y);
                    loss.backward();
                    optimizer.step();
                    optimizer.zero_grad();
                    return loss;
                },
                {spec({n, 6}), spec({n}, i64)}, {.device = d});
            w.barrier();
            for (int i = 0; i < 10; ++i) {
                const auto begins = even(w.size(), i == 9 ? 8 : 24);
                const auto r = static_cast<std::size_t>(w.rank());
                const Batch b = batch(i, begins[r], begins[r + 1], d);
                manual_seed(static_cast<std::uint64_t>(100 + i)); // of this thread
                const Tensor loss = step(b.x, b.y);
                const Tensor mean = distributed::all_reduce(loss.reshape({1}), w) / w.size();
                if (w.rank() == 0) losses[static_cast<std::size_t>(ranks)].push_back(mean.item<float>());
            }
            if (w.rank() == 0)
                for (const Variable& p : net->parameters())
                    for (const float v : p.to_vector<float>())
                        weights[static_cast<std::size_t>(ranks)].push_back(v);
        });
    EXPECT_THAT(losses[2], testing::Pointwise(testing::DoubleNear(3e-6), losses[1]));
    EXPECT_THAT(weights[2], testing::Pointwise(testing::FloatNear(2e-5f), weights[1]));
}

} // namespace
} // namespace reprise
