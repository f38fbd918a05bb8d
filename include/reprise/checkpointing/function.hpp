// Functions and modules whose calls are checkpoints if a CheckpointManager decides so.
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

// A function of tensors that is a layer of a CheckpointManager. Each call is a checkpoint() if
// manager.should_checkpoint() returns true, and a plain call otherwise, under no_grad, and if with_checkpoint_mode()
// has turned checkpoints off. Results and gradients of all orders have the same bits either way. A program retains the
// decision made while it was recorded.
//
// The layer is registered in the manager and, for recompute(), in the engine, as long as this object or a copy exists;
// the graphs of its calls do not need it. Copies share the function. Several threads may call it concurrently.
class CheckpointFunction {
public:
    // A hook as of Tensor::register_hook, called with the complete gradient of each output that requires one.
    using BackwardHook = std::function<Tensor(const Tensor& gradient)>;

    // Registers a layer. With `keep_inputs`, which recompute() needs, the inputs of a call are stored even if no
    // gradient reads them. A null hook means none; a hook that holds a copy of its layer keeps it registered.
    // Error(argument) for an empty id, an id that the manager or the engine has, and a null function, manager or
    // engine.
    CheckpointFunction(std::string id, TracedFunction function, std::shared_ptr<CheckpointManager> manager,
                       std::shared_ptr<RecomputationEngine> engine, BackwardHook hook = nullptr,
                       bool keep_inputs = false);

    // Calls the function and returns its outputs. With `keep_inputs`, the manager stores the inputs of the newest call
    // that is a checkpoint (CheckpointManager::retrieve) until its graph is released or destroyed; it stores none of
    // calls that are recorded or inside another checkpoint. If the function throws, contexts that it entered are
    // exited.
    std::vector<Tensor> call(const std::vector<Tensor>& inputs) const;
    // Calls the function and returns the first output; undefined if there is none.
    template <class... Inputs> Tensor operator()(const Inputs&... inputs) const
    {
        const std::vector<Tensor> outputs = call({inputs...});
        return outputs.empty() ? Tensor() : outputs.front();
    }

    // Recomputes the outputs with the engine, for the inputs that the manager stores; no gradient flows through them.
    // Error(state) if the manager stores none.
    std::vector<Tensor> recompute() const;

    const std::string& id() const noexcept; // the layer's id
    // The manager that it is registered in.
    const std::shared_ptr<CheckpointManager>& manager() const noexcept;
    // The engine that it is registered in.
    const std::shared_ptr<RecomputationEngine>& engine() const noexcept;

private:
    struct Impl;
    std::shared_ptr<const Impl> impl_;
};

// Options of Checkpoint::checkpoint_function() and checkpoint_module().
struct CheckpointFunctionOptions {
    CheckpointFunction::BackwardHook hook{};       // called with gradients of the outputs; null: none
    std::shared_ptr<CheckpointManager> manager{};  // null: Checkpoint::default_manager()
    std::shared_ptr<RecomputationEngine> engine{}; // null: Checkpoint::default_engine()
    bool keep_inputs = false;                      // stores the inputs of calls for recompute()
};

// Creates CheckpointFunctions, with the manager and the engine of the process unless others are given.
class Checkpoint {
public:
    using Options = CheckpointFunctionOptions; // the options' type

    // Creates a layer from a function. Errors as for CheckpointFunction's constructor.
    static CheckpointFunction checkpoint_function(std::string id, TracedFunction, const Options& = {});
    // Creates a layer from a module that takes one tensor. The module's parameters, hooks and state_dict() do not
    // change. A module passed by reference must exist as long as the layer is called. A call with another number of
    // tensors throws Error(argument).
    static CheckpointFunction checkpoint_module(std::string id, nn::Module&, const Options& = {});
    // The same for a module passed by pointer, which the layer stores. Error(argument) for a null pointer.
    static CheckpointFunction checkpoint_module(std::string id, std::shared_ptr<nn::Module>,
                                                const Options& = {});

    // The manager of the process; initially all its layers are checkpoints.
    static const std::shared_ptr<CheckpointManager>& default_manager();
    // The engine of the process.
    static const std::shared_ptr<RecomputationEngine>& default_engine();

    Checkpoint() = delete;
};

} // namespace reprise
