// Compiled sizes: sharing, symbols and errors.  Values of random expressions: random.cpp.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "shape/program.hpp"

#include "error_of.hpp"

namespace {

using namespace reprise;
using Values = std::vector<std::int64_t>;

struct ProgramTest : testing::Test {
    Dim b = symbol("batch"), s = symbol("seq");
    shape::DimProgram program;
    Values values;
};

TEST_F(ProgramTest, EvaluatesEveryOperation)
{
    const DimVector dims{7,
                         b,
                         3 * b,
                         b - 1,
                         b + s,
                         s - 2 * b,
                         b * s,
                         floor_div(s, 8),
                         floor_div(s, 7),
                         floor_div(s, b),
                         min(b, s),
                         max(b, s),
                         floor_div(s - 3 * b, 8),
                         floor_div(b * floor_div(-s, b + 1), 8),
                         floor_div(b * floor_div(-s, b + 1), 7)};
    std::vector<shape::Slot> slots;
    for (const Dim& dim : dims) slots.push_back(program.add(dim));
    EXPECT_EQ(program.symbols(), (std::vector<std::uint32_t>{b.symbols()[0], s.symbols()[0]}));
    const auto expect = [&](const Values& symbols, const Values& expected) {
        program.evaluate(symbols, values);
        for (std::size_t i = 0; i < dims.size(); ++i) EXPECT_EQ(values[slots[i]], expected[i]) << dims[i];
    };
    expect({4, 17}, {7, 4, 12, 3, 21, 9, 68, 2, 2, 4, 4, 17, 0, -2, -3});
    expect({9, 3}, {7, 9, 27, 8, 12, -15, 27, 0, 0, 0, 3, 9, -3, -2, -2});
    expect({1, 0}, {7, 1, 3, 0, 1, -2, 0, 0, 0, 0, 0, 1, -1, 0, 0});
}

TEST_F(ProgramTest, SharesSubexpressions)
{
    const shape::Slot product = program.add(b * s);
    const std::size_t before = program.size();
    EXPECT_EQ(before, 3u) << "two symbols and their product";
    EXPECT_EQ(program.add(s * b), product);
    EXPECT_EQ(program.size(), before);
    program.add(b * s * 4);
    program.add(b * s + 1);
    EXPECT_EQ(program.size(), before + 2);
    EXPECT_EQ(program.add(5), program.add(5));
}

TEST_F(ProgramTest, SymbolsHavePositions)
{
    const std::uint32_t seq = s.symbols()[0];
    EXPECT_EQ(program.symbol_slot(seq), 0u);
    const shape::Slot slot = program.add(b * 100 + s);
    EXPECT_EQ(program.symbol_slot(b.symbols()[0]), 1u);
    EXPECT_EQ(program.symbol_slot(seq), 0u);
    program.evaluate(Values{3, 5}, values);
    EXPECT_EQ(values[slot], 503);
    program.evaluate(Values{4, 6, 99}, values);
    EXPECT_EQ(values[slot], 604);
}

TEST_F(ProgramTest, AnEmptyProgramEvaluates)
{
    program.evaluate({}, values);
    EXPECT_TRUE(values.empty());
}

TEST_F(ProgramTest, ErrorsNameSymbolsAndValues)
{
    const auto error_at = [&](const Dim& dim, const Values& symbols) {
        shape::DimProgram p;
        p.add(dim);
        const Caught caught = error_of([&] { return p.evaluate(symbols, values), 0; });
        EXPECT_EQ(caught.kind, ErrorKind::argument) << caught.text;
        return caught.text;
    };
    constexpr std::int64_t large = std::int64_t{1} << 62;
    EXPECT_EQ(
        error_at(floor_div(s, b), {3, 0}),
        "[size] (3) is divided by (0) at (seq = 3, batch = 0): use sizes that leave a divisor above 0.");
    EXPECT_EQ(error_at(b * s, {large, 2}), "[size] The product of (4611686018427387904) and (2) exceeds 64 "
                                           "bits at (batch = 4611686018427387904, "
                                           "seq = 2): use smaller sizes.");
    EXPECT_NE(error_at(b * 4, {large}).find("(4)"), std::string::npos);
    EXPECT_NE(error_at(b + s, {large, large}).find("sum"), std::string::npos);
    EXPECT_NE(error_at(b + std::numeric_limits<std::int64_t>::max(), {1}).find("sum"), std::string::npos);
    EXPECT_NE(error_at(b - 3 * s, {0, large}).find("(-3)"), std::string::npos);
    EXPECT_NE(error_at(b + s, {1}).find("(1) values are given for (2) symbols"), std::string::npos);
    EXPECT_EQ(error_at(b + s, {1, -5}), "[size] The symbol (seq) is (-5): a size is at least 0.");
    EXPECT_EQ(error_at(b + s, {1, shape::DimProgram::no_value}),
              "[size] The symbol (seq) has no value: give it one.");
}

} // namespace
