// Indices out of range: silent by default, an error where they are checked.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "ops/index_checks.hpp"
#include "ops/reduce_tools.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using namespace reduce_tools;

Tensor i32_of(const std::vector<std::int32_t>& v, const Shape& shape) { return from_vector(v, shape); }

template <class Call> std::string failure(const Call& call)
{
    const auto caught = error_of(call);
    EXPECT_EQ(caught.kind, ErrorKind::argument) << caught.text;
    return caught.text;
}

struct Case {
    const char* op;
    std::int32_t size;                               // that indices must lie in
    std::function<Tensor(const Tensor& index)> call; // index [2, 2], of which a test may make another shape
    bool from_end = false;                           // negative indices count from the end
};

const std::vector<Case>& cases()
{
    static const std::vector<Case> all{
        {"embedding", 5,
         [](const Tensor& i) {
             return embedding(i, ones({5, 3}));
         }},
        {"gather", 4,
         [](const Tensor& i) {
             return gather(ones({2, 4}), 1, i);
         },
         true},
        {"scatter", 6,
         [](const Tensor& i) {
             return scatter(ones({6, 2}), 0, i, ones({2, 2}));
         }},
        {"scatter", 3,
         [](const Tensor& i) {
             return scatter(ones({2, 3}), -1, i, 7.0);
         }},
        {"scatter_add", 3,
         [](const Tensor& i) {
             return scatter_add(ones({2, 3}), 1, i, ones({2, 2}));
         }},
        {"index_select", 7,
         [](const Tensor& i) {
             return index_select(ones({2, 7}), 1, flatten(i));
         },
         true},
        {"index_add", 2, [](const Tensor& i) { return index_add(ones({2}), 0, flatten(i), ones({4})); }},
        {"take", 6,
         [](const Tensor& i) {
             return take(ones({2, 3}), i);
         },
         true},
        {"index", 3,
         [](const Tensor& i) {
             return ones({2, 3}).index({Slice(), i});
         },
         true},
        {"index_put", 5, [](const Tensor& i) { return ones({5}).index_put({i}, zeros({})); }, true},
        {"one_hot", 4, [](const Tensor& i) { return one_hot(i, 4); }},
        {"nll_loss", 3,
         [](const Tensor& i) {
             return nll_loss(ones({4, 3}), flatten(i));
         }},
        {"cross_entropy", 3,
         [](const Tensor& i) {
             return cross_entropy(ones({2, 3, 2}), i);
         }},
    };
    return all;
}

std::string wanted(const Case& c, std::int32_t bad)
{
    return "[" + std::string(c.op) + "] The index (" + std::to_string(bad) +
           ") at element (2) does not lie in the size (" + std::to_string(c.size) + "), as (1 of 4) do not";
}

TEST(IndexCheck, NamesTheFunctionTheIndexAndTheSize)
{
    const IndexChecks on(true);
    for (const Case& c : cases())
        for (const std::int32_t bad :
             {c.from_end ? -c.size - 1 : -1, c.size, -2'000'000'000, 2'000'000'000}) {
            const std::string text = failure([&] { c.call(i32_of({0, c.size - 1, bad, 0}, {2, 2})); });
            EXPECT_NE(text.find(wanted(c, bad)), std::string::npos) << text;
        }
}

TEST(IndexCheck, LetsPassWhatLiesInside)
{
    const IndexChecks on(true);
    for (const Case& c : cases())
        EXPECT_NO_THROW(c.call(i32_of({0, c.size - 1, c.from_end ? -c.size : 0, 0}, {2, 2})).eval()) << c.op;
    EXPECT_NO_THROW(embedding(zeros({0}, {.dtype = i32}), ones({0, 3})).eval()); // no index
    EXPECT_NO_THROW(nll_loss(ones({2, 3}), i32_of({-100, 2}, {2})).eval()); // the one that counts nothing
    const ClassLossOptions ignoring{.weight = ones({3}), .ignore_index = 7};
    EXPECT_NO_THROW(cross_entropy(ones({2, 3}), i32_of({7, 2}, {2}), ignoring).eval());
    EXPECT_NO_THROW(dynamic_gather(ones({2, 3, 1}), i32_of({-1, 2, 3, 0}, {2, 2})).eval()); // may lie outside
}

TEST(IndexCheck, LooksAtIndicesThatAreComputed)
{
    const IndexChecks on(true);
    const Tensor x = from_vector({0.0f, 9.0f, 3.0f});
    EXPECT_NO_THROW(take(x, argmax(x, 0)).eval());
    EXPECT_NE(failure([&] { take(x, cast(x, i32)); }).find("(9) at element (1)"), std::string::npos);
}

TEST(IndexCheck, IsOffWhereItWasTurnedOff)
{
    const IndexChecks off(false);
    EXPECT_FALSE(checks_indices());
    for (const Case& c : cases()) EXPECT_NO_THROW(c.call(i32_of({0, c.size, -1, 0}, {2, 2})).eval()) << c.op;
}

TEST(IndexCheck, IsPartOfAnomalyMode)
{
    const IndexChecks off(false);
    const Tensor weight = ones({5, 3}), index = i32_of({0, 5}, {2});
    EXPECT_NO_THROW(embedding(index, weight).eval());
    const detect_anomaly watch;
    EXPECT_TRUE(checks_indices());
    EXPECT_NE(failure([&] { embedding(index, weight); }).find("(5) at element (1)"), std::string::npos);
}

TEST(IndexCheck, OfARecordingIsMadeByItsCalls)
{
    const IndexChecks before(false);
    const Dim n = symbol("n");
    for (const Case& c : cases()) {
        Program program;
        {
            const IndexChecks on(true);
            program = record(c.call, {spec({2, 2}, i32)});
        }
        EXPECT_NO_THROW(program.call({i32_of({0, c.size - 1, 0, 0}, {2, 2})})) << c.op;
        const std::string text = failure([&] { program.call({i32_of({0, 0, c.size, 0}, {2, 2})}); });
        EXPECT_NE(text.find(wanted(c, c.size)), std::string::npos) << text;
        EXPECT_EQ(program.call({i32_of({0, 0, 0, 0}, {2, 2})}).size(), 1u);
    }
    const Program unchecked = record([](Tensor i) { return embedding(i, ones({3, 2})); }, {spec({n}, i32)});
    EXPECT_NO_THROW(unchecked.call({i32_of({5}, {1})}));
}

// The size may be a symbol, and a program may be called by another: then it is the outer one's call that throws.
TEST(IndexCheck, OfARecordingKnowsSizesAtTheCall)
{
    const IndexChecks on(true);
    const Dim n = symbol("n"), rows = symbol("rows");
    const Program inner =
        record([](Tensor i, Tensor w) { return sum(embedding(i, w)); }, {spec({n}, i32), spec({rows, 2})});
    const Program outer = record(
        [&](Tensor i, Tensor w) {
            return inner.call({i, cat({w, w})})[0] * 2;
        },
        {spec({n}, i32), spec({rows, 2})});
    const Tensor index = i32_of({0, 5, 2}, {3});
    EXPECT_FLOAT_EQ(inner.call({index, ones({6, 2})})[0].item<float>(), 6);
    EXPECT_FLOAT_EQ(outer.call({index, ones({3, 2})})[0].item<float>(), 12);
    EXPECT_FLOAT_EQ(inner.call({zeros({0}, {.dtype = i32}), ones({6, 2})})[0].item<float>(), 0);
    EXPECT_NE(failure([&] { inner.call({index, ones({5, 2})}); }).find("in the size (5)"), std::string::npos);
    EXPECT_NE(failure([&] { outer.call({index, ones({2, 2})}); }).find("in the size (4)"), std::string::npos);
}

// What 64 bits hold is no smaller number that is left of it in 32.
TEST(IndexCheck, LongIndicesNameNoOtherElements)
{
    const IndexChecks off(false);
    const std::int64_t large = std::int64_t{1} << 32;
    const Tensor x = from_vector({1.0f, 2.0f, 3.0f}), index = from_vector({large, large - 1, -large}, {3});
    for (const float v : x.index({index}).to_vector<float>()) EXPECT_TRUE(std::isnan(v)) << v;
    EXPECT_EQ(x.index_put({index}, zeros({})).to_vector<float>(), (Floats{1, 2, 3}));
    const IndexChecks on(true);
    EXPECT_NE(failure([&] { x.index({index}); }).find("[index] The index (4294967296) at element (0)"),
              std::string::npos);
}

// What the library passes on inside is its own: gradients and functions made of others.
TEST(IndexCheck, IsNoBusinessOfGradients)
{
    const IndexChecks on(true);
    Variable x(from_vector({3.0f, 1.0f, 2.0f}));
    EXPECT_NO_THROW(sum(std::get<0>(sort(x, 0))).backward());
    EXPECT_NO_THROW(sum(median(x, 0, false).first).backward());
    Variable weight(ones({3, 2}));
    sum(embedding(i32_of({0, 2}, {2}), weight)).backward();
    EXPECT_EQ(weight.grad().to_vector<float>(), (Floats{1, 1, 0, 0, 1, 1}));
}
TEST(IndexCheck, IsNoBusinessOfFunctionsMadeOfOthers)
{
    const IndexChecks on(true);
    const Tensor x = from_vector({1.0f, 2.0f, 4.0f}).requires_grad_(), whole = cast(x.detach(), i32);
    const Tensor image = ones({1, 1, 2, 2}), grid = zeros({1, 1, 1, 2});
    x.eval();
    whole.eval();
    const std::uint64_t before = stats().launches;
    const std::vector<Tensor> lazy{searchsorted(x, x),
                                   quantile(x, 0.5, 0),
                                   cummax(x, 0).first,
                                   grid_sample(image, grid),
                                   pad(reshape(whole, {1, 3}), {1, 1}, PaddingMode::reflect),
                                   x.index({Slice(0, {}, 2)})};
    EXPECT_EQ(stats().launches, before); // nothing waited for indices
    const Dim n = symbol("n");
    const Program places =
        record([](Tensor s, Tensor v) { return searchsorted(s, v); }, {spec({n}), spec({2})});
    EXPECT_EQ(places.call({zeros({0}), ones({2})})[0].to_vector<std::int32_t>(),
              (std::vector<std::int32_t>{0, 0}));
}

} // namespace
