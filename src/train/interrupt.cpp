#include <atomic>
#include <csignal>
#include <cstddef>
#include <iterator>

#include <reprise/error.hpp>
#include <reprise/train.hpp>

namespace reprise::train {

namespace {

constexpr int signals[] = {SIGINT, SIGTERM};

volatile std::sig_atomic_t requested_flag = 0;
std::atomic<bool> alive = false;

#if defined(_WIN32)

using Handler = void (*)(int);

extern "C" void on_interrupt(int signal)
{
    requested_flag = 1;
    std::signal(signal, SIG_DFL);
}

Handler install(int signal)
{
    const Handler before = std::signal(signal, on_interrupt);
    if (before == SIG_IGN) std::signal(signal, SIG_IGN);
    return before;
}
void restore(int signal, Handler before) { std::signal(signal, before == SIG_ERR ? SIG_DFL : before); }

#else

// With its flags and its mask.
using Handler = struct sigaction;

extern "C" void on_interrupt(int) { requested_flag = 1; }

// A signal that is ignored stays so: nohup ignores some for a process, and so does a shell that starts it by &.
Handler install(int signal)
{
    Handler before{}, here{};
    sigaction(signal, nullptr, &before);
    here.sa_handler = on_interrupt;
    here.sa_flags = SA_RESETHAND | SA_RESTART | SA_ONSTACK; // the second one ends the process
    if ((before.sa_flags & SA_SIGINFO) || before.sa_handler != SIG_IGN) sigaction(signal, &here, nullptr);
    return before;
}
void restore(int signal, const Handler& before) { sigaction(signal, &before, nullptr); }

#endif

Handler before[std::size(signals)]; // of the one Interrupt

} // namespace

Interrupt::Interrupt()
{
    if (alive.exchange(true))
        detail::fail(ErrorKind::state, "Interrupt", "Another Interrupt is alive: one at a time.");
    requested_flag = 0;
    for (std::size_t i = 0; i < std::size(signals); ++i) before[i] = install(signals[i]);
}

Interrupt::~Interrupt()
{
    for (std::size_t i = 0; i < std::size(signals); ++i) restore(signals[i], before[i]);
    alive = false;
}

bool Interrupt::requested() const noexcept { return requested_flag != 0; }

} // namespace reprise::train
