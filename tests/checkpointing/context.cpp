// Contexts: entered and left in order, on a stack of each thread.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <thread>

#include <reprise/checkpointing.hpp>

#include "shape/error_of.hpp"

namespace reprise {
namespace {

using Strategy = CheckpointConfig::Strategy;
using testing::HasSubstr;

CheckpointConfig every(std::size_t k) { return {.strategy = Strategy::every_kth, .every = k}; }

TEST(CheckpointContext, CountsBetweenEnterAndExit)
{
    CheckpointContext context(every(3));
    EXPECT_EQ(context.config(), every(3));
    EXPECT_FALSE(context.is_enabled());
    EXPECT_EQ(CheckpointContext::current(), std::nullopt);
    for (int i = 0; i < 2; ++i) { // more than once
        context.enter();
        EXPECT_TRUE(context.is_enabled());
        EXPECT_EQ(CheckpointContext::current(), every(3));
        context.exit();
        EXPECT_FALSE(context.is_enabled());
        EXPECT_EQ(CheckpointContext::current(), std::nullopt);
    }
}

TEST(CheckpointContext, Nests)
{
    CheckpointContext outer(every(2)), inner(every(3));
    outer.enter();
    inner.enter();
    EXPECT_TRUE(outer.is_enabled());
    EXPECT_EQ(CheckpointContext::current(), every(3));
    inner.exit();
    EXPECT_EQ(CheckpointContext::current(), every(2));
    outer.exit();
}

TEST(CheckpointContext, NamesMistakes)
{
    CheckpointContext outer(every(2)), inner(every(3));
    const auto refused = [](const auto& call) {
        const Caught error = error_of([&] { return call(), 0; });
        EXPECT_EQ(error.kind, ErrorKind::state);
        return error.text;
    };
    EXPECT_THAT(refused([&] { outer.exit(); }), HasSubstr("[CheckpointContext] The context is not entered"));
    outer.enter();
    EXPECT_THAT(refused([&] { outer.enter(); }), HasSubstr("entered already"));
    inner.enter();
    EXPECT_THAT(refused([&] { outer.exit(); }), HasSubstr("(1) contexts that were entered after this one"));
    EXPECT_EQ(CheckpointContext::current(), every(3)); // nothing has changed
    std::thread([&] {
        EXPECT_THAT(refused([&] { inner.exit(); }), HasSubstr("on another thread"));
        EXPECT_THAT(refused([&] { inner.enter(); }), HasSubstr("entered already"));
    }).join();
    inner.exit();
    EXPECT_THAT(refused([&] { inner.exit(); }), HasSubstr("is not entered"));
    outer.exit();
    const Caught error = error_of([] { return CheckpointContext(every(0)).is_enabled(); });
    EXPECT_EQ(error.kind, ErrorKind::argument);
    EXPECT_THAT(error.text, HasSubstr("a layer in (0)"));
}

TEST(CheckpointContext, EndsWithItsScope)
{
    const auto leave = [] {
        CheckpointContext context(every(2));
        context.enter();
        throw std::runtime_error("of the user");
    };
    EXPECT_THROW(leave(), std::runtime_error);
    EXPECT_EQ(CheckpointContext::current(), std::nullopt);
}

TEST(CheckpointContext, ClosesWhatWasLeftOpenInside)
{
    CheckpointContext inner(every(3));
    auto innermost = std::make_unique<CheckpointContext>(every(4));
    CheckpointContext before(every(1));
    before.enter();
    {
        CheckpointContext outer(every(2));
        outer.enter();
        inner.enter();
        innermost->enter();
    }
    EXPECT_FALSE(inner.is_enabled());
    EXPECT_FALSE(innermost->is_enabled());
    EXPECT_EQ(CheckpointContext::current(), every(1));
    innermost.reset();
    EXPECT_EQ(CheckpointContext::current(), every(1));
    inner.enter();
    EXPECT_EQ(CheckpointContext::current(), every(3));
    inner.exit();
    before.exit();
}

TEST(CheckpointContext, BelongsToItsThread)
{
    auto outer = std::make_unique<CheckpointContext>(every(2));
    CheckpointContext inner(every(3));
    outer->enter();
    inner.enter();
    std::thread([&] {
        EXPECT_EQ(CheckpointContext::current(), std::nullopt);
        CheckpointContext own(every(5));
        own.enter();
        EXPECT_EQ(CheckpointContext::current(), every(5));
        outer.reset(); // closes itself alone
        EXPECT_EQ(CheckpointContext::current(), every(5));
    }).join();
    EXPECT_EQ(CheckpointContext::current(), every(3));
    inner.exit();
    EXPECT_EQ(CheckpointContext::current(), std::nullopt);
}

TEST(CheckpointContext, EndsWithItsThread)
{
    CheckpointContext context(every(2));
    std::thread([&] { context.enter(); }).join();
    EXPECT_FALSE(context.is_enabled());
    const Caught error = error_of([&] { return context.exit(), 0; });
    EXPECT_EQ(error.kind, ErrorKind::state);
    EXPECT_THAT(error.text, HasSubstr("is not entered"));
    for (int i = 0; i < 4; ++i) // threads that may have the id of the one before
        std::thread([&] {
            EXPECT_EQ(error_of([&] { return context.exit(), 0; }).text, error.text);
            EXPECT_NO_THROW(context.enter());
            EXPECT_EQ(CheckpointContext::current(), every(2));
        }).join();
    context.enter();
    EXPECT_EQ(CheckpointContext::current(), every(2));
    context.exit();
}

// As a static one that the main thread has entered: the thread's stack goes before it.
TEST(CheckpointContext, OutlivesItsThreadsStack)
{
    struct Late {
        std::unique_ptr<CheckpointContext> context{};
        bool* enabled = nullptr;
        ~Late()
        {
            if (context) *enabled = context->is_enabled();
        }
    };
    bool enabled = true;
    std::thread([&] {
        thread_local Late late; // made before the stack is
        late.enabled = &enabled;
        late.context = std::make_unique<CheckpointContext>(every(2));
        late.context->enter();
    }).join();
    EXPECT_FALSE(enabled);
}

TEST(CheckpointContext, TakesThePlaceOfTheManagersConfig)
{
    CheckpointManager manager({.strategy = Strategy::none});
    manager.register_layer("a");
    EXPECT_FALSE(manager.should_checkpoint("a"));
    CheckpointContext all({.policy = CheckpointOptions::Policy::selective}),
        none({.strategy = Strategy::none});
    all.enter();
    EXPECT_TRUE(manager.should_checkpoint("a"));
    EXPECT_EQ(manager.checkpoint_options("a")->policy, CheckpointOptions::Policy::selective);
    none.enter();
    EXPECT_FALSE(manager.should_checkpoint("a"));
    none.exit();
    all.exit();
    EXPECT_FALSE(manager.should_checkpoint("a"));
}

} // namespace
} // namespace reprise
