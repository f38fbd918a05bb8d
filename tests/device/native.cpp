// Native code for software drivers, against chains of std::fma in the order of its numeric class.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/parallel.hpp"
#include "device/native/conv.hpp"
#include "device/native/gemm.hpp"
#include "ops/reference.hpp"

namespace reprise::device::native {
namespace {

std::vector<float> random_floats(std::int64_t count, unsigned seed)
{
    std::mt19937 engine(seed);
    std::uniform_real_distribution<float> distribution(-1, 1);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& v : values) v = distribution(engine);
    return values;
}

float rounded(DType t, float v) { return static_cast<float>(ops::rounded_to(t, static_cast<double>(v))); }

// Numbers as they are stored in a dtype.
class Numbers {
public:
    Numbers(std::vector<float> values, DType t) : dtype_(t), values_(std::move(values))
    {
        for (float& v : values_) v = rounded(t, v);
        for (const float v : values_)
            if (t != f32) halves_.push_back(t == f16 ? ops::to_f16(v) : ops::to_bf16(v));
    }
    Elements elements()
    {
        return {dtype_ == f32 ? static_cast<void*>(values_.data()) : halves_.data(), dtype_};
    }
    std::size_t size() const { return values_.size(); }
    float at(std::int64_t i) const { return values_[static_cast<std::size_t>(i)]; } // if it was not written
    float stored(std::int64_t index) const
    {
        const auto i = static_cast<std::size_t>(index);
        if (dtype_ == f32) return values_[i];
        return dtype_ == f16 ? ops::from_f16(halves_[i]) : ops::from_bf16(halves_[i]);
    }

private:
    DType dtype_;
    std::vector<float> values_;
    std::vector<std::uint16_t> halves_;
};
Numbers sevens(std::size_t count, DType t) { return {std::vector<float>(count, 7), t}; }

constexpr DType dtypes[] = {f32, f16, bf16};

// -- elements --

// Neighbours are converted together, elements at steps one by one.
TEST(Elements, AreWidenedAsKernelsWidenThem)
{
    for (const DType t : {f16, bf16})
        for (const std::int64_t step : {1, 2})
            for (std::int64_t first = 0; first < step; ++first) {
                std::vector<std::uint16_t> halves(1 << 16);
                for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
                std::vector<float> wide(halves.size() / static_cast<std::size_t>(step));
                Elements{halves.data(), t}.read(first, std::ssize(wide), wide.data(), step);
                for (std::int64_t i = 0; i < std::ssize(wide); ++i) {
                    const auto h = static_cast<std::uint16_t>(first + i * step);
                    ASSERT_EQ(std::bit_cast<std::uint32_t>(wide[static_cast<std::size_t>(i)]),
                              std::bit_cast<std::uint32_t>(t == f16 ? ops::from_f16(h) : ops::from_bf16(h)))
                        << name_of(t) << ' ' << h;
                }
            }
}

// Numbers of all exponents, at and around the middle between two halves.
TEST(Elements, AreRoundedAsKernelsRoundThem)
{
    for (const DType t : {f16, bf16})
        for (std::uint32_t middle = 0; middle < 1 << 16; middle += 0x1000)
            for (const std::uint32_t low : {middle - 1, middle, middle + 1}) {
                std::vector<float> wide(1 << 16);
                for (std::size_t i = 0; i < wide.size(); ++i)
                    wide[i] = std::bit_cast<float>(static_cast<std::uint32_t>(i) << 16 | (low & 0xFFFFU));
                const std::int64_t step = middle % 0x3000 == 0 ? 2 : 1;
                std::vector<std::uint16_t> halves(wide.size() * static_cast<std::size_t>(step));
                Elements{halves.data(), t}.write(wide.data(), std::ssize(wide), 0, step);
                for (std::size_t i = 0; i < wide.size(); ++i)
                    ASSERT_EQ(halves[i * static_cast<std::size_t>(step)],
                              t == f16 ? ops::to_f16(wide[i]) : ops::to_bf16(wide[i]))
                        << name_of(t) << ' ' << i << ' ' << low;
            }
}

TEST(Elements, AreReadAndWrittenAtSteps)
{
    for (const DType t : dtypes)
        for (const std::int64_t step : {1, 3})
            for (const std::int64_t count : {0, 1, 15, 16, 17, 40}) {
                Numbers from(random_floats(150, 1), t), to = sevens(150, t);
                std::vector<float> read(static_cast<std::size_t>(count) + 1, 7);
                from.elements().read(2, count, read.data(), step);
                EXPECT_EQ(read.back(), 7);
                to.elements().write(read.data(), count, 5, step);
                for (std::int64_t i = 0; i < 150; ++i) {
                    const bool written = i >= 5 && (i - 5) % step == 0 && (i - 5) / step < count;
                    ASSERT_EQ(to.stored(i), written ? from.at(i - 5 + 2) : 7) << i;
                }
            }
}

// A sum in chunks and parts, as the code of the library adds it.
class Sum {
public:
    explicit Sum(std::int64_t parts = 1, std::int64_t chunks = 1) : parts_(parts), chunks_(chunks) {}
    void add(float a, float b) { chain_ = std::fma(a, b, chain_); }
    void end_chunk()
    {
        part_ = is_first_ ? chain_ : part_ + chain_;
        is_first_ = false;
        chain_ = 0;
        ++chunk_;
        for (std::int64_t part = 0; part < parts_; ++part)
            if (chunk_ == (part + 1) * chunks_ / parts_) {
                sum_ = part == 0 ? part_ : sum_ + part_;
                is_first_ = true;
            }
    }
    float value() const { return sum_; }

private:
    std::int64_t parts_, chunks_, chunk_ = 0;
    float chain_ = 0, part_ = 0, sum_ = 0;
    bool is_first_ = true;
};

class Native : public testing::TestWithParam<std::size_t> {
protected:
    void SetUp() override
    {
        if (tiles().empty()) GTEST_SKIP() << "There is no native code for this processor.";
    }
    const Tile& tile() const { return tiles()[GetParam()]; }
};
INSTANTIATE_TEST_SUITE_P(Tiles, Native,
                         testing::Range<std::size_t>(0, std::max<std::size_t>(tiles().size(), 1)),
                         [](const auto& at) { return at.param == 0 ? "fastest" : "next"; });

enum class Order : std::uint8_t { rows, columns, gaps };

// Returns the strides of a matrix and its number of elements.
std::int64_t lay_out(Product::Operand& o, Order order, std::int64_t rows, std::int64_t columns)
{
    if (order == Order::rows) o.row = columns, o.column = 1;
    else if (order == Order::columns) o.row = 1, o.column = rows;
    else o.row = 3 * columns + 1, o.column = 3;
    return rows * std::max<std::int64_t>(o.row, 1) + columns * o.column;
}

struct Dtypes {
    DType a = f32, b = f32, c = f32;
    bool bias = false;
};

void check_product(const Tile& tile, std::int64_t m, std::int64_t n, std::int64_t k, Order a_order,
                   Order b_order, std::int64_t batches = 1, const Dtypes& in = {})
{
    const std::int64_t outers = batches % 2 == 0 ? 2 : 1;
    Product p{.outers = outers, .inners = batches / outers, .m = m, .n = n, .k = k};
    p.a.inner = lay_out(p.a, a_order, m, k);
    p.b.inner = lay_out(p.b, b_order, k, n);
    p.c_row = n + 1;
    p.c_inner = m * p.c_row;
    p.a.outer = p.a.inner * p.inners;
    p.b.outer = p.b.inner * p.inners;
    p.c_outer = p.c_inner * p.inners;
    Numbers a(random_floats(p.a.inner * batches, 1), in.a), b(random_floats(p.b.inner * batches, 2), in.b),
        bias(random_floats(n, 3), in.c), c = sevens(static_cast<std::size_t>(p.c_inner * batches), in.c);
    p.a.elements = a.elements();
    p.b.elements = b.elements();
    p.c = c.elements();
    if (in.bias) p.bias = bias.elements();
    multiply(tile, p);
    const std::int64_t chunks = std::max<std::int64_t>((k + chunk - 1) / chunk, 1);
    for (std::int64_t batch = 0; batch < batches; ++batch)
        for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j <= n; ++j) {
                const float actual = c.stored(batch * p.c_inner + i * p.c_row + j);
                if (j == n) {
                    ASSERT_EQ(actual, 7) << "Written beyond row " << i;
                    continue;
                }
                Sum sum(parts_of(batches * m * n, chunks), chunks);
                for (std::int64_t first = 0; first == 0 || first < k; first += chunk) {
                    for (std::int64_t l = first; l < std::min(first + chunk, k); ++l)
                        sum.add(a.at(batch * p.a.inner + i * p.a.row + l * p.a.column),
                                b.at(batch * p.b.inner + l * p.b.row + j * p.b.column));
                    sum.end_chunk();
                }
                ASSERT_EQ(actual, rounded(in.c, sum.value() + (in.bias ? bias.at(j) : 0)))
                    << tile.instructions << ' ' << m << 'x' << n << 'x' << k << " at " << batch << ' ' << i
                    << ' ' << j;
            }
}

TEST_P(Native, ProductsOfAllLayoutsHaveTheBitsOfTheirChains)
{
    for (const Order a : {Order::rows, Order::columns, Order::gaps})
        for (const Order b : {Order::rows, Order::columns, Order::gaps})
            for (const DType t : dtypes) check_product(tile(), 37, 45, 67, a, b, 1, {t, t, t});
}

TEST_P(Native, ProductsOfMixedDtypesAndWithABias)
{
    for (const Dtypes& t : {Dtypes{f16, f32, f32},
                            {f32, bf16, f32},
                            {bf16, bf16, f32},
                            {f32, f16, f16},
                            {f16, f16, f16, true},
                            {bf16, bf16, bf16, true},
                            {f32, f32, f32, true}}) {
        check_product(tile(), 12, 45, 67, Order::rows, Order::rows, 2, t);
        check_product(tile(), 50, 40, 530, Order::columns, Order::rows, 1, t);
        check_product(tile(), 20, 800, 5, Order::rows, Order::rows, 1, t);               // blocks of columns
        check_product(tile(), 1100, 3, 2, Order::rows, Order::columns, 64, t);           // blocks of rows
        check_product(tile(), 10, 33, 4 * chunk + 5, Order::columns, Order::rows, 2, t); // parts
    }
}

TEST_P(Native, ProductsOfSizesAroundTilesAndChunks)
{
    for (const std::int64_t m : {1, 11, 12, 13, 25, 49})
        for (const std::int64_t n : {1, 31, 32, 33, 65})
            check_product(tile(), m, n, 19, Order::rows, Order::rows);
    for (const std::int64_t k : {0, 1, 3, 511, 512, 513, 1025})
        check_product(tile(), 5, 70, k, Order::rows, Order::columns);
    check_product(tile(), 100, 800, 33, Order::rows, Order::rows); // several blocks
    check_product(tile(), 300, 300, 1100, Order::columns, Order::rows);
}

TEST_P(Native, ProductsWithFewElementsAreSplitAlongK)
{
    EXPECT_EQ(parts_of(40 * 50, 5), 5);
    EXPECT_EQ(parts_of(1 << 16, 40), 16);
    EXPECT_EQ(parts_of((1 << 16) + 1, 40), 1);
    EXPECT_EQ(parts_of(40, 3), 1);
    check_product(tile(), 40, 50, 4 * chunk + 5, Order::columns, Order::rows);
    check_product(tile(), 7, 9, 21 * chunk, Order::rows, Order::rows, 2);
}

TEST_P(Native, ProductsOfABatchAndOfNothing)
{
    check_product(tile(), 17, 40, 30, Order::rows, Order::columns, 5);
    check_product(tile(), 0, 40, 30, Order::rows, Order::rows);
    check_product(tile(), 4, 0, 30, Order::rows, Order::rows);
    check_product(tile(), 4, 4, 4, Order::rows, Order::rows, 0);
}

// -- convolutions --

Convolution with_outputs(Convolution c)
{
    for (std::size_t d = 0; d < 3; ++d)
        c.out[d] = (c.in[d] + 2 * c.padding[d] - c.dilation[d] * (c.kernel[d] - 1) - 1) / c.stride[d] + 1;
    return c;
}

template <class F> void each(const Convolution::Sizes& sizes, const F& f)
{
    for (std::int64_t d = 0; d < sizes[0]; ++d)
        for (std::int64_t h = 0; h < sizes[1]; ++h)
            for (std::int64_t w = 0; w < sizes[2]; ++w) f(Convolution::Sizes{d, h, w});
}
std::int64_t index(const Convolution::Sizes& at, const Convolution::Sizes& sizes)
{
    return (at[0] * sizes[1] + at[1]) * sizes[2] + at[2];
}

Convolution problem(std::int64_t images, std::int64_t groups, std::int64_t in_channels,
                    std::int64_t out_channels, Convolution::Sizes in, Convolution::Sizes kernel,
                    Convolution::Sizes stride, Convolution::Sizes padding,
                    Convolution::Sizes dilation = {1, 1, 1})
{
    return with_outputs(
        {images, groups, in_channels, out_channels, in, {}, kernel, stride, padding, dilation});
}

const std::vector<Convolution>& convolutions()
{
    static const std::vector<Convolution> all = {
        problem(3, 1, 5, 13, {1, 8, 8}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}),
        problem(2, 2, 3, 4, {1, 9, 7}, {1, 3, 2}, {1, 2, 2}, {0, 1, 0}),
        problem(2, 1, 4, 6, {1, 6, 40}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}),
        problem(5, 1, 4, 33, {1, 7, 8}, {1, 1, 1}, {1, 2, 2}, {0, 0, 0}),
        problem(2, 1, 3, 5, {1, 11, 12}, {1, 3, 3}, {1, 3, 2}, {0, 2, 2}, {1, 2, 2}),
        problem(2, 1, 2, 3, {4, 5, 6}, {2, 3, 3}, {2, 1, 2}, {1, 1, 0}),
        problem(1, 1, 60, 14, {1, 5, 5}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}), // two chunks
        problem(40, 1, 2, 3, {1, 9, 9}, {1, 5, 5}, {1, 1, 1}, {0, 2, 2}),  // parts
        problem(3, 1, 1, 4, {1, 30, 28}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}),
        problem(2, 1, 3, 4, {1, 5, 5}, {1, 2, 2}, {1, 4, 3}, {0, 0, 1}),     // elements that no window reads
        problem(2, 1, 3, 4, {1, 4, 4}, {1, 1, 1}, {1, 1, 1}, {0, 2, 3}),     // padding beyond the kernel
        problem(1, 1, 2, 5, {1, 1, 1300}, {1, 1, 5}, {1, 1, 1}, {0, 0, 2}),  // rows of several chunks
        problem(1, 1, 2, 5, {3, 40, 70}, {3, 3, 3}, {1, 2, 1}, {1, 1, 1}),   // planes of several chunks
        problem(1, 1, 300, 3, {1, 33, 33}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}), // several bands
        problem(1, 1, 40, 40, {2, 60, 70}, {1, 3, 3}, {1, 1, 2}, {0, 1, 1}),
        problem(1, 1, 30, 50, {1, 6, 6}, {1, 3, 3}, {1, 1, 1}, {0, 1, 1}), // one image, blocks of rows
    };
    return all;
}

struct Tensors {
    Tensors(const Convolution& c, DType t)
        : x(random_floats(c.images * c.groups * c.in_channels * volume(c.in), 1), t),
          weight(random_floats(c.groups * c.out_channels * c.in_channels * volume(c.kernel), 2), t),
          y(random_floats(c.images * c.groups * c.out_channels * volume(c.out), 3), t),
          bias(random_floats(c.groups * c.out_channels, 4), t)
    {}
    Numbers x, weight, y, bias;
};

// Calls f(convolution, dtype) for each convolution of f32, and for some of f16 and bf16.
template <class F> void each_convolution(const F& f)
{
    for (std::size_t i = 0; i < convolutions().size(); ++i)
        for (const DType t : dtypes) {
            if ((t == f16 && i % 4 != 1) || (t == bf16 && i % 4 != 3)) continue;
            SCOPED_TRACE(testing::Message() << "convolution " << i << " of " << name_of(t));
            f(convolutions()[i], t);
        }
}

// Calls f(x, weight, y) with the indices of each multiplication of one group of one image, by tap and position.
template <class F> void each_window(const Convolution& c, const F& f)
{
    each(c.kernel, [&](const Convolution::Sizes& tap) {
        each(c.out, [&](const Convolution::Sizes& at) {
            Convolution::Sizes from{};
            for (std::size_t d = 0; d < 3; ++d) {
                from[d] = at[d] * c.stride[d] + tap[d] * c.dilation[d] - c.padding[d];
                if (from[d] < 0 || from[d] >= c.in[d]) return;
            }
            f(index(from, c.in), index(tap, c.kernel), index(at, c.out));
        });
    });
}

// The sums of one result in the order of (channel, tap), with terms by chunks of all (channel, tap) of its phase.
TEST_P(Native, ConvolutionsHaveTheBitsOfTheirChains)
{
    each_convolution([&](const Convolution& c, DType dtype) {
        Tensors t(c, dtype);
        Numbers y = sevens(t.y.size(), dtype);
        convolve(tile(), c, t.x.elements(), t.weight.elements(), t.bias.elements(), y.elements());
        const std::int64_t taps = volume(c.kernel), in = volume(c.in), out = volume(c.out);
        // By position and tap: the element of x, or -1.
        std::vector<std::int64_t> reads(static_cast<std::size_t>(out * taps), -1);
        each_window(c, [&](std::int64_t x, std::int64_t tap, std::int64_t at) {
            reads[static_cast<std::size_t>(at * taps + tap)] = x;
        });
        for (std::int64_t i = 0; i < c.images * c.groups; ++i)
            for (std::int64_t o = 0; o < c.out_channels; ++o)
                for (std::int64_t at = 0; at < out; ++at) {
                    Sum sum(1, (c.in_channels * taps + chunk - 1) / chunk);
                    const std::int64_t channel = i % c.groups * c.out_channels + o;
                    for (std::int64_t k = 0; k < c.in_channels * taps; ++k) {
                        const std::int64_t x = reads[static_cast<std::size_t>(at * taps + k % taps)];
                        if (x >= 0)
                            sum.add(t.x.at((i * c.in_channels + k / taps) * in + x),
                                    t.weight.at(channel * c.in_channels * taps + k));
                        if (k + 1 == c.in_channels * taps || (k + 1) % chunk == 0) sum.end_chunk();
                    }
                    ASSERT_EQ(y.stored((i * c.out_channels + o) * out + at),
                              rounded(dtype, sum.value() + t.bias.at(channel)))
                        << tile().instructions << " at " << i << ' ' << o << ' ' << at;
                }
    });
}

TEST_P(Native, GradientsByTheInputHaveTheBitsOfTheirChains)
{
    each_convolution([&](const Convolution& c, DType dtype) {
        Tensors t(c, dtype);
        Numbers dx = sevens(t.x.size(), dtype);
        gradient_by_input(tile(), c, t.weight.elements(), t.y.elements(), dx.elements());
        const std::int64_t taps = volume(c.kernel), in = volume(c.in), out = volume(c.out);
        struct Term {
            std::int64_t tap, y; // y: -1 for a position outside of the image
        };
        std::vector<std::vector<Term>> terms(static_cast<std::size_t>(in)); // taps of the element's phase
        each(c.in, [&](const Convolution::Sizes& at) {
            each(c.kernel, [&](const Convolution::Sizes& tap) {
                Convolution::Sizes from{};
                bool inside = true;
                for (std::size_t d = 0; d < 3; ++d) {
                    const std::int64_t shifted = at[d] + c.padding[d] - tap[d] * c.dilation[d];
                    if (shifted % c.stride[d] != 0) return;
                    from[d] = shifted / c.stride[d];
                    inside = inside && shifted >= 0 && from[d] < c.out[d];
                }
                terms[static_cast<std::size_t>(index(at, c.in))].push_back(
                    {index(tap, c.kernel), inside ? index(from, c.out) : -1});
            });
        });
        for (std::int64_t i = 0; i < c.images * c.groups; ++i)
            for (std::int64_t channel = 0; channel < c.in_channels; ++channel)
                for (std::int64_t at = 0; at < in; ++at) {
                    const std::vector<Term>& of = terms[static_cast<std::size_t>(at)];
                    const std::int64_t k_end = c.out_channels * std::ssize(of);
                    Sum sum(1, (k_end + chunk - 1) / chunk);
                    for (std::int64_t k = 0; k < k_end; ++k) {
                        const Term& term = of[static_cast<std::size_t>(k % std::ssize(of))];
                        const std::int64_t o = k / std::ssize(of);
                        if (term.y >= 0)
                            sum.add(
                                t.y.at((i * c.out_channels + o) * out + term.y),
                                t.weight.at(((i % c.groups * c.out_channels + o) * c.in_channels + channel) *
                                                taps +
                                            term.tap));
                        if (k + 1 == k_end || (k + 1) % chunk == 0) sum.end_chunk();
                    }
                    ASSERT_EQ(dx.stored((i * c.in_channels + channel) * in + at), rounded(dtype, sum.value()))
                        << tile().instructions << " at " << i << ' ' << channel << ' ' << at;
                }
    });
}

TEST_P(Native, GradientsByTheWeightHaveTheBitsOfTheirChains)
{
    each_convolution([&](const Convolution& c, DType dtype) {
        Tensors t(c, dtype);
        Numbers dweight = sevens(t.weight.size(), dtype);
        gradient_by_weight(tile(), c, t.x.elements(), t.y.elements(), dweight.elements());
        const std::int64_t taps = volume(c.kernel), in = volume(c.in), out = volume(c.out);
        // A chunk has some planes (depths of images), some rows of one, or a part of a row.
        const std::int64_t width = c.out[2] + (c.kernel[2] - 1) * c.dilation[2] / c.stride[2],
                           plane = (c.out[1] - 1) * width + c.out[2];
        const bool whole = plane <= chunk;
        const std::int64_t planes = whole ? chunk / plane : 1,
                           rows = whole            ? c.out[1]
                                  : width <= chunk ? chunk / width
                                                   : 1,
                           columns = whole || width <= chunk ? c.out[2] : std::min(c.out[2], chunk),
                           bands = (c.out[1] + rows - 1) / rows, pieces = (c.out[2] + columns - 1) / columns,
                           chunks = (c.images * c.out[0] + planes - 1) / planes * bands * pieces,
                           parts = parts_of(c.groups * c.in_channels * taps * c.out_channels, chunks);
        const auto chunk_of = [&](std::int64_t image, std::int64_t y) {
            const std::int64_t depth = y / c.out[2] / c.out[1], row = y / c.out[2] % c.out[1];
            return ((image * c.out[0] + depth) / planes * bands + row / rows) * pieces +
                   y % c.out[2] / columns;
        };
        struct Pair {
            std::int64_t x, y;
        };
        std::vector<std::vector<Pair>> pairs(static_cast<std::size_t>(taps));
        each_window(c, [&](std::int64_t x, std::int64_t tap, std::int64_t y) {
            pairs[static_cast<std::size_t>(tap)].push_back({x, y});
        });
        for (std::int64_t g = 0; g < c.groups; ++g)
            for (std::int64_t o = 0; o < c.out_channels; ++o)
                for (std::int64_t k = 0; k < c.in_channels * taps; ++k) {
                    Sum sum(parts, chunks);
                    std::int64_t at = 0;
                    for (std::int64_t n = 0; n < c.images; ++n)
                        for (const Pair& pair : pairs[static_cast<std::size_t>(k % taps)]) {
                            for (; at < chunk_of(n, pair.y); ++at) sum.end_chunk();
                            sum.add(t.x.at(((n * c.groups + g) * c.in_channels + k / taps) * in + pair.x),
                                    t.y.at(((n * c.groups + g) * c.out_channels + o) * out + pair.y));
                        }
                    for (; at < chunks; ++at) sum.end_chunk();
                    ASSERT_EQ(dweight.stored((g * c.out_channels + o) * c.in_channels * taps + k),
                              rounded(dtype, sum.value()))
                        << tile().instructions << " at " << g << ' ' << o << ' ' << k;
                }
    });
}

// Halves may have a result of f32.
TEST_P(Native, ConvolutionsOfHalvesGiveF32)
{
    const Convolution c = problem(2, 2, 3, 4, {1, 9, 7}, {1, 3, 2}, {1, 2, 2}, {0, 1, 0});
    for (const DType t : {f16, bf16}) {
        Tensors narrow(c, t);
        const auto widened = [](const Numbers& n) {
            std::vector<float> values;
            for (std::int64_t i = 0; i < static_cast<std::int64_t>(n.size()); ++i) values.push_back(n.at(i));
            return values;
        };
        std::vector<float> x = widened(narrow.x), weight = widened(narrow.weight),
                           bias = widened(narrow.bias), y(narrow.y.size()), want = y;
        convolve(tile(), c, narrow.x.elements(), narrow.weight.elements(), narrow.bias.elements(),
                 {y.data()});
        convolve(tile(), c, {x.data()}, {weight.data()}, {bias.data()}, {want.data()});
        EXPECT_EQ(y, want);
    }
}

// Positions between rows of windows belong to no result: their elements take no part.
TEST_P(Native, GradientsByTheWeightAreNanWhereAWindowReadsNan)
{
    const Convolution c = problem(1, 1, 1, 4, {1, 5, 5}, {1, 3, 3}, {1, 1, 1}, {0, 0, 0});
    std::vector<float> x(25, 1), dy(36, 1), dweight(36, 7);
    x[4] = std::numeric_limits<float>::quiet_NaN(); // the last element of the first row
    gradient_by_weight(tile(), c, {x.data()}, {dy.data()}, {dweight.data()});
    for (std::size_t i = 0; i < dweight.size(); ++i)
        if (i % 9 == 2) EXPECT_TRUE(std::isnan(dweight[i])) << i;
        else EXPECT_EQ(dweight[i], 9) << i;
}

TEST_P(Native, ConvolutionsOfNoImages)
{
    Convolution c = convolutions()[0];
    c.images = 0;
    std::vector<float> weight(5 * 13 * 9, 7);
    convolve(tile(), c, {}, {weight.data()}, {}, {});
    gradient_by_input(tile(), c, {weight.data()}, {}, {});
    gradient_by_weight(tile(), c, {}, {}, {weight.data()});
    EXPECT_EQ(weight, std::vector<float>(weight.size(), 0));
}

// -- parallel_for --

TEST(ParallelFor, CallsEachIndexOnce)
{
    for (const std::size_t count : {0, 1, 2, 7, 1000}) {
        std::vector<std::atomic<int>> calls(count);
        detail::parallel_for(count, [&](std::size_t i) { ++calls[i]; });
        for (const auto& n : calls) EXPECT_EQ(n, 1);
    }
}

TEST(ParallelFor, RethrowsAndGoesOn)
{
    for (const std::size_t count : {1, 100})
        EXPECT_THROW(detail::parallel_for(count, [](std::size_t) { throw std::runtime_error("x"); }),
                     std::runtime_error);
    std::atomic<int> calls = 0;
    detail::parallel_for(100, [&](std::size_t) { ++calls; });
    EXPECT_EQ(calls, 100);
}

TEST(ParallelFor, RoundsToNearestOnAllThreads)
{
    std::fenv_t before;
    ASSERT_EQ(std::fegetenv(&before), 0);
    ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
    std::atomic<int> others = 0;
    detail::parallel_for(64, [&](std::size_t) { others += std::fegetround() != FE_TONEAREST; });
    EXPECT_EQ(others, 0);
    EXPECT_EQ(std::fegetround(), FE_UPWARD);
    std::fesetenv(&before);
}

TEST(ParallelFor, OfSeveralThreadsTakesTurns)
{
    std::atomic<int> calls = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int round = 0; round < 50; ++round) detail::parallel_for(8, [&](std::size_t) { ++calls; });
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(calls, 4 * 50 * 8);
}

} // namespace
} // namespace reprise::device::native
