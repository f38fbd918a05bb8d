#include <reprise/checkpointing/function.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

#include <reprise/autograd/grad.hpp>
#include <reprise/ops/shapes.hpp>

#include "checkpointing/checks.hpp"
#include "checkpointing/kept.hpp"

namespace reprise {

namespace {

constexpr const char* op = "CheckpointFunction";

bool is_watched(const Tensor& y) { return y.defined() && y.requires_grad(); }

bool among(const Tensor& t, const Tensor* begin, const Tensor* end)
{
    return std::any_of(begin, end, [&](const Tensor& other) { return other.cell() == t.cell(); });
}

// The same elements at another place of the tape.
Tensor boundary(const Tensor& t)
{
    std::vector<std::int64_t> dims(static_cast<std::size_t>(t.dim()));
    std::iota(dims.begin(), dims.end(), 0);
    return permute(t, dims);
}

// Hooks on a tensor that the function gives as it got it would see the gradients of its other readers, and
// stay on a leaf.
void separate(std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs)
{
    for (Tensor& y : outputs) {
        if (!is_watched(y)) continue;
        const Tensor* before = outputs.data();
        if (y.is_leaf() || among(y, inputs.data(), inputs.data() + inputs.size()) || among(y, before, &y))
            y = boundary(y);
    }
}

} // namespace

// Registered for its life.
struct CheckpointFunction::Impl {
    Impl(std::string name, TracedFunction f, std::shared_ptr<CheckpointManager> m,
         std::shared_ptr<RecomputationEngine> e, BackwardHook h)
        : id(std::move(name)), function(std::move(f)), manager(std::move(m)), engine(std::move(e)),
          hook(std::move(h))
    {
        detail::require_function(op, function);
        if (!manager || !engine)
            detail::fail(ErrorKind::argument, op, "The ", manager ? "engine" : "manager", " of the layer (",
                         id, ") is a null pointer: give one, or take Checkpoint::checkpoint_function.");
        manager->register_layer(id);
        try {
            engine->register_function(id, function);
        } catch (...) {
            manager->remove_layer(id);
            throw;
        }
    }
    ~Impl()
    {
        manager->remove_layer(id);
        engine->remove_function(id);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    // The hook, and behind it what lets go of the inputs.
    void watch(std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs, bool keeps) const
    {
        if (!hook && !keeps) return;
        if (std::none_of(outputs.begin(), outputs.end(), is_watched)) return;
        separate(outputs, inputs);
        const auto kept = keeps ? manager->lend(id, inputs) : nullptr;
        for (const Tensor& y : outputs) {
            if (!is_watched(y)) continue;
            if (hook) y.register_hook(hook);
            if (kept)
                y.register_hook([kept](const Tensor&) {
                    kept->release();
                    return Tensor();
                });
        }
    }

    const std::string id;
    const TracedFunction function;
    const std::shared_ptr<CheckpointManager> manager;
    const std::shared_ptr<RecomputationEngine> engine;
    const BackwardHook hook;
};

CheckpointFunction::CheckpointFunction(std::string id, TracedFunction function,
                                       std::shared_ptr<CheckpointManager> manager,
                                       std::shared_ptr<RecomputationEngine> engine, BackwardHook hook)
    : impl_(std::make_shared<const Impl>(std::move(id), std::move(function), std::move(manager),
                                         std::move(engine), std::move(hook)))
{}

std::vector<Tensor> CheckpointFunction::call(const std::vector<Tensor>& inputs) const
{
    const auto impl = impl_; // the function may let go of this
    if (!grad_enabled()) {
        std::vector<Tensor> outputs = impl->function(inputs);
        impl->manager->count_call(false);
        return outputs;
    }
    const auto options = impl->manager->checkpoint_options(impl->id);
    const bool keeps = options && !is_recording() && !is_checkpointing();
    std::vector<Tensor> outputs =
        options ? checkpoint(*options, impl->function, inputs) : impl->function(inputs);
    impl->watch(outputs, inputs, keeps);
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
    return {std::move(id), std::move(function), options.manager ? options.manager : default_manager(),
            options.engine ? options.engine : default_engine(), options.hook};
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
