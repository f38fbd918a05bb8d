#include <atomic>
#include <csignal>

#include <reprise/error.hpp>
#include <reprise/train.hpp>

namespace reprise::train {

namespace {

volatile std::sig_atomic_t requested_flag = 0;
std::atomic<bool> alive = false;

extern "C" void on_interrupt(int signal)
{
    requested_flag = 1;
    std::signal(signal, SIG_DFL);
}

void restore(int signal, void (*handler)(int))
{
    std::signal(signal, handler == SIG_ERR ? SIG_DFL : handler);
}

} // namespace

Interrupt::Interrupt()
{
    if (alive.exchange(true))
        detail::fail(ErrorKind::state, "Interrupt", "Another Interrupt is alive: one at a time.");
    requested_flag = 0;
    before_interrupt_ = std::signal(SIGINT, on_interrupt);
    before_terminate_ = std::signal(SIGTERM, on_interrupt);
}

Interrupt::~Interrupt()
{
    restore(SIGINT, before_interrupt_);
    restore(SIGTERM, before_terminate_);
    alive = false;
}

bool Interrupt::requested() const noexcept { return requested_flag != 0; }

} // namespace reprise::train
