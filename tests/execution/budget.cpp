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
    const std::string before = "least that was found is (";
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
    EXPECT_LT(budget, unconstrained * (net.name == "gpt" ? 45 : 100) / 100);

    using Found = std::pair<std::vector<Bits>, std::vector<Bits>>; // what is given, running statistics
    const auto calls = [&](std::optional<std::uint64_t> bytes) {
        const Training t(net);
        const Program p = t.program(symbol("batch"), bytes);
        EXPECT_LE(p.impl()->variants.size(), 4u);
        const MemoryTracker tracker;
        const std::uint64_t idle = tracker.current(); // no call yet: no arena
        manual_seed(6);
        std::vector<Found> found;
        for (std::int64_t batch = largest; batch > 0; batch -= largest / 10) {
            const std::uint64_t before = tracker.current();
            const Tensor x = t.input(batch);
            x.eval();
            const std::uint64_t input = tracker.current() - before;
            tracker.reset_peak();
            auto given = all_bits(p.call({x}));
            if (bytes) {
                EXPECT_LE(tracker.peak(), idle + input + *bytes) << batch;
            } else if (batch == largest) {
                EXPECT_GT(tracker.peak(), idle + input + budget);
            }
            found.emplace_back(std::move(given), t.buffers());
        }
        return found;
    };
    EXPECT_EQ(calls(budget), calls(std::nullopt));
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
    const std::uint64_t least = [&] {
        const Within nothing(1);
        return least_in(error_of([&] { run(within); }).text);
    }();
    ASSERT_GT(least, 0u);
    const std::uint64_t budget = std::max(free * 4 / 5, least);
    EXPECT_LT(budget, free);
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
        if (n > 512) {
            EXPECT_GT(held(without.memory({n})), budget);
        }
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

// What is left of the arena of one call makes room for the outputs of another.
TEST(MemoryBudget, CountsOutputsThatGrow)
{
    std::vector<Variable> w;
    for (std::uint64_t i = 0; i < 6; ++i)
        w.push_back(Variable(test::random_tensor({16, 16}, i + 1, -0.3, 0.3)));
    const Variable wide(test::random_tensor({16, 64}, 9));
    const auto f = [&](const std::vector<Tensor>& in) {
        Tensor h = in[0];
        for (const Variable& v : w) h = tanh(matmul(h, v));
        std::vector<Tensor> out = grad({sum(h)}, {w.begin(), w.end()});
        out.push_back(matmul(h.detach(), wide));
        return out;
    };
    const Program free = record_function(f, {spec({symbol("n"), 16})});
    const std::uint64_t budget = held(free.memory({512}));
    const Program p = record_function(f, {spec({symbol("n"), 16})}, {.memory_budget = budget});
    ASSERT_GT(p.impl()->variants.size(), 1u);
    const MemoryTracker tracker;
    const std::uint64_t idle = tracker.current();
    for (const std::int64_t n : {512, 560, 100, 540, 512, 560}) {
        const std::uint64_t before = tracker.current();
        const Tensor x = test::random_tensor({n, 16}, 7);
        x.eval();
        const std::uint64_t input = tracker.current() - before;
        tracker.reset_peak();
        static_cast<void>(p.call({x}));
        EXPECT_LE(tracker.peak(), idle + input + budget) << n;
    }
}

// Ranges, divisors, random numbers (whose counters are symbols as well) and sizes that a call can't have.
TEST(MemoryBudget, SearchesTheSizesThatSymbolsAllow)
{
    const auto f = [](const Dim& n, bool noise, std::int64_t cut) -> TracedFunction {
        return [=](const std::vector<Tensor>& in) {
            Tensor x = in[0].detach().requires_grad_();
            Tensor h = cut ? narrow(x, 0, cut, n - cut) : x;
            for (int i = 0; i < 8; ++i) h = tanh(h * 1.1) * 0.9;
            if (noise) h = dropout(h, 0.5);
            return std::vector<Tensor>{sum(grad(sum(h * h), x))};
        };
    };
    const std::vector<SymbolOptions> symbols = {
        {}, {.min = 64}, {.multiple_of = 8}, {.min = 16, .max = 4096}};
    for (std::size_t i = 0; i < symbols.size(); ++i)
        for (const bool noise : {false, true})
            for (const std::int64_t cut : {0, 5}) {
                if (cut && i % 2 == 0) continue; // 0 to 4 are no sizes of it
                const Dim n = symbol("n", symbols[i]);
                const RecordOptions plain{.fuse = false};
                const Program free = record_function(f(n, noise, cut), {spec({n, 16})}, plain);
                const std::uint64_t budget = held(free.memory({512}));
                const Program p = record_function(f(n, noise, cut), {spec({n, 16})},
                                                  {.fuse = false, .memory_budget = budget});
                const std::string what = std::to_string(i) + (noise ? ", noise" : "") + (cut ? ", cut" : "");
                EXPECT_GT(p.impl()->variants.size(), 1u) << what;
                EXPECT_EQ(p.impl()->variant_at({512}), 0u) << what;
                EXPECT_LE(held(p.memory({640})), budget) << what;
            }
}

TEST(MemoryBudget, IsNoneOfSizesThatNoCallHas)
{
    const Dim n = symbol("n");
    const auto f = [&](const std::vector<Tensor>& in) {
        return std::vector<Tensor>{sum(exp(narrow(in[0], 0, 5, n - 5)))};
    };
    const Program p = record_function(f, {spec({n, 16})}, {.memory_budget = std::uint64_t{1} << 40});
    EXPECT_EQ(p.call({zeros({6, 16})})[0].item<float>(), 16.0f);
    EXPECT_EQ(p.impl()->variants.size(), 1u);
}

TEST(MemoryBudget, OfNothingIsRefusedOrKept)
{
    std::vector<Variable> w;
    EXPECT_EQ(error_of([&] { deep(64, 0, w); }).kind, ErrorKind::out_of_memory);
    const Program nothing =
        record_function([](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0]}; }, {spec({4})},
                        {.memory_budget = 0});
    EXPECT_EQ(nothing.call({ones({4})})[0].to_vector<float>(), std::vector<float>(4, 1));
}

// The library's own copies are no evaluation of the user's.
TEST(MemoryBudget, LetsProgramsBindTheirState)
{
    Variable w(test::random_tensor({64, 64}, 1));
    const Tensor held_too = w * 1; // a call that assigns copies it first
    held_too.eval();
    const Program p = record(
        [&](Tensor x) {
            w.assign(w + x);
            return sum(w);
        },
        {spec({64, 64})});
    const Tensor x = test::random_tensor({64, 64}, 2), alias = w.detach();
    x.eval();
    const Within small(100);
    EXPECT_NO_THROW(p(x));
    EXPECT_NO_THROW(static_cast<void>(transpose(x, 0, 1).to_vector<float>()));
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
    EXPECT_THAT(error.text,
                HasSubstr("The memory budget is (1000) bytes, but the least that was found is ("));
    EXPECT_EQ(bits(y), bits(exp(matmul(x, x))));
}

TEST(MemoryBudget, TellsWhatLivesAtEachLaunch)
{
    std::vector<Variable> a;
    const Program p = deep(symbol("n"), std::nullopt, a);
    const std::vector<std::uint64_t> live = p.memory_by_launch({512});
    EXPECT_EQ(live.size(), p.launches());
    EXPECT_EQ(*std::max_element(live.begin(), live.end()), p.memory({512}).lower_bound);
    EXPECT_EQ(error_of([&] { static_cast<void>(p.memory_by_launch({})); }).kind, ErrorKind::argument);
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
