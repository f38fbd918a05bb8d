// Ctrl-C sets a flag.
#include <gtest/gtest.h>

#include <csignal>

#include <reprise/train.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;

int counted = 0;
extern "C" void count(int) { ++counted; }

#if defined(_WIN32) // whose default handler exits
const testing::ExitedWithCode ended_by_a_signal(3);
#else
const testing::KilledBySignal ended_by_a_signal(SIGINT);
#endif

TEST(Interrupt, SetsAFlagForEitherSignal)
{
    for (const int signal : {SIGINT, SIGTERM}) {
        const train::Interrupt interrupt;
        EXPECT_FALSE(interrupt.requested());
        std::raise(signal);
        EXPECT_TRUE(interrupt.requested());
    }
}

TEST(Interrupt, PutsTheFormerHandlerBack)
{
    std::signal(SIGINT, count);
    counted = 0;
    {
        const train::Interrupt interrupt;
        std::raise(SIGINT);
        EXPECT_EQ(counted, 0);
    }
    std::raise(SIGINT);
    EXPECT_EQ(counted, 1);
    std::signal(SIGINT, SIG_DFL);
}

TEST(Interrupt, ASecondOneEndsTheProcess)
{
    EXPECT_EXIT(
        {
            const train::Interrupt interrupt;
            std::raise(SIGINT);
            std::raise(SIGINT);
        },
        ended_by_a_signal, "");
}

TEST(Interrupt, OneAtATime)
{
    const train::Interrupt interrupt;
    EXPECT_EQ(error_of([] { return train::Interrupt(), 0; }).kind, ErrorKind::state);
    EXPECT_FALSE(interrupt.requested());
}

} // namespace
