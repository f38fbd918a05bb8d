// Shapes of symbols: what they answer, and what they refuse.
#include <sstream>
#include <type_traits>

#include "dynamic/common.hpp"

namespace reprise {
namespace {

using namespace test;

struct SymbolicShapes : testing::Test {
    Dim n = symbol("n"), m = symbol("m");
};

TEST_F(SymbolicShapes, AreShapes)
{
    const Shape plain{n, 3};
    const SymbolicShape s = plain;
    const Shape& back = s;
    EXPECT_EQ(back, plain);
    EXPECT_EQ(s.dims(), plain);
    EXPECT_EQ(s, (SymbolicShape{n, 3}));
    EXPECT_EQ(zeros(SymbolicShape{2, 3}).shape(), (Shape{2, 3}));
    EXPECT_EQ(SymbolicShape().dims(), Shape());
    EXPECT_EQ(to_string(s), "[n, 3]");
    std::ostringstream text;
    text << s;
    EXPECT_EQ(text.str(), "[n, 3]");
}

TEST_F(SymbolicShapes, OutliveTheTemporariesThatTheyWere)
{
    const auto made = [&] { return SymbolicShape{n, 3}; };
    const Shape& converted = made();
    const Shape& dims = made().dims();
    const Dim& first = made()[0];
    static_assert(!std::is_reference_v<decltype(made().dims())> && !std::is_reference_v<decltype(made()[0])>);
    EXPECT_EQ(converted, (Shape{n, 3}));
    EXPECT_EQ(dims, (Shape{n, 3}));
    EXPECT_EQ(first, n);
}

TEST_F(SymbolicShapes, AreEqualAsExpressions)
{
    EXPECT_EQ((SymbolicShape{n + m, 2}), (SymbolicShape{m + n, 2}));
    EXPECT_FALSE(same(SymbolicShape{n}, SymbolicShape{m}));
    EXPECT_EQ(error_of([&] { return SymbolicShape{n} == SymbolicShape{m}; }).kind, ErrorKind::state);
    EXPECT_NE((SymbolicShape{n}), (SymbolicShape{n, 1}));
    EXPECT_FALSE(same(SymbolicShape{n}, SymbolicShape{symbol("n")})); // another one
}

TEST_F(SymbolicShapes, CountFromBothEnds)
{
    const SymbolicShape s{n, 3, m};
    EXPECT_EQ(s.rank(), 3u);
    EXPECT_EQ(s[0], n);
    EXPECT_EQ(s[-1], m);
    EXPECT_EQ(s[-3], n);
    EXPECT_EQ(s.numel(), n * m * 3);
    EXPECT_EQ(Shape(s.begin(), s.end()), s.dims());
    const SymbolicShape none;
    EXPECT_EQ(none.begin(), none.end());
    EXPECT_EQ(SymbolicShape().numel(), 1);
    EXPECT_EQ((SymbolicShape{n, 0}).numel(), 0);
    for (const std::int64_t beyond : {3, -4}) {
        const Caught error = error_of([&] { return s[beyond]; });
        EXPECT_EQ(error.kind, ErrorKind::argument);
        EXPECT_THAT(error.text, HasSubstr(std::to_string(beyond)));
        EXPECT_THAT(error.text, HasSubstr("[n, 3, m]"));
    }
    EXPECT_EQ(error_of([] { return SymbolicShape()[0]; }).kind, ErrorKind::argument);
}

TEST_F(SymbolicShapes, KnowWhetherTheyAreNumbers)
{
    EXPECT_TRUE((SymbolicShape{2, 3}).is_static());
    EXPECT_TRUE(SymbolicShape().is_static());
    EXPECT_FALSE((SymbolicShape{2, n}).is_static());
    EXPECT_TRUE((SymbolicShape{n - n}).is_static());
}

TEST_F(SymbolicShapes, Broadcast)
{
    EXPECT_EQ((SymbolicShape{n, 1, 3}).broadcast({m, 1}), (SymbolicShape{n, m, 3}));
    EXPECT_EQ((SymbolicShape{n, m}).broadcast({n, m}), (SymbolicShape{n, m}));
    EXPECT_EQ(SymbolicShape().broadcast({n}), SymbolicShape{n});
    EXPECT_EQ((SymbolicShape{1}).broadcast({0}), SymbolicShape{0});
    EXPECT_EQ((SymbolicShape{2, 1}).broadcast({3}), (SymbolicShape{2, 3}));
    for (const auto& [a, b] : std::vector<std::pair<SymbolicShape, SymbolicShape>>{
             {{2, 3}, {4, 3}}, {{n}, {m}}, {{n}, {3}}}) { // a symbol is not taken to be 1 or 3
        const Caught error = error_of([&] { return a.broadcast(b); });
        EXPECT_EQ(error.kind, ErrorKind::shape);
        EXPECT_THAT(error.text, HasSubstr(to_string(a)));
        EXPECT_THAT(error.text, HasSubstr(to_string(b)));
    }
}

TEST_F(SymbolicShapes, BroadcastUnderAConditionInARecording)
{
    const auto both = record(
        [&](Tensor a, Tensor b) {
            EXPECT_EQ(SymbolicShape(a.shape()).broadcast(b.shape()).rank(), 1u);
            return a * 2;
        },
        {spec({n}), spec({m})});
    EXPECT_EQ(both(ones({3}), ones({3})).shape(), Shape{3});
    EXPECT_EQ(error_of([&] { return both(ones({3}), ones({2})); }).kind, ErrorKind::shape);
}

TEST_F(SymbolicShapes, AreNumbersOnceSymbolsAre)
{
    const SymbolicShape s{n * 2 + 1, 3, m};
    EXPECT_EQ(s.bind({{n, 4}, {m, 0}}), (SymbolicShape{9, 3, 0}));
    EXPECT_EQ((SymbolicShape{2}).bind({}), SymbolicShape{2});
    const Dim eights = symbol("eights", {.multiple_of = 8});
    EXPECT_EQ((SymbolicShape{eights * 2}).bind({{eights, 16}}), SymbolicShape{32});
    const auto refused = [&](const std::vector<std::pair<Dim, std::int64_t>>& values) {
        const Caught error = error_of([&] { return s.bind(values); });
        EXPECT_EQ(error.kind, ErrorKind::argument);
        return error.text;
    };
    refused({{n, 4}}); // m has no value
    EXPECT_THAT(refused({{n * 2, 4}, {m, 1}}), HasSubstr("n * 2"));
    EXPECT_THAT(refused({{n, 4}, {m, 1}, {n + m, 5}}), HasSubstr("n + m"));
    EXPECT_THAT(refused({{n, 4}, {m, 1}, {Dim(3), 3}}), HasSubstr("(3)"));
    EXPECT_THAT(refused({{n, -1}, {m, 1}}), HasSubstr("-1"));
    EXPECT_THAT(refused({{n * 2, 0}, {m, 1}}), HasSubstr("n * 2")); // whose value 0 is n's, too
    EXPECT_THAT(refused({{n * n, 1}, {m, 1}}), HasSubstr("n * n"));
    EXPECT_THAT(refused({{min(n, 64), 8}, {m, 1}}), HasSubstr("min(n, 64)"));
    const std::string conflict = refused({{n, 4}, {n, 5}, {m, 1}});
    EXPECT_THAT(conflict, HasSubstr("(4)"));
    EXPECT_THAT(conflict, HasSubstr("(5)"));
    EXPECT_EQ(s.bind({{n, 4}, {n, 4}, {m, 1}}), (SymbolicShape{9, 3, 1}));
}

TEST_F(SymbolicShapes, RefuseValuesThatGiveNoShape)
{
    const SymbolicShape windows{n - 5, 2};
    EXPECT_EQ(windows.bind({{n, 5}}), (SymbolicShape{0, 2}));
    const Caught below = error_of([&] { return windows.bind({{n, 3}}); });
    EXPECT_EQ(below.kind, ErrorKind::shape);
    EXPECT_THAT(below.text, HasSubstr("[n - 5, 2]"));
    EXPECT_THAT(below.text, HasSubstr("-2"));
    const Dim few = symbol("few", {.min = 2, .max = 8, .multiple_of = 2});
    EXPECT_EQ((SymbolicShape{few}).bind({{few, 8}}), SymbolicShape{8});
    for (const std::int64_t outside : {0, 3, 10})
        EXPECT_EQ(error_of([&] {
                      return SymbolicShape{few}.bind({{few, outside}});
                  }).kind,
                  ErrorKind::argument);
}

} // namespace
} // namespace reprise
