// Activation checkpointing: the inner values of parts of a computation are not saved for the backward pass but
// recomputed there.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/find_tensors.hpp>
#include <reprise/structure.hpp>

namespace reprise {

namespace graph {
class SegmentScope; // src/graph/segment.hpp
}

// Options of checkpoint().
struct CheckpointOptions {
    // Which inner values are recomputed.
    enum class Policy {
        everything, // all
        selective   // all except the results of matmul, convolutions and attention, which are expensive
    } policy = Policy::everything; // which inner values are recomputed
    std::string layer{};           // its name in MemoryTracker; empty: none
    // Rounds the floating-point tensors that go into the function and come out of it to this dtype, if it has fewer
    // bytes than theirs, so that less is saved: half by bf16, which is most of what checkpoints of a transformer's
    // blocks save.  The function gets the rounded values, in their dtype.  Result and gradients are those of
    // round(f(round(x))), whether values are recomputed or not; gradients are rounded at the same places, as those of
    // casts are, so f16 needs a GradScaler.  Of the arguments of checkpoint() those of the types Tensor and
    // std::vector<Tensor> are rounded, of a module's call all tensors, and of the result all tensors; scalars, such as
    // a loss, never.  forward() of a module may not add tensors to its arguments or remove any then.  Default: no
    // rounding.
    std::optional<DType> saved_dtype{};
};

namespace detail {

// Exists while a checkpoint's function runs.
class CheckpointRun {
public:
    explicit CheckpointRun(const CheckpointOptions&);
    ~CheckpointRun();
    CheckpointRun(const CheckpointRun&) = delete;
    CheckpointRun& operator=(const CheckpointRun&) = delete;
    // Returns a tensor as the function gets it: rounded to CheckpointOptions::saved_dtype, the same for equal tensors.
    Tensor rounded(const Tensor&);
    std::vector<Tensor> rounded(const std::vector<Tensor>&);
    bool is_rounding() const { return saved_dtype_.has_value(); }

    // Ends the checkpoint, whose function gave these tensors.  Tensors of a result are narrowed before and widened
    // afterwards, if they are to be rounded.
    void narrow(const std::vector<Tensor*>& outputs);
    void close(const std::vector<Tensor>& outputs);
    void widen();

private:
    bool rounds(const Tensor&) const;

    std::unique_ptr<graph::SegmentScope> segment_; // null: checkpoints or gradients are off, or it is closed
    std::optional<DType> saved_dtype_;
    std::map<const graph::Cell*, Tensor> of_cell_; // the rounded arguments, then the narrowed results
    struct Narrowed {
        Tensor* tensor;
        DType dtype; // before
    };
    std::vector<Narrowed> narrowed_;
};

// An argument of a checkpoint's function, or a rounded copy that lives as long as this object.
template <class T> class CheckpointArgument {
public:
    CheckpointArgument(CheckpointRun& run, T& argument) : argument_(argument)
    {
        if constexpr (has_tensors)
            if (run.is_rounding()) copy_ = run.rounded(argument);
    }
    T& get()
    {
        if constexpr (has_tensors)
            if (copy_) return *copy_;
        return argument_;
    }

private:
    using Value = std::remove_const_t<T>;
    static constexpr bool has_tensors =
        std::is_same_v<Value, Tensor> || std::is_same_v<Value, std::vector<Tensor>>;
    struct Nothing {};

    T& argument_;
    std::conditional_t<has_tensors, std::optional<Value>, Nothing> copy_{};
};

[[noreturn]] void fail_without_function(const char* op);
template <class F> void require_function(const char* op, const F& f)
{
    if constexpr (std::is_constructible_v<bool, const F&> && !std::is_convertible_v<F, Tensor>)
        if (!static_cast<bool>(f)) fail_without_function(op);
}

// Turns checkpoints of this thread on or off while this object exists.
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

// Calls f(inputs...) once and returns its result, a tensor or a structure of tensors (structure.hpp).  Of the
// values that f computes only the result is saved for the backward pass, which recomputes the others from the
// values that f took from outside, by the same kernels and with the same random numbers.  So gradients of all
// orders have the same bits as without a checkpoint, in eager code and in record().  f itself is not called
// again: hooks and custom functions run once, and running statistics are assigned once.  Checkpoints nest.
// An inner tensor to which a handle exists when f returns is saved too.  Under no_grad this is a plain call, except
// that tensors are rounded all the same (CheckpointOptions::saved_dtype).
// Error(argument) for a null function, and for a saved_dtype that is not a floating-point one.
template <class F, class... Inputs>
requires std::is_invocable_v<F&, Inputs...>
auto checkpoint(const CheckpointOptions& options, F&& f, Inputs&&... inputs)
{
    using Result = std::decay_t<std::invoke_result_t<F&, Inputs...>>;
    detail::require_function("checkpoint", f);
    detail::CheckpointRun run(options);
    Result result = std::invoke(
        f, std::forward<Inputs>(
               detail::CheckpointArgument<std::remove_reference_t<Inputs>>(run, inputs).get())...);
    if (run.is_rounding()) {
        std::vector<Tensor*> outputs;
        detail::find_tensors(result, outputs);
        run.narrow(outputs);
    }
    {
        detail::Leaves leaves;
        detail::Structure<Result>::flatten_structure(result, leaves);
        run.close(leaves.tensors);
    }
    run.widen();
    return result;
}
// Calls checkpoint() with the default options.
template <class F, class... Inputs>
requires std::is_invocable_v<F&, Inputs...>
auto checkpoint(F&& f, Inputs&&... inputs)
{
    return checkpoint(CheckpointOptions{}, std::forward<F>(f), std::forward<Inputs>(inputs)...);
}

// Applies all functions to x, one after the other, in `segments` segments, each of which except the last is a
// checkpoint.  Where the functions do not divide equally, the first segments are longer; there are at most as
// many segments as functions.  Without functions the result is x.  Error(argument) for a null function and
// for 0 segments.
Tensor checkpoint_sequential(const std::vector<std::function<Tensor(Tensor)>>& functions,
                             std::size_t segments, Tensor x, const CheckpointOptions& = {});

// Whether a checkpoint's function is running on this thread.
bool is_checkpointing();

// Whether checkpoints of this thread are turned on, which is the default.
bool checkpoint_mode();

// Calls f() with checkpoints of this thread turned on or off, and returns its result.  When they are off,
// checkpoint(f, x) is f(x).  Error(argument) for a null function.
template <class F> decltype(auto) with_checkpoint_mode(bool on, F&& f)
{
    detail::require_function("with_checkpoint_mode", f);
    const detail::CheckpointMode mode(on);
    return std::invoke(std::forward<F>(f));
}

} // namespace reprise
