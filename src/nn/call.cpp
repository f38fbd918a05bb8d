// Module calls: the hooks and the checkpoint around forward().
#include <reprise/nn/module.hpp>

#include <reprise/autograd/custom_function.hpp>
#include <reprise/autograd/grad.hpp>

namespace reprise::nn {

using detail::fail;
using detail::Tensors;

namespace {

Tensors values(const std::vector<Tensor*>& places)
{
    Tensors out;
    for (const Tensor* t : places) out.push_back(*t);
    return out;
}

// Replaces tensors by those that a hook returned; undefined and missing ones replace nothing.
void replace(const char* hook, const std::vector<Tensor*>& places, Tensors given)
{
    if (given.size() > places.size())
        fail(ErrorKind::argument, hook, "The hook gave (", given.size(), ") tensors where there are (",
             places.size(), "): give one for each, undefined where one stays, or none.");
    for (std::size_t i = 0; i < given.size(); ++i)
        if (given[i].defined()) *places[i] = std::move(given[i]);
}

} // namespace

// ---- forward ----

Tensor Module::forward(Tensor)
{
    fail(ErrorKind::state, "module",
         "This module has no forward(Tensor): override it (forward(const Tensor&) is another function), call "
         "it with the arguments that it has, or call the members by name.");
}

Tensor Module::operator()(Tensor x, Place where)
{
    return called(
        where, [this](Tensor& in) { return forward(in); }, x);
}

void Module::set_checkpoint(std::optional<CheckpointOptions> options) { checkpoint_ = std::move(options); }

bool Module::is_plain() const
{
    if (empty_)
        fail(
            ErrorKind::state, "module",
            "This module is empty: it was made of nullptr or moved from, so assign one before it is called.");
    const auto none = [](const auto& hooks) { return !hooks || hooks->empty(); };
    return none(pre_hooks_) && none(hooks_) && none(backward_hooks_) && !checkpoint_;
}

HookHandle Module::add_pre_hook(detail::ModuleHook<Tensors> hook)
{
    if (!pre_hooks_) pre_hooks_ = std::make_shared<PreHooks>();
    return {pre_hooks_, pre_hooks_->add(std::move(hook))};
}

HookHandle Module::add_hook(std::shared_ptr<InOutHooks>& list, detail::ModuleHook<Tensors, Tensors> hook)
{
    if (!list) list = std::make_shared<InOutHooks>();
    return {list, list->add(std::move(hook))};
}

void Module::run_call(const Places& in, const std::function<Places()>& forward)
{
    if (pre_hooks_)
        for (const auto& hook : pre_hooks_->hooks())
            replace("register_forward_pre_hook", in, hook(*this, values(in)));
    if (!checkpoint_) {
        run_watched(in, forward);
        return;
    }
    detail::CheckpointRun run(*checkpoint_);
    if (!run.is_rounding()) {
        run.close(values(run_watched(in, forward)));
        return;
    }
    const Tensors given = values(in);
    for (Tensor* t : in) *t = run.rounded(*t);
    const Places outputs = run_watched(in, forward);
    for (std::size_t i = 0; i < in.size(); ++i)
        *in[i] = given[i]; // values that a handle refers to would be saved
    run.narrow(outputs);
    run.close(values(outputs));
    run.widen();
}

// ---- backward ----

// The state of one call of a module with backward hooks. All inputs pass through one identity node of the tape, and all
// outputs through another, so that each of them gets its gradients together, and those of this call only.
struct Module::BackwardCall {
    std::shared_ptr<Module*> module;
    std::shared_ptr<InOutHooks> hooks;
    std::size_t inputs = 0;
    std::vector<std::size_t> with_gradient; // of the inputs
    Tensors grad_output;                    // stored until the gradients of the inputs are computed

    static std::vector<std::size_t> which_require_grad(const Places& places)
    {
        std::vector<std::size_t> out;
        for (std::size_t i = 0; i < places.size(); ++i)
            if (places[i]->requires_grad()) out.push_back(i);
        return out;
    }
    // Returns `count` tensors: given[i] at index to[i], undefined ones elsewhere.
    static Tensors spread(const Tensors& given, const std::vector<std::size_t>& to, std::size_t count)
    {
        Tensors out(count);
        for (std::size_t i = 0; i < to.size(); ++i) out[to[i]] = given[i];
        return out;
    }
    static void pass_through(const char* name, const Places& places, const std::vector<std::size_t>& which,
                             CustomFunction::Backward backward)
    {
        if (which.empty()) return;
        const CustomFunction boundary(
            name, [](FunctionContext&, const Tensors& in) { return in; }, std::move(backward));
        Tensors through;
        for (const std::size_t i : which) through.push_back(*places[i]);
        through = boundary.call(through);
        for (std::size_t i = 0; i < which.size(); ++i) *places[which[i]] = through[i];
    }
    // Runs the hooks. Returns the gradients of the inputs, or what the hooks replaced them by.
    Tensors run(Tensors grad_input)
    {
        const Tensors stored = std::exchange(grad_output, {});
        std::vector<Tensor*> places;
        for (Tensor& t : grad_input) places.push_back(&t);
        for (const auto& hook : hooks->hooks()) {
            if (!*module) break;
            replace("register_full_backward_hook", places, hook(**module, grad_input, stored));
        }
        return grad_input;
    }
};

Module::Places Module::run_watched(const Places& in, const std::function<Places()>& forward)
{
    std::shared_ptr<BackwardCall> watch;
    if (backward_hooks_ && !backward_hooks_->hooks().empty() && grad_enabled()) {
        if (!self_) self_ = std::make_shared<Module*>(this);
        watch = std::make_shared<BackwardCall>(
            BackwardCall{self_, backward_hooks_, in.size(), BackwardCall::which_require_grad(in), {}});
        BackwardCall::pass_through("module_inputs", in, watch->with_gradient,
                                   [watch](const FunctionContext&, const Tensors& arrived) {
                                       const Tensors grad_input = watch->run(BackwardCall::spread(
                                           arrived, watch->with_gradient, watch->inputs));
                                       Tensors out;
                                       for (const std::size_t i : watch->with_gradient)
                                           out.push_back(grad_input[i]);
                                       return out;
                                   });
    }
    const Places out = forward();
    if (hooks_)
        for (const auto& hook : hooks_->hooks())
            replace("register_forward_hook", out, hook(*this, values(in), values(out)));
    if (!watch) return out;
    const std::vector<std::size_t> which = BackwardCall::which_require_grad(out);
    BackwardCall::pass_through(
        "module_outputs", out, which,
        [watch, which, count = out.size()](const FunctionContext&, const Tensors& arrived) {
            watch->grad_output = BackwardCall::spread(arrived, which, count);
            if (watch->with_gradient.empty()) watch->run(Tensors(watch->inputs));
            return arrived;
        });
    return out;
}

} // namespace reprise::nn
