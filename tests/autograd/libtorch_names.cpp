// Autograd as code for libtorch writes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

namespace reprise {
namespace {

using autograd::AutogradContext;
using autograd::tensor_list;
using autograd::variable_list;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> values(const Tensor& t) { return t.to_vector<float>(); }

std::string error(const std::function<void()>& f, ErrorKind kind)
{
    try {
        f();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), kind) << e.what();
        return e.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return "";
}

struct Scale : autograd::Function<Scale> {
    static Tensor forward(AutogradContext* c, Tensor x, double factor, bool negated, const Tensor& shift)
    {
        c->saved_data["factor"] = factor;
        c->saved_data["negated"] = negated;
        c->saved_data["size"] = x.size(0);
        c->saved_data["name"] = "scale";
        return x * (negated ? -factor : factor) + shift;
    }
    static tensor_list backward(AutogradContext* c, tensor_list dy)
    {
        EXPECT_EQ(c->saved_data["size"].toInt(), 2);
        EXPECT_EQ(c->saved_data["name"].toStringRef(), "scale");
        EXPECT_TRUE(c->needs_input_grad(0));
        EXPECT_FALSE(c->needs_input_grad(1));
        const double factor = c->saved_data["factor"].toDouble();
        return {dy[0] * (c->saved_data["negated"].toBool() ? -factor : factor), Tensor(), Tensor(), Tensor()};
    }
};

struct Product : autograd::Function<Product> {
    static variable_list forward(AutogradContext* c, const Tensor& a, const Tensor& b)
    {
        c->save_for_backward({a, b});
        const Tensor larger = (a > b).to(f32);
        c->mark_non_differentiable({larger});
        return {a * b, larger};
    }
    static variable_list backward(AutogradContext* c, variable_list dy)
    {
        const auto saved = c->get_saved_variables();
        return {dy[0] * saved[1], dy[0] * saved[0]};
    }
};

struct Wrong : autograd::Function<Wrong> {
    static Tensor forward(AutogradContext* c, const Tensor& x, int)
    {
        c->saved_data["x"] = 1;
        return x * 1;
    }
    static tensor_list backward(AutogradContext* c, const tensor_list& dy)
    {
        if (dy[0].numel().value() == 1) return {dy[0]};
        if (dy[0].numel().value() == 2) c->saved_data["x"].toTensor();
        c->needs_input_grad(1);
        return {};
    }
};

TEST(LibtorchAutograd, AFunctionTakesArgumentsOfAnyKind)
{
    const Tensor x = tensor({1.0, 2.0}).requires_grad_();
    const Tensor y = Scale::apply(x, 3.0, true, tensor({1.0, 1.0}));
    EXPECT_THAT(values(y), ElementsAre(-2, -5));
    EXPECT_EQ(y.grad_fn()->name(), "Scale");
    y.sum().backward();
    EXPECT_THAT(values(x.grad()), ElementsAre(-3, -3));
    EXPECT_FALSE(Scale::apply(x.detach(), 3, false, tensor(0.0)).requires_grad());
}

TEST(LibtorchAutograd, AFunctionOfListsHasGradientsOfEveryOrder)
{
    const Tensor a = tensor({2.0, 3.0}).requires_grad_(), b = tensor({5.0, 1.0}).requires_grad_();
    const variable_list out = Product::apply(a, b);
    EXPECT_TRUE(out[0].requires_grad());
    EXPECT_FALSE(out[1].requires_grad());
    EXPECT_THAT(values(out[1]), ElementsAre(0, 1));
    const auto first = autograd::grad({(out[0] * out[0]).sum()}, {a}, {}, true, true);
    EXPECT_THAT(values(first[0]), ElementsAre(100, 6));                                 // 2 a b^2
    EXPECT_THAT(values(autograd::grad({first[0].sum()}, {b})[0]), ElementsAre(40, 12)); // 4 a b
}

TEST(LibtorchAutograd, AFunctionIsRecorded)
{
    Tensor w = tensor({2.0, 3.0}).requires_grad_();
    const auto step = record(
        [&](Tensor x) {
            w.mutable_grad().reset();
            const Tensor loss = Product::apply(w, x)[0].sum() + Scale::apply(w, 2.0, false, x).sum();
            loss.backward();
            w.data().sub_(0.5 * w.grad());
            return loss;
        },
        {spec({2})});
    EXPECT_EQ(step(tensor({1.0, 1.0})).item(), 17);
    EXPECT_THAT(values(w), ElementsAre(0.5, 1.5));
    EXPECT_TRUE(w.requires_grad() && w.is_leaf());
}

TEST(LibtorchAutograd, MistakesInAFunctionAreNamed)
{
    const auto run = [](const Shape& shape) {
        const Tensor x = ones(shape).requires_grad_();
        Wrong::apply(x, 1).sum().backward();
    };
    EXPECT_THAT(error([&] { run({1}); }, ErrorKind::argument),
                HasSubstr("gave (1) tensors for (2) arguments"));
    EXPECT_THAT(error([&] { run({2}); }, ErrorKind::argument), HasSubstr("not (a tensor)"));
    EXPECT_THAT(error([&] { run({3}); }, ErrorKind::argument), HasSubstr("no tensor (1) of (1)"));
}

TEST(LibtorchAutograd, SeveralTensorsGoBackwardAtOnce)
{
    const Tensor x = tensor({1.0, 2.0}).requires_grad_();
    const Tensor a = (x * 2).sum(), b = x * x;
    autograd::backward({a, b}, {{}, tensor({1.0, 10.0})});
    EXPECT_THAT(values(x.grad()), ElementsAre(4, 42));
    autograd::backward({(x * 3).sum()});
    EXPECT_THAT(values(x.grad()), ElementsAre(7, 45));
    error([&] { autograd::backward({a, b}, {Tensor()}); }, ErrorKind::argument);
    error([&] { autograd::backward({x * x}); }, ErrorKind::shape);
}

TEST(LibtorchAutograd, ModesOfTheThread)
{
    EXPECT_TRUE(GradMode::is_enabled());
    GradMode::set_enabled(false);
    EXPECT_FALSE(grad_enabled());
    GradMode::set_enabled(true);
    {
        const InferenceMode guard;
        EXPECT_FALSE(GradMode::is_enabled());
        const InferenceMode inner(false);
        EXPECT_TRUE(GradMode::is_enabled());
    }
    EXPECT_TRUE(GradMode::is_enabled());
}

TEST(LibtorchAutograd, GradientsAreAssigned)
{
    Tensor x = ones({2});
    EXPECT_TRUE(x.set_requires_grad(true).requires_grad());
    x.mutable_grad() = tensor({1.0, 2.0});
    EXPECT_THAT(values(x.grad()), ElementsAre(1, 2));
    x.mutable_grad().mul_(2);
    EXPECT_THAT(values(x.grad()), ElementsAre(2, 4));
    x.mutable_grad().reset();
    EXPECT_FALSE(x.grad().defined());
    Tensor handle = x;
    handle.reset();
    EXPECT_TRUE(!handle.defined() && x.defined());
    EXPECT_TRUE(x.grad_fn() == nullptr);
    EXPECT_TRUE((x * 2).grad_fn() != nullptr);
    error([&] { x.mutable_grad() = ones({3}); }, ErrorKind::shape);
}

TEST(LibtorchAutograd, DataIsWrittenWithoutBeingRecorded)
{
    Tensor w = tensor({1.0, 2.0}).requires_grad_();
    (w * w).sum().backward();
    w.data().sub_(0.5 * w.grad());
    EXPECT_THAT(values(w), ElementsAre(0, 0));
    w.data()[1] = 3;
    w.data().copy_(w * 2); // no gradient comes with the value
    EXPECT_THAT(values(w), ElementsAre(0, 6));
    EXPECT_TRUE(w.is_leaf() && w.requires_grad() && w.data().is_leaf());
    Tensor h = w * 2;
    h.detach_();
    EXPECT_FALSE(h.requires_grad());
    EXPECT_TRUE(h.is_leaf());
    EXPECT_FALSE(w.detach_().requires_grad());
}

TEST(LibtorchAutograd, NullFunctionsAreRefused)
{
    const Tensor x = ones({2}).requires_grad_();
    int calls = 0;
    const auto hook = x.register_hook([&](const Tensor&) { ++calls; });
    x.remove_hook(hook);
    x.sum().backward();
    EXPECT_EQ(calls, 0);
    error([&] { x.register_hook(nullptr); }, ErrorKind::argument);
    error([&] { x.register_hook(std::function<void(const Tensor&)>()); }, ErrorKind::argument);
    error([&] { override_gradient("relu", nullptr); }, ErrorKind::argument);
    const CustomFunction f(
        "asks",
        [](FunctionContext& c, const std::vector<Tensor>& in) {
            c.needs_input_grad(1);
            return in;
        },
        [](const FunctionContext&, const std::vector<Tensor>& dy) { return dy; });
    EXPECT_THAT(error([&] { f(x); }, ErrorKind::argument), HasSubstr("no input (1) of (1)"));
}

} // namespace
} // namespace reprise
