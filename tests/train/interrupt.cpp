// Ctrl-C sets a flag.
#include <gtest/gtest.h>

#include <csignal>

#include <reprise/train.hpp>

#include "shape/error_of.hpp"

#if defined(__linux__)
#include <unistd.h>
#endif

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

TEST(Interrupt, LeavesIgnoredSignalsIgnored)
{
    std::signal(SIGINT, SIG_IGN);
    {
        const train::Interrupt interrupt;
        std::raise(SIGINT);
        EXPECT_FALSE(interrupt.requested());
    }
    EXPECT_EQ(std::signal(SIGINT, SIG_DFL), SIG_IGN);
}

#if defined(__linux__) // for sigqueue
int received = 0;

TEST(Interrupt, PutsFlagsAndMasksBack)
{
    struct sigaction own {
    }, found{}, old{};
    own.sa_sigaction = [](int, siginfo_t* info, void*) { received = info->si_value.sival_int; };
    own.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaddset(&own.sa_mask, SIGUSR1);
    for (const int signal : {SIGINT, SIGTERM}) {
        sigaction(signal, &own, &old);
        {
            const train::Interrupt interrupt;
            std::raise(signal);
            EXPECT_TRUE(interrupt.requested());
        }
        received = 0;
        sigqueue(getpid(), signal, sigval{42});
        EXPECT_EQ(received, 42);
        sigaction(signal, &old, &found);
        EXPECT_EQ(found.sa_flags & (SA_SIGINFO | SA_ONSTACK | SA_RESETHAND), SA_SIGINFO | SA_ONSTACK);
        EXPECT_EQ(sigismember(&found.sa_mask, SIGUSR1), 1);
    }
}
#endif

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
