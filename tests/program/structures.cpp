// Functions of and to structures of tensors and sizes, and the typed program that they become.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

#include <reprise/autograd.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"
#include "support/training.hpp"

namespace reprise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Dictionary = std::map<std::string, Tensor>;

float value(const Tensor& t) { return t.item<float>(); }
Tensor one(float v) { return from_vector({v}); }

TEST(Structures, EachKindOfResultComesBackAsItself)
{
    const Dim n = symbol("n");
    const auto single = record([](Tensor x) { return x + 1; }, {spec({n})});
    static_assert(std::is_same_v<decltype(single(ones({1}))), Tensor>);
    EXPECT_EQ(value(single(one(1))), 2);

    const auto tuple = record([](Tensor x) { return std::tuple(x + 1, x * 2, x - 1); }, {spec({n})});
    const auto [a, b, c] = tuple(one(5));
    EXPECT_THAT((std::vector{value(a), value(b), value(c)}), ElementsAre(6, 10, 4));

    const auto pair = record([](Tensor x) { return std::pair(x, std::vector{x * 2, x * 3}); }, {spec({n})});
    const auto [first, rest] = pair(one(2));
    EXPECT_THAT((std::vector{value(first), value(rest.at(0)), value(rest.at(1))}), ElementsAre(2, 4, 6));

    const auto array = record([](Tensor x) { return std::array{x, x + 1}; }, {spec({n})});
    EXPECT_EQ(value(array(one(3))[1]), 4);

    const auto dictionary = record(
        [](Tensor x) {
            return Dictionary{{"twice", x * 2}, {"same", x}};
        },
        {spec({n})});
    const Dictionary out = dictionary(one(7));
    EXPECT_THAT(out, testing::SizeIs(2));
    EXPECT_EQ(value(out.at("twice")), 14);
    EXPECT_EQ(value(out.at("same")), 7);

    const auto nothing = record([](Tensor) {}, {spec({n})});
    static_assert(std::is_void_v<decltype(nothing(ones({1})))>);
    nothing(one(1));
}

TEST(Structures, EachKindOfArgument)
{
    const Dim n = symbol("n");
    const auto list =
        record([](std::vector<Tensor> x) { return x[0] * 10 + x[1]; }, {std::vector{spec({n}), spec({n})}});
    EXPECT_EQ(value(list({one(1), one(2)})), 12);
    // The specs of one vector may stand alone.
    const auto bare =
        record([](const std::vector<Tensor>& x) { return x[0] + x[1]; }, {spec({n}), spec({n})});
    EXPECT_EQ(value(bare({one(1), one(2)})), 3);

    const auto dictionary = record(
        [](const Dictionary& in, Tensor scale) {
            Dictionary out;
            for (const auto& [name, t] : in) out[name + "'"] = t * scale;
            return out;
        },
        {std::map<std::string, Spec>{{"x", spec({n})}, {"y", spec({2})}}, spec({1})});
    const Dictionary out = dictionary({{"y", ones({2})}, {"x", one(4)}}, one(3));
    EXPECT_EQ(value(out.at("x'")), 12);
    EXPECT_THAT(out.at("y'").to_vector<float>(), ElementsAre(3, 3));

    const auto nested =
        record([](std::pair<Tensor, std::array<Tensor, 2>> p) { return p.first + p.second[0] * p.second[1]; },
               {std::vector<ArgumentSpec>{spec({n}), std::vector{spec({n}), spec({n})}}});
    EXPECT_EQ(value(nested({one(1), {one(2), one(3)}})), 7);

    const auto generic = record([](auto x, auto y) { return x - y; }, {spec({n}), spec({n})});
    EXPECT_EQ(value(generic(one(5), one(3))), 2);
    EXPECT_EQ(value(record(+[](Tensor x) { return neg(x); }, {spec({n})})(one(5))), -5);
}

TEST(Structures, TheTypedProgramIsAProgram)
{
    const Dim n = symbol("n");
    const auto typed = record([](Tensor x, std::vector<Tensor> y) { return std::pair(x + y[0], y[1]); },
                              {spec({n}), std::vector{spec({n}), spec({1})}});
    const Program erased = typed;
    EXPECT_EQ(value(erased(one(1), std::vector{one(2), one(3)})), 3);
    EXPECT_THAT(erased.call({one(1), one(2), one(3)}), testing::SizeIs(2));
    auto copy = typed;
    EXPECT_EQ(value(copy(one(1), {one(2), one(3)}).second), 3);
}

TEST(Structures, OtherLengthsAndKeysAreErrors)
{
    const Dim n = symbol("n");
    const auto list = record([](std::vector<Tensor> x, Tensor) { return x[0]; },
                             {std::vector{spec({n}), spec({n})}, spec({n})});
    EXPECT_THAT(error_of([&] { return list({one(1)}, one(1)); }).text,
                HasSubstr("Argument (0) is ([tensor]) but was recorded as ([tensor, tensor])"));
    const auto dictionary =
        record([](Dictionary x) { return x.at("a"); }, {std::map<std::string, Spec>{{"a", spec({n})}}});
    const Caught other = error_of([&] { return dictionary({{"b", one(1)}}); });
    EXPECT_EQ(other.kind, ErrorKind::argument);
    EXPECT_THAT(other.text, HasSubstr("({b: tensor}) but was recorded as ({a: tensor})"));
    EXPECT_EQ(value(dictionary({{"a", one(1)}})), 1);

    const Caught count = error_of([&] { return record([](Tensor x) { return x; }, {spec({n}), spec({n})}); });
    EXPECT_EQ(count.kind, ErrorKind::argument);
    EXPECT_THAT(count.text, HasSubstr("takes (1) arguments but there are (2) specs"));
    EXPECT_THAT(error_of([&] {
                    return record([](Tensor x, Dim) { return x; }, {spec({n}), spec({n})});
                }).text,
                HasSubstr("argument (1)"));
    EXPECT_THAT(error_of([&] { return record([](Tensor x) { return x.size(0); }, {spec({n})}); }).text,
                HasSubstr("only tensors can be results"));
}

// -- sizes that the host gives --

TEST(HostSizes, AreGivenWithEachCall)
{
    const Dim n = symbol("n"), length = symbol("length", {.min = 1});
    const auto f = [](Tensor x, Dim l) { return narrow(x, 0, 0, l) * 2; };
    const auto p = record(f, {spec({n, 2}), length});
    const Tensor x = test::random_tensor({6, 2}, 1);
    for (const std::int64_t l : {1, 6, 3}) EXPECT_EQ(test::bits(p(x, l)), test::bits(f(x, l)));
    EXPECT_EQ(to_string(p(x, 4).shape()), "[4, 2]");
    const Caught beyond = error_of([&] { return p(x, 7); });
    EXPECT_EQ(beyond.kind, ErrorKind::shape);
    EXPECT_THAT(beyond.text, HasSubstr("[narrow]"));
    EXPECT_THAT(beyond.text, HasSubstr("length = 7"));
    EXPECT_THAT(error_of([&] { return p(x, 0); }).text,
                HasSubstr("(length) is (0): it must be at least (1)"));
    EXPECT_EQ(test::bits(p(x, 2)), test::bits(f(x, 2)));
    const Program erased = p;
    EXPECT_EQ(test::bits(erased(x, 2)), test::bits(f(x, 2)));
    EXPECT_THAT(error_of([&] { return erased.call({x}); }).text,
                HasSubstr("takes (1) sizes as numbers, not (0)"));
}

TEST(HostSizes, AnInputMayHaveOneToo)
{
    const Dim n = symbol("n");
    const auto p = record([](Tensor x, Dim size) { return x + ones({size}); }, {spec({n}), n});
    EXPECT_THAT(p(ones({2}), 2).to_vector<float>(), ElementsAre(2, 2));
    EXPECT_EQ(error_of([&] { return p(ones({2}), 3); }).kind, ErrorKind::shape);
    EXPECT_EQ(error_of([&] {
                  return record([](Tensor x, Dim) { return x; }, {spec({n}), n * 2});
              }).kind,
              ErrorKind::argument);
}

TEST(HostSizes, HaveGradientsThroughThem)
{
    const Dim n = symbol("n"), start = symbol("start"), length = symbol("length");
    const auto f = [](Tensor x, Dim from, Dim l) {
        x.requires_grad_();
        const Tensor y = mean(square(narrow(x, 0, from, l)));
        return std::pair(y, grad(y, x));
    };
    const auto p = record(f, {spec({n}), start, length});
    const Tensor x = test::random_tensor({9}, 3);
    for (const auto& [from, l] : {std::pair{0, 9}, std::pair{2, 3}, std::pair{8, 1}}) {
        const auto got = p(x, from, l), want = f(x.detach(), from, l);
        EXPECT_EQ(test::bits(got.first), test::bits(want.first));
        EXPECT_EQ(test::bits(got.second), test::bits(want.second));
    }
}

// -- what may be a program --

TEST(Programs, OfTheForwardOfTheGradientsAndOfAStep)
{
    test::Training eager(test::Net::mlp), t(test::Net::mlp);
    const Dim batch = symbol("batch");
    const auto forward = record([&](Tensor x) { return t.net(x); }, {t.specs(batch)[0]});
    const auto gradients = record(
        [&](Tensor x, Tensor target) {
            Dictionary out{{"loss", t.loss(x, target)}};
            const auto named = t.net.named_parameters();
            std::vector<Tensor> leaves;
            for (const auto& [name, p] : named) leaves.push_back(p);
            const std::vector<Tensor> found = grad({out["loss"]}, leaves);
            std::size_t i = 0;
            for (const auto& [name, p] : named) out["grad." + name] = found[i++];
            return out;
        },
        t.specs(batch));
    const auto step = t.recorded(batch);
    for (const std::int64_t size : {3, 7}) {
        const auto [x, target] = t.batch(size, 1);
        EXPECT_EQ(test::bits(forward(x)), test::bits(eager.net(x)));
        const Dictionary got = gradients(x, target);
        const Tensor loss = eager.loss(x, target);
        EXPECT_EQ(test::bits(got.at("loss")), test::bits(loss));
        eager.optimizer->zero_grad();
        loss.backward();
        for (const auto& [name, p] : eager.net.named_parameters())
            EXPECT_EQ(test::bits(got.at("grad." + name)), test::bits(p.grad())) << name;
        eager.optimizer->step();
        step(x, target);
        EXPECT_EQ(t.state(), eager.state());
    }
}

TEST(Programs, OfEvaluationInsideOfNoGrad)
{
    test::Training t(test::Net::normalised);
    const Dim batch = symbol("batch");
    t.net.eval();
    const auto evaluate = record(
        [&](Tensor x) {
            const no_grad guard;
            return argmax(t.net(x), 1);
        },
        {t.specs(batch)[0]});
    const auto before = t.state();
    const auto [x, target] = t.batch(5, 2);
    EXPECT_EQ(test::bits(evaluate(x)), test::bits(argmax(t.net(x), 1)));
    EXPECT_EQ(t.state(), before);
    t.net.train();
    EXPECT_EQ(error_of([&] { return evaluate(x); }).kind, ErrorKind::state)
        << "it was recorded for evaluation";
    t.net.eval();
    EXPECT_EQ(test::bits(evaluate(x)), test::bits(argmax(t.net(x), 1)));
}

} // namespace
} // namespace reprise
