// What the VJPs read, of nodes with few and many inputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "autograd/walk.hpp"
#include "graph/cell.hpp"

namespace reprise {
namespace {

TEST(Reads, OfManyInputsAreEachTheirOwn)
{
    for (const std::size_t count : {std::size_t{2}, std::size_t{65}, std::size_t{100}, std::size_t{200}}) {
        std::vector<Variable> parts;
        std::vector<Tensor> squares;
        std::vector<float> weights;
        for (std::size_t i = 0; i < count; ++i) {
            parts.emplace_back(from_vector({static_cast<float>(i + 1)}));
            squares.push_back(parts[i] * parts[i]);
            weights.push_back(static_cast<float>(i % 7) - 3);
        }
        const Tensor w = from_vector(weights);
        for (const bool stacked : {false, true}) {
            const Tensor y = stacked ? reshape(stack(squares), {w.size(0)}) : cat(squares);
            y.eval();
            sum(y * w).backward({}, {.retain_graph = true}); // the other y is made of the same squares
            for (std::size_t i = 0; i < count; ++i) {
                EXPECT_EQ(parts[i].grad().to_vector<float>()[0], 2 * weights[i] * static_cast<float>(i + 1))
                    << i << " of " << count;
                parts[i].set_grad(Tensor());
            }
        }
    }
}

// The same in a program, whose size is a symbol; every second part has no gradient.
TEST(Reads, OfManyInputsInAProgram)
{
    const Dim n = symbol("n");
    const auto parts_of = [](const Tensor& x) {
        std::vector<Tensor> parts;
        for (int i = 0; i < 100; ++i) {
            const Tensor part = x * static_cast<double>(i + 1);
            parts.push_back(i % 2 == 0 ? part : part.detach());
        }
        return cat(parts);
    };
    const auto gradient = [&](Tensor x) {
        Tensor leaf = x.detach();
        leaf.requires_grad_();
        const Tensor y = parts_of(leaf);
        return grad(sum(y * y), leaf);
    };
    const Program program = record(gradient, {spec({n})});
    for (const std::int64_t size : {1, 3, 0}) {
        const Tensor x = full({size}, 0.5);
        const std::vector<float> want = gradient(x).to_vector<float>();
        EXPECT_EQ(program.call({x})[0].to_vector<float>(), want);
        for (const float g : want) EXPECT_EQ(g, 166650.0f); // the sum of (i + 1)^2 over even i < 100
    }
}

// Nodes of one op with the same gradients required: without a mask, and with one that has no gradient.
TEST(Reads, DifferByTheNumberOfInputs)
{
    Variable q(ones({1, 1, 2, 4}));
    const Tensor plain = scaled_dot_product_attention(q, q, q);
    const Tensor masked = scaled_dot_product_attention(q, q, q, {.attn_mask = ones({2, 2})});
    const auto find = [](const Tensor& t) {
        const graph::Node* n = graph::read(t).node.get();
        while (n->inputs.size() < 3) n = n->inputs[0].node.get(); // views of the op's result
        return n;
    };
    const graph::Node *without = find(plain), *with = find(masked);
    ASSERT_EQ(without->op, with->op);
    EXPECT_FALSE(autograd::vjp_reads(*without).inputs.contains(3));
    EXPECT_TRUE(autograd::vjp_reads(*with).inputs.contains(3));
    EXPECT_TRUE(autograd::vjp_reads(*with).inputs.contains(0));
}

} // namespace
} // namespace reprise
