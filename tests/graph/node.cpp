// Nodes: the rules of a legal graph, what is pending, release without recursion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/autograd.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/losses.hpp>
#include <reprise/ops/shapes.hpp>

#include "graph/cell.hpp"
#include "ops/registry.hpp"
#include "shape/error_of.hpp"
#include "support/devices.hpp"

namespace reprise::graph {
namespace {

using testing::HasSubstr;

// Computes nothing, ever.
struct Idle : Evaluator {
    const std::string& name() const override
    {
        static const std::string text = "idle";
        return text;
    }
    void accept(const char*, const Op*, DType) const override {}
    void evaluate(std::span<const Value>) override {}
    void read(const Value&, std::span<std::byte>) override {}
    bool is_ready(const Value&) override { return false; }
    std::shared_ptr<Storage> upload(const char*, const TensorType&, std::span<const std::byte>) override
    {
        return nullptr;
    }
    void release(std::span<const Node* const>) override {}
    void discard(std::span<const Node* const>) override {}
    void appended(const Node&) override {}
    void co_schedule(const Node&) override {}
};

class Nodes : public testing::Test {
protected:
    test::UseDevice use{test::imitation("null")};
    Tensor x = from_vector({1, 2, 3});

    // A node as append() would make it, to be spoilt.
    std::shared_ptr<Node> node(const Op& op, std::vector<Value> inputs, TensorTypes outputs)
    {
        auto n = std::make_shared<Node>();
        n->op = &op;
        n->id = read(exp(x)).node->id + 1;
        n->inputs = std::move(inputs);
        n->outputs = std::move(outputs);
        n->evaluator = read(x).node->evaluator;
        return n;
    }
};

TEST_F(Nodes, WhatOpsAppendIsLegal)
{
    const Tensor y = log_softmax(matmul(tanh(x.reshape({3, 1})), x.reshape({1, 3})), 1);
    const Value v = read(y);
    for (const Node* n : pending({&v, 1})) EXPECT_NO_THROW(verify(*n));
    EXPECT_NO_THROW(verify(*read(x).node)); // a leaf
}

TEST_F(Nodes, VerifyFindsWrongTypes)
{
    const TensorType three{f32, {3}};
    EXPECT_NO_THROW(verify(*node(ops::row_op("exp"), {read(x)}, {three})));
    const Caught shape = error_of([&] {
        return verify(*node(ops::row_op("exp"), {read(x)}, {{f32, {4}}})), 0;
    });
    EXPECT_EQ(shape.kind, ErrorKind::internal);
    EXPECT_THAT(shape.text, HasSubstr("[exp]"));
    EXPECT_EQ(error_of([&] {
                  return verify(*node(ops::row_op("exp"), {read(x)}, {{f16, {3}}})), 0;
              }).kind,
              ErrorKind::internal);
    EXPECT_EQ(error_of([&] {
                  return verify(*node(ops::row_op("exp"), {read(x)}, {three, three})), 0;
              }).kind,
              ErrorKind::internal);
}

TEST_F(Nodes, VerifyFindsInputsThatAreNotThere)
{
    const TensorType three{f32, {3}};
    const auto kind = [&](std::vector<Value> inputs) {
        return error_of([&] { return verify(*node(ops::row_op("exp"), std::move(inputs), {three})), 0; })
            .kind;
    };
    EXPECT_EQ(kind({}), ErrorKind::internal);
    EXPECT_EQ(kind({{nullptr, 0}}), ErrorKind::internal);
    EXPECT_EQ(kind({{read(x).node, 1}}), ErrorKind::internal); // x has one output
    auto young = std::make_shared<Node>();
    young->id = ~std::uint64_t{0};
    young->outputs = {three};
    EXPECT_EQ(kind({{young, 0}}), ErrorKind::internal); // an input is older than its reader
}

TEST_F(Nodes, PendingIsWhatHasNoValueYetInputsFirst)
{
    const Tensor b = tanh(exp(x)), c = exp(x) + b;
    const std::vector<Value> targets{read(c)};
    const auto names = [&] {
        std::vector<std::string> out;
        for (const Node* n : pending(targets)) out.emplace_back(n->op->name);
        return out;
    };
    EXPECT_THAT(names(), testing::ElementsAre("exp", "tanh", "exp", "add"));
    b.eval();
    EXPECT_THAT(names(), testing::ElementsAre("exp", "add"));
    c.eval();
    EXPECT_TRUE(names().empty());
}

TEST_F(Nodes, LongChainsAreReleasedWithoutRecursion)
{
    constexpr int length = 300000;
    const auto evaluator = std::make_shared<Idle>(); // the null device would compute a queue this long
    Value last = leaf({f32, {3}}, evaluator, nullptr, false);
    for (int i = 0; i < length; ++i)
        last = {append(ops::row_op("add"), {last, last}, {}, evaluator, false), 0};
    last = {};
    // A value in the middle is held: only what is behind it goes.
    Value middle;
    Value end = leaf({f32, {3}}, evaluator, nullptr, false);
    for (int i = 0; i < length; ++i) {
        end = {append(ops::row_op("neg"), {end}, {}, evaluator, false), 0};
        if (i == length / 2) middle = end;
    }
    end = {};
    EXPECT_STREQ(middle.node->op->name, "neg");
}

TEST_F(Nodes, AreSortedByAgeWhateverTheirIdsAre)
{
    const auto sorted = [](const std::vector<std::uint64_t>& ids) {
        std::vector<std::shared_ptr<Node>> all;
        std::vector<const Node*> nodes;
        for (const std::uint64_t id : ids) {
            all.push_back(std::make_shared<Node>());
            all.back()->id = id;
            nodes.push_back(all.back().get());
        }
        sort_by_age(nodes);
        std::vector<std::uint64_t> out;
        for (const Node* n : nodes) out.push_back(n->id);
        return out;
    };
    const auto most = ~std::uint64_t{0};
    EXPECT_THAT(sorted({}), testing::IsEmpty());
    EXPECT_THAT(sorted({7}), testing::ElementsAre(7));
    EXPECT_THAT(sorted({most}), testing::ElementsAre(most));
    EXPECT_THAT(sorted({12, 3, 9, 4}), testing::ElementsAre(3, 4, 9, 12));
    EXPECT_THAT(sorted({5000, 3, most, 4}), testing::ElementsAre(3, 4, 5000, most)); // far apart
    EXPECT_THAT(sorted({most, 0}), testing::ElementsAre(0, most));
}

TEST_F(Nodes, IndicesOfAnOpNeedNoGradient)
{
    Tensor image = zeros({1, 1, 4, 4});
    image.requires_grad_();
    const std::vector<Tensor> out = apply(ops::max_pool_op, {image},
                                          {{"kernel", std::vector<std::int64_t>{2, 2}},
                                           {"stride", std::vector<std::int64_t>{2, 2}},
                                           {"padding", std::vector<std::int64_t>{0, 0}},
                                           {"dilation", std::vector<std::int64_t>{1, 1}},
                                           {"ceil_mode", std::int64_t{0}},
                                           {"to", Shape{2, 2}}});
    EXPECT_TRUE(out[0].requires_grad());
    EXPECT_FALSE(out[1].requires_grad());
    EXPECT_TRUE(out[1].is_leaf());
    EXPECT_FALSE(cast(out[1], f32).requires_grad());
}

TEST_F(Nodes, AttributesAreFoundByName)
{
    const Attributes a{{"dim", std::int64_t{2}},
                       {"sizes", Shape{3, 4}},
                       {"scale", 0.5},
                       {"dtype", DType::bf16},
                       {"dims", std::vector<std::int64_t>{0, 1}}};
    EXPECT_EQ(a.integer("dim"), 2);
    EXPECT_EQ(a.number("scale"), 0.5);
    EXPECT_EQ(a.text(), "dim=2 sizes=[3, 4] scale=0.5 dtype=bf16 dims=[0, 1]");
    EXPECT_EQ(error_of([&] { return a.integer("other"); }).kind, ErrorKind::internal);
    EXPECT_EQ(Attributes().text(), "");
}

TEST_F(Nodes, OpsRefuseTensorsOfSeveralDevices)
{
    const Tensor elsewhere = zeros({3}, {.device = Device("reference")});
    const Caught error = error_of([&] { return x + elsewhere; });
    EXPECT_EQ(error.kind, ErrorKind::device);
    EXPECT_THAT(error.text, HasSubstr("(null and reference)"));
}

} // namespace
} // namespace reprise::graph
