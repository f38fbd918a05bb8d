#include <reprise/checkpointing/function.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <reprise/autograd/checkpoint.hpp>
#include <reprise/autograd/grad.hpp>
#include <reprise/checkpointing/context.hpp>
#include <reprise/hooks.hpp>

#include "checkpointing/checks.hpp"
#include "checkpointing/kept.hpp"

namespace reprise {

namespace {

constexpr const char* op = "CheckpointFunction";

bool needs_gradient(const Tensor& y) { return y.defined() && y.requires_grad(); }

} // namespace

// Registers the layer in its constructor and removes it in its destructor.
struct CheckpointFunction::Impl {
    Impl(std::string name, TracedFunction f, std::shared_ptr<CheckpointManager> m,
         std::shared_ptr<RecomputationEngine> e, BackwardHook h, bool keep)
        : id(std::move(name)), function(std::move(f)), manager(std::move(m)), engine(std::move(e)),
          hook(std::move(h)), keep_inputs(keep)
    {
        detail::require_function(op, function);
        if (!manager || !engine)
            detail::fail(ErrorKind::argument, op, "The ", manager ? "engine" : "manager", " of the layer (",
                         id, ") is a null pointer: give one, or take Checkpoint::checkpoint_function.");
        in_manager = manager->add_layer(id, std::nullopt);
        try {
            in_engine = engine->add_function(id, function);
        } catch (...) {
            manager->remove_layer(id, in_manager);
            throw;
        }
    }
    ~Impl()
    {
        manager->remove_layer(id, in_manager);
        engine->remove_function(id, in_engine);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    // Runs the function. If it throws, contexts that it entered and did not exit are closed.
    std::vector<Tensor> run(const std::optional<CheckpointOptions>& options,
                            const std::vector<Tensor>& inputs) const
    {
        const std::uint64_t mark = CheckpointContext::mark();
        try {
            return options ? checkpoint(*options, function, inputs) : function(inputs);
        } catch (...) {
            CheckpointContext::close_since(mark);
            throw;
        }
    }

    // Adds hooks to the outputs. The graph owns the stored inputs until a backward pass releases it or the outputs are
    // destroyed.
    void add_hooks(std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs, bool keeps) const
    {
        if (!hook && !keeps) return;
        if (std::none_of(outputs.begin(), outputs.end(), needs_gradient)) return;
        const auto kept = keeps ? manager->lend(id, inputs) : nullptr;
        for (Tensor& y : outputs) {
            if (!needs_gradient(y)) continue;
            y = detail::boundary(y);
            if (hook) y.register_hook(hook);
            if (kept) y.register_hook([kept](const Tensor&) { return Tensor(); });
        }
    }

    const std::string id;
    const TracedFunction function;
    const std::shared_ptr<CheckpointManager> manager;
    const std::shared_ptr<RecomputationEngine> engine;
    const BackwardHook hook;
    const bool keep_inputs;
    std::uint64_t in_manager = 0, in_engine = 0; // numbers of the registrations
};

CheckpointFunction::CheckpointFunction(std::string id, TracedFunction function,
                                       std::shared_ptr<CheckpointManager> manager,
                                       std::shared_ptr<RecomputationEngine> engine, BackwardHook hook,
                                       bool keep_inputs)
    : impl_(std::make_shared<const Impl>(std::move(id), std::move(function), std::move(manager),
                                         std::move(engine), std::move(hook), keep_inputs))
{}

std::vector<Tensor> CheckpointFunction::call(const std::vector<Tensor>& inputs) const
{
    const auto impl = impl_; // the function may destroy this object
    const bool on = grad_enabled() && checkpoint_mode();
    const auto options = on ? impl->manager->checkpoint_options(impl->id) : std::nullopt;
    const bool keeps = impl->keep_inputs && options && !is_recording() && !is_checkpointing();
    std::vector<Tensor> outputs = impl->run(options, inputs);
    if (grad_enabled()) impl->add_hooks(outputs, inputs, keeps);
    impl->manager->count_call(options.has_value());
    return outputs;
}

std::vector<Tensor> CheckpointFunction::recompute() const
{
    const auto impl = impl_;
    return impl->engine->recompute(impl->id, impl->manager->retrieve(impl->id));
}

const std::string& CheckpointFunction::id() const noexcept { return impl_->id; }
const std::shared_ptr<CheckpointManager>& CheckpointFunction::manager() const noexcept
{
    return impl_->manager;
}
const std::shared_ptr<RecomputationEngine>& CheckpointFunction::engine() const noexcept
{
    return impl_->engine;
}

// ---- Checkpoint ----

CheckpointFunction Checkpoint::checkpoint_function(std::string id, TracedFunction function,
                                                   const Options& options)
{
    return {std::move(id),
            std::move(function),
            options.manager ? options.manager : default_manager(),
            options.engine ? options.engine : default_engine(),
            options.hook,
            options.keep_inputs};
}

CheckpointFunction Checkpoint::checkpoint_module(std::string id, nn::Module& module, const Options& options)
{
    return checkpoint_module(std::move(id), std::shared_ptr<nn::Module>(std::shared_ptr<void>(), &module),
                             options);
}

CheckpointFunction Checkpoint::checkpoint_module(std::string id, std::shared_ptr<nn::Module> module,
                                                 const Options& options)
{
    if (!module)
        detail::fail(ErrorKind::argument, op, "The module of the layer (", id,
                     ") is a null pointer: make it first.");
    const auto call = [module, id](const std::vector<Tensor>& inputs) {
        if (inputs.size() != 1)
            detail::fail(ErrorKind::argument, op, "The module of the layer (", id,
                         ") takes one tensor, not (", inputs.size(),
                         "): make a layer of a function that calls it.");
        return std::vector<Tensor>{(*module)(inputs[0])};
    };
    return checkpoint_function(std::move(id), call, options);
}

const std::shared_ptr<CheckpointManager>& Checkpoint::default_manager()
{
    static const auto manager = std::make_shared<CheckpointManager>();
    return manager;
}

const std::shared_ptr<RecomputationEngine>& Checkpoint::default_engine()
{
    static const auto engine = std::make_shared<RecomputationEngine>();
    return engine;
}

} // namespace reprise
