// Every shape rule with constants, symbols, sizes 0 and 1, and its errors.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <reprise/error.hpp>

#include "shape/guard.hpp"
#include "shape/rules.hpp"

#include "error_of.hpp"

namespace {

using namespace reprise;
namespace rules = reprise::shape;

using Dims = std::vector<std::int64_t>;

struct RulesTest : testing::Test {
    Dim b = symbol("batch"), s = symbol("seq"), h = symbol("height");

    template <class Call>
    void expect_error(ErrorKind kind, const std::vector<std::string>& parts, const Call& call)
    {
        const Caught caught = error_of(call);
        EXPECT_EQ(caught.kind, kind) << caught.text;
        for (const std::string& part : parts) {
            EXPECT_NE(caught.text.find(part), std::string::npos) << part << " is not in: " << caught.text;
        }
    }

    // The guards that a call leaves.
    template <class Call> std::vector<rules::Guard> guards_of(const Call& call)
    {
        rules::GuardList list;
        const rules::GuardScope scope(list);
        call();
        return list.guards();
    }
};

TEST_F(RulesTest, ElementCount)
{
    EXPECT_EQ(rules::element_count({}), 1);
    EXPECT_EQ(rules::element_count({2, 3, 4}), 24);
    EXPECT_EQ(rules::element_count({b, 3, s}), 3 * b * s);
    EXPECT_EQ(rules::element_count({1LL << 40, 1LL << 40, 0}), 0);
    expect_error(ErrorKind::argument, {"exceeds 64 bits"}, [] {
        return rules::element_count({1LL << 40, 1LL << 40});
    });
}

TEST_F(RulesTest, ContiguousStrides)
{
    EXPECT_EQ(rules::contiguous_strides({}), Shape{});
    EXPECT_EQ(rules::contiguous_strides({5}), Shape{1});
    EXPECT_EQ(rules::contiguous_strides({2, 3, 4}), (Shape{12, 4, 1}));
    EXPECT_EQ(rules::contiguous_strides({2, 0, 4}), (Shape{4, 4, 1}));
    EXPECT_EQ(rules::contiguous_strides({b, 3, s, 1}), (Shape{3 * s, s, 1, 1}));
    EXPECT_EQ(rules::contiguous_strides({1LL << 62, 2}), (Shape{2, 1})) << "the count may exceed 64 bits";
}

TEST_F(RulesTest, Broadcast)
{
    EXPECT_EQ(rules::broadcast("add", {2, 3}, {2, 3}), (Shape{2, 3}));
    EXPECT_EQ(rules::broadcast("add", {2, 1, 4}, {3, 1}), (Shape{2, 3, 4}));
    EXPECT_EQ(rules::broadcast("add", {}, {3}), Shape{3});
    EXPECT_EQ(rules::broadcast("add", {3}, {}), Shape{3});
    EXPECT_EQ(rules::broadcast("add", {0, 1}, {1, 4}), (Shape{0, 4}));
    EXPECT_EQ(rules::broadcast("add", {b, 1, s}, {3, 1}), (Shape{b, 3, s}));
    EXPECT_EQ(rules::broadcast("add", {b * 2}, {b + b}), Shape{2 * b});
    EXPECT_EQ(rules::broadcast("add", {1}, {s}), Shape{s});
    expect_error(ErrorKind::shape, {"[add]", "[2, 3]", "[4]", "(3 and 4)", "(1)"}, [] {
        return rules::broadcast("add", {2, 3}, {4});
    });
    expect_error(ErrorKind::shape, {"[0]", "[2]"}, [] { return rules::broadcast("add", {0}, {2}); });
    expect_error(ErrorKind::shape, {"[mul]", "[batch, 3]", "[seq, 3]"}, [this] {
        return rules::broadcast("mul", {b, 3}, {s, 3});
    });
    expect_error(ErrorKind::shape, {"batch", "7"}, [this] { return rules::broadcast("mul", {b}, {7}); });

    EXPECT_EQ(broadcast_shapes({b, 1, s}, {3, 1}), (Shape{b, 3, s}));
    expect_error(ErrorKind::shape, {"[broadcast_shapes]", "[2, 3]", "[4]"}, [] {
        return broadcast_shapes({2, 3}, {4});
    });

    const std::vector<Shape> three{{b, 1, 1}, {3, 1}, {s}};
    EXPECT_EQ(rules::broadcast("where", three), (Shape{b, 3, s}));
    EXPECT_EQ(rules::broadcast("where", std::vector<Shape>{}), Shape{});
}

TEST_F(RulesTest, BroadcastLeavesGuards)
{
    Shape result;
    auto guards = guards_of([&] { result = rules::broadcast("add", {b, s, 3}, {7, h, 3}); });
    EXPECT_EQ(result, (Shape{7, s, 3})) << "of two sizes made equal, the constant tells more";
    ASSERT_EQ(guards.size(), 2u);
    EXPECT_EQ(guards[0].a, b);
    EXPECT_EQ(guards[0].b, 7);
    EXPECT_EQ(guards[1].a, s);
    EXPECT_EQ(guards[1].b, h);
    EXPECT_EQ(guards[0].reason.find("[add] The shapes ([batch, seq, 3] and [7, height, 3])"), 0u)
        << guards[0].reason;

    EXPECT_TRUE(guards_of([&] { rules::broadcast("add", {b, 1}, {b, s}); }).empty());
    EXPECT_EQ(guards_of([&] {
                  rules::broadcast("add", {b}, {s});
                  rules::broadcast("add", {s}, {b});
              }).size(),
              1u);
    // What differs for all values is an error, not a guard.
    EXPECT_EQ(error_of([&] { return guards_of([&] { rules::broadcast("add", {b}, {b + 1}); }).size(); }).kind,
              ErrorKind::shape);
    EXPECT_EQ(error_of([&] { return guards_of([&] { rules::broadcast("add", {2}, {3}); }).size(); }).kind,
              ErrorKind::shape);
}

TEST_F(RulesTest, GuardScopesNest)
{
    rules::GuardList outer, inner;
    {
        const rules::GuardScope first(outer);
        {
            const rules::GuardScope second(inner);
            rules::broadcast("add", {b}, {s});
        }
        rules::broadcast("add", {b}, {h});
    }
    EXPECT_EQ(inner.guards().size(), 1u);
    EXPECT_EQ(outer.guards().size(), 1u);
    EXPECT_EQ(error_of([this] { return rules::broadcast("add", {b}, {s}); }).kind, ErrorKind::shape);
}

TEST_F(RulesTest, BroadcastTo)
{
    rules::require_broadcastable("expand", {3, 1}, {b, 3, s});
    rules::require_broadcastable("expand", {}, {b});
    expect_error(ErrorKind::shape, {"[expand]", "[3]", "[4]"},
                 [] { return rules::require_broadcastable("expand", {3}, {4}), 0; });
    expect_error(ErrorKind::shape, {"[2, 3]", "([3])"}, [] {
        return rules::require_broadcastable("expand", {2, 3}, {3}), 0;
    });
    expect_error(ErrorKind::shape, {"batch"},
                 [this] { return rules::require_broadcastable("expand", {b}, {1}), 0; });
    EXPECT_EQ(rules::broadcast_dims({3, 1, 1}, {b, 3, s, 1}), (std::vector<std::size_t>{0, 2}));
    EXPECT_TRUE(rules::broadcast_dims({b, 3}, {b, 3}).empty());
}

TEST_F(RulesTest, Dimensions)
{
    EXPECT_EQ(rules::normalize_dim("sum", -1, 3), 2u);
    EXPECT_EQ(rules::normalize_dim("sum", -3, 3), 0u);
    EXPECT_EQ(rules::normalize_dim("sum", 2, 3), 2u);
    expect_error(ErrorKind::argument, {"[sum]", "(3)", "(-3)", "(2)"},
                 [] { return rules::normalize_dim("sum", 3, 3); });
    expect_error(ErrorKind::argument, {"(-4)"}, [] { return rules::normalize_dim("sum", -4, 3); });
    expect_error(ErrorKind::argument, {"(0)"}, [] { return rules::normalize_dim("sum", 0, 0); });
    EXPECT_EQ(rules::normalize_dims("sum", Dims{-1, 0}, 3), (std::vector<std::size_t>{2, 0}));
    expect_error(ErrorKind::argument, {"(-1)", "twice"}, [] {
        return rules::normalize_dims("sum", Dims{2, -1}, 3);
    });
}

TEST_F(RulesTest, Reduce)
{
    EXPECT_EQ(rules::reduce("sum", {b, 3, s}, Dims{1}, false), (Shape{b, s}));
    EXPECT_EQ(rules::reduce("sum", {b, 3, s}, Dims{0, -1}, true), (Shape{1, 3, 1}));
    EXPECT_EQ(rules::reduce("sum", {b, 3, s}, Dims{}, false), Shape{});
    EXPECT_EQ(rules::reduce("sum", {b, 0}, Dims{}, true), (Shape{1, 1}));
    EXPECT_EQ(rules::reduce("sum", {}, Dims{}, true), Shape{});
}

TEST_F(RulesTest, Views)
{
    EXPECT_EQ(rules::squeeze({1, b, 1, 0}), (Shape{b, 0}));
    EXPECT_EQ(rules::squeeze("squeeze", {1, b, 1}, Dims{0, 1}), (Shape{b, 1}));
    EXPECT_EQ(rules::unsqueeze("unsqueeze", {b, 3}, -1), (Shape{b, 3, 1}));
    EXPECT_EQ(rules::unsqueeze("unsqueeze", {b, 3}, 0), (Shape{1, b, 3}));
    EXPECT_EQ(rules::unsqueeze("unsqueeze", {}, 0), Shape{1});
    expect_error(ErrorKind::argument, {"(3)"}, [this] { return rules::unsqueeze("unsqueeze", {b, 3}, 3); });

    EXPECT_EQ(rules::flatten("flatten", {b, 3, s, 2}, 1, -1), (Shape{b, 6 * s}));
    EXPECT_EQ(rules::flatten("flatten", {b, 3, s, 2}, 0, 1), (Shape{3 * b, s, 2}));
    EXPECT_EQ(rules::flatten("flatten", {b, 0}, 0, 1), Shape{0});
    EXPECT_EQ(rules::flatten("flatten", {b, 3}, 1, 1), (Shape{b, 3}));
    EXPECT_EQ(rules::flatten("flatten", {}, 0, -1), Shape{1});
    expect_error(ErrorKind::argument, {"(2)", "(1)"}, [this] {
        return rules::flatten("flatten", {b, 3, s}, 2, 1);
    });
}

TEST_F(RulesTest, Reshape)
{
    EXPECT_EQ(rules::reshape("reshape", {2, 6}, {3, 4}), (Shape{3, 4}));
    EXPECT_EQ(rules::reshape("reshape", {2, 6}, {-1, 4}), (Shape{3, 4}));
    EXPECT_EQ(rules::reshape("reshape", {b, 4, s}, {b, -1}), (Shape{b, 4 * s}));
    EXPECT_EQ(rules::reshape("reshape", {b, 4, s}, {-1, 2}), (Shape{2 * b * s, 2}));
    EXPECT_EQ(rules::reshape("reshape", {b, s + 1, 6}, {-1, 3 * s + 3}), (Shape{2 * b, 3 * s + 3}));
    EXPECT_EQ(rules::reshape("reshape", {b, s}, {s, b}), (Shape{s, b}));
    EXPECT_EQ(rules::reshape("reshape", {}, {1, 1}), (Shape{1, 1}));
    EXPECT_EQ(rules::reshape("reshape", {1}, {}), Shape{});
    EXPECT_EQ(rules::reshape("reshape", {0, 3}, {-1, 3}), (Shape{0, 3}));
    expect_error(ErrorKind::argument, {"[0, -1]", "(0)"}, [] {
        return rules::reshape("reshape", {0, 3}, {0, -1});
    });
    expect_error(ErrorKind::argument, {"[-1, -1]"}, [] { return rules::reshape("reshape", {4}, {-1, -1}); });
    expect_error(ErrorKind::argument, {"(-2)"}, [] { return rules::reshape("reshape", {4}, {-2, 2}); });
    expect_error(ErrorKind::shape, {"[reshape]", "[2, 3]", "[4]"}, [] {
        return rules::reshape("reshape", {2, 3}, {4});
    });
    expect_error(ErrorKind::shape, {"[5]", "[-1, 2]"}, [] {
        return rules::reshape("reshape", {5}, {-1, 2});
    });
    expect_error(ErrorKind::shape, {"batch"}, [this] { return rules::reshape("reshape", {b}, {-1, 2}); });

    Shape result;
    const auto guards = guards_of([&] { result = rules::reshape("reshape", {b}, {-1, 2}); });
    EXPECT_EQ(result, (Shape{floor_div(b, 2), 2}));
    ASSERT_EQ(guards.size(), 1u);
    EXPECT_EQ(guards[0].condition(), "2 divides batch");
    EXPECT_EQ(guards_of([&] { rules::reshape("reshape", {b, 2}, {s, 4}); }).size(), 1u);
}

TEST_F(RulesTest, Matmul)
{
    EXPECT_EQ(rules::matmul("matmul", {2, 3}, {3, 4}), (Shape{2, 4}));
    EXPECT_EQ(rules::matmul("matmul", {3}, {3}), Shape{});
    EXPECT_EQ(rules::matmul("matmul", {3}, {3, 4}), Shape{4});
    EXPECT_EQ(rules::matmul("matmul", {2, 3}, {3}), Shape{2});
    EXPECT_EQ(rules::matmul("matmul", {b, 8, s, 64}, {64, s}), (Shape{b, 8, s, s}));
    EXPECT_EQ(rules::matmul("matmul", {b, 1, 2, 3}, {5, 3, 4}), (Shape{b, 5, 2, 4}));
    EXPECT_EQ(rules::matmul("matmul", {5}, {b, 5, 7}), (Shape{b, 7}));
    EXPECT_EQ(rules::matmul("matmul", {b, 2, 5}, {5}), (Shape{b, 2}));
    EXPECT_EQ(rules::matmul("matmul", {0, 3}, {3, 0}), (Shape{0, 0}));
    expect_error(ErrorKind::shape, {"[matmul]", "(3 and 4)", "[2, 3]", "[4, 5]"}, [] {
        return rules::matmul("matmul", {2, 3}, {4, 5});
    });
    expect_error(ErrorKind::shape, {"(seq and 1)"}, [this] {
        return rules::matmul("matmul", {2, s}, {1, 5});
    });
    expect_error(ErrorKind::shape, {"[2] and [3]"}, [] {
        return rules::matmul("matmul", {2, 4, 4}, {3, 4, 4});
    });
    expect_error(ErrorKind::shape, {"scalar"}, [] { return rules::matmul("matmul", {}, {3}); });
    EXPECT_EQ(guards_of([&] { rules::matmul("matmul", {2, s}, {b, 5}); }).size(), 1u);
}

TEST_F(RulesTest, Windows)
{
    EXPECT_EQ(rules::window_output("conv2d", 28, {.kernel = 3, .padding = 1}), 28);
    EXPECT_EQ(rules::window_output("conv2d", 224, {.kernel = 7, .stride = 2, .padding = 3}), 112);
    EXPECT_EQ(rules::window_output("conv2d", 10, {.kernel = 3, .dilation = 4}), 2);
    EXPECT_EQ(rules::window_output("max_pool2d", 5, {.kernel = 2, .stride = 2}), 2);
    EXPECT_EQ(rules::window_output("max_pool2d", 5, {.kernel = 2, .stride = 2, .ceil_mode = true}), 3);
    EXPECT_EQ(rules::window_output("max_pool2d", 2, {.kernel = 3, .stride = 2, .ceil_mode = true}), 1);
    // The last window would start in the padding beyond the input: it does not count.
    EXPECT_EQ(
        rules::window_output("max_pool2d", 4, {.kernel = 2, .stride = 3, .padding = 1, .ceil_mode = true}),
        2);
    EXPECT_EQ(rules::window_output("conv2d", 2, {.kernel = 2}), 1);
    EXPECT_EQ(rules::window_output("conv2d", h + 4, {.kernel = 3, .padding = 1}), h + 4);
    EXPECT_EQ(rules::window_output("conv2d", 2 * h, {.kernel = 2, .stride = 2, .padding = 1}), h + 1);
    expect_error(ErrorKind::shape, {"[conv2d]", "(3)", "(2)", "(0)"},
                 [] { return rules::window_output("conv2d", 2, {.kernel = 3}); });
    expect_error(ErrorKind::argument, {"stride (0)"},
                 [] { return rules::window_output("conv2d", 2, {.kernel = 1, .stride = 0}); });
    expect_error(ErrorKind::argument, {"kernel size (0)"},
                 [] { return rules::window_output("conv2d", 2, {.kernel = 0}); });
    expect_error(ErrorKind::argument, {"padding (-1)"},
                 [] { return rules::window_output("conv2d", 2, {.kernel = 1, .padding = -1}); });
    expect_error(ErrorKind::argument, {"dilation (0)"},
                 [] { return rules::window_output("conv2d", 2, {.kernel = 1, .dilation = 0}); });
    expect_error(ErrorKind::shape, {"(height)"},
                 [this] { return rules::window_output("conv2d", h, {.kernel = 3}); });

    Dim result;
    const auto guards = guards_of(
        [&] { result = rules::window_output("conv2d", h, {.kernel = 3, .stride = 2, .padding = 1}); });
    EXPECT_EQ(result, floor_div(h - 1, 2) + 1);
    ASSERT_EQ(guards.size(), 1u) << "the padded input must not be smaller than the window";
    for (const std::int64_t value : {0, 1, 5}) {
        const auto at = [&](std::uint32_t) { return value; };
        EXPECT_EQ(rules::holds(guards[0].relation, guards[0].a.evaluate(at), guards[0].b.evaluate(at)),
                  value >= 1);
    }
}

TEST_F(RulesTest, WindowsInCeilModeFollowTheLoop)
{
    for (std::int64_t x = 1; x < 12; ++x) {
        for (std::int64_t kernel = 1; kernel < 5; ++kernel) {
            for (std::int64_t stride = 1; stride < 5; ++stride) {
                for (std::int64_t padding = 0; 2 * padding <= kernel && x + 2 * padding >= kernel;
                     ++padding) {
                    std::int64_t expected = (x + 2 * padding - kernel + stride - 1) / stride + 1;
                    if ((expected - 1) * stride >= x + padding) --expected;
                    EXPECT_EQ(
                        rules::window_output(
                            "max_pool1d", x,
                            {.kernel = kernel, .stride = stride, .padding = padding, .ceil_mode = true}),
                        expected)
                        << x << ", " << kernel << ", " << stride << ", " << padding;
                }
            }
        }
    }
}

TEST_F(RulesTest, TransposedWindows)
{
    EXPECT_EQ(rules::transposed_window_output("conv_transpose2d", 14, {.kernel = 2, .stride = 2}, 0), 28);
    EXPECT_EQ(rules::transposed_window_output("conv_transpose2d", h,
                                              {.kernel = 4, .stride = 2, .padding = 1, .dilation = 1}, 0),
              2 * h);
    EXPECT_EQ(
        rules::transposed_window_output("conv_transpose2d", 5, {.kernel = 3, .stride = 2, .padding = 1}, 1),
        10);
    expect_error(ErrorKind::shape, {"(-1)", "(1)"}, [] {
        return rules::transposed_window_output("conv_transpose2d", 1, {.kernel = 1, .padding = 1}, 0);
    });
    expect_error(ErrorKind::argument, {"output padding (-1)"},
                 [] { return rules::transposed_window_output("conv_transpose2d", 1, {}, -1); });
}

TEST_F(RulesTest, Collapse)
{
    using rules::Strides;
    const auto contiguous = [](const Shape& sizes) { return rules::contiguous_strides(sizes); };

    auto c = rules::collapse({2, 3, 4}, std::vector<Strides>{contiguous({2, 3, 4}), contiguous({2, 3, 4})});
    EXPECT_EQ(c.sizes, Shape{24});
    EXPECT_EQ(c.strides, (std::vector<Strides>{{1}, {1}}));

    c = rules::collapse({b, 3, s}, std::vector<Strides>{contiguous({b, 3, s}), {0, s, 1}});
    EXPECT_EQ(c.sizes, (Shape{b, 3 * s}));
    EXPECT_EQ(c.strides, (std::vector<Strides>{{3 * s, 1}, {0, 1}}));

    c = rules::collapse({b, s, 5}, std::vector<Strides>{{0, 0, 0}});
    EXPECT_EQ(c.sizes, Shape{5 * b * s});
    EXPECT_EQ(c.strides, (std::vector<Strides>{{0}}));

    c = rules::collapse({4, 1, 5, 1}, std::vector<Strides>{{5, 77, 1, 33}, {1, 0, 4, 0}});
    EXPECT_EQ(c.sizes, (Shape{4, 5}));
    EXPECT_EQ(c.strides, (std::vector<Strides>{{5, 1}, {1, 4}}));

    c = rules::collapse({1, 1}, std::vector<Strides>{{1, 1}});
    EXPECT_EQ(c.sizes, Shape{});
    EXPECT_EQ(c.strides, (std::vector<Strides>{{}}));

    c = rules::collapse({0, 3}, std::vector<Strides>{{3, 1}});
    EXPECT_EQ(c.sizes, Shape{0});
    EXPECT_EQ(rules::collapse({2, 3}, {}).sizes, Shape{6});
}

// The addresses of all elements in order.
std::vector<std::int64_t> addresses(const Shape& sizes, const rules::Strides& strides)
{
    std::vector<std::int64_t> result{0};
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        std::vector<std::int64_t> next;
        for (const std::int64_t base : result) {
            for (std::int64_t k = 0; k < sizes[i].value(); ++k) next.push_back(base + k * strides[i].value());
        }
        result = std::move(next);
    }
    return result;
}

Shape permuted(const Shape& sizes, const Dims& order)
{
    Shape result;
    for (const std::int64_t dim : order) result.push_back(sizes[static_cast<std::size_t>(dim)]);
    return result;
}

TEST_F(RulesTest, CollapseKeepsEveryAddress)
{
    const std::vector<Dims> orders{{0, 1, 2, 3}, {1, 0, 2, 3}, {2, 3, 0, 1}, {3, 2, 1, 0}, {0, 1, 3, 2}};
    for (const Shape& dense : std::vector<Shape>{{2, 3, 4, 5}, {1, 3, 1, 5}, {2, 1, 1, 3}, {3, 0, 2, 2}}) {
        for (const Dims& order : orders) {
            const Shape sizes = permuted(dense, order);
            const rules::Strides strides = permuted(rules::contiguous_strides(dense), order);
            const rules::Strides repeated{strides[0], 0, 0, strides[3]};
            const auto c = rules::collapse(sizes, std::vector<rules::Strides>{strides, repeated});
            EXPECT_EQ(addresses(c.sizes, c.strides[0]), addresses(sizes, strides));
            EXPECT_EQ(addresses(c.sizes, c.strides[1]), addresses(sizes, repeated));
        }
    }
}

} // namespace
