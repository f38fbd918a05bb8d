// Choosing other checkpoints for a part of the code.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include <reprise/checkpointing/config.hpp>

namespace reprise {

// Between enter() and exit(), its config replaces that of all CheckpointManagers for this thread.  Contexts
// nest, and the innermost counts; other threads are not affected.  A context may be entered again after its
// exit.  When its thread ends, it is exited.
//
//     CheckpointContext off({.strategy = CheckpointConfig::Strategy::none});
//     off.enter();
class CheckpointContext {
public:
    // Makes a context without entering it.  Error(argument) for a config that CheckpointConfig does not
    // allow.
    explicit CheckpointContext(CheckpointConfig);
    // Exits the context if it is entered, with all contexts that were entered inside and not exited, such as
    // after an exception.  On another thread than that of enter() it exits itself only.
    ~CheckpointContext();
    CheckpointContext(const CheckpointContext&) = delete;
    CheckpointContext& operator=(const CheckpointContext&) = delete;

    void
    enter(); // begins to use the config; Error(state) where the context is entered already, on any thread
    // Ends using the config.  Error(state) where the context is not entered or was entered on another thread,
    // and where a context inside it is still entered.
    void exit();
    bool is_enabled() const noexcept;                // whether the context is entered and not exited
    const CheckpointConfig& config() const noexcept; // the config given to the constructor

    // The config of this thread's innermost context; no value where none is entered.
    static std::optional<CheckpointConfig> current();

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
