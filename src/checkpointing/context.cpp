#include <reprise/checkpointing/context.hpp>

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "checkpointing/checks.hpp"

namespace reprise {

namespace {
constexpr const char* op = "CheckpointContext";
}

struct CheckpointContext::Stack {
    const std::thread::id thread = std::this_thread::get_id();
    std::vector<std::shared_ptr<Entry>> entries{}; // innermost last; accessed by that thread only
    std::uint64_t entered = 0;                     // number of contexts entered so far
};

// An entry that another thread closes remains on its stack until the stack's own thread removes it.
struct CheckpointContext::Entry {
    explicit Entry(CheckpointConfig c) : config(std::move(c)) {}

    // Returns null if the context is not entered or its thread has ended.
    std::shared_ptr<Stack> stack() const
    {
        const std::lock_guard lock(mutex);
        return on.lock();
    }
    bool open(const std::shared_ptr<Stack>& stack) // returns false if it is already open
    {
        const std::lock_guard lock(mutex);
        if (!on.expired()) return false;
        on = stack;
        number = ++stack->entered;
        return true;
    }
    void close()
    {
        const std::lock_guard lock(mutex);
        on.reset();
    }

    const CheckpointConfig config;
    std::uint64_t number = 0; // position in the order of entering, on its stack

private:
    mutable std::mutex mutex;
    std::weak_ptr<Stack> on;
};

const std::shared_ptr<CheckpointContext::Stack>& CheckpointContext::this_stack()
{
    thread_local const auto stack = std::make_shared<Stack>();
    std::erase_if(stack->entries, [](const auto& entry) { return !entry->stack(); });
    return stack;
}

void CheckpointContext::close_from(Stack& stack, std::uint64_t number)
{
    std::erase_if(stack.entries, [&](const auto& entry) {
        if (entry->number < number) return false;
        entry->close();
        return true;
    });
}

CheckpointContext::CheckpointContext(CheckpointConfig config)
{
    checkpointing::check(op, config);
    entry_ = std::make_shared<Entry>(std::move(config));
}

// At thread exit the thread_local stack may be destroyed already, so it is accessed through the entry's weak pointer.
CheckpointContext::~CheckpointContext()
{
    const auto stack = entry_->stack();
    if (!stack) return;
    if (stack->thread == std::this_thread::get_id()) close_from(*stack, entry_->number);
    else entry_->close();
}

void CheckpointContext::enter()
{
    const auto& stack = this_stack();
    stack->entries.reserve(stack->entries.size() + 1);
    if (!entry_->open(stack))
        detail::fail(ErrorKind::state, op,
                     "The context is entered already: exit it first, or make another one.");
    stack->entries.push_back(entry_);
}

void CheckpointContext::exit()
{
    const auto stack = entry_->stack();
    if (!stack)
        detail::fail(ErrorKind::state, op, "The context is not entered: enter it first, and exit it once.");
    if (stack->thread != std::this_thread::get_id())
        detail::fail(ErrorKind::state, op, "The context was entered on another thread: exit it there.");
    const auto& entries = this_stack()->entries;
    const auto inside = entries.end() - std::find(entries.begin(), entries.end(), entry_) - 1;
    if (inside != 0)
        detail::fail(ErrorKind::state, op, "(", inside,
                     ") contexts that were entered after this one are open: exit the newest first.");
    close_from(*stack, entry_->number);
}

bool CheckpointContext::is_enabled() const noexcept { return entry_->stack() != nullptr; }

const CheckpointConfig& CheckpointContext::config() const noexcept { return entry_->config; }

std::optional<CheckpointConfig> CheckpointContext::current()
{
    const auto& entries = this_stack()->entries;
    if (entries.empty()) return std::nullopt;
    return entries.back()->config;
}

std::uint64_t CheckpointContext::mark() { return this_stack()->entered; }

void CheckpointContext::close_since(std::uint64_t mark) { close_from(*this_stack(), mark + 1); }

} // namespace reprise
