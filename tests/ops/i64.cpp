// i64 has 64 bits on every device: what is computed of numbers beyond 32 bits is what the reference device computes,
// in eager code and in programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include <reprise/autograd.hpp>
#include <reprise/io.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/dynamic.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/losses.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/ops/sorting.hpp>
#include <reprise/program.hpp>

#include "graph/cell.hpp"
#include "ops/readers.hpp"
#include "ops/registry.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;

using Longs = std::vector<std::int64_t>;
using Function = std::function<Tensor(const std::vector<Tensor>&)>;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                       least = std::numeric_limits<std::int64_t>::min(), two_31 = std::int64_t{1} << 31,
                       two_32 = std::int64_t{1} << 32;

const Longs special = {0,
                       1,
                       -1,
                       2,
                       -2,
                       7,
                       -7,
                       31,
                       32,
                       33,
                       63,
                       64,
                       100'000,
                       two_31 - 1,
                       two_31,
                       -two_31,
                       -two_31 - 1,
                       two_32 - 1,
                       two_32,
                       two_32 + 1,
                       -two_32,
                       10'000'000'000,
                       -3'000'000'001,
                       (std::int64_t{1} << 53) + 1,
                       0x0123'4567'89AB'CDEF,
                       most,
                       most - 1,
                       least,
                       least + 1};

Longs spread(std::int64_t count)
{
    Longs v;
    std::uint64_t bits = 1;
    for (std::int64_t i = 0; i < count; ++i) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        const auto size = static_cast<int>(bits >> 58); // many are small
        v.push_back(static_cast<std::int64_t>(bits) >> size);
    }
    return v;
}

Tensor longs(const Longs& v, const Shape& shape, const Device& device = default_device())
{
    return from_vector(v, shape, {.device = device});
}
Tensor longs(const Longs& v) { return longs(v, {static_cast<long long>(v.size())}); }

void expect_same(const Tensor& got, const Tensor& want, const std::string& what)
{
    const std::vector<std::byte> a = to_bytes(got), b = to_bytes(want);
    ASSERT_EQ(a.size(), b.size()) << what;
    const auto at = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
    if (at < a.size())
        ADD_FAILURE() << what << ": element " << at / size_of(got.dtype()) << " of "
                      << to_string(got.shape());
}

// On this device in eager code and in a program, whose sizes are symbols, as on the reference device.
void expect_reference(const std::string& what, const std::vector<Tensor>& in, const Function& f)
{
    std::vector<Tensor> there;
    for (const Tensor& t : in) there.push_back(t.to(Device("reference")));
    const Tensor want = f(there), got = f(in);
    ASSERT_EQ(got.dtype(), want.dtype()) << what;
    ASSERT_EQ(to_string(got.shape()), to_string(want.shape())) << what;
    expect_same(got, want, what);
    if (in.size() > 2) return;
    std::vector<Spec> specs;
    const Dim n = symbol("n");
    for (const Tensor& t : in) {
        Shape sizes = t.shape();
        if (!sizes.empty() && sizes[0] == in[0].shape()[0]) sizes[0] = n;
        specs.push_back(spec(sizes, t.dtype()));
    }
    const Tensor replayed = in.size() == 1 ? record([&](Tensor a) { return f({a}); }, specs)(in[0])
                                           : record(
                                                 [&](Tensor a, Tensor b) {
                                                     return f({a, b});
                                                 },
                                                 specs)(in[0], in[1]);
    expect_same(replayed, want, what + ", recorded");
}

TEST(I64Rows, AreTheReferences)
{
    Longs a, b;
    for (const std::int64_t x : special)
        for (const std::int64_t y : special) {
            a.push_back(x);
            b.push_back(y);
        }
    const auto n = static_cast<long long>(special.size());
    Longs c(a.rbegin(), a.rend());
    for (const ops::Row& row : ops::reference_rows()) {
        const auto arity = static_cast<std::size_t>(row.arity());
        if (!row.takes_integers() || row.name == std::string("cast")) continue;
        const Function f = [&](const std::vector<Tensor>& in) {
            std::vector<Tensor> operands(in.begin(), in.begin() + row.arity());
            if (row.types[0] == 'B') operands[0] = operands[0] > 0;
            return graph::apply1(ops::row_op(row.name), operands);
        };
        std::vector<Tensor> in{longs(a, {n, n}), longs(b, {n, n}), longs(c, {n, n})};
        in.resize(arity);
        expect_reference(row.name, in, f);
        std::vector<Tensor> strided, odd;
        for (std::size_t i = 0; i < arity; ++i) { // a view, a row that is repeated, a column
            strided.push_back(i == 0 ? in[i].t() : i == 1 ? in[i].narrow(0, 3, 1) : in[i].narrow(1, 5, 1));
            odd.push_back(in[i].reshape({n * n}).narrow(0, 1 + static_cast<long long>(i), 11));
        }
        expect_reference(row.name + std::string(", views"), strided, f);
        expect_reference(row.name + std::string(", eleven"), odd, f);
    }
}

TEST(I64Rows, TakeNumbers)
{
    const Tensor x = longs(special);
    expect_reference("add", {x}, [](const auto& in) { return in[0] + 3e9; });
    expect_reference("mul", {x}, [](const auto& in) { return in[0] * -1e10; });
    expect_reference("less", {x}, [](const auto& in) { return in[0] < 3e9; });
    expect_reference("size", {x},
                     [](const auto& in) { return in[0] + ops::size_like(in[0], in[0].size(0)); });
    expect_reference("clamp", {x}, [](const auto& in) { return clamp(in[0], -3e9, 1e10); });
    expect_reference("where", {x}, [](const auto& in) { return where(in[0] > 5e9, in[0], -1.0); });
    expect_reference("masked_fill", {x}, [](const auto& in) { return masked_fill(in[0], in[0] < 0, 1e12); });
}

TEST(I64Rows, AreRightBySight)
{
    const Tensor x = longs({100'000, -3'000'000'000});
    EXPECT_THAT((x * x).to_vector<std::int64_t>(), ElementsAre(10'000'000'000, 9'000'000'000'000'000'000));
    EXPECT_THAT((x + 5e9).to_vector<std::int64_t>(), ElementsAre(5'000'100'000, 2'000'000'000));
    EXPECT_THAT((x - 5e9).to_vector<std::int64_t>(), ElementsAre(-4'999'900'000, -8'000'000'000));
    EXPECT_THAT(floor_divide(x, longs({7, 7})).to_vector<std::int64_t>(), ElementsAre(14285, -428571429));
    EXPECT_THAT((x > -2e9).to_vector<bool>(), ElementsAre(true, false));
}

TEST(I64Casts, AreTheReferences)
{
    const bool doubles = error_of([] { return zeros({1}, {.dtype = f64}); }).text == Caught{}.text;
    Longs halfway; // between two floats, and beside that
    for (const int shift : {25, 30, 31, 40, 62})
        for (const std::int64_t low : {-1, 0, 1})
            for (const std::int64_t sign : {-1, 1})
                for (const std::int64_t odd : {0, 1})
                    halfway.push_back(sign * ((std::int64_t{1} << shift) + (odd << (shift - 23)) +
                                              (std::int64_t{1} << (shift - 24)) + low));
    halfway.insert(halfway.end(), special.begin(), special.end());
    const Tensor x = longs(halfway);
    for (const DType to : {f32, f16, bf16, f64, i32, i16, i8, u8, boolean, i64}) {
        if (to == f64 && !doubles) continue;
        expect_reference(std::string("to ") + name_of(to), {x},
                         [&](const auto& in) { return cast(in[0], to); });
        expect_reference(std::string("view to ") + name_of(to), {x},
                         [&](const auto& in) { return cast(in[0].narrow(0, 3, 7), to); });
    }
    const float infinity = std::numeric_limits<float>::infinity();
    std::vector<float> reals = {0,        -0.0F,  0.5F,   -0.5F,    0.99F,     -1.99F,       3.5F,
                                16777216, 1e10F,  -1e10F, 2.15e9F,  4.3e9F,    9e18F,        9.3e18F,
                                -9.3e18F, 1e-40F, -1e30F, infinity, -infinity, std::nanf("")};
    for (int e = -3; e < 66; ++e) {
        reals.push_back(std::ldexp(1.7F, e));
        reals.push_back(-std::ldexp(1.0F, e));
    }
    const Tensor r = from_vector(reals, {static_cast<long long>(reals.size())});
    for (const DType from : {f32, f16, bf16, f64, i32, i16, i8, u8, boolean}) {
        if (from == f64 && !doubles) continue;
        expect_reference(std::string("from ") + name_of(from), {cast(r, from)},
                         [&](const auto& in) { return cast(in[0], i64); });
    }
    EXPECT_EQ(cast(full({1}, 1e10), i64).item<std::int64_t>(), 10'000'000'000);
    EXPECT_EQ(cast(longs({two_32 + 5}), i32).item<std::int32_t>(), 5);
}

TEST(I64Totals, AreTheReferences)
{
    for (const long long n : {1, 257, 70'000}) {
        const Tensor x = longs(spread(n * 3), {n, 3});
        for (const Dims& dims : {Dims{0}, Dims{0, 1}})
            for (const DType dtype : {i64, i32, i16, u8, boolean}) {
                const auto name = std::to_string(n) + ", " + name_of(dtype);
                const Tensor narrow = cast(x, dtype);
                expect_reference("sum of " + name, {narrow},
                                 [&](const auto& in) { return sum(in[0], dims); });
                if (n > 300 && dtype != i64) continue;
                expect_reference("prod of " + name, {narrow},
                                 [&](const auto& in) { return prod(in[0], dims); });
                if (dtype != boolean && dtype != u8)
                    expect_reference("cumsum and cumprod of " + name, {narrow}, [&](const auto& in) {
                        return bitwise_xor(cumsum(in[0], dims[0]), cumprod(in[0], dims[0]));
                    });
                if (dtype != i64) continue;
                expect_reference("amax " + name, {x}, [&](const auto& in) { return amax(in[0], dims); });
                expect_reference("amin " + name, {x}, [&](const auto& in) { return amin(in[0].t(), dims); });
                expect_reference("any " + name, {x},
                                 [&](const auto& in) { return any(in[0] * two_32, dims); });
                expect_reference("all " + name, {x}, [&](const auto& in) { return all(in[0], dims); });
                expect_reference("count " + name, {x},
                                 [&](const auto& in) { return count_nonzero(in[0], dims); });
            }
    }
    const auto none = zeros({0, 3}, {.dtype = i64});
    EXPECT_THAT(sum(none, {0}).to_vector<std::int64_t>(), ElementsAre(0, 0, 0));
    EXPECT_THAT(prod(none, {0}).to_vector<std::int64_t>(), ElementsAre(1, 1, 1));
}

TEST(I64Totals, AreRightBySight)
{
    const Tensor two = from_vector(std::vector<std::int32_t>{2'000'000'000, 2'000'000'000}, {2});
    EXPECT_EQ(sum(two).item<std::int64_t>(), 4'000'000'000);
    EXPECT_EQ(prod(two).item<std::int64_t>(), 4'000'000'000'000'000'000);
    EXPECT_THAT(cumsum(two, 0).to_vector<std::int64_t>(), ElementsAre(2'000'000'000, 4'000'000'000));
    EXPECT_EQ(sum(full({131'072}, 255, {.dtype = u8})).item<std::int64_t>(), 131'072 * 255);
    EXPECT_EQ(sum(full({131'072}, 127, {.dtype = i8})).item<std::int64_t>(), 131'072 * 127);
    EXPECT_EQ(sum(full({131'072}, 1, {.dtype = i32}) * 100'000).item<std::int64_t>(), 13'107'200'000);
    EXPECT_EQ(sum(full({70'000}, 1) > 0.5).item<std::int64_t>(), 70'000);
    EXPECT_EQ(mean(cast(longs({3'000'000'000, 5'000'000'000}), f32)).item<float>(), 4e9F);
}

TEST(I64Moves, AreTheReferences)
{
    const Tensor x = longs(spread(60), {5, 12}), y = longs(spread(24), {2, 12});
    expect_reference("cat", {x, y}, [](const auto& in) { return cat({in[0], in[1]}, 0); });
    expect_reference("cat of columns", {x}, [](const auto& in) {
        return cat({in[0], in[0].narrow(1, 1, 5)}, 1);
    });
    expect_reference("stack", {x}, [](const auto& in) { return stack({in[0], in[0] + 1}, 1); });
    expect_reference("pad", {x}, [](const auto& in) { return pad(in[0], {1, 2, 3, 0}, 1e10); });
    expect_reference("flip", {x}, [](const auto& in) { return flip(in[0], {0, 1}); });
    expect_reference("roll", {x}, [](const auto& in) { return roll(in[0], 3, 1); });
    expect_reference("expand", {x}, [](const auto& in) {
        return in[0].narrow(1, 2, 1).expand({5, 4}).contiguous();
    });
    expect_reference("repeat", {x}, [](const auto& in) { return repeat(in[0], {1, 2}); });
    expect_reference("permute", {x.reshape({5, 3, 4})}, [](const auto& in) {
        return permute(in[0], {2, 1, 0}).contiguous();
    });
    expect_reference("tril", {x}, [](const auto& in) { return tril(in[0]); });
    expect_reference("slice", {x}, [](const auto& in) { return in[0].narrow(1, 1, 3).contiguous(); });
    expect_reference("dynamic_slice", {x, longs({-3, 0, two_32, 2, least})},
                     [](const auto& in) { return dynamic_slice(in[0], in[1], 4); });
    expect_reference("dynamic_pad", {x, longs({1, 0, two_32 + 1, 2, most})},
                     [](const auto& in) { return dynamic_pad(in[0], in[1], 14, 1e10); });
    Longs positive;
    for (const std::int64_t v : spread(60))
        if (v > 0) positive.push_back(v);
    EXPECT_EQ(masked_select(x, x > 0).to_vector<std::int64_t>(), positive);
}

TEST(I64Indices, OutsideOf32BitsAreOutside)
{
    const Tensor x = longs(spread(60), {5, 12}), rows = longs({4, 0, two_32, 1, -two_32 + 1, most, least, 3});
    expect_reference("index_select", {x, rows}, [](const auto& in) { return embedding(in[1], in[0]); });
    expect_reference("of floats", {cast(x, f32), rows},
                     [](const auto& in) { return isnan(embedding(in[1], in[0])); });
    expect_reference("of i32", {cast(x, i32), rows}, [](const auto& in) { return embedding(in[1], in[0]); });
    expect_reference("strided", {x, stack({rows, rows}, 1)},
                     [](const auto& in) { return embedding(select(in[1], 1, 1), in[0]); });
    expect_reference("index_add", {x, longs(spread(96), {8, 12}), rows},
                     [](const auto& in) { return index_add(in[0], 0, in[2], in[1]); });
    const Tensor within = longs({4, 0, 2, 1, 3}).reshape({5, 1});
    expect_reference("gather", {x, within}, [](const auto& in) { return gather(in[0], 1, in[1]); });
    expect_reference("take", {x, within}, [](const auto& in) { return take(in[0], in[1]); });
    expect_reference("scatter", {x, within},
                     [](const auto& in) { return scatter(in[0], 1, in[1], in[1] * 5e9); });
    expect_reference("scatter_add", {x, within},
                     [](const auto& in) { return scatter_add(in[0], 1, in[1], in[1] * 5e9); });
    expect_reference("one_hot", {rows}, [](const auto& in) { return one_hot(in[0], 5); });
    const Tensor logits = cast(x, f32) * 1e-18, targets = longs({11, 0, two_32 + 1, 3, 4});
    const Tensor losses = cross_entropy(logits, targets, {.reduction = Reduction::none});
    EXPECT_TRUE(std::isnan(losses.to_vector<float>()[2]));
    EXPECT_FALSE(std::isnan(losses.to_vector<float>()[0]));
}

TEST(I64Orders, AreTheReferences)
{
    for (const long long n : {5, 64, 257, 1100}) {
        const Tensor x = longs(spread(n * 2), {n, 2});
        const std::string name = std::to_string(n);
        for (const bool descending : {false, true}) {
            expect_reference("sort " + name, {x},
                             [&](const auto& in) { return sort(in[0], 0, descending).first; });
            expect_reference("argsort " + name, {x},
                             [&](const auto& in) { return argsort(in[0], 0, descending); });
        }
        expect_reference("argmax " + name, {x}, [](const auto& in) { return argmax(in[0], 0); });
        expect_reference("argmin " + name, {x}, [](const auto& in) { return argmin(in[0], 0); });
        expect_reference("max " + name, {x}, [](const auto& in) { return max(in[0], 0).first; });
        expect_reference("min " + name, {x}, [](const auto& in) { return min(in[0], 0).first; });
        expect_reference("median " + name, {x}, [](const auto& in) { return median(in[0], 0).first; });
        expect_reference("topk " + name, {x},
                         [](const auto& in) { return topk(in[0], 1, {.dim = 0, .largest = false}).first; });
    }
}

TEST(I64Creation, Has64Bits)
{
    EXPECT_EQ(full({1}, 3e9, {.dtype = i64}).item<std::int64_t>(), 3'000'000'000);
    EXPECT_THAT(full({3}, -1e15, {.dtype = i64}).to_vector<std::int64_t>(),
                ElementsAre(-1'000'000'000'000'000, -1'000'000'000'000'000, -1'000'000'000'000'000));
    EXPECT_THAT(zeros({2}, {.dtype = i64}).to_vector<std::int64_t>(), ElementsAre(0, 0));
    EXPECT_THAT(arange(5, {.dtype = i64}).to_vector<std::int64_t>(), ElementsAre(0, 1, 2, 3, 4));
    EXPECT_EQ(sum(arange(100'000, {.dtype = i64})).item<std::int64_t>(), 4'999'950'000);
    EXPECT_EQ(longs(special).to_vector<std::int64_t>(), special);
    for (const std::int64_t low : Longs{3'000'000'000, -4'000'000'000, -two_31 - 5})
        for (const std::int64_t v : randint(low, low + 9, {64}, {.dtype = i64}).to_vector<std::int64_t>()) {
            EXPECT_GE(v, low);
            EXPECT_LT(v, low + 9);
        }
    for (const std::int64_t v : randint(0, 7, {64}, {.dtype = i64}).to_vector<std::int64_t>())
        EXPECT_TRUE(v >= 0 && v < 7);
}

TEST(I64State, GrowsPast32Bits)
{
    Variable state(longs({two_32 - 1, -two_31}), false);
    const Program next = record(
        [&](Tensor t) {
            state.assign(state + t);
            return state * 2;
        },
        {spec({2}, i64)});
    const Tensor by = longs({1, -1});
    for (int i = 0; i < 3; ++i) next(by);
    EXPECT_THAT(state.to_vector<std::int64_t>(), ElementsAre(two_32 + 2, -two_31 - 3));
    EXPECT_THAT(next(by).to_vector<std::int64_t>(), ElementsAre(2 * two_32 + 6, -two_32 - 8));
}

// The same structure with other numbers, over and over: as replayed plans of eager code have it.
TEST(I64Numbers, DifferFromCallToCall)
{
    const Tensor x = longs(special);
    for (const double number : {3e9, -4e10, 5.0, 7e12}) {
        const Tensor got = (x + number) * full({1}, number, {.dtype = i64});
        const auto k = static_cast<std::int64_t>(number);
        Longs want;
        for (const std::int64_t v : special) {
            const std::uint64_t sum = static_cast<std::uint64_t>(v) + static_cast<std::uint64_t>(k);
            want.push_back(static_cast<std::int64_t>(sum * static_cast<std::uint64_t>(k)));
        }
        EXPECT_EQ(got.to_vector<std::int64_t>(), want) << number;
    }
}

} // namespace
