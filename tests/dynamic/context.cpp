// Contexts: what one keeps from a forward to its backward, what it checks, and when it is closed.
#include <stdexcept>

#include <reprise/backward.hpp>

#include "dynamic/common.hpp"

namespace reprise {
namespace {

using namespace test;
using Context = DynamicAutogradContext;

Tensors product(Context& c, const Tensors& in)
{
    c.save_for_backward(in);
    return {matmul(in[0], in[1])};
}
Tensors product_backward(Context& c, const Tensors& dy)
{
    const auto [a, b] = backward::matmul_backward(dy[0], c.get_saved_tensor(0), c.get_saved_tensor(1));
    return {a, b};
}

TEST(DynamicAutogradContext, KeepsShapesAndTensors)
{
    const Tensor a = random_tensor({2, 3}, 1), b = random_tensor({3, 4}, 2), dy = random_tensor({2, 4}, 3);
    Context c;
    EXPECT_TRUE(c.is_open());
    EXPECT_TRUE(c.input_shapes().empty());
    EXPECT_TRUE(c.output_shapes().empty());
    EXPECT_EQ(bits(c.forward(product, {a, b})[0]), bits(matmul(a, b)));
    EXPECT_EQ(c.input_shapes(), (std::vector<SymbolicShape>{{2, 3}, {3, 4}}));
    EXPECT_EQ(c.output_shapes(), (std::vector<SymbolicShape>{{2, 4}}));
    EXPECT_EQ(c.gradient_shapes(), (std::vector<std::optional<SymbolicShape>>(2)));
    EXPECT_EQ(bits(c.get_saved_tensor(1)), bits(b));
    const Variable x(a), y(b);
    const Tensors want = grad({matmul(x, y)}, {x, y}, {.cotangents = {dy}});
    for (int again = 0; again < 2; ++again) {
        const Tensors got = c.backward(product_backward, {dy});
        EXPECT_EQ(bits(got[0]), bits(want[0]));
        EXPECT_EQ(bits(got[1]), bits(want[1]));
    }
    EXPECT_EQ(c.gradient_shapes()[1], (SymbolicShape{3, 4}));
    c.close();
    c.close();
    EXPECT_FALSE(c.is_open());
    EXPECT_EQ(c.input_shapes().size(), 2u);
}

// The gradient by x of x w, where w is assigned between the two passes, at each of three calls.
std::vector<Bits> beside_assignments(
    const std::function<Tensor(const Tensor&, Tensor, const Tensor&)>& gradient, bool in_a_program)
{
    const Variable w(random_tensor({3, 4}, 1));
    const auto step = [&](const Tensors& in) { return Tensors{gradient(in[0], w, in[1])}; };
    const Dim n = symbol("n");
    std::optional<Program> program;
    if (in_a_program) program = record_function(step, {spec({n, 3}), spec({n, 4})});
    std::vector<Bits> out;
    for (const std::int64_t rows : {2, 5, 1}) {
        const Tensors in{random_tensor({rows, 3}, 2), random_tensor({rows, 4}, 3)};
        out.push_back(bits(in_a_program ? program->call(in)[0] : step(in)[0]));
    }
    return out;
}

TEST(DynamicAutogradContext, KeepsTheValuesThatWereSaved)
{
    const auto in_context = [](const Tensor& x, Tensor w, const Tensor& dy) {
        Context c;
        c.forward(product, {x, w});
        w.assign(w.detach() * 3);
        return c.backward(product_backward, {dy})[0];
    };
    const auto plain = [](const Tensor& x, Tensor w, const Tensor& dy) {
        const Variable leaf(x);
        const Tensor y = matmul(leaf, w);
        w.assign(w.detach() * 3);
        return grad(y, leaf, {.cotangents = {dy}});
    };
    const std::vector<Bits> want = beside_assignments(plain, false);
    EXPECT_EQ(beside_assignments(plain, true), want);
    EXPECT_EQ(beside_assignments(in_context, false), want);
    EXPECT_EQ(beside_assignments(in_context, true), want);
}

TEST(DynamicAutogradContext, GivesWhatWasSavedForGood)
{
    Context c;
    c.save_for_backward({ones({2}) * 3, Tensor()});
    const Tensor& saved = c.get_saved_tensor(0);
    EXPECT_FALSE(c.get_saved_tensor(1).defined());
    c.close();
    EXPECT_THAT(floats(saved), ElementsAre(3, 3));
}

TEST(DynamicAutogradContext, SavesAnewWhereItSavesTwice)
{
    const std::uint64_t before = default_device().live_bytes();
    Context c;
    {
        const Tensor large = ones({1 << 12}) * 3;
        large.eval();
        c.save_for_backward({large, large});
    }
    c.save_for_backward({ones({2}) * 5});
    EXPECT_THAT(floats(c.get_saved_tensor(0)), ElementsAre(5, 5));
    EXPECT_EQ(error_of([&] { return c.get_saved_tensor(1); }).kind, ErrorKind::argument);
    EXPECT_LT(default_device().live_bytes(), before + (1 << 12)); // the first ones are let go of
}

TEST(DynamicAutogradContext, KnowsItsShapesWhenItIsClosed)
{
    Context c;
    c.forward(product, {ones({2, 3}), ones({3, 4})});
    c.validate_gradient(0, {2, 3});
    c.close();
    EXPECT_EQ(c.gradient_shapes()[0], (SymbolicShape{2, 3}));
    EXPECT_EQ(c.input_shapes()[1], (SymbolicShape{3, 4}));
    c.validate_gradient(1, {3, 4});
    EXPECT_EQ(error_of([&] { return c.validate_gradient(1, {4, 3}), 0; }).kind, ErrorKind::shape);
    EXPECT_EQ(error_of([&] { return c.save_for_backward({}), 0; }).kind, ErrorKind::state);
    EXPECT_EQ(error_of([&] {
                  return c.forward(product, {ones({2, 3}), ones({3, 4})});
              }).kind,
              ErrorKind::state);
}

TEST(DynamicAutogradContext, RefusesWrongIndices)
{
    Context c;
    const Caught early = error_of([&] { return c.get_saved_tensor(0); });
    EXPECT_EQ(early.kind, ErrorKind::argument);
    EXPECT_EQ(error_of([&] { return c.validate_gradient(0, {2}), 0; }).kind, ErrorKind::argument);
    c.forward(product, {ones({2, 3}), ones({3, 4})});
    const Caught saved = error_of([&] { return c.get_saved_tensor(2); });
    EXPECT_EQ(saved.kind, ErrorKind::argument);
    EXPECT_THAT(saved.text, HasSubstr("(2) of (2)"));
    const Caught input = error_of([&] { return c.validate_gradient(2, {2, 3}), 0; });
    EXPECT_EQ(input.kind, ErrorKind::argument);
    EXPECT_THAT(input.text, HasSubstr("(2) of (2)"));
    EXPECT_TRUE(c.is_open());
}

TEST(DynamicAutogradContext, RefusesWrongShapes)
{
    const Dim n = symbol("n"), m = symbol("m");
    Context c;
    c.forward(product, {ones({2, 3}), ones({3, 4})});
    const Caught wrong = error_of([&] { return c.validate_gradient(1, {4, 3}), 0; });
    EXPECT_EQ(wrong.kind, ErrorKind::shape);
    for (const char* part : {"[4, 3]", "[3, 4]", "input (1)"}) EXPECT_THAT(wrong.text, HasSubstr(part));
    EXPECT_FALSE(c.gradient_shapes()[1]);
    EXPECT_TRUE(c.is_open());
    const Caught arriving = error_of([&] { return c.backward(product_backward, {ones({4, 2})}); });
    EXPECT_EQ(arriving.kind, ErrorKind::shape);
    for (const char* part : {"[4, 2]", "[2, 4]", "output (0)"}) EXPECT_THAT(arriving.text, HasSubstr(part));
    EXPECT_EQ(error_of([&] { return c.backward(product_backward, {}); }).kind, ErrorKind::argument);
    EXPECT_TRUE(c.is_open()); // nothing of the user's has run

    record(
        [&](Tensor x) {
            Context inner;
            const auto same = [](Context&, const Tensors& in) { return in; };
            inner.forward(same, {x});
            inner.validate_gradient(0, {n});
            EXPECT_EQ(error_of([&] { return inner.validate_gradient(0, {m}), 0; }).kind, ErrorKind::shape);
            return x * 2;
        },
        {spec({n})});
}

TEST(DynamicAutogradContext, ClosesWhereAFunctionThrows)
{
    const Tensor a = random_tensor({64, 64}, 1);
    a.eval();
    default_device().synchronize();
    const std::uint64_t bytes = default_device().live_bytes();
    const auto stops = [](Context& c, const Tensors& in) -> Tensors {
        const Tensor kept = in[0] * 2;
        kept.eval();
        c.save_for_backward({kept});
        throw std::runtime_error("stopped");
    };
    Context forward, backward, wrong_shape, wrong_count;
    EXPECT_THROW(forward.forward(stops, {a}), std::runtime_error);
    const auto saves = [](Context& c, const Tensors& in) {
        const Tensor kept = in[0] * 3;
        kept.eval();
        c.save_for_backward({kept});
        return in;
    };
    for (Context* c : {&backward, &wrong_shape, &wrong_count}) c->forward(saves, {a});
    EXPECT_THROW(backward.backward(stops, {a}), std::runtime_error);
    const auto narrowed = [](Context&, const Tensors& dy) { return Tensors{narrow(dy[0], 0, 0, 3)}; };
    EXPECT_EQ(error_of([&] { return wrong_shape.backward(narrowed, {a}); }).kind, ErrorKind::shape);
    const auto twice = [](Context&, const Tensors& dy) { return Tensors{dy[0], dy[0]}; };
    EXPECT_EQ(error_of([&] { return wrong_count.backward(twice, {a}); }).kind, ErrorKind::argument);
    for (const Context* c : {&forward, &backward, &wrong_shape, &wrong_count}) EXPECT_FALSE(c->is_open());
    default_device().synchronize();
    EXPECT_EQ(default_device().live_bytes(), bytes); // what was saved is let go of
    for (Context* c : {&forward, &backward}) {
        EXPECT_EQ(error_of([&] { return c->forward(saves, {a}); }).kind, ErrorKind::state);
        EXPECT_EQ(error_of([&] { return c->backward(saves, {a}); }).kind, ErrorKind::state);
        EXPECT_EQ(error_of([&] { return c->get_saved_tensor(0); }).kind, ErrorKind::state);
        EXPECT_EQ(error_of([&] { return c->save_for_backward({a}), 0; }).kind, ErrorKind::state);
    }
}

TEST(DynamicAutogradContext, NotesNoShapeWhereOneIsWrong)
{
    const auto forward = [](Context&, const Tensors& in) { return in; };
    const auto second_wrong = [](Context&, const Tensors& dy) {
        return Tensors{dy[0], narrow(dy[1], 0, 0, 1)};
    };
    Context c;
    c.forward(forward, {ones({2}), ones({3})});
    EXPECT_EQ(error_of([&] {
                  return c.backward(second_wrong, {ones({2}), ones({3})});
              }).kind,
              ErrorKind::shape);
    EXPECT_EQ(c.gradient_shapes(), (std::vector<std::optional<SymbolicShape>>(2)));
}

TEST(DynamicAutogradContext, RefusesFunctionsThatThereAreNot)
{
    Context c;
    EXPECT_EQ(error_of([&] { return c.forward(nullptr, {ones({2})}); }).kind, ErrorKind::argument);
    EXPECT_TRUE(c.input_shapes().empty());
    c.forward([](Context&, const Tensors& in) { return in; }, {ones({2})}); // nothing had happened
    EXPECT_EQ(error_of([&] { return c.backward(nullptr, {ones({2})}); }).kind, ErrorKind::argument);
    EXPECT_TRUE(c.is_open());
}

TEST(DynamicAutogradContext, HasNoBackwardBeforeTheForwardIsDone)
{
    Context c;
    Caught early;
    c.forward(
        [&](Context& inside, const Tensors& in) {
            early = error_of([&] { return inside.backward(product_backward, {}); });
            return in;
        },
        {ones({2})});
    EXPECT_EQ(early.kind, ErrorKind::state);
    EXPECT_TRUE(c.is_open());
}

TEST(DynamicAutogradContext, ClosesAtItsEnd)
{
    const Tensor a = random_tensor({64, 64}, 1);
    a.eval();
    default_device().synchronize();
    const std::uint64_t bytes = default_device().live_bytes();
    {
        Context c;
        const Tensor kept = a * 2;
        kept.eval();
        c.save_for_backward({kept});
    }
    default_device().synchronize();
    EXPECT_EQ(default_device().live_bytes(), bytes);
}

TEST(DynamicAutogradContext, HasOneForward)
{
    Context c;
    EXPECT_EQ(error_of([&] { return c.backward(product_backward, {}); }).kind, ErrorKind::state);
    const Caught undefined = error_of([&] { return c.forward(product, {Tensor(), ones({2, 2})}); });
    EXPECT_EQ(undefined.kind, ErrorKind::argument);
    c.forward(product, {ones({2, 3}), ones({3, 4})}); // nothing had happened
    EXPECT_EQ(error_of([&] {
                  return c.forward(product, {ones({2, 2}), ones({2, 2})});
              }).kind,
              ErrorKind::state);
    EXPECT_EQ(c.input_shapes()[0], (SymbolicShape{2, 3}));
    EXPECT_TRUE(c.is_open());
}

TEST(DynamicAutogradContext, PassesOnThatThereIsNone)
{
    Context c;
    c.forward(
        [](Context&, const Tensors& in) {
            return Tensors{in[0] * 2, in[1] * 3};
        },
        {ones({2}), ones({3})});
    const auto f = [](Context&, const Tensors& dy) {
        return Tensors{dy[0].defined() ? dy[0] * 2 : Tensor(), dy[1].defined() ? dy[1] * 3 : Tensor()};
    };
    const Tensors g = c.backward(f, {Tensor(), ones({3})});
    EXPECT_FALSE(g[0].defined());
    EXPECT_EQ(bits(g[1]), bits(ones({3}) * 3));
    EXPECT_FALSE(c.gradient_shapes()[0]);
}

// a b through one context, tanh of it through another that lives inside of the first one's functions.
Tensors nested_gradients(const Tensor& a, const Tensor& b, const Tensor& dy)
{
    Context outer, inner;
    const auto tanh_forward = [](Context& c, const Tensors& in) {
        c.save_for_backward(in);
        return Tensors{tanh(in[0])};
    };
    const auto tanh_backward = [](Context& c, const Tensors& g) {
        return Tensors{backward::tanh_backward(g[0], c.get_saved_tensor(0))};
    };
    Tensors out = outer.forward(
        [&](Context& c, const Tensors& in) { return inner.forward(tanh_forward, product(c, in)); }, {a, b});
    const Tensors g = outer.backward(
        [&](Context& c, const Tensors& arriving) {
            return product_backward(c, inner.backward(tanh_backward, arriving));
        },
        {dy});
    out.insert(out.end(), g.begin(), g.end());
    return out;
}

Tensors plain_gradients(const Tensor& a, const Tensor& b, const Tensor& dy)
{
    const Variable x(a), y(b);
    Tensors out{tanh(matmul(x, y))};
    const Tensors g = grad(out, {x, y}, {.cotangents = {dy}});
    out.insert(out.end(), g.begin(), g.end());
    return out;
}

TEST(DynamicAutogradContext, NestsInEagerCodeAndInPrograms)
{
    const Dim n = symbol("n"), m = symbol("m");
    const auto program =
        record_function([](const Tensors& in) { return nested_gradients(in[0], in[1], in[2]); },
                        {spec({n, 3}), spec({3, m}), spec({n, m})});
    const auto in_checkpoint = record_function(
        [](const Tensors& in) { return checkpoint([&] { return nested_gradients(in[0], in[1], in[2]); }); },
        {spec({n, 3}), spec({3, m}), spec({n, m})});
    for (const auto& [rows, columns] :
         std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 4}, {5, 1}, {0, 2}}) {
        const Tensor a = random_tensor({rows, 3}, 1), b = random_tensor({3, columns}, 2),
                     dy = random_tensor({rows, columns}, 3);
        const std::vector<Bits> want = bits_of(plain_gradients(a, b, dy));
        EXPECT_EQ(bits_of(nested_gradients(a, b, dy)), want);
        EXPECT_EQ(bits_of(program.call({a, b, dy})), want);
        EXPECT_EQ(bits_of(in_checkpoint.call({a, b, dy})), want);
    }
}

TEST(DynamicAutogradContext, SeveralLiveAtOnce)
{
    const Tensor a = random_tensor({2, 3}, 1), b = random_tensor({3, 4}, 2), dy = random_tensor({2, 4}, 3);
    Context first, second;
    first.forward(product, {a, b});
    second.forward(product, {a * 2, b});
    const Tensors of_first = first.backward(product_backward, {dy}),
                  of_second = second.backward(product_backward, {dy});
    EXPECT_EQ(bits(of_first[0]), bits(of_second[0]));
    EXPECT_EQ(bits(of_first[1] * 2), bits(of_second[1])); // a power of two is exact
    second.close();
    EXPECT_EQ(bits(first.backward(product_backward, {dy})[0]), bits(of_first[0]));
}

// The functions' ops are on the tape: a gradient of the gradient is the plain one.
TEST(DynamicAutogradContext, LeavesTheTapeAlone)
{
    const auto second = [](const auto& first) {
        const Variable a(random_tensor({2, 3}, 1)), b(random_tensor({3, 4}, 2)), dy(random_tensor({2, 4}, 3));
        const Tensor g = first(a, b, dy);
        return bits_of(grad({sum(g * g)}, {b, dy}));
    };
    EXPECT_EQ(second([](const Tensor& a, const Tensor& b, const Tensor& dy) {
                  Context c;
                  c.forward(product, {a, b});
                  return c.backward(product_backward, {dy})[0];
              }),
              second([](const Tensor& a, const Tensor& b, const Tensor& dy) {
                  return grad(matmul(a, b), a, {.create_graph = true, .cotangents = {dy}});
              }));
}

} // namespace
} // namespace reprise
