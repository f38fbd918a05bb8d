#include <reprise/checkpointing/context.hpp>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "checkpointing/checks.hpp"

namespace reprise {

namespace {
constexpr const char* op = "CheckpointContext";
}

// Stands on the stack of the thread that entered it; closed from elsewhere it stays there until that thread
// looks.
struct CheckpointContext::Entry {
    const CheckpointConfig config;
    std::atomic<bool> open = false;
    std::atomic<std::thread::id> thread{}; // that entered it
};

std::vector<std::shared_ptr<CheckpointContext::Entry>>& CheckpointContext::entered()
{
    thread_local std::vector<std::shared_ptr<Entry>> stack;
    std::erase_if(stack, [](const auto& entry) { return !entry->open; });
    return stack;
}

CheckpointContext::CheckpointContext(CheckpointConfig config)
{
    checkpointing::check(op, config);
    entry_ = std::make_shared<Entry>(std::move(config));
}

CheckpointContext::~CheckpointContext()
{
    if (!entry_->open) return;
    if (entry_->thread.load() == std::this_thread::get_id()) {
        auto& stack = entered();
        const auto at = std::find(stack.begin(), stack.end(), entry_);
        std::for_each(at, stack.end(), [](const auto& inside) { inside->open = false; });
        stack.erase(at, stack.end());
    }
    entry_->open = false;
}

void CheckpointContext::enter()
{
    auto& stack = entered(); // before it is open: a closed entry of this object is gone from there
    stack.reserve(stack.size() + 1);
    if (entry_->open.exchange(true))
        detail::fail(ErrorKind::state, op,
                     "The context is entered already: exit it first, or make another one.");
    entry_->thread = std::this_thread::get_id();
    stack.push_back(entry_);
}

void CheckpointContext::exit()
{
    if (!entry_->open)
        detail::fail(ErrorKind::state, op, "The context is not entered: enter it first, and exit it once.");
    if (entry_->thread.load() != std::this_thread::get_id())
        detail::fail(ErrorKind::state, op, "The context was entered on another thread: exit it there.");
    auto& stack = entered();
    const auto inside = stack.end() - std::find(stack.begin(), stack.end(), entry_) - 1;
    if (inside != 0)
        detail::fail(ErrorKind::state, op, "(", inside,
                     ") contexts that were entered after this one are open: exit the newest first.");
    entry_->open = false;
    stack.pop_back();
}

bool CheckpointContext::is_enabled() const noexcept { return entry_->open; }

const CheckpointConfig& CheckpointContext::config() const noexcept { return entry_->config; }

std::optional<CheckpointConfig> CheckpointContext::current()
{
    const auto& stack = entered();
    if (stack.empty()) return std::nullopt;
    return stack.back()->config;
}

} // namespace reprise
