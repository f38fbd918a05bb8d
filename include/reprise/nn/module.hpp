// What modules are: trees of parameters and buffers.
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include <reprise/autograd/checkpoint.hpp>
#include <reprise/autograd/hooks.hpp>
#include <reprise/mode.hpp>
#include <reprise/tensor.hpp>

namespace reprise::nn {

using StateDict = std::map<std::string, Tensor>;

// A tree of modules with their parameters and buffers.  Children that are members are held by address, so a
// module can't be copied or moved.
class Module {
public:
    // In the caller's source.  Never made of {}, which may be an argument of a module's own operator().
    struct Place {
        explicit Place(std::source_location l) : location(l) {}
        std::source_location location;
    };

    Module() = default;
    virtual ~Module() = default;
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    // forward() with the hooks around it.  Anomaly mode tells `where` as the place of the ops inside.
    Tensor operator()(Tensor x, Place where = Place(std::source_location::current()));
    virtual Tensor forward(Tensor x); // Error(state) where it is not overridden

    // Called in the order of registration.  What a hook returns takes the place of the input, the output or
    // the gradient by the input; an undefined tensor leaves it.  While a program is recorded they run then,
    // and at no call.
    using ForwardPreHook = std::function<Tensor(Module&, const Tensor& input)>;
    using ForwardHook = std::function<Tensor(Module&, const Tensor& input, const Tensor& output)>;
    // `grad_input` is undefined where the input requires no gradient.  The module must be alive in the
    // backward pass.
    using BackwardHook = std::function<Tensor(Module&, const Tensor& grad_input, const Tensor& grad_output)>;
    HookHandle register_forward_pre_hook(ForwardPreHook);
    HookHandle register_forward_hook(ForwardHook);
    HookHandle register_full_backward_hook(BackwardHook);

    // In order of registration, a module's own before its children's; one that has two names comes once.
    std::vector<Variable> parameters() const;
    std::vector<std::pair<std::string, Variable>> named_parameters() const; // "block.0.weight"
    std::vector<std::pair<std::string, Variable>> named_buffers() const;

    // The values that parameters and buffers have now; later training does not change them.
    StateDict state_dict() const;
    // Takes values over, from any device.  One Error tells all names and shapes that do not fit; nothing has
    // changed then.  Not strict: names that are missing or unexpected are passed over.
    void load_state_dict(const StateDict&, bool strict = true);

    // A program whose function asked for the mode is refused, Error(state), while the mode is another one than it was
    // recorded in: record the function in each mode, and switch before a call.
    void train(bool on = true);
    void eval() { train(false); }
    bool is_training() const { return training_.get(); }
    void zero_grad();

    // Its calls are checkpoints from now on; nullopt: they are no more.  Parameters and their names stay as they are.
    void set_checkpoint(std::optional<CheckpointOptions>);

protected:
    Variable register_parameter(const std::string& name, Variable);
    Variable register_buffer(const std::string& name, Variable);
    void register_module(const std::string& name, Module&); // must live as long as this
    void register_module(const std::string& name, std::shared_ptr<Module>);
    // These and no others are the children then; where one does not fit, nothing has changed.
    using Children = std::vector<std::pair<std::string, std::shared_ptr<Module>>>;
    void replace_modules(const Children&);

private:
    struct Child {
        std::string name;
        Module* module;
        std::shared_ptr<Module> owned; // null for members
    };
    using Named = std::vector<std::pair<std::string, Variable>>;
    void check_name(const char* op, const std::string& name) const;
    bool contains(const Module*) const;
    Tensor forward_watched(const Tensor& x); // by the backward hooks
    void collect(const std::string& prefix, Named Module::*list, Named& to) const;
    Named state() const;

    Named parameters_, buffers_;
    std::vector<Child> children_;
    std::shared_ptr<detail::HookList<Tensor(Module&, const Tensor&)>> pre_hooks_; // null: none
    std::shared_ptr<detail::HookList<Tensor(Module&, const Tensor&, const Tensor&)>> hooks_, backward_hooks_;
    std::optional<CheckpointOptions> checkpoint_;
    Mode training_{"the training mode of a module"};
};

template <class M, class... Arguments> std::shared_ptr<M> make(Arguments&&... arguments)
{
    return std::make_shared<M>(std::forward<Arguments>(arguments)...);
}

} // namespace reprise::nn
