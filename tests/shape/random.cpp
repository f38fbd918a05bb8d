// Random expressions: canonical forms, proofs and programs against values computed node by node.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include <reprise/error.hpp>

#include "shape/bounds.hpp"
#include "shape/expression.hpp"
#include "shape/program.hpp"

namespace {

using namespace reprise;
using Value = std::optional<std::int64_t>; // none: a divisor was 0

// Symbol values of one evaluation; several are computed side by side.
constexpr std::size_t samples = 12;

struct Checked {
    Dim dim;
    std::vector<Value> values;
};

std::int64_t floor_of(std::int64_t a, std::int64_t b)
{
    const std::int64_t remainder = ((a % b) + b) % b; // of b's sign
    return (a - remainder) / b;
}

template <class Function> std::vector<Value> zip(const Checked& a, const Checked& b, const Function& f)
{
    std::vector<Value> result(samples);
    for (std::size_t i = 0; i < samples; ++i) {
        if (a.values[i] && b.values[i]) result[i] = f(*a.values[i], *b.values[i]);
    }
    return result;
}

Checked add(const Checked& a, const Checked& b)
{
    return {a.dim + b.dim, zip(a, b, [](auto x, auto y) -> Value { return x + y; })};
}
Checked subtract(const Checked& a, const Checked& b)
{
    return {a.dim - b.dim, zip(a, b, [](auto x, auto y) -> Value { return x - y; })};
}
Checked multiply(const Checked& a, const Checked& b)
{
    return {a.dim * b.dim, zip(a, b, [](auto x, auto y) -> Value { return x * y; })};
}
Checked divide(const Checked& a, const Checked& b)
{
    if (same(b.dim, 0)) return a;
    return {floor_div(a.dim, b.dim), zip(a, b, [](auto x, auto y) -> Value {
                if (y == 0) return std::nullopt;
                return floor_of(x, y);
            })};
}
Checked least(const Checked& a, const Checked& b)
{
    return {min(a.dim, b.dim), zip(a, b, [](auto x, auto y) -> Value { return std::min(x, y); })};
}
Checked greatest(const Checked& a, const Checked& b)
{
    return {max(a.dim, b.dim), zip(a, b, [](auto x, auto y) -> Value { return std::max(x, y); })};
}

class RandomTest : public testing::Test {
protected:
    RandomTest()
    {
        for (const char* name : {"a", "b", "c", "d"}) {
            Checked symbol{reprise::symbol(name), std::vector<Value>(samples)};
            for (std::size_t i = 0; i < samples; ++i) symbol.values[i] = i == 0 ? 0 : i == 1 ? 1 : below(40);
            symbols_.push_back(symbol);
        }
        const Dim bounded = shape::make_symbol("e", {8, 64}, 8);
        Checked symbol{bounded, std::vector<Value>(samples)};
        for (Value& value : symbol.values) value = 8 + 8 * below(8);
        symbols_.push_back(symbol);
    }

    std::int64_t below(std::uint64_t n) { return static_cast<std::int64_t>(engine_() % n); }

    Checked constant(std::int64_t value) { return {value, std::vector<Value>(samples, value)}; }

    Checked leaf()
    {
        return below(3) == 0 ? constant(below(13) - 4)
                             : symbols_[static_cast<std::size_t>(below(symbols_.size()))];
    }

    Checked expression(int depth)
    {
        if (depth == 0) return leaf();
        const Checked a = expression(static_cast<int>(below(static_cast<std::uint64_t>(depth))));
        const Checked b = expression(static_cast<int>(below(static_cast<std::uint64_t>(depth))));
        switch (below(9)) {
        case 0:
        case 1: return add(a, b);
        case 2: return subtract(a, b);
        case 3: return multiply(a, b);
        case 4: return divide(a, b);
        case 5:
        case 6: return divide(a, constant(below(6) + 2));
        case 7: return least(a, b);
        default: return greatest(a, b);
        }
    }

    // Calls f(dim's value, expected value) for each sample that has one.
    template <class Function> void for_values(const Checked& e, const Function& f)
    {
        shape::DimProgram program;
        const shape::Slot slot = program.add(e.dim);
        std::vector<std::int64_t> values;
        for (std::size_t i = 0; i < samples; ++i) {
            if (!e.values[i]) continue;
            std::vector<std::int64_t> symbol_values;
            for (const std::uint32_t id : program.symbols()) symbol_values.push_back(value_of(id, i));
            program.evaluate(symbol_values, values);
            f(values[slot], *e.values[i]);
        }
    }

    std::int64_t value_of(std::uint32_t id, std::size_t sample)
    {
        return *std::find_if(symbols_.begin(), symbols_.end(), [&](const Checked& symbol) {
                    return symbol.dim.symbols()[0] == id;
                })->values[sample];
    }

    std::vector<Checked> symbols_;

private:
    std::mt19937_64 engine_{20240607};
};

TEST_F(RandomTest, ValuesAreThoseOfTheTree)
{
    for (int n = 0; n < 3000; ++n) {
        const Checked e = expression(5);
        for_values(e,
                   [&](std::int64_t value, std::int64_t expected) { ASSERT_EQ(value, expected) << e.dim; });
    }
}

TEST_F(RandomTest, ProofsHold)
{
    for (int n = 0; n < 3000; ++n) {
        const Checked e = expression(5);
        const shape::Range range = shape::range_of(e.dim);
        for_values(e, [&](std::int64_t value, std::int64_t) {
            ASSERT_GE(value, range.low) << e.dim;
            ASSERT_LE(value, range.high) << e.dim;
            for (const std::int64_t divisor : {2, 3, 4, 8}) {
                ASSERT_TRUE(value % divisor == 0 || !e.dim.divisible_by(divisor)) << e.dim << ", " << divisor;
            }
        });
    }
}

TEST_F(RandomTest, RingLaws)
{
    for (int n = 0; n < 1000; ++n) {
        const Dim a = expression(3).dim, b = expression(3).dim, c = expression(3).dim;
        ASSERT_EQ(a + b, b + a);
        ASSERT_EQ((a + b) + c, a + (b + c));
        ASSERT_EQ(a * b, b * a);
        ASSERT_EQ((a * b) * c, a * (b * c));
        ASSERT_EQ(a * (b + c), a * b + a * c);
        ASSERT_EQ((a + b) - b, a);
        ASSERT_EQ(-(-a), a);
        ASSERT_EQ((a + b).hash(), (b + a).hash());
        ASSERT_EQ(same(a * b - c, 0), same(a * b, c));
    }
}

TEST_F(RandomTest, QuotientLaws)
{
    for (int n = 0; n < 1000; ++n) {
        const Dim a = expression(3).dim, b = expression(2).dim;
        const std::int64_t k = below(9) + 1, m = below(9) + 1;
        const auto free = [&] { // of bounds, which may decide one side
            Dim d = leaf().dim;
            while (same(d, symbols_.back().dim)) d = leaf().dim;
            return d;
        };
        const Dim polynomial = free() * free() - free() * k + free();
        ASSERT_EQ(floor_div(a * k, k), a);
        ASSERT_EQ(floor_div(a + b * k, k), floor_div(a, k) + b) << a << ", " << b << ", " << k;
        ASSERT_EQ(floor_div(floor_div(polynomial, k), m), floor_div(polynomial, k * m))
            << polynomial << ", " << k << ", " << m;
        ASSERT_EQ(floor_div(a * m, k * m), floor_div(a, k)) << a << ", " << k << ", " << m;
        ASSERT_EQ(floor_div(-a, -k), floor_div(a, k));
        ASSERT_EQ(mod(a + b * k, k), mod(a, k));
        ASSERT_TRUE(round_up(a, k).divisible_by(k));
        if (same(b, 0)) continue;
        ASSERT_EQ(floor_div(a * b, b), a) << a << ", " << b;
        ASSERT_EQ(floor_div(a * b + a, b), floor_div(a, b) + a) << a << ", " << b;
        ASSERT_EQ(shape::divide_exactly(a * b, b), a);
    }
}

TEST_F(RandomTest, ExtremumLaws)
{
    for (int n = 0; n < 500; ++n) {
        const Dim a = expression(2).dim, b = expression(2).dim, c = leaf().dim * leaf().dim - leaf().dim;
        ASSERT_EQ(min(a, b), min(b, a));
        ASSERT_EQ(max(a, b), max(b, a));
        ASSERT_EQ(min(a, a), a);
        ASSERT_EQ(max(a, a), a);
        ASSERT_EQ(min(a + c, b + c), min(a, b) + c) << a << ", " << b << ", " << c;
        ASSERT_EQ(max(a * 3, b * 3), max(a, b) * 3) << a << ", " << b;
        ASSERT_EQ(min(min(a, b), a), min(a, b)) << a << ", " << b;
        ASSERT_EQ(max(max(a, b), b), max(a, b)) << a << ", " << b;
    }
}

TEST_F(RandomTest, ProgramsShareSubexpressions)
{
    for (int n = 0; n < 300; ++n) {
        shape::DimProgram program;
        std::vector<Checked> all;
        std::vector<shape::Slot> slots;
        for (int i = 0; i < 5; ++i) {
            all.push_back(expression(4));
            slots.push_back(program.add(all.back().dim));
        }
        const std::size_t size = program.size();
        for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(program.add(all[i].dim), slots[i]);
        ASSERT_EQ(program.size(), size);

        std::vector<std::int64_t> values;
        for (std::size_t i = 0; i < samples; ++i) {
            const bool defined =
                std::all_of(all.begin(), all.end(), [&](const Checked& e) { return e.values[i]; });
            if (!defined) continue;
            std::vector<std::int64_t> symbol_values;
            for (const std::uint32_t id : program.symbols()) symbol_values.push_back(value_of(id, i));
            program.evaluate(symbol_values, values);
            for (std::size_t k = 0; k < all.size(); ++k)
                ASSERT_EQ(values[slots[k]], *all[k].values[i]) << all[k].dim;
        }
    }
}

} // namespace
