// Functions and modules whose calls are checkpoints where a CheckpointManager says so.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <reprise/checkpointing/manager.hpp>
#include <reprise/checkpointing/recomputation.hpp>
#include <reprise/nn/module.hpp>
#include <reprise/tensor.hpp>

namespace reprise {

// A function of tensors that is a layer: its calls are checkpoint() with the layer's id, or the function
// itself, as manager.should_checkpoint() says at the call; under no_grad, and where with_checkpoint_mode()
// has turned checkpoints off, they are the function itself.  So results and gradients have the bits of a plain call,
// in eager code and in record(), nested, of every order; a program keeps what was decided while it was recorded.
//
// While it, or a copy, lives, it is registered in the manager and, for recompute(), in the engine.  Graphs
// that its calls made do not need it.  Copies share it; several threads may call it at once.
class CheckpointFunction {
public:
    // As of Tensor::register_hook: called with the gradient by each output that requires one, once all of it
    // is there.
    using BackwardHook = std::function<Tensor(const Tensor& gradient)>;

    // Error(argument) for an empty id, one that the manager or the engine has, and for null arguments but a
    // null hook, which is none.  A hook that holds a copy of its layer keeps that registered.
    // `keep_inputs`: for recompute().  The inputs of a call are then stored even where no gradient reads
    // them; without it memory is that of checkpoint().
    CheckpointFunction(std::string id, TracedFunction function, std::shared_ptr<CheckpointManager> manager,
                       std::shared_ptr<RecomputationEngine> engine, BackwardHook hook = nullptr,
                       bool keep_inputs = false);

    // Where inputs are kept, the manager has those of the newest checkpoint (retrieve()) until a backward
    // pass has released its graph, or that is gone.  It has none of calls that are recorded, and of calls
    // inside of another checkpoint, which does not keep them.  Where the function throws, contexts that it
    // entered are closed.
    std::vector<Tensor> call(const std::vector<Tensor>& inputs) const;
    // The first output; undefined where there is none.
    template <class... Inputs> Tensor operator()(const Inputs&... inputs) const
    {
        const std::vector<Tensor> outputs = call({inputs...});
        return outputs.empty() ? Tensor() : outputs.front();
    }

    // The outputs for the inputs that the manager has, by the engine: values without a tape.  Error(state)
    // where it has none.
    std::vector<Tensor> recompute() const;

    const std::string& id() const noexcept;
    const std::shared_ptr<CheckpointManager>& manager() const noexcept;
    const std::shared_ptr<RecomputationEngine>& engine() const noexcept;

private:
    struct Impl;
    std::shared_ptr<const Impl> impl_;
};

struct CheckpointFunctionOptions {
    CheckpointFunction::BackwardHook hook{};       // null: none
    std::shared_ptr<CheckpointManager> manager{};  // null: Checkpoint::default_manager()
    std::shared_ptr<RecomputationEngine> engine{}; // null: Checkpoint::default_engine()
    bool keep_inputs = false;
};

// Makes layers, with the manager and the engine of the process unless others are given.
class Checkpoint {
public:
    using Options = CheckpointFunctionOptions;

    // Errors as of CheckpointFunction's constructor.
    static CheckpointFunction checkpoint_function(std::string id, TracedFunction, const Options& = {});
    // Calls of a module with one tensor; its parameters, hooks and state_dict are as before.  A module that
    // is given by reference must live as long as the layer is called.  Error(argument) for a null pointer; a
    // call with another number of tensors throws it too.
    static CheckpointFunction checkpoint_module(std::string id, nn::Module&, const Options& = {});
    static CheckpointFunction checkpoint_module(std::string id, std::shared_ptr<nn::Module>,
                                                const Options& = {});

    // Of the process; at first every layer is a checkpoint.
    static const std::shared_ptr<CheckpointManager>& default_manager();
    static const std::shared_ptr<RecomputationEngine>& default_engine();

    Checkpoint() = delete;
};

} // namespace reprise
