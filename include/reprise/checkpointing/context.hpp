// Other checkpoints for a part of a program.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include <reprise/checkpointing/config.hpp>

namespace reprise {

// Between enter() and exit() its config takes the place of that of every CheckpointManager that this thread
// asks.  Contexts nest, the innermost counts; other threads see nothing of it.  After its exit it may be
// entered again; the end of its thread is an exit.
//
//     CheckpointContext off({.strategy = CheckpointConfig::Strategy::none});
//     off.enter();
class CheckpointContext {
public:
    // Does not enter.  Error(argument) as CheckpointConfig says.
    explicit CheckpointContext(CheckpointConfig);
    // Exits where it is entered, and with it what was entered inside and not exited, such as by an
    // exception.  On another thread than enter() it closes itself alone.
    ~CheckpointContext();
    CheckpointContext(const CheckpointContext&) = delete;
    CheckpointContext& operator=(const CheckpointContext&) = delete;

    void enter(); // Error(state) where it is entered already, on whatever thread
    // Error(state) where it is not entered, was entered on another thread, or another one inside it is still
    // entered.
    void exit();
    bool is_enabled() const noexcept; // entered, and not exited
    const CheckpointConfig& config() const noexcept;

    static std::optional<CheckpointConfig>
    current(); // of the innermost one of this thread; none: there is none

private:
    friend class CheckpointFunction;
    struct Stack;
    struct Entry;
    static const std::shared_ptr<Stack>& this_stack(); // of this thread
    static void close_from(Stack&, std::uint64_t number);
    // Closes what this thread has entered since the mark.
    static std::uint64_t mark();
    static void close_since(std::uint64_t mark);

    std::shared_ptr<Entry> entry_;
};

} // namespace reprise
