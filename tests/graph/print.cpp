// Graphs as text and as DOT.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>

#include "graph/cell.hpp"
#include "ops/registry.hpp"
#include "support/devices.hpp"

namespace reprise::graph {
namespace {

using testing::HasSubstr;

// Ids count up over the whole process: here by first appearance.
std::string renumbered(const std::string& text)
{
    std::map<std::string, int> seen;
    std::string out;
    const std::regex id("([%n])([0-9]+)");
    auto at = text.begin();
    for (std::sregex_iterator m(text.begin(), text.end(), id), end; m != end; ++m) {
        out.append(at, text.begin() + m->position());
        out += (*m)[1].str() +
               std::to_string(seen.try_emplace((*m)[2], static_cast<int>(seen.size()) + 1).first->second);
        at = text.begin() + m->position() + m->length();
    }
    return out.append(at, text.end());
}

class Print : public testing::Test {
protected:
    Print()
    {
        x.requires_grad_();
        const auto [values, places] = reprise::max(x, 1);
        static_cast<void>(places);
        y = sum(tanh(x) * 2, {1}) + values;
        value = read(y);
    }
    test::UseDevice use{test::imitation("null")};
    Tensor x = zeros({2, 3}), y;
    Value value;
};

TEST_F(Print, TextNamesOpsAttributesTypes)
{
    const Tensor a = from_vector({1, 2}), b = sum(tanh(a) * 3, {0}, true);
    const Value v = read(b);
    EXPECT_EQ(renumbered(print_text({&v, 1})), R"(%1 = leaf() : f32[2] stored
%2 = tanh(%1) : f32[2]
%3 = full() {shape=[] value=3 factor=1 dtype=f32} : f32[]
%4 = mul(%2, %3) : f32[2]
%5 = sum(%4) {dims=[0] keepdim=1} : f32[1]
return %5
)");
}

TEST_F(Print, TextMarksWhatIsOnTheTape)
{
    EXPECT_THAT(print_text({&value, 1}), HasSubstr(" grad\n"));
    EXPECT_THAT(print_text({&value, 1}), HasSubstr("argmax"));
}

TEST_F(Print, DotHasANodeForEachAndAnEdgeForEachInput)
{
    const Tensor a = from_vector({1, 2}), b = a * a;
    const Value v = read(b);
    EXPECT_EQ(renumbered(print_dot({&v, 1})), R"(digraph reprise {
  node [shape=box, fontname=monospace];
  n1 [label="leaf\nf32[2]", style=filled, fillcolor=lightgray];
  n2 [label="mul\nf32[2]"];
  n1 -> n2;
  n1 -> n2;
}
)");
}

TEST_F(Print, SeveralOutputsAndSymbols)
{
    const Dim n = symbol("batch");
    const Value in = leaf({f32, {n, 4}}, read(x).node->evaluator, nullptr, false);
    const auto node = append(
        ops::max_pool_op,
        {{append(ops::reshape_op, {in}, {{"shape", Shape{n, 1, 2, 2}}}, in.node->evaluator, false), 0}},
        {{"kernel", std::vector<std::int64_t>{2, 2}},
         {"stride", std::vector<std::int64_t>{2, 2}},
         {"padding", std::vector<std::int64_t>{0, 0}},
         {"dilation", std::vector<std::int64_t>{1, 1}},
         {"ceil_mode", std::int64_t{0}},
         {"to", Shape{1, 1}}},
        in.node->evaluator, false);
    const Value second{node, 1};
    const std::string text = renumbered(print_text({&second, 1}));
    EXPECT_THAT(text, HasSubstr("%2 = reshape(%1) {shape=[batch, 1, 2, 2]} : f32[batch, 1, 2, 2]"));
    EXPECT_THAT(text, HasSubstr(": f32[batch, 1, 1, 1] : i32[batch, 1, 1, 1]"));
    EXPECT_THAT(text, HasSubstr("return %3.1"));
}

} // namespace
} // namespace reprise::graph
