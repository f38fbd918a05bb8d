// Overrides the choice of checkpoints in a scope.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include <reprise/checkpointing/config.hpp>

namespace reprise {

// Between enter() and exit(), its config replaces that of all CheckpointManagers on this thread. Contexts nest, and the
// innermost one applies; other threads are not affected. A context may be entered again after its exit. When its thread
// ends, it is exited.
//
//     CheckpointContext off({.strategy = CheckpointConfig::Strategy::none});
//     off.enter();
class CheckpointContext {
public:
    // Creates a context without entering it. Error(argument) for a config that CheckpointConfig does not allow.
    explicit CheckpointContext(CheckpointConfig);
    // Exits the context if it is entered, with all contexts that were entered inside and not exited, as after an
    // exception. On another thread than that of enter(), only this context is exited.
    ~CheckpointContext();
    CheckpointContext(const CheckpointContext&) = delete;
    CheckpointContext& operator=(const CheckpointContext&) = delete;

    void enter(); // starts using the config; Error(state) if the context is already entered, on any thread
    // Stops using the config. Error(state) if the context is not entered, was entered on another thread, or a context
    // inside it is still entered.
    void exit();
    bool is_enabled() const noexcept;                // whether the context is entered and not exited
    const CheckpointConfig& config() const noexcept; // the config given to the constructor

    // The config of this thread's innermost context; no value if none is entered.
    static std::optional<CheckpointConfig> current();

private:
    friend class CheckpointFunction;
    struct Stack;
    struct Entry;
    static const std::shared_ptr<Stack>& this_stack(); // of this thread
    static void close_from(Stack&, std::uint64_t number);
    // Closes the contexts that this thread has entered since the mark.
    static std::uint64_t mark();
    static void close_since(std::uint64_t mark);

    std::shared_ptr<Entry> entry_;
};

} // namespace reprise
