// A program does what its modules' mode was while it was recorded, and is refused in another mode.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/autograd.hpp>
#include <reprise/mode.hpp>
#include <reprise/nn.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"

namespace reprise {
namespace {

using testing::HasSubstr;

TEST(Modes, AreConditionsOfACall)
{
    nn::Dropout dropout(0.5);
    const auto record_it = [&] {
        return record([&](Tensor x) { return dropout(x); }, {spec({symbol("n")})});
    };
    const auto training = record_it();
    EXPECT_NO_THROW(training(ones({4})));
    dropout.eval();
    const Caught error = error_of([&] { return training(ones({4})); });
    EXPECT_EQ(error.kind, ErrorKind::state);
    EXPECT_THAT(error.text, HasSubstr("the training mode of a module was (on), which is (off) now"));
    const auto evaluation = record_it();
    EXPECT_EQ(evaluation(ones({4})).to_vector<float>(), std::vector<float>(4, 1));
    dropout.train();
    EXPECT_NO_THROW(training(ones({4})));
    EXPECT_EQ(error_of([&] { return evaluation(ones({4})); }).kind, ErrorKind::state);
}

TEST(Modes, OfModulesThatAskForNoneAreFree)
{
    nn::Linear linear(4, 2);
    const auto f = record([&](Tensor x) { return linear(x); }, {spec({symbol("n"), 4})});
    linear.eval();
    EXPECT_NO_THROW(f(ones({3, 4})));
}

TEST(Modes, OfCopiesAreThoseOfWhatWasCopied)
{
    Mode mode("training"), assigned("training"), unread("training");
    const auto f = record(
        [&](Tensor x) {
            const Mode copy = mode;
            Mode other("training");
            other = assigned;
            const Mode moved = std::move(unread);
            return copy.get() && other.get() ? x : x * 2;
        },
        {spec({symbol("n")})});
    EXPECT_NO_THROW(f(ones({4})));
    unread.set(false);
    EXPECT_NO_THROW(f(ones({4})));
    mode.set(false);
    EXPECT_EQ(error_of([&] { return f(ones({4})); }).kind, ErrorKind::state);
    mode.set(true);
    assigned.set(false);
    EXPECT_EQ(error_of([&] { return f(ones({4})); }).kind, ErrorKind::state);
}

TEST(Modes, ThatTheFunctionSetsItselfAreItsOwn)
{
    nn::Dropout dropout(0.5);
    const auto f = record(
        [&](Tensor x) {
            dropout.eval();
            const Tensor y = dropout(x);
            dropout.train();
            return y;
        },
        {spec({symbol("n")})});
    EXPECT_EQ(f(ones({4})).to_vector<float>(), std::vector<float>(4, 1));
    dropout.eval();
    EXPECT_EQ(f(ones({4})).to_vector<float>(), std::vector<float>(4, 1));
}

TEST(Modes, OfAProgramInsideOfAnother)
{
    nn::Dropout dropout(0.5);
    const auto inner = record([&](Tensor x) { return dropout(x); }, {spec({symbol("n")})});
    const auto record_outer = [&] {
        return record([&](Tensor x) { return inner(x) * 2; }, {spec({symbol("m")})});
    };
    const auto outer = record_outer();
    dropout.eval();
    EXPECT_EQ(error_of([&] { return outer(ones({4})); }).kind, ErrorKind::state);
    EXPECT_EQ(error_of(record_outer).kind, ErrorKind::state);
    dropout.train();
    EXPECT_NO_THROW(outer(ones({4})));
}

TEST(Modes, HaveValues)
{
    Mode a("a switch", false);
    Mode copy = a;
    const auto f = record([&](Tensor x) { return a.get() ? x * 2 : x * 3; }, {spec({2})});
    copy.set(true);
    EXPECT_FALSE(a.get()) << "a switch of its own";
    EXPECT_NO_THROW(f(ones({2})));
    Mode moved = std::move(a);
    moved.set(true);
    EXPECT_THAT(error_of([&] { return f(ones({2})); }).text,
                HasSubstr("a switch was (off), which is (on) now"));
    EXPECT_TRUE(a.get()) << "a mode that was moved from"; // NOLINT(bugprone-use-after-move)
    a.set(false);
    EXPECT_FALSE(a.get());
    a = copy; // NOLINT(bugprone-use-after-move): it is a mode again
    EXPECT_TRUE(a.get());
}

} // namespace
} // namespace reprise
