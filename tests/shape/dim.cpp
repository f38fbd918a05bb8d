// Canonical forms, constants and proofs.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <map>
#include <sstream>
#include <vector>

#include <reprise/error.hpp>

#include "shape/expression.hpp"

#include "error_of.hpp"

namespace {

using namespace reprise;

constexpr std::int64_t highest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

struct DimTest : testing::Test {
    Dim b = symbol("batch"), s = symbol("seq"), x = symbol("x"), y = symbol("y"), z = symbol("z");

    std::int64_t at(const Dim& dim, std::map<std::uint32_t, std::int64_t> values)
    {
        return dim.evaluate([&](std::uint32_t id) { return values.contains(id) ? values[id] : -1; });
    }
    std::uint32_t id(const Dim& dim) { return dim.symbols().at(0); }
};

TEST_F(DimTest, ConstantsAreNumbers)
{
    EXPECT_EQ(Dim(7) + 5, 12);
    EXPECT_EQ(Dim(7) - 9, -2);
    EXPECT_EQ(Dim(1LL << 31) * (1LL << 31), std::int64_t{1} << 62);
    EXPECT_EQ(floor_div(Dim(-7), 2), -4);
    EXPECT_EQ(floor_div(Dim(7), -2), -4);
    EXPECT_EQ(floor_div(Dim(-8), -2), 4);
    EXPECT_EQ(mod(-7, Dim(4)), 1);
    EXPECT_EQ(mod(Dim(-7), -4), -3);
    EXPECT_EQ(ceil_div(Dim(9), 4), 3);
    EXPECT_EQ(round_up(9, 4), 12);
    EXPECT_EQ(min(Dim(3), 4), 3);
    EXPECT_EQ(max(3, Dim(4)), 4);
    EXPECT_EQ(Dim(5u).value() + Dim(5ul).value() + Dim(5ull).value(), 15);
    EXPECT_TRUE(Dim(5).is_constant() && Dim().is_constant() && Dim() == 0);
    Dim d = 2;
    d += 3;
    d *= 4;
    d -= 1;
    EXPECT_EQ(-d, -19);
}

TEST_F(DimTest, ConstantOverflowThrows)
{
    for (const auto& overflow : std::vector<std::function<Dim()>>{
             [] { return Dim(highest) + 1; }, [] { return Dim(lowest) + -1; }, [] { return Dim(lowest) - 1; },
             [] { return Dim(highest) - -1; }, [] { return -Dim(lowest); }, [] { return Dim(highest) * 2; },
             [] { return Dim(1LL << 32) * (1LL << 31); }, [] { return floor_div(Dim(lowest), -1); },
             [] { return floor_div(Dim(1), 0); }, [] { return mod(1, Dim(0)); },
             [] { return round_up(1, 0); }, [] { return Dim(std::numeric_limits<std::uint64_t>::max()); }}) {
        EXPECT_EQ(error_of(overflow).kind, ErrorKind::argument);
    }
    EXPECT_EQ(error_of([] { return Dim(highest) + 1; }).text,
              "[size] The sum of (9223372036854775807) and (1) exceeds 64 bits: use smaller sizes.");
    EXPECT_EQ(Dim(lowest) + highest, -1);
    EXPECT_EQ(Dim(-1) - highest, lowest);
    EXPECT_EQ(Dim(lowest) * 1, lowest);
}

TEST_F(DimTest, PolynomialsAreCanonical)
{
    EXPECT_EQ((b + 1) * (b - 1), b * b - 1);
    EXPECT_EQ(2 * b + b, 3 * b);
    EXPECT_EQ(b - b, 0);
    EXPECT_TRUE((b - b).is_constant());
    EXPECT_EQ((b + s) * (b + s), b * b + 2 * b * s + s * s);
    EXPECT_EQ((x + y) * (y + z) * (z + x), (z + x) * (x + y) * (z + y));
    EXPECT_EQ(0 * b, 0);
    EXPECT_FALSE(same(b, s));
    EXPECT_FALSE(same(b, 0));
    EXPECT_NE(b + 1, b);
    EXPECT_FALSE(same(symbol("batch"), b));
    EXPECT_EQ((b * s + 1).hash(), (1 + s * b).hash());
    EXPECT_NE(b.hash(), s.hash());
    EXPECT_EQ(std::hash<Dim>{}(b * 2), (b + b).hash());
}

TEST_F(DimTest, QuotientsAreCanonical)
{
    EXPECT_EQ(floor_div(4 * b + 3, 4), b);
    EXPECT_EQ(floor_div(floor_div(x, 2), 3), floor_div(x, 6));
    EXPECT_EQ(floor_div(6 * b, 3), 2 * b);
    EXPECT_EQ(floor_div(b - 1, 4), floor_div(b + 3, 4) - 1);
    EXPECT_EQ(floor_div(2 * b + 1, 4), floor_div(b, 2));
    EXPECT_EQ(floor_div(floor_div(x + 3, 2) + y, 5), floor_div(x + 2 * y + 3, 10));
    EXPECT_EQ(floor_div(-b, -4), floor_div(b, 4));
    EXPECT_EQ(floor_div(b, 1), b);
    EXPECT_EQ(floor_div(b, -1), -b);
    EXPECT_EQ(mod(8 * b, 4), 0);
    EXPECT_EQ(mod(8 * b + 6, 4), 2);
    EXPECT_EQ(mod(mod(b, 4), 4), mod(b, 4));
    EXPECT_EQ(floor_div(mod(b, 4), 4), 0);
    EXPECT_EQ(round_up(round_up(b, 8), 4), round_up(b, 8));
    EXPECT_EQ(ceil_div(4 * b, 4), b);
    EXPECT_EQ(ceil_div(ceil_div(b, 2), 3), ceil_div(b, 6));
    EXPECT_EQ(floor_div(Dim(0), b), 0);
}

TEST_F(DimTest, QuotientsOfExpressionsAreCanonical)
{
    EXPECT_EQ(floor_div(12 * b, b), 12);
    EXPECT_EQ(floor_div(b * s * 4, s * 2), b * 2);
    EXPECT_EQ(floor_div(b * b - 1, b + 1), b - 1);
    EXPECT_EQ(floor_div(b * s + x, b), s + floor_div(x, b));
    EXPECT_EQ(floor_div(b * s, 4 * s), floor_div(b, 4));
    EXPECT_EQ(floor_div(floor_div(x, s), b), floor_div(x, s * b));
    EXPECT_EQ(floor_div(b, b + 1), 0);
    EXPECT_EQ(ceil_div(b, b), 1);
    EXPECT_EQ(floor_div(Dim(3), 4 * b), 0);
    EXPECT_EQ(floor_div(-x, -y), floor_div(x, y));
    EXPECT_EQ(mod(b * s, s), 0);
}

TEST_F(DimTest, ExtremaAreCanonical)
{
    EXPECT_EQ(min(x, x), x);
    EXPECT_EQ(max(b, 0), b);
    EXPECT_EQ(min(b, 0), 0);
    EXPECT_EQ(min(min(x, y), z), min(z, min(y, x)));
    EXPECT_EQ(max(max(x, y), max(z, x)), max(x, max(y, z)));
    EXPECT_EQ(min(x, min(y, 5)), min(min(5, x), y));
    EXPECT_EQ(min(min(x, 3), 5), min(x, 3));
    EXPECT_EQ(min(x + z, y + z), min(x, y) + z);
    EXPECT_EQ(min(4 * x + 2, 6 * y + 2), 2 * min(2 * x, 3 * y) + 2);
    EXPECT_EQ(min(min(x, y) * 2 + z, 1), min(min(2 * x + z, 2 * y + z), 1));
    EXPECT_EQ(max(x + y, x), x + y);
    EXPECT_EQ(min(b, b + 1), b);
    EXPECT_EQ(min(floor_div(b, 2), b), floor_div(b, 2));
    EXPECT_EQ(max(round_up(b, 8), b), round_up(b, 8));
    EXPECT_EQ(max(min(x, y), x), x);
    EXPECT_FALSE(same(min(x, y), max(x, y)));
    EXPECT_EQ(min(x, y).expression()->terms.size(), 1u);
}

TEST_F(DimTest, ProvesBounds)
{
    EXPECT_TRUE(b.at_least(0));
    EXPECT_FALSE(b.at_least(1));
    EXPECT_TRUE((b * s + 3).at_least(3));
    EXPECT_FALSE((b - s).at_least(0));
    EXPECT_TRUE(Dim(lowest).at_least(lowest));
    EXPECT_TRUE(mod(b, 4).at_least(0));
    EXPECT_TRUE((3 - mod(b, 4)).at_least(0));
    EXPECT_FALSE((2 - mod(b, 4)).at_least(0));
    EXPECT_TRUE((round_up(b, 8) - b).at_least(0));
    EXPECT_TRUE((b - floor_div(b, 3)).at_least(0));
    EXPECT_TRUE((floor_div(b + 3, 4) - floor_div(b + 1, 4)).at_least(0));
    EXPECT_TRUE((x + y - min(x, y)).at_least(0));
    EXPECT_TRUE((max(x, 3) - 3).at_least(0));
    EXPECT_TRUE(max(x - 3, 0).at_least(0));
    EXPECT_TRUE((max(x, y) - min(x, y)).at_least(0));
}

TEST_F(DimTest, BoundsNear64BitsAreRoundedOutward)
{
    EXPECT_TRUE((b + highest).at_least((std::int64_t{1} << 62) - 1));
    EXPECT_FALSE((b + highest).at_least(highest)) << "true, but not proved";
    EXPECT_FALSE((b + lowest).at_least(lowest + 1));
    EXPECT_TRUE((b * (std::int64_t{1} << 61) * 3 + s + highest).at_least(0));
    EXPECT_FALSE((floor_div(b, 3) * lowest + s).at_least(0));
    EXPECT_FALSE((3 - shape::make_symbol("huge", {0, highest - 1}, 1) * 2).at_least(0));
}

TEST_F(DimTest, ProvesDivisibility)
{
    EXPECT_TRUE((8 * b + 4).divisible_by(4));
    EXPECT_TRUE((8 * b + 4).divisible_by(-4));
    EXPECT_FALSE((8 * b + 4).divisible_by(8));
    EXPECT_TRUE(round_up(b, 16).divisible_by(8));
    EXPECT_TRUE(Dim(0).divisible_by(5));
    EXPECT_TRUE(Dim(lowest).divisible_by(-1));
    EXPECT_FALSE(Dim(7).divisible_by(5));
    EXPECT_EQ(error_of([this] { return Dim(b.divisible_by(0)); }).kind, ErrorKind::argument);
}

TEST_F(DimTest, RangesAndDivisorsOfSymbols)
{
    const Dim t = shape::make_symbol("tokens", {16, 1024}, 16);
    EXPECT_TRUE(t.at_least(16));
    EXPECT_TRUE((1024 - t).at_least(0));
    EXPECT_EQ(floor_div(t, 2048), 0);
    EXPECT_EQ(min(t, 1024), t);
    EXPECT_EQ(max(t, 7), t);
    EXPECT_TRUE((t * b).divisible_by(8));
    EXPECT_TRUE((3 * t * t).divisible_by(256));
    EXPECT_EQ(mod(t, 8), 0);
    EXPECT_EQ(round_up(t, 16), t);
    EXPECT_EQ(at(t + 1, {{id(t), 32}}), 33);

    const Dim three = shape::make_symbol("three", {3, 3}, 1);
    EXPECT_EQ(at(min(three, 3), {{id(three), 3}}), 3) << "each operand makes the other superfluous";

    for (const std::int64_t value : {0, 24, 1040}) {
        const auto error = error_of([&] { return at(t, {{id(t), value}}); }); // below, no multiple, above
        EXPECT_EQ(error.kind, ErrorKind::argument);
        EXPECT_NE(error.text.find("(tokens) is (" + std::to_string(value) + ")"), std::string::npos)
            << error.text;
    }
}

TEST_F(DimTest, SymbolsOfAMultipleDivide)
{
    const Dim seq = symbol("seq", {.min = 1, .max = 4096, .multiple_of = 8});
    EXPECT_TRUE(seq.at_least(8)) << "the least multiple";
    EXPECT_TRUE(seq.at_most(4096));
    EXPECT_FALSE(seq.at_most(4088));
    EXPECT_TRUE((seq * 3).at_most(3 * 4096));
    EXPECT_FALSE(b.at_most(1LL << 40));
    EXPECT_TRUE(Dim(7).at_most(7));
    EXPECT_TRUE(seq.divisible_by(8));
    EXPECT_FALSE(seq.divisible_by(16));
    EXPECT_EQ(floor_div(seq, 8) * 8, seq);
    EXPECT_EQ(floor_div(seq, 16), floor_div(floor_div(seq, 8), 2));
    EXPECT_EQ(floor_div(seq + 7, 8), floor_div(seq, 8));
    EXPECT_EQ(ceil_div(seq, 4) * 4, seq);
    EXPECT_EQ(mod(seq + 3, 4), 3);
    EXPECT_EQ(floor_div(b * seq, seq), b);
    EXPECT_EQ(min(seq, 8), 8);
    EXPECT_EQ(max(seq, 5000), 5000);
    EXPECT_EQ(at(floor_div(seq, 8) + seq, {{id(seq), 24}}), 27);

    EXPECT_EQ(seq.text(), "seq");
    EXPECT_EQ((seq * 3 - 1).text(), "seq * 3 - 1");
    EXPECT_EQ(floor_div(seq, 8).text(), "seq / 8");
    EXPECT_EQ(floor_div(seq * 3, 2).text(), "seq / 2 * 3");
    EXPECT_EQ((floor_div(seq, 4) * b).text(), "batch * seq / 4");
    EXPECT_EQ(floor_div(seq, 16).text(), "floor(seq / 8, 2)");
}

TEST_F(DimTest, SymbolsOfNoSizeAreErrors)
{
    for (const SymbolOptions& options :
         {SymbolOptions{.min = -1}, SymbolOptions{.min = 3, .max = 2}, SymbolOptions{.multiple_of = 0},
          SymbolOptions{.min = 9, .max = 15, .multiple_of = 8}}) {
        const auto error = error_of([&] { return symbol("seq", options); });
        EXPECT_EQ(error.kind, ErrorKind::argument);
        EXPECT_NE(error.text.find("[symbol] The symbol (seq)"), std::string::npos) << error.text;
    }
    EXPECT_EQ(symbol("one", {.min = 8, .max = 8, .multiple_of = 8}).text(), "one");
}

TEST_F(DimTest, Substitution)
{
    const Dim even = symbol("even", {.multiple_of = 2});
    const Dim e = b * s + floor_div(even, 4) - min(b, even) + 3;
    const shape::Values values{{id(b), x + 1}, {id(even), 2 * y}};
    EXPECT_EQ(shape::substitute(e, values), (x + 1) * s + floor_div(y, 2) - min(x + 1, 2 * y) + 3);
    EXPECT_EQ(shape::substitute(e, {{id(b), 2}, {id(s), 5}, {id(even), 8}}), 13);
    EXPECT_EQ(shape::substitute(7, values), 7);
    const auto affine = shape::affine_in_one_symbol(floor_div(even, 2) * 3 + 5);
    ASSERT_TRUE(affine);
    EXPECT_EQ(affine->scale, 3);
    EXPECT_EQ(affine->offset, 5);
    EXPECT_FALSE(shape::affine_in_one_symbol(b * b));
    EXPECT_FALSE(shape::affine_in_one_symbol(b + s));
    EXPECT_FALSE(shape::affine_in_one_symbol(4));
}

TEST_F(DimTest, Text)
{
    EXPECT_EQ((b * 196).text(), "batch * 196");
    EXPECT_EQ(floor_div(s + 7, 8).text(), "floor(seq + 7, 8)");
    EXPECT_EQ((b * s + 2 * b - 3).text(), "batch * seq + batch * 2 - 3");
    EXPECT_EQ((3 - b).text(), "3 - batch");
    EXPECT_EQ((-b).text(), "-batch");
    EXPECT_EQ((-2 * b * b - 1).text(), "-batch * batch * 2 - 1");
    EXPECT_EQ((s - b).text(), "seq - batch");
    EXPECT_EQ(min(b, s).text(), "min(batch, seq)");
    EXPECT_EQ(max(b, 3).text(), "max(batch, 3)");
    EXPECT_EQ(Dim(-4).text(), "-4");
    EXPECT_EQ(symbol("").text()[0], 's');
    std::ostringstream stream;
    stream << b + 1;
    EXPECT_EQ(stream.str(), "batch + 1");
    EXPECT_EQ(to_string(Shape{b, 1, 28, s + 1}), "[batch, 1, 28, seq + 1]");
    EXPECT_EQ(to_string(Shape{}), "[]");
}

TEST_F(DimTest, SymbolsAreNoExpressions)
{
    EXPECT_TRUE(b.is_symbol());
    EXPECT_TRUE((b + s - s).is_symbol());
    EXPECT_TRUE(symbol("eights", {.min = 8, .multiple_of = 8}).is_symbol());
    for (const Dim& d : {Dim(3), b * 2, b + 1, b * b, b + s, min(b, 64), floor_div(b, 2)})
        EXPECT_FALSE(d.is_symbol()) << d;
    EXPECT_FALSE(floor_div(symbol("twos", {.multiple_of = 2}), 2).is_symbol());
}

TEST_F(DimTest, SymbolsAndValues)
{
    EXPECT_EQ((s * b + min(x, floor_div(b, y)) - s * 3).symbols(),
              (std::vector<std::uint32_t>{id(b), id(s), id(x), id(y)}));
    EXPECT_TRUE(Dim(3).symbols().empty());
    EXPECT_EQ(at(b * s + floor_div(s, 3), {{id(b), 4}, {id(s), 7}}), 30);
    EXPECT_EQ(Dim(3).evaluate({}), 3);

    const auto missing = error_of([this] { return at(b + s, {{id(s), 1}}); });
    EXPECT_EQ(missing.kind, ErrorKind::argument);
    EXPECT_NE(missing.text.find("(batch)"), std::string::npos) << missing.text;
    EXPECT_EQ(error_of([this] { return b.evaluate({}); }).kind, ErrorKind::argument);

    const auto constant = error_of([this] { return (b + 1).value(); });
    EXPECT_EQ(constant.kind, ErrorKind::state);
    EXPECT_NE(constant.text.find("(batch + 1)"), std::string::npos) << constant.text;
}

TEST_F(DimTest, CoefficientOverflowThrows)
{
    EXPECT_EQ(error_of([this] { return b * highest + b; }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([this] { return b * highest * 2; }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([this] { return (b + highest) * (b + 2); }).kind, ErrorKind::argument);
    EXPECT_EQ(error_of([this] { return floor_div(b, 0); }).kind, ErrorKind::argument);
    // Too large to merge, so the quotients stay nested.
    const Dim nested = floor_div(floor_div(b + 1, highest), 3);
    EXPECT_EQ(at(nested, {{id(b), 5}}), 0);
}

} // namespace
