// Programs and evaluations within a memory budget: what they hold, that the bits stay, and what no plan fits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/memory.hpp>
#include <reprise/nn.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>
#include <reprise/random.hpp>

#include "program/program.hpp"
#include "shape/error_of.hpp"
#include "support/blocks.hpp"
#include "support/stacks.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using test::Bits;
using test::bits;
using testing::HasSubstr;

std::uint64_t held(const CallMemory& m) { return m.peak + m.outputs; }

// What follows the last "(" of a sentence: bytes.
std::uint64_t least_in(const std::string& text)
{
    const std::string before = "least that was found for this program is (";
    const std::size_t at = text.find(before);
    return at == std::string::npos ? 0 : std::stoull(text.substr(at + before.size()));
}

// Of eager code, for a scope.
struct Within {
    explicit Within(std::uint64_t bytes) { set_memory_budget(bytes); }
    ~Within() { set_memory_budget(std::nullopt); }
    Within(const Within&) = delete;
    Within& operator=(const Within&) = delete;
};

// Networks whose activations are most of what they take.
struct Sized {
    test::Stack stack;
    std::int64_t largest; // batch
};
std::shared_ptr<nn::Module> sequence(std::vector<std::shared_ptr<nn::Module>> modules)
{
    const auto s = nn::make<nn::Sequential>();
    for (auto& m : modules) s->push_back(std::move(m));
    return s;
}
const std::vector<Sized>& nets()
{
    using Blocks = std::vector<std::shared_ptr<nn::Module>>;
    static const std::vector<Sized> all = {
        {{"mlp",
          {32},
          [] {
              Blocks blocks;
              for (int i = 0; i < 8; ++i)
                  blocks.push_back(sequence({nn::make<nn::Linear>(32, 32), nn::make<nn::Tanh>()}));
              return blocks;
          }},
         320},
        {{"cnn_with_dropout",
          {8, 12, 12},
          [] {
              Blocks blocks;
              for (int i = 0; i < 3; ++i)
                  blocks.push_back(sequence({test::convolution(8, 8, 3, 1), nn::make<nn::ReLU>(),
                                             nn::make<nn::Dropout>(0.3), nn::make<nn::Dropout2d>(0.3)}));
              return blocks;
          }},
         40},
        {{"resnet_with_batch_norm",
          {8, 8, 8},
          [] {
              return Blocks{nn::make<test::Residual>(8, 8, 1), nn::make<test::Residual>(8, 16, 2),
                            nn::make<test::Residual>(16, 16, 1)};
          }},
         40},
        {{"gpt",
          {8, 16},
          [] {
              Blocks blocks;
              for (int i = 0; i < 8; ++i) blocks.push_back(nn::make<test::TransformerBlock>(16, 2, 0.15));
              return blocks;
          }},
         40}};
    return all;
}

class Training {
public:
    explicit Training(const test::Stack& net) : example_(net.example)
    {
        manual_seed(5);
        blocks_ = net.blocks();
        for (const auto& b : blocks_)
            for (const Variable& p : b->parameters()) parameters_.push_back(p);
    }
    Program program(const Dim& batch, std::optional<std::uint64_t> budget) const
    {
        Shape shape = example_;
        shape.insert(shape.begin(), batch);
        return record_function([&](const std::vector<Tensor>& in) { return step(in[0]); }, {spec(shape)},
                               {.memory_budget = budget});
    }
    Tensor input(std::int64_t batch) const
    {
        Shape shape = example_;
        shape.insert(shape.begin(), batch);
        return test::random_tensor(shape, static_cast<std::uint64_t>(batch));
    }
    // The gradients of all parameters, and the loss.
    std::vector<Tensor> step(const Tensor& x) const
    {
        const Tensor y = test::plain(blocks_, x);
        const Tensor loss = sum(y * y * 0.5);
        std::vector<Tensor> out = grad({loss}, {parameters_.begin(), parameters_.end()});
        out.push_back(loss);
        return out;
    }
    std::vector<Bits> buffers() const
    {
        std::vector<Bits> out;
        for (const auto& b : blocks_)
            for (const auto& [name, buffer] : b->named_buffers()) out.push_back(bits(buffer));
        return out;
    }

private:
    Shape example_;
    std::vector<std::shared_ptr<nn::Module>> blocks_;
    std::vector<Variable> parameters_;
};

std::vector<Bits> all_bits(const std::vector<Tensor>& tensors)
{
    std::vector<Bits> out;
    for (const Tensor& t : tensors) out.push_back(bits(t));
    return out;
}

struct BudgetOf : testing::TestWithParam<std::size_t> {
    const test::Stack& net = nets()[GetParam()].stack;
    const std::int64_t largest = nets()[GetParam()].largest;
};
INSTANTIATE_TEST_SUITE_P(Nets, BudgetOf, testing::Range<std::size_t>(0, 4),
                         [](const auto& test) { return nets()[test.param].stack.name; });

// At 40 % of what it takes without, at ten sizes.
TEST_P(BudgetOf, KeepsTheBudgetAndTheBits)
{
    const std::uint64_t unconstrained = held(Training(net).program(largest, std::nullopt).memory({}));
    const Caught refused = error_of([&] { Training(net).program(largest, 1); });
    EXPECT_EQ(refused.kind, ErrorKind::out_of_memory);
    const std::uint64_t least = least_in(refused.text);
    ASSERT_GT(least, 0u) << refused.text;
    const std::uint64_t budget = std::max(unconstrained * 2 / 5, least * 11 / 10);
    EXPECT_LT(budget, unconstrained);

    const Training with(net), without(net);
    const Program a = with.program(symbol("batch"), budget),
                  b = without.program(symbol("batch"), std::nullopt);
    EXPECT_LE(a.impl()->variants.size(), 4u);
    for (std::int64_t batch = largest; batch > 0; batch -= largest / 10) {
        const GeneratorState state = generator_state();
        const Tensor x = with.input(batch);
        const auto got = all_bits(a.call({x}));
        set_generator_state(state);
        EXPECT_EQ(got, all_bits(b.call({x}))) << batch;
        EXPECT_EQ(with.buffers(), without.buffers()) << batch;
        EXPECT_LE(held(a.memory({batch})), budget) << batch;
    }
    EXPECT_GT(held(b.memory({largest})), budget);
}

TEST_P(BudgetOf, TakesTheLeastThatItSays)
{
    const std::uint64_t least = least_in(error_of([&] { Training(net).program(largest, 1); }).text);
    ASSERT_GT(least, 0u);
    const Program p = Training(net).program(largest, least);
    EXPECT_LE(held(p.memory({})), least);
    EXPECT_THAT(error_of([&] { Training(net).program(largest, least / 2); }).text, HasSubstr("raise it."));
}

TEST_P(BudgetOf, HoldsInEagerCode)
{
    const Training plain(net), within(net);
    const Tensor x = plain.input(largest);
    const MemoryTracker tracker;
    const auto run = [&](const Training& t) {
        manual_seed(3);
        const std::vector<Tensor> out = t.step(x);
        x.eval();
        tracker.reset_peak();
        const std::uint64_t before = tracker.current();
        eval(out);
        return std::pair{all_bits(out), tracker.peak() - before};
    };
    const auto [want, free] = run(plain);
    const std::uint64_t budget = free * 4 / 5;
    {
        const Within small(budget);
        EXPECT_EQ(memory_budget(), budget);
        const auto [got, peak] = run(within);
        EXPECT_EQ(got, want);
        EXPECT_LE(peak, budget);
    }
    EXPECT_EQ(memory_budget(), std::nullopt);
}

// Wide layers of a narrow input.
Program deep(const Dim& batch, std::optional<std::uint64_t> budget, std::vector<Variable>& weights)
{
    for (std::uint64_t i = 0; i < 8; ++i)
        weights.push_back(Variable(test::random_tensor({16, 16}, i + 1, -0.3, 0.3)));
    return record(
        [&](Tensor x) {
            for (const Variable& w : weights) x = tanh(matmul(x, w));
            return grad({sum(x)}, {weights.begin(), weights.end()});
        },
        {spec({batch, 16})}, {.memory_budget = budget});
}

TEST(MemoryBudget, DropsMoreAtLargerSizes)
{
    std::vector<Variable> a, b;
    const Program without = deep(symbol("n"), std::nullopt, a);
    const std::uint64_t budget = held(without.memory({512}));
    const Program with = deep(symbol("n"), budget, b);
    const auto& variants = with.impl()->variants;
    ASSERT_GT(variants.size(), 1u);
    EXPECT_LE(variants.size(), 4u);
    std::size_t before = 0;
    for (const auto& v : variants) {
        const std::size_t launches = v.executable->compiled().plan.launches.size();
        EXPECT_GT(launches, before);
        before = launches;
    }
    EXPECT_EQ(with.impl()->variant_at({512}), 0u);
    std::size_t used = 0;
    for (std::int64_t n = 512; n < 900; n += 16) {
        const std::size_t next = with.impl()->variant_at({n});
        EXPECT_GE(next, used);
        used = next;
        EXPECT_LE(held(with.memory({n})), budget);
        EXPECT_GT(n == 512 ? budget + 1 : held(without.memory({n})), budget);
    }
    EXPECT_GT(used, 0u);
    for (const std::int64_t n : {700, 100, 701, 512, 3}) { // from one to the other and back
        const Tensor x = test::random_tensor({n, 16}, 7);
        EXPECT_EQ(all_bits(with.call({x})), all_bits(without.call({x}))) << n;
    }
}

TEST(MemoryBudget, IsOneArena)
{
    std::vector<Variable> a, b;
    const std::uint64_t budget = held(deep(symbol("n"), std::nullopt, a).memory({512}));
    const Program with = deep(symbol("n"), budget, b);
    const MemoryTracker tracker;
    const Tensor small = test::random_tensor({64, 16}, 7), large = test::random_tensor({700, 16}, 7);
    small.eval();
    large.eval();
    tracker.reset_peak();
    const std::uint64_t before = tracker.current();
    for (int i = 0; i < 3; ++i) {
        static_cast<void>(with.call({small}));
        static_cast<void>(with.call({large}));
        default_device().synchronize();
    }
    EXPECT_LE(tracker.peak() - before,
              budget + budget / 8); // results of the call before are held at the next
}

TEST(MemoryBudget, RefusesACallThatNothingFits)
{
    std::vector<Variable> a, b;
    const std::uint64_t budget = held(deep(symbol("n"), std::nullopt, a).memory({64}));
    const Program with = deep(symbol("n"), budget, b);
    const Tensor x = test::random_tensor({4096, 16}, 7), y = test::random_tensor({64, 16}, 7);
    const std::uint64_t launches = stats().launches;
    const Caught error = error_of([&] { with.call({x}); });
    EXPECT_EQ(error.kind, ErrorKind::out_of_memory);
    EXPECT_THAT(error.text, HasSubstr("At (n = 4096) the program takes ("));
    EXPECT_THAT(error.text, HasSubstr("bytes at least, but its memory budget is (" + std::to_string(budget)));
    EXPECT_EQ(stats().launches, launches);
    EXPECT_EQ(error_of([&] { static_cast<void>(with.memory({4096})); }).kind, ErrorKind::out_of_memory);
    EXPECT_EQ(with.call({y}).size(), 8u);
}

TEST(MemoryBudget, RefusesAnEvaluationThatNothingFits)
{
    const Tensor x = test::random_tensor({64, 64}, 1), y = exp(matmul(x, x));
    x.eval();
    const Caught error = [&] {
        const Within small(1000);
        return error_of([&] { y.eval(); });
    }();
    EXPECT_EQ(error.kind, ErrorKind::out_of_memory);
    EXPECT_THAT(error.text, HasSubstr("The memory budget is (1000) bytes, but the least that was found"));
    EXPECT_EQ(bits(y), bits(exp(matmul(x, x))));
}

// State that the optimizer writes in place is not read by what runs again after that.
TEST(MemoryBudget, LeavesTheStepOfAnOptimizerAsItIs)
{
    const auto train = [](std::optional<std::uint64_t> budget) {
        std::vector<Variable> w;
        for (std::uint64_t i = 0; i < 6; ++i)
            w.push_back(Variable(test::random_tensor({16, 16}, i + 1, -0.3, 0.3)));
        const Program p = record(
            [&](Tensor x) {
                for (const Variable& v : w) x = tanh(matmul(x, v));
                const Tensor loss = mean(x * x);
                const std::vector<Tensor> g = grad({loss}, {w.begin(), w.end()});
                for (std::size_t i = 0; i < w.size(); ++i) w[i].assign(w[i] - g[i] * 0.1);
                return loss;
            },
            {spec({256, 16})}, {.memory_budget = budget});
        std::vector<Bits> out;
        for (int i = 0; i < 3; ++i) out.push_back(bits(p(test::random_tensor({256, 16}, 9))));
        for (const Variable& v : w) out.push_back(bits(v));
        return std::pair{out, held(p.memory({}))};
    };
    const auto [want, free] = train(std::nullopt);
    const std::uint64_t least = least_in(error_of([&] { train(1); }).text);
    EXPECT_LE(least, free * 7 / 10);
    const auto [got, peak] = train(least);
    EXPECT_EQ(got, want);
    EXPECT_LE(peak, least);
}

} // namespace
} // namespace reprise
