// Functions that say what shape they give: what is checked, when, and what remains after an exception.
#include <stdexcept>

#include "dynamic/common.hpp"

namespace reprise {
namespace {

using namespace test;

// a b, with what a test wants to be wrong about it.
struct Product : DynamicGradientFunction::Implementation {
    enum class At { nowhere, shape, forward, validation, backward };
    At throws = At::nowhere;
    std::function<SymbolicShape(const Shapes&)> output = [](const Shapes& in) {
        return in.at(0).broadcast(in.at(1));
    };
    std::function<Tensors(Tensors)> gradients = [](Tensors g) { return g; };

    SymbolicShape get_output_shape(const Shapes& in) const override
    {
        stop_at(At::shape);
        return output(in);
    }
    Tensor forward(FunctionContext& c, const Tensors& in) const override
    {
        c.save_for_backward(in);
        c.data = std::string("kept");
        const Tensor y = in[0] * in[1];
        stop_at(At::forward);
        return y;
    }
    Tensors backward(const FunctionContext& c, const Tensor& dy) const override
    {
        EXPECT_EQ(std::any_cast<std::string>(c.data), "kept");
        stop_at(At::backward);
        return gradients(
            {sum_to(dy * c.saved(1), c.saved(0).shape()), sum_to(dy * c.saved(0), c.saved(1).shape())});
    }
    void validate_gradient_shape(const SymbolicShape& gradient, const SymbolicShape& out) const override
    {
        stop_at(At::validation);
        Implementation::validate_gradient_shape(gradient, out);
    }

private:
    void stop_at(At here) const
    {
        if (throws == here) throw std::runtime_error("stopped");
    }
};

DynamicGradientFunction product(const std::function<void(Product&)>& change = nullptr)
{
    auto p = std::make_shared<Product>();
    if (change) change(*p);
    return {"product", p};
}

TEST(DynamicGradientFunction, AnswersForItsImplementation)
{
    const Dim n = symbol("n");
    const DynamicGradientFunction f = product();
    EXPECT_EQ(f.name(), "product");
    EXPECT_EQ(f.get_output_shape({{n, 1}, {3}}), (SymbolicShape{n, 3}));
    f.validate_gradient_shape({n, 3}, {n, 3});
    const Caught wrong = error_of([&] { return f.validate_gradient_shape({n, 3}, {n, 4}), 0; });
    EXPECT_EQ(wrong.kind, ErrorKind::shape);
    EXPECT_THAT(wrong.text, HasSubstr("[n, 3]"));
    EXPECT_THAT(wrong.text, HasSubstr("[n, 4]"));
    EXPECT_EQ(error_of([&] { return f.validate_gradient_shape({n}, {symbol("n")}), 0; }).kind,
              ErrorKind::shape);
    EXPECT_EQ(error_of([] { return DynamicGradientFunction("none", nullptr).name(); }).kind,
              ErrorKind::argument);
}

TEST(DynamicGradientFunction, GivesTheGradientsOfItsBackward)
{
    const Variable a(random_tensor({2, 1}, 1)), b(random_tensor({3}, 2));
    const Tensor y = product()(a, b);
    EXPECT_EQ(y.grad_fn().operation(), "product");
    const Tensors got = grad({sum(y * y)}, {a, b}), want = grad({sum((a * b) * (a * b))}, {a, b});
    EXPECT_EQ(bits(y), bits(a * b));
    EXPECT_EQ(bits(got[0]), bits(want[0]));
    EXPECT_EQ(bits(got[1]), bits(want[1]));
    for (const std::int64_t rows : {1, 4}) {
        const auto call = [](const Tensors& in) { return product()(in[0], in[1]); };
        const Tensors at{random_tensor({rows, 1}, 3), random_tensor({3}, 4)};
        const GradCheck once = gradcheck(call, at), twice = gradgradcheck(call, at);
        EXPECT_TRUE(once.passed) << once.message;
        EXPECT_TRUE(twice.passed) << twice.message;
    }
}

TEST(DynamicGradientFunction, MayDieBeforeTheBackwardPass)
{
    const Variable x(from_vector({1, 2}));
    Tensor y;
    {
        const CustomFunction f = product(); // as what it derives from, too
        y = f(x, x.detach() * 10);
    }
    sum(y).backward();
    EXPECT_THAT(x.grad().to_vector<float>(), ElementsAre(10, 20));
}

TEST(DynamicGradientFunction, ChecksWhatTheForwardGives)
{
    const Tensor x = ones({2, 3});
    const Caught wrong = error_of([&] {
        return product([](Product& p) {
            p.output = [](const Shapes&) { return SymbolicShape{2, 4}; };
        })(x, x);
    });
    EXPECT_EQ(wrong.kind, ErrorKind::shape);
    for (const char* part : {"[product]", "[2, 3]", "[2, 4]"}) EXPECT_THAT(wrong.text, HasSubstr(part));

    struct Nothing final : Product {
        Tensor forward(FunctionContext&, const Tensors&) const override { return {}; }
    };
    const DynamicGradientFunction nothing("nothing", std::make_shared<Nothing>());
    EXPECT_EQ(error_of([&] { return nothing(x, x); }).kind, ErrorKind::argument);
}

TEST(DynamicGradientFunction, ChecksSymbolsAsSymbols)
{
    const Dim n = symbol("n"), m = symbol("m");
    const auto recorded = [&](const DynamicGradientFunction& f) {
        return error_of([&] {
            return record(
                [&](Tensor a, Tensor b) {
                    a.requires_grad_();
                    return grad(sum(f(a, b)), a);
                },
                {spec({n, 2}), spec({n, 2})});
        });
    };
    EXPECT_EQ(recorded(product()).text, "nothing was thrown");
    const Caught output =
        recorded(product([&](Product& p) { p.output = [&](const Shapes&) {
                                               return SymbolicShape{m, 2};
                                           }; }));
    EXPECT_EQ(output.kind, ErrorKind::shape);
    EXPECT_THAT(output.text, HasSubstr("[m, 2]"));
    const Caught gradient = recorded(product([&](Product& p) {
        p.gradients = [](Tensors g) { return Tensors{narrow(g[0], 0, 0, 1), g[1]}; };
    }));
    EXPECT_EQ(gradient.kind, ErrorKind::shape);
    for (const char* part : {"[product]", "[1, 2]", "[n, 2]"}) EXPECT_THAT(gradient.text, HasSubstr(part));
}

TEST(DynamicGradientFunction, ChecksTheGradientsThatAreAskedFor)
{
    const auto run = [](const std::function<Tensors(Tensors)>& gradients, bool both) {
        const Variable a(ones({2, 3}));
        const Tensor b = both ? Variable(ones({3})) : ones({3});
        const DynamicGradientFunction f = product([&](Product& p) { p.gradients = gradients; });
        return error_of([&] { return sum(f(a, b)).backward(), 0; });
    };
    const auto wrong_second = [](Tensors g) { return Tensors{g[0], ones({4})}; };
    const Caught wrong = run(wrong_second, true);
    EXPECT_EQ(wrong.kind, ErrorKind::shape);
    for (const char* part : {"[product]", "[4]", "[3]", "input (1)"})
        EXPECT_THAT(wrong.text, HasSubstr(part));
    EXPECT_EQ(run(wrong_second, false).text, "nothing was thrown");
    EXPECT_EQ(run([](Tensors g) { return Tensors{g[0]}; }, true).kind, ErrorKind::argument);
    EXPECT_EQ(run([](Tensors) { return Tensors(2); }, true).text, "nothing was thrown"); // there is none
}

TEST(DynamicGradientFunction, LeavesNothingBehindWhenItThrows)
{
    using At = Product::At;
    const Variable a(ones({2, 3})), b(ones({3}));
    const auto run = [&](At where, bool hook) {
        const DynamicGradientFunction f = product([&](Product& p) { p.throws = where; });
        try {
            const Tensor y = f(a, b);
            if (hook)
                y.register_hook(
                    [](const Tensor&) -> Tensor { throw std::runtime_error("stopped in a hook"); });
            sum(y).backward();
            return std::string("nothing");
        } catch (const std::runtime_error& e) {
            return std::string(e.what());
        }
    };
    a.eval();
    b.eval();
    default_device().synchronize();
    const std::uint64_t bytes = default_device().live_bytes();
    for (const At where : {At::shape, At::forward, At::validation, At::backward})
        EXPECT_EQ(run(where, false), "stopped");
    EXPECT_EQ(run(At::nowhere, true), "stopped in a hook");
    EXPECT_FALSE(a.grad().defined());
    EXPECT_FALSE(b.grad().defined());
    EXPECT_TRUE(grad_enabled());
    default_device().synchronize();
    EXPECT_EQ(default_device().live_bytes(), bytes);
    EXPECT_EQ(run(At::nowhere, false), "nothing");
    EXPECT_THAT(b.grad().to_vector<float>(), ElementsAre(2, 2, 2));
}

TEST(DynamicGradientFunction, IsOffTheTapeWhereNothingRequiresAGradient)
{
    EXPECT_FALSE(product()(ones({2}), ones({2})).requires_grad());
    const no_grad off;
    EXPECT_FALSE(product()(Variable(ones({2})), ones({2})).requires_grad());
}

TEST(DynamicGradientFunction, MayAskMoreOfAGradient)
{
    struct Wide final : Product {
        void validate_gradient_shape(const SymbolicShape& gradient, const SymbolicShape&) const override
        {
            if (gradient.rank() < 2)
                detail::fail(ErrorKind::argument, "wide", "The gradient has the shape (", gradient, ").");
        }
    };
    const DynamicGradientFunction f("product_of_rows", std::make_shared<Wide>());
    const Variable rows(ones({2, 3})), row(ones({3}));
    sum(f(rows, row)).backward();
    EXPECT_THAT(floats(row.grad()), ElementsAre(2, 2, 2));
    const Caught refused = error_of([&] { return sum(f(row, row)).backward(), 0; });
    EXPECT_EQ(refused.kind, ErrorKind::argument);
    for (const char* part : {"[product_of_rows]", "([3])"}) EXPECT_THAT(refused.text, HasSubstr(part));
}

TEST(DynamicGradientFunction, HasTheBitsOfThePlainOp)
{
    const Dim n = symbol("n");
    std::vector<Tensors> values;
    for (const std::int64_t rows : {3, 1, 0})
        values.push_back(
            {random_tensor({rows, 1}, 1), random_tensor({rows, 2}, 2), random_tensor({rows, 2}, 3)});
    expect_bits_of([](const Tensors& in) { return in[0] * in[1]; },
                   [](const Tensors& in) { return product()(in[0], in[1]); }, {{n, 1}, {n, 2}, {n, 2}},
                   values);
}

// What a user leaves for the backward is not copied more often than by a function whose shapes are not checked.
TEST(DynamicGradientFunction, CopiesNoMoreThanACustomFunction)
{
    struct Counted {
        explicit Counted(int& c) : copies(&c) {}
        Counted(const Counted& other) : copies(other.copies) { ++*copies; }
        int* copies;
    };
    struct Same final : DynamicGradientFunction::Implementation {
        explicit Same(int& c) : copies(c) {}
        SymbolicShape get_output_shape(const Shapes& in) const override { return in[0]; }
        Tensor forward(FunctionContext& c, const Tensors& in) const override
        {
            c.data.emplace<Counted>(copies);
            return in[0] * 1;
        }
        Tensors backward(const FunctionContext&, const Tensor& dy) const override { return {dy}; }
        int& copies;
    };
    int of_dynamic = 0, of_plain = 0;
    const DynamicGradientFunction same("same", std::make_shared<Same>(of_dynamic));
    const CustomFunction plain(
        "plain",
        [&](FunctionContext& c, const Tensors& in) {
            c.data.emplace<Counted>(of_plain);
            return Tensors{in[0] * 1};
        },
        [](const FunctionContext&, const Tensors& dy) { return dy; });
    const Variable x(ones({2}));
    for (const CustomFunction& f : {CustomFunction(same), plain}) sum(f(x)).backward();
    EXPECT_LE(of_dynamic, of_plain);
}

} // namespace
} // namespace reprise
