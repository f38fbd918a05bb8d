// What was replayed for a gradient serves it in place of what it would make once more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

#include "plan/hand_made.hpp"
#include "program/program.hpp"
#include "support/devices.hpp"
#include "testing/values.hpp"

namespace reprise::plan {
namespace {

using testing::ElementsAre;

// A product of x (launch 0) and its softmax in place (1), as a clone; a reader of it (2); the same two launches of a
// gradient (3, 4) and their reader (5).
struct Shared : HandMade {
    std::uint32_t x = external(), y = output(), gradient = output();
    std::uint32_t clone = temporary(), own = temporary();

    Shared()
    {
        make(clone, 1);
        launch({clone}, {y});
        make(own, 0);
        launch({own}, {gradient});
    }
    void make(std::uint32_t to, std::uint32_t replay)
    {
        const std::uint32_t product = launch({x}, {to}), softmax = launch({to}, {to}, true);
        plan.launches[product].flops = 100;
        plan.launches[product].kernel = "product";
        plan.launches[softmax].kernel = "softmax";
        for (const std::uint32_t i : {product, softmax}) plan.launches[i].recomputation = replay;
    }
    std::vector<std::uint32_t> copies; // of state: their launches
    void run()
    {
        Compiled c{.plan = plan};
        c.state_copies = copies;
        eliminate_common_subexpressions(c);
        plan = c.plan;
        copies = c.state_copies;
    }
    std::vector<std::string> left()
    {
        run();
        std::vector<std::string> out;
        for (const PlanLaunch& l : plan.launches) out.push_back(l.label.substr(7));
        return out;
    }
    static auto all() { return ElementsAre("0", "1", "2", "3", "4", "5"); }
};

TEST(Cse, OneOfTwoAlikeIsLeft)
{
    Shared p;
    EXPECT_THAT(p.left(), ElementsAre("0", "1", "2", "5"));
    EXPECT_EQ(p.plan.launches[3].operands[0].value, p.clone);
}

TEST(Cse, WithFallbacks)
{
    Shared p;
    for (const std::uint32_t first : {0u, 3u}) {
        p.plan.launches[first + 1] = p.plan.launches[first];
        p.plan.launches[first + 1].kernel = "product by address";
        p.plan.launches[first + 1].fallback_of = first;
    }
    p.run();
    ASSERT_EQ(p.plan.launches.size(), 4u);
    EXPECT_EQ(p.plan.launches[1].fallback_of, 0u);
}

TEST(Cse, CopiesOfStateAreWhereTheyWere)
{
    Shared p;
    const std::uint32_t a = p.launch({p.gradient}, {p.external()}), b = p.launch({p.y}, {p.external()});
    p.copies = {a, b};
    EXPECT_THAT(p.left(), ElementsAre("0", "1", "2", "5", "6", "7"));
    EXPECT_THAT(p.copies, ElementsAre(4, 5));
}

TEST(Cse, NothingOfAForwardPassThatWasNotReplayed)
{
    Shared p;
    for (PlanLaunch& l : p.plan.launches) l.recomputation = 0;
    EXPECT_THAT(p.left(), p.all());
}

TEST(Cse, NothingBetweenTwoReplays)
{
    Shared p;
    for (const std::uint32_t i : {3u, 4u}) p.plan.launches[i].recomputation = 2;
    EXPECT_THAT(p.left(), p.all());
}

TEST(Cse, NothingThatIsCheap)
{
    Shared p;
    for (PlanLaunch& l : p.plan.launches) l.flops = 0;
    EXPECT_THAT(p.left(), p.all());
}

TEST(Cse, NothingThatDiffers)
{
    const std::vector<std::function<void(PlanLaunch&, Shared&)>> differences = {
        [](PlanLaunch& l, Shared&) { l.ints = {2}; },
        [](PlanLaunch& l, Shared&) { l.floats = {0.5}; },
        [](PlanLaunch& l, Shared&) { l.constants = {1}; },
        [](PlanLaunch& l, Shared&) { l.kernel = "another"; },
        [](PlanLaunch& l, Shared&) { l.doubles = true; },
        [](PlanLaunch& l, Shared&) { l.code = std::make_shared<const std::vector<std::uint32_t>>(); },
        [](PlanLaunch& l, Shared&) { l.groups = 2; },
        [](PlanLaunch& l, Shared&) { l.condition = symbol("n"); },
        [](PlanLaunch& l, Shared&) { l.operands[0].offset = 4; },
        [](PlanLaunch& l, Shared&) { l.operands[0].dtype = DType::i32; },
        [](PlanLaunch& l, Shared& p) { l.operands[0].value = p.external(); },
        [](PlanLaunch& l, Shared& p) { p.plan.values[l.operands[1].value].elements = 32; },
        [](PlanLaunch& l, Shared&) { l.chain = std::make_shared<const kernels::Chain>(); },
    };
    for (std::size_t i = 0; i < differences.size(); ++i) {
        Shared p;
        differences[i](p.plan.launches[3], p);
        EXPECT_THAT(p.left(), p.all()) << i;
    }
}

TEST(Cse, NothingThatIsWrittenOver)
{
    Shared p;
    p.plan.launches[2].operands[1].value = p.clone; // by its reader
    EXPECT_THAT(p.left(), p.all());
}

TEST(Cse, NothingOfWhatWasAssignedMeanwhile)
{
    Shared p;
    p.plan.launches[2].operands[1].value = p.x;
    EXPECT_THAT(p.left(), p.all());
}

TEST(Cse, NothingThatIsReadBeforeItIsReady)
{
    Shared p;
    std::swap(p.plan.launches[4], p.plan.launches[5]); // the product is read, and then its softmax is made
    p.launch({p.own}, {p.output()});
    p.run();
    EXPECT_EQ(p.plan.launches.size(), 7u);
}

TEST(Cse, NothingThatComesTooLate)
{
    Shared p;
    std::rotate(p.plan.launches.begin(), p.plan.launches.begin() + 3, p.plan.launches.end());
    p.run();
    EXPECT_EQ(p.plan.launches.size(), 6u);
}

TEST(Cse, NothingThatTheirLaunchesMakeBeside)
{
    Shared p;
    for (const std::uint32_t i : {0u, 3u})
        p.plan.launches[i].operands.push_back({p.temporary(), 0, DType::f32, ops::Use::write});
    EXPECT_THAT(p.left(), p.all());
}

// Of self-attention in a checkpoint, with a wide layer behind it whose gradient comes between, and a step between that
// and attention's gradient: weights that are made once more may be made beside the launch before.
Program checkpointed(std::optional<std::uint64_t> budget = {})
{
    return record_function(
        [](const std::vector<Tensor>& in) {
            const Variable x(in[0]), w(in[1]);
            const auto f = [&](const Tensor& a) {
                const Tensor q = sin(a);
                return sum(sin(matmul(sin(scaled_dot_product_attention(q, q, q)), w)));
            };
            std::vector<Tensor> out{checkpoint(f, x)};
            for (const Tensor& d : grad({out[0]}, {x, w})) out.push_back(d);
            return out;
        },
        {spec({2, 4, 64, 32}), spec({32, 128})}, {.memory_budget = budget});
}

// Their kernel, and its fallback where it has one.
std::size_t softmaxes(const Program& p)
{
    std::size_t made = 0;
    for (const PlanLaunch& l : p.impl()->executable().compiled().plan.launches)
        made += l.fallback_of == no_launch && l.kernel.starts_with("attention_softmax") &&
                l.kernel.find("vjp") == std::string::npos;
    return made;
}

TEST(Cse, AttentionsWeightsInACheckpoint)
{
    for (const char* device : {"lavapipe", "swiftshader"}) { // on GPUs no weights are stored
        const test::UseDevice use(test::imitation(device));
        EXPECT_EQ(softmaxes(checkpointed()), 2u) << device; // forward, and replayed for the gradient
    }
}

// State that is updated behind it, some of it given out as well, so not all updates are in place.
TEST(Cse, UpdatesOfStateAreThoseWithout)
{
    const Shape heads{2, 2, 24, 32};
    const auto train = [&](bool checkpoints) {
        std::vector<Variable> w;
        for (std::uint64_t i = 0; i < 6; ++i) w.emplace_back(test::random_tensor({32, 32}, i + 1, -0.2, 0.2));
        const Program step = record_function(
            [&](const std::vector<Tensor>& in) {
                std::vector<Tensor> out;
                Tensor y = in[0];
                for (std::size_t i = 0; i < w.size(); i += 2) {
                    const auto block = [&](const Tensor& t) {
                        const Tensor q = matmul(t, w[i]);
                        return matmul(sin(scaled_dot_product_attention(q, q, q)), w[i + 1]);
                    };
                    y = checkpoints ? checkpoint(block, y) : block(y);
                }
                out.push_back(sum(y * y));
                const auto g = grad({out[0]}, {w.begin(), w.end()});
                for (std::size_t i = 0; i < w.size(); ++i) {
                    const Tensor next = w[i].detach() - g[i] * 0.01;
                    w[i].assign(next);
                    if (i % 4 == 1) out.push_back(next);
                }
                return out;
            },
            {spec(heads)});
        std::vector<test::Bits> seen;
        for (std::uint64_t i = 0; i < 3; ++i)
            for (const Tensor& t : step.call({test::random_tensor(heads, i + 9, -1, 1)}))
                seen.push_back(test::bits(t));
        for (const Variable& v : w) seen.push_back(test::bits(v));
        return seen;
    };
    EXPECT_EQ(train(true), train(false));
}

TEST(Cse, ABudgetMakesThemOnceMore)
{
    const test::UseDevice use(test::imitation("swiftshader"));
    const std::uint64_t peak = checkpointed().memory({}).peak;
    const Program least = checkpointed(peak - 1);
    EXPECT_LT(least.memory({}).peak, peak);
    EXPECT_EQ(softmaxes(least), 3u);
}

} // namespace
} // namespace reprise::plan
