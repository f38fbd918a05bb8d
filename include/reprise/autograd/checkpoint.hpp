// Checkpoints: parts of a computation whose inner values are not kept for the backward pass but computed there again.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/structure.hpp>

namespace reprise {

struct CheckpointOptions {
    // What is dropped and computed again: all inner values, or only those that cost memory rather than arithmetic, so
    // that results of matmul, convolutions and attention are kept.
    enum class Policy { everything, selective } policy = Policy::everything;
    std::string layer{}; // its name in MemoryTracker; empty: none
};

namespace detail {

// While a checkpoint's function runs.
class CheckpointRun {
public:
    explicit CheckpointRun(const CheckpointOptions&);
    ~CheckpointRun();
    CheckpointRun(const CheckpointRun&) = delete;
    CheckpointRun& operator=(const CheckpointRun&) = delete;
    void close(const std::vector<Tensor>& outputs);

private:
    struct State;
    std::unique_ptr<State> state_;
};

[[noreturn]] void fail_without_function(const char* op);
template <class F> void require_function(const char* op, const F& f)
{
    if constexpr (std::is_constructible_v<bool, const F&> && !std::is_convertible_v<F, Tensor>)
        if (!static_cast<bool>(f)) fail_without_function(op);
}

// Turns checkpoints of this thread on or off, for its life.
class CheckpointMode {
public:
    explicit CheckpointMode(bool on);
    ~CheckpointMode();
    CheckpointMode(const CheckpointMode&) = delete;
    CheckpointMode& operator=(const CheckpointMode&) = delete;

private:
    bool before_;
};

} // namespace detail

// f(inputs...), called once: a tensor, or a structure of tensors (structure.hpp).  Of the values that it makes only its
// result is kept for the backward pass, which has the same kernels compute the others again from the values that f took
// from outside, with the same random numbers; so all gradients have the bits that they have without it, be f eager or
// recorded, of any order.  Nothing of f is called again: hooks and custom functions run once, and what f assigns
// (running statistics) is assigned once.  Checkpoints nest.  A tensor of the inside that somebody still holds when f
// returns is kept, too.  Under no_grad it is a plain call.
// Throws Error(argument) for a null function.
template <class F, class... Inputs>
requires std::is_invocable_v<F&, Inputs...>
auto checkpoint(const CheckpointOptions& options, F&& f, Inputs&&... inputs)
{
    using Result = std::decay_t<std::invoke_result_t<F&, Inputs...>>;
    detail::require_function("checkpoint", f);
    detail::CheckpointRun run(options);
    Result result = std::invoke(f, std::forward<Inputs>(inputs)...);
    detail::Leaves leaves;
    detail::Structure<Result>::take_apart(result, leaves);
    run.close(leaves.tensors);
    return result;
}
template <class F, class... Inputs>
requires std::is_invocable_v<F&, Inputs...>
auto checkpoint(F&& f, Inputs&&... inputs)
{
    return checkpoint(CheckpointOptions{}, std::forward<F>(f), std::forward<Inputs>(inputs)...);
}

// x through all functions, in as many segments, each a checkpoint but the last; the first ones are longer where the
// number is not a divisor.  More segments than functions are as many as there are functions; without functions the result
// is x.  Throws Error(argument) for a null function and for 0 segments.
Tensor checkpoint_sequential(const std::vector<std::function<Tensor(Tensor)>>& functions,
                             std::size_t segments, Tensor x, const CheckpointOptions& = {});

// Whether a checkpoint's function is running on this thread.
bool is_checkpointing();

// Whether checkpoints of this thread are on, as they are at first.
bool checkpoint_mode();

// f() with checkpoints of this thread turned on or off: off, checkpoint(f, x) is f(x).
template <class F> decltype(auto) with_checkpoint_mode(bool on, F&& f)
{
    detail::require_function("with_checkpoint_mode", f);
    const detail::CheckpointMode mode(on);
    return std::invoke(std::forward<F>(f));
}

} // namespace reprise
