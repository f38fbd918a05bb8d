// Eager training loops at sizes that change from step to step: nothing is made after the second size, and the bits
// are those of plans of their own.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/data.hpp>
#include <reprise/nn.hpp>
#include <reprise/ops.hpp>
#include <reprise/optim.hpp>
#include <reprise/program.hpp>
#include <reprise/random.hpp>

#include "../../samples/common/gpt.hpp"
#include "eager/during.hpp"
#include "support/training.hpp"

namespace reprise {
namespace {

using test::alone;
using test::Bits;
using test::bits;
using test::during;
using test::Eager;
using test::made_nothing;
using test::Net;
using test::Training;

class EagerTraining : public Eager, public testing::WithParamInterface<Net> {};
INSTANTIATE_TEST_SUITE_P(Nets, EagerTraining, testing::ValuesIn(test::nets_with_residual),
                         [](const auto& test) { return name_of(test.param); });

TEST_P(EagerTraining, MakesNothingAfterTheSecondSizeAndHasTheBitsOfPlansOfItsOwn)
{
    const auto train = [&](bool counted) {
        manual_seed(3);
        Training t(GetParam());
        std::vector<std::vector<Bits>> out;
        std::uint64_t seed = 0;
        const auto step = [&](std::int64_t n) {
            const auto [x, target] = t.batch(n, ++seed);
            eval({x, target});
            Bits loss;
            const Stats s = during([&] { loss = bits(t.step(x, target)); });
            if (counted && seed > 5) {
                EXPECT_TRUE(made_nothing(s)) << "size " << n;
                EXPECT_GT(s.eager_replays, 0u);
            }
            out.push_back(t.state());
            out.back().push_back(loss);
        };
        for (const std::int64_t n : {8, 8, 8, 8, 6}) step(n); // the first makes what the optimizer keeps
        for (const std::int64_t n : {8, 7, 3, 12, 2, 33, 8, 5}) step(n);
        return out;
    };
    const auto got = train(true);
    EXPECT_EQ(got, alone([&] { return train(false); }));
}

// The first step makes what the optimizer keeps; of the loop's own structure the second and the third are the first
// two.
TEST_P(EagerTraining, MakesNothingAfterTheSecondSizeWhereNoStepHasTheSizeOfAnother)
{
    const auto train = [&](bool counted) {
        manual_seed(3);
        Training t(GetParam());
        std::vector<Bits> out;
        std::uint64_t seed = 0;
        for (const std::int64_t n : {8, 6, 7, 3, 12, 2, 33, 5, 9}) {
            const auto [x, target] = t.batch(n, ++seed);
            eval({x, target});
            const Stats s = during([&, x = x, target = target] { out.push_back(bits(t.step(x, target))); });
            if (counted && seed > 3) {
                EXPECT_TRUE(made_nothing(s)) << "size " << n;
            }
        }
        return out;
    };
    EXPECT_EQ(train(true), alone([&] { return train(false); }));
}

// Images of 28 x 28 in batches of 32, the last of 6: the same training, recorded and eager.
TEST_F(Eager, AnEpochOfImagesMakesNothingAfterItsLastBatchAndHasTheRecordedBits)
{
    struct Images : nn::Module {
        nn::Conv2d conv{1, 4, {.kernel_size = 3, .padding = 1}};
        nn::Linear fc{4 * 14 * 14, 10};
        Images()
        {
            register_module("conv", conv);
            register_module("fc", fc);
        }
        Tensor forward(Tensor x) override { return fc(flatten(max_pool2d(relu(conv(x)), 2), 1)); }
    };
    data::ImageDataset set{1, 28, 28, {}, {}};
    test::Numbers random(1);
    for (int i = 0; i < 70; ++i) set.labels.push_back(static_cast<std::int32_t>(random.integer(0, 9)));
    for (int i = 0; i < 70 * 28 * 28; ++i)
        set.pixels.push_back(static_cast<std::uint8_t>(random.integer(0, 255)));
    const auto train = [&](bool recorded, bool counted = true) {
        manual_seed(7);
        Images net;
        optim::Adam optimizer(net.parameters(), {.lr = 1e-3});
        const data::DataLoader loader(set, {.batch_size = 32, .shuffle = true});
        const auto step = [&](const Tensor& x, const Tensor& y) {
            optimizer.zero_grad();
            Tensor loss = cross_entropy(net(x), y);
            loss.backward();
            optimizer.step();
            return loss;
        };
        Program program;
        if (recorded) {
            const Dim n = symbol("n");
            program = record(step, {spec({n, 1, 28, 28}), spec({n}, i32)});
        }
        std::vector<Tensor> losses;
        for (std::uint64_t epoch = 0; epoch < 3; ++epoch)
            for (const auto& [x, y] : loader.epoch(epoch)) {
                eval({x, y});
                const Stats s = during([&, x = x, y = y] {
                    losses.push_back(recorded ? program(x, y) : step(x, y));
                    losses.back().eval();
                });
                if (counted && epoch > 0) {
                    EXPECT_TRUE(made_nothing(s));
                    EXPECT_EQ(s.eager_replays > 0, !recorded);
                }
            }
        std::vector<Bits> out;
        for (const Tensor& loss : losses) out.push_back(bits(loss));
        for (const auto& [name, tensor] : net.state_dict()) out.push_back(bits(tensor));
        return out;
    };
    const auto eager = train(false);
    EXPECT_EQ(eager, train(true));
    EXPECT_EQ(eager, alone([&] { return train(false, false); }));
}

// What cells are given is computed with the step that gives it: nothing piles up that nobody reads.
TEST_P(EagerTraining, StepsStayAsLongAsTheyAre)
{
    Training t(GetParam());
    std::vector<std::uint64_t> nodes;
    for (std::uint64_t i = 0; i < 30; ++i) {
        const auto [x, target] = t.batch(8, i);
        eval({x, target});
        const Stats s = during([&, x = x, target = target] { t.step(x, target).eval(); });
        nodes.push_back(s.eager_nodes);
        if (i > 4) {
            EXPECT_TRUE(made_nothing(s)) << "step " << i;
        }
    }
    EXPECT_EQ(nodes.back(), nodes[5]);
    EXPECT_EQ(nodes.back(), nodes[20]);
}

TEST_P(EagerTraining, AStepIsOneEvaluationWithItsLoss)
{
    Training t(GetParam());
    std::uint64_t with_loss = 0;
    for (std::uint64_t i = 0; i < 6; ++i) {
        const auto [x, target] = t.batch(8, i);
        eval({x, target});
        Tensor loss;
        const Stats step = during([&, x = x, target = target] { loss = t.step(x, target); });
        const Stats after = during([&] { bits(loss); });
        with_loss = step.eager_nodes;
        EXPECT_EQ(after.eager_nodes, 0u);
        if (i > 3) {
            EXPECT_EQ(step.eager_replays, 1u);
        }
    }
    const auto [x, target] = t.batch(8, 7); // nobody holds the loss: its own nodes are not computed
    eval({x, target});
    const Stats without = during([&, x = x, target = target] {
        t.optimizer->zero_grad();
        t.loss(x, target).backward();
        t.optimizer->step();
    });
    EXPECT_LT(without.eager_nodes, with_loss);
}

// -- sequences of any length --

// One step after the other: the loss of each, and at the end parameters and moments.  After `known` steps none makes
// anything.
std::vector<Bits> train_gpt(const std::vector<std::int64_t>& lengths, std::size_t known, bool dropout)
{
    constexpr std::int64_t symbols = 11, rows = 3;
    manual_seed(5);
    gpt::Gpt net(
        {.symbols = symbols, .longest = 40, .features = 64, .layers = 2, .dropout = dropout ? 0.1 : 0});
    optim::AdamW optimizer(net.parameters(), {.lr = 3e-3});
    std::vector<Bits> out;
    const auto tokens = [&](std::int64_t length, std::uint64_t seed) {
        return from_vector(test::integers(static_cast<std::size_t>(rows * length), seed, 0, symbols - 1),
                           {rows, length});
    };
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        const Tensor x = tokens(lengths[i], 2 * i), target = tokens(lengths[i], 2 * i + 1);
        optimizer.set_learning_rate(3e-3 / static_cast<double>(i + 1));
        const Stats s = during([&] {
            const Tensor loss = cross_entropy(net(x).reshape({-1, symbols}), target.reshape({-1}));
            optimizer.zero_grad();
            loss.backward();
            optimizer.step();
            out.push_back(bits(loss));
        });
        if (i < known) continue;
        EXPECT_TRUE(made_nothing(s)) << "step " << i << " of length " << lengths[i] << '\n'
                                     << describe_eager_plans();
        EXPECT_GT(s.eager_replays, 0u);
    }
    for (const auto& [name, tensor] : net.state_dict()) out.push_back(bits(tensor));
    for (const auto& [name, tensor] : optimizer.state_dict())
        if (tensor.numel().value() > 0) out.push_back(bits(tensor));
    return out;
}

class EagerSequences : public Eager, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Dropout, EagerSequences, testing::Bool(),
                         [](const auto& test) { return test.param ? "on" : "off"; });

TEST_P(EagerSequences, OfTwentyLengthsMakeNothingAfterTheSecondAndHaveTheBitsOfPlansOfTheirOwn)
{
    std::vector<std::int64_t> lengths = {12, 12, 12, 19}; // the first step makes what the optimizer keeps
    const std::size_t known = lengths.size();
    for (std::int64_t i = 0; i < 20; ++i)
        lengths.push_back(2 + (i * 17 + 5) % 38); // each from 2 to 39 once at most
    const auto got = train_gpt(lengths, known, GetParam());
    EXPECT_EQ(got, alone([&] { return train_gpt(lengths, lengths.size(), GetParam()); }));
}

} // namespace
} // namespace reprise
