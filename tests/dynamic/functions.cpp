// Values and gradients of the functions are those of the plain ops, bit for bit, whichever way they are
// called and run.
#include <stdexcept>

#include "dynamic/common.hpp"
#include "dynamic/rows.hpp"

namespace reprise {
namespace {

using namespace test;

Call dynamic(const Row& r, const Dim& n, const Dim& m)
{
    return [f = r.dynamic(n, m)](const Tensors& in) { return f.call(in)[0]; };
}
Call plain(const Row& r, const Dim& n, const Dim& m)
{
    return [&r, n, m](const Tensors& in) { return r.plain(in, n, m); };
}
struct Symbols {
    Dim n = symbol("n"), m = symbol("m");
};

Shapes shapes_at(const Row& r, const Dim& n, const Dim& m)
{
    const std::vector<Shape> inputs = r.inputs(n, m);
    Shapes shapes(inputs.begin(), inputs.end());
    shapes.push_back(r.dynamic(n, m).get_output_shape(shapes));
    return shapes;
}

// Inputs and a cotangent.
Tensors values_at(const Row& r, std::int64_t n, std::int64_t m)
{
    Tensors values;
    for (const SymbolicShape& s : shapes_at(r, n, m)) values.push_back(random_tensor(s, values.size() + 1));
    return values;
}

struct DynamicFunctions : testing::TestWithParam<Row> {};

TEST_P(DynamicFunctions, HaveTheBitsOfThePlainOps)
{
    const Row& r = GetParam();
    const Symbols s;
    const Shapes shapes = shapes_at(r, s.n, s.m);
    const Program program = recorded(dynamic(r, s.n, s.m), shapes),
                  with_checkpoint = recorded(checkpointed(dynamic(r, s.n, s.m)), shapes);
    for (const auto& [n, m] : r.sizes) {
        SCOPED_TRACE("n = " + std::to_string(n) + ", m = " + std::to_string(m));
        const Tensors in = values_at(r, n, m);
        const std::vector<Bits> want = bits_of(differentiate(plain(r, n, m), in));
        EXPECT_EQ(bits_of(differentiate(dynamic(r, n, m), in)), want);
        EXPECT_EQ(bits_of(differentiate(checkpointed(dynamic(r, n, m)), in)), want);
        EXPECT_EQ(bits_of(program.call(in)), want);
        EXPECT_EQ(bits_of(with_checkpoint.call(in)), want);
    }
}

TEST_P(DynamicFunctions, KnowTheirOutputsShape)
{
    const Row& r = GetParam();
    const Symbols s;
    const SymbolicShape y = shapes_at(r, s.n, s.m).back();
    for (const auto& [n, m] : r.sizes) {
        EXPECT_EQ(y.bind({{s.n, n}, {s.m, m}}), shapes_at(r, n, m).back());
        const Tensors in = values_at(r, n, m);
        EXPECT_EQ(r.plain({in.begin(), in.end() - 1}, n, m).shape(), shapes_at(r, n, m).back().dims());
    }
}

TEST_P(DynamicFunctions, PassTheGradientChecksAtTwoSizes)
{
    const Row& r = GetParam();
    for (std::size_t i = 0; i < 2; ++i) {
        const auto [n, m] = r.sizes[i];
        Tensors in = values_at(r, n, m);
        in.pop_back();
        const GradCheck once = gradcheck(dynamic(r, n, m), in), twice = gradgradcheck(dynamic(r, n, m), in);
        EXPECT_TRUE(once.passed) << once.message;
        EXPECT_TRUE(twice.passed) << twice.message;
    }
}

// What hooks of the output and of the inputs saw, in order, each behind its number; then the gradients.
Tensors seen_by_hooks(const Call& f, const Tensors& inputs_and_cotangent)
{
    Tensors seen;
    const auto note = [&](const Tensor& t, std::size_t who) {
        for (const std::size_t hook : {0, 1})
            t.register_hook([&seen, who, hook](const Tensor& g) {
                seen.push_back(full({}, static_cast<double>(2 * who + hook)));
                seen.push_back(g);
                return g * 2;
            });
    };
    const Tensors all = leaves(inputs_and_cotangent), in(all.begin(), all.end() - 1);
    const Tensor y = f(in);
    note(y, in.size());
    for (std::size_t i = 0; i < in.size(); ++i) note(in[i], i);
    y.backward(inputs_and_cotangent.back());
    for (const Tensor& t : in) seen.push_back(t.grad());
    return seen;
}

TEST_P(DynamicFunctions, CallHooksAsThePlainOpsDo)
{
    const Row& r = GetParam();
    const auto [n, m] = r.sizes[0];
    const Tensors in = values_at(r, n, m);
    const std::vector<Bits> want = bits_of(seen_by_hooks(plain(r, n, m), in));
    EXPECT_EQ(want.size(), 5 * in.size() - 1); // two hooks of all, one gradient of each input
    EXPECT_EQ(bits_of(seen_by_hooks(dynamic(r, n, m), in)), want);
    const Symbols s;
    std::vector<Spec> specs;
    for (const SymbolicShape& shape : shapes_at(r, s.n, s.m)) specs.push_back(spec(shape));
    const Program program = record_function(
        [&](const Tensors& inputs) { return seen_by_hooks(dynamic(r, s.n, s.m), inputs); }, specs);
    EXPECT_EQ(bits_of(program.call(in)), want);
}

// Memory that is held after the forward, where the inputs that the mask names require a gradient and nobody else
// holds them.
std::uint64_t held_for_backward(const Call& f, const Tensors& values, std::size_t mask)
{
    Tensors roots;
    for (std::size_t i = 0; i < values.size(); ++i) roots.push_back(Variable(values[i], mask >> i & 1));
    eval(roots);
    default_device().synchronize();
    const std::uint64_t before = default_device().live_bytes();
    const auto made = [&] {
        Tensors in;
        for (const Tensor& t : roots) in.push_back(t * 2);
        return f(in);
    };
    const Tensor y = made();
    y.eval();
    default_device().synchronize();
    return default_device().live_bytes() - before;
}

// Only the inputs that the mask names require a gradient.
TEST_P(DynamicFunctions, GiveTheGradientsThatAreAskedFor)
{
    const Row& r = GetParam();
    const auto [n, m] = r.sizes[0];
    const Tensors values = values_at(r, n, m);
    const auto gradients = [&](const Call& f, std::size_t mask) {
        Tensors in, asked;
        for (std::size_t i = 0; i + 1 < values.size(); ++i) {
            in.push_back(Variable(values[i], mask >> i & 1));
            if (mask >> i & 1) asked.push_back(in.back());
        }
        const Variable dy(values.back());
        const Tensors first = grad({f(in)}, asked, {.create_graph = true, .cotangents = {dy}});
        Tensor loss = sum(first[0] * first[0]);
        for (std::size_t i = 1; i < first.size(); ++i) loss = loss + sum(first[i] * first[i]);
        Tensors out = first;
        out.push_back(grad(loss, dy));
        return bits_of(out);
    };
    for (std::size_t mask = 1; mask < 1u << (values.size() - 1); ++mask)
        EXPECT_EQ(gradients(dynamic(r, n, m), mask), gradients(plain(r, n, m), mask)) << "mask " << mask;
}

TEST_P(DynamicFunctions, HoldNoMoreThanThePlainOps)
{
    const Row& r = GetParam();
    const auto [n, m] = r.sizes[0];
    Tensors in = values_at(r, n, m);
    in.pop_back();
    for (std::size_t mask = 0; mask < 1u << in.size(); ++mask)
        EXPECT_EQ(held_for_backward(dynamic(r, n, m), in, mask), held_for_backward(plain(r, n, m), in, mask))
            << "mask " << mask;
}

TEST_P(DynamicFunctions, LeaveNothingBehindWhenAHookThrows)
{
    const Row& r = GetParam();
    const auto [n, m] = r.sizes[0];
    const Tensors all = leaves(values_at(r, n, m)), in(all.begin(), all.end() - 1);
    eval(all);
    default_device().synchronize();
    const std::uint64_t bytes = default_device().live_bytes();
    {
        const Tensor y = r.dynamic(n, m).call(in)[0];
        y.eval();
        y.register_hook([](const Tensor&) -> Tensor { throw std::runtime_error("stopped in a hook"); });
        EXPECT_THROW(y.backward(all.back().detach()), std::runtime_error);
        EXPECT_THROW(y.backward(all.back().detach()), std::runtime_error); // the tape was not used up
    }
    for (const Tensor& t : in) EXPECT_FALSE(t.grad().defined());
    default_device().synchronize();
    EXPECT_EQ(default_device().live_bytes(), bytes);
}

TEST_P(DynamicFunctions, RefuseAnotherNumberOfInputs)
{
    const Row& r = GetParam();
    const DynamicGradientFunction f = r.dynamic(2, 2);
    const Caught none = error_of([&] { return f.call({}); });
    EXPECT_EQ(none.kind, ErrorKind::argument);
    EXPECT_THAT(none.text, HasSubstr(f.name()));
    EXPECT_THAT(none.text, HasSubstr(r.name.starts_with("conv2d")   ? "give (2) or (3)."
                                     : r.name.starts_with("matmul") ? "give (2)."
                                                                    : "give (1)."));
    EXPECT_EQ(error_of([&] { return f(ones({2}), ones({2}), ones({2}), ones({2})); }).kind,
              ErrorKind::argument);
}

INSTANTIATE_TEST_SUITE_P(Rows, DynamicFunctions, testing::ValuesIn(test::rows()),
                         [](const auto& row) { return row.param.name; });

TEST(DynamicFunction, RefusesWhatDoesNotFit)
{
    const auto refused = [](const DynamicGradientFunction& f, const Shapes& in) {
        Tensors tensors;
        for (const SymbolicShape& s : in) tensors.push_back(ones(s));
        const Caught by_shape = error_of([&] { return f.get_output_shape(in); });
        EXPECT_EQ(error_of([&] { return f.call(tensors); }).text, by_shape.text);
        return by_shape;
    };
    const Caught inner = refused(DynamicMatMulBackward(), {{2, 3}, {4, 5}});
    EXPECT_EQ(inner.kind, ErrorKind::shape);
    EXPECT_THAT(inner.text, HasSubstr("[2, 3] and [4, 5]"));
    EXPECT_EQ(refused(DynamicMatMulBackward(), {{2, 2, 3}, {4, 3, 2}}).kind, ErrorKind::shape); // batches
    EXPECT_EQ(refused(DynamicConv2DBackward(), {{1, 2, 8, 8}, {1, 3, 3, 3}}).kind, ErrorKind::shape);
    EXPECT_EQ(refused(DynamicConv2DBackward(), {{1, 2, 2, 8}, {1, 2, 3, 3}}).kind, ErrorKind::shape);
    EXPECT_EQ(
        refused(DynamicConv2DBackward({.stride = 2, .padding = "same"}), {{1, 2, 8, 8}, {1, 2, 3, 3}}).kind,
        ErrorKind::argument);
    EXPECT_EQ(refused(DynamicReshapeBackward({4, 2}), {{2, 3}}).kind, ErrorKind::shape);
    EXPECT_EQ(refused(DynamicReshapeBackward({-1, -1}), {{2, 4}}).kind, ErrorKind::argument);
    const Caught wide = refused(DynamicBroadcastBackward({4, 3}), {{2, 3}});
    EXPECT_EQ(wide.kind, ErrorKind::shape);
    EXPECT_THAT(wide.text, HasSubstr("[2, 3]"));
    EXPECT_THAT(wide.text, HasSubstr("[4, 3]"));
    EXPECT_EQ(refused(DynamicBroadcastBackward({3}), {{2, 3}}).kind, ErrorKind::shape);
    const DynamicBroadcastBackward to_symbol({symbol("n"), 3}); // which no size of eager code is
    EXPECT_EQ(error_of([&] { return to_symbol(ones({2, 3})); }).kind, ErrorKind::shape);
}

// Sizes that only a call can show to fit.
TEST(DynamicFunction, LeavesConditionsToTheCall)
{
    const auto f = record(
        [](Tensor a, Tensor b) {
            a.requires_grad_();
            b.requires_grad_();
            const Tensors g = grad({sum(DynamicMatMulBackward()(a, b))}, {a, b});
            EXPECT_EQ(g[0].shape(), a.shape());
            EXPECT_EQ(g[1].shape(), b.shape());
            return g;
        },
        {spec({symbol("n"), 2, symbol("k")}), spec({symbol("m"), symbol("l"), 3})});
    const Variable a(random_tensor({4, 2, 5}, 1)), b(random_tensor({4, 5, 3}, 2));
    EXPECT_EQ(bits_of(f(a.detach(), b.detach())), bits_of(grad({sum(matmul(a, b))}, {a, b})));
    EXPECT_EQ(error_of([&] { return f(a.detach(), ones({4, 6, 3})); }).kind, ErrorKind::shape);
    EXPECT_EQ(error_of([&] { return f(a.detach(), ones({3, 5, 3})); }).kind, ErrorKind::shape);
}

// A weight that another input was made of: the gradient by each input goes no further.
TEST(DynamicFunction, KeepsInputsApartThatAreMadeOfEachOther)
{
    const auto gradients = [](const Call& f) {
        const Variable w(random_tensor({3, 3}, 1));
        const Tensor x = tanh(w);
        return bits_of(grad({sum(f({x, w}) * f({w, w}))}, {x, w}));
    };
    EXPECT_EQ(gradients([](const Tensors& in) { return DynamicMatMulBackward()(in[0], in[1]); }),
              gradients([](const Tensors& in) { return matmul(in[0], in[1]); }));
}

// The gradient of a layer's weight, which is used transposed.  Of whole numbers, as the gradient lies in another way
// than that of matmul, where a library may add in another order.
TEST(DynamicFunction, TakesTransposedOperands)
{
    const auto gradients = [](const Call& f) {
        const Variable x(round(random_tensor({4, 3}, 1) * 4)), w(round(random_tensor({5, 3}, 2) * 4));
        const Tensor y = f({x, transpose(w, 0, 1)});
        return bits_of(grad({sum(y * y)}, {x, w}));
    };
    EXPECT_EQ(gradients([](const Tensors& in) { return DynamicMatMulBackward()(in[0], in[1]); }),
              gradients([](const Tensors& in) { return matmul(in[0], in[1]); }));
}

TEST(DynamicFunction, OfNarrowFloats)
{
    const Tensor a = cast(random_tensor({3, 4}, 1), f16), b = cast(random_tensor({4, 2}, 2), f16);
    const Tensors values{a, b, cast(random_tensor({3, 2}, 3), f16)};
    EXPECT_EQ(bits_of(differentiate([](const Tensors& in) { return DynamicMatMulBackward()(in[0], in[1]); },
                                    values)),
              bits_of(differentiate([](const Tensors& in) { return matmul(in[0], in[1]); }, values)));
}

} // namespace
} // namespace reprise
