// Gradients of micro-batches of different sizes add up, and one step applies them: in eager code, and as programs.
#include <gtest/gtest.h>

#include <reprise/autograd.hpp>
#include <reprise/nn.hpp>
#include <reprise/ops.hpp>
#include <reprise/optim.hpp>
#include <reprise/program.hpp>
#include <reprise/random.hpp>

#include "testing/values.hpp"

namespace reprise {
namespace {

using test::Bits;
using test::bits;

struct Accumulation {
    Accumulation()
    {
        const GeneratorState before = generator_state();
        manual_seed(4);
        net = std::make_unique<nn::Linear>(5, 3);
        set_generator_state(before);
        optimizer =
            std::make_unique<optim::SGD>(net->parameters(), optim::SGD::Options{.lr = 0.5, .momentum = 0.9});
    }
    Tensor add(const Tensor& x, const Tensor& target) const // of its share of the whole batch
    {
        const Tensor loss =
            cross_entropy(tanh((*net)(x)), target, {.reduction = Reduction::sum}) * (1.0 / whole_batch);
        loss.backward();
        return loss;
    }
    void apply() const
    {
        optimizer->step();
        optimizer->zero_grad();
    }
    std::vector<Bits> state() const
    {
        std::vector<Bits> out;
        for (const auto& [name, value] : net->state_dict()) out.push_back(bits(value));
        for (const auto& [name, value] : optimizer->state_dict()) out.push_back(bits(value));
        return out;
    }

    static constexpr int whole_batch = 12;
    std::unique_ptr<nn::Linear> net;
    std::unique_ptr<optim::SGD> optimizer;
};

TEST(Accumulation, OfSeveralSizesIsOneStepOfTheWhole)
{
    const Tensor x = test::random_tensor({12, 5}, 1), target = from_vector(test::integers(12, 2, 0, 2), {12});
    const Accumulation eager, recorded, whole;
    const Dim n = symbol("n");
    const Program add =
        record([&](Tensor in, Tensor t) { return recorded.add(in, t); }, {spec({n, 5}), spec({n}, i32)});
    const Program apply = record([&] { recorded.apply(); }, {});
    for (int step = 0; step < 3; ++step) {
        std::int64_t at = 0;
        for (const std::int64_t size : {5, 1, 6}) {
            const Tensor part = narrow(x, 0, at, size), labels = narrow(target, 0, at, size);
            const Tensor loss = eager.add(part, labels);
            EXPECT_EQ(bits(add(part, labels)), bits(loss)) << step << ", " << size;
            at += size;
        }
        eager.apply();
        apply.call({});
        EXPECT_EQ(recorded.state(), eager.state()) << step;
        whole.add(x, target);
        whole.apply();
    }
    const auto got = eager.net->weight.to_vector<float>(), want = whole.net->weight.to_vector<float>();
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-4) << i;
}

} // namespace
} // namespace reprise
